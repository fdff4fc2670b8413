// SPDX-License-Identifier: Apache-2.0
// Regular expressions over UTF-8, by PCRE2 with its just-in-time compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ordo {

struct Span {
  size_t from = 0, to = 0;  // bytes [from, to)
};

class Regex {
 public:
  // A pattern of PCRE2; throws DataError that shows it with the character where it goes wrong.
  explicit Regex(const std::string& pattern);
  // A pattern as tokenizer.json files have them, written for Oniguruma: what the two libraries understand differently
  // (\s \d \w \h \uHHHH, ^ and $ at line ends) is put into PCRE2's words; what PCRE2 cannot say is refused.
  static Regex from_oniguruma(std::string_view pattern);
  // A text that stands for itself.
  static Regex literal(std::string_view text);
  // The first match that begins at `from` or after it; it may be empty. `text` is valid UTF-8. Throws DataError when
  // the pattern takes too many steps.
  std::optional<Span> find(std::string_view text, size_t from) const;

 private:
  struct Compiled;
  Regex(std::string_view pattern, uint32_t options);  // of PCRE2
  std::string pattern_;
  std::shared_ptr<const Compiled> compiled_;
};

// All matches from left to right, without overlap; an empty one that touches the match before it is passed over.
class Matches {
 public:
  Matches(const Regex& regex, std::string_view text) : regex_(regex), text_(text) {}
  std::optional<Span> next();

 private:
  const Regex& regex_;
  std::string_view text_;
  size_t from_ = 0;
  std::optional<size_t> end_;  // of the last match
};

// Characters of words, in the sense of Unicode's UTS 18: the inside of a bracket.
inline constexpr std::string_view kWordClass = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";

}  // namespace ordo
