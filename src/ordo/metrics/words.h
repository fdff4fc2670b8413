// SPDX-License-Identifier: Apache-2.0
// What the metrics of texts share: words, n-grams and alignments. Texts of any bytes can be compared: one that is no
// part of valid UTF-8, as a byte-level model may write it, stands for itself (see core/utf8.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ordo {

// White space as Python's str.split knows it, by which the reference implementations split: Unicode's, and U+001C to
// U+001F.
bool is_white_space(char32_t code);
std::vector<std::string> split_words(std::string_view utf8);  // split at white space, none empty
std::string_view stripped(std::string_view utf8);             // without white space at both ends
std::string_view stripped_right(std::string_view utf8);

// Lower case by Unicode's full mapping, whatever the language, as Python's str.lower: İ becomes i and a dot, Σ at the
// end of a word ς. The tokenizers' lower_case looks at one character at a time, as the library of their files does.
std::string lowered(std::string_view utf8);

// Texts of words become texts of numbers: equal words, equal numbers, in the order in which they are first met.
class WordNumbers {
 public:
  std::u32string operator()(const std::vector<std::string>& words);

 private:
  std::unordered_map<std::string, char32_t> known_;
};

struct CountedGram {
  std::u32string_view gram;  // part of the text that was counted, which must outlive it
  int64_t count = 0;
};
using GramCounts = std::vector<CountedGram>;                         // sorted by gram, each once
GramCounts count_grams(std::u32string_view text, size_t length);     // none when the text is shorter
GramCounts larger_counts(const GramCounts& a, const GramCounts& b);  // of each gram the larger count
int64_t shared_count(const GramCounts& a, const GramCounts& b);      // Σ of the smaller counts
int64_t total_count(const GramCounts& grams);

// The least number of insertions, deletions and substitutions from one to the other (Levenshtein 1966); O(|a| |b|).
int64_t levenshtein(std::u32string_view a, std::u32string_view b);
// The length of the longest common subsequence; O(|a| |b|).
int64_t common_subsequence(std::u32string_view a, std::u32string_view b);

}  // namespace ordo
