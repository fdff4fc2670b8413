// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "ordo/core/utf8.h"

namespace ordo {

namespace {

// Unicode's Case_Ignorable and Cased, by general category and the few that it does not tell.
bool case_ignorable(char32_t code) {
  static constexpr std::array<char32_t, 20> kMarks{0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,
                                                   0x2018, 0x2019, 0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55,
                                                   0xFF07, 0xFF0E, 0xFF1A, 0x5E,   0x60,   0xA8};
  if (std::find(kMarks.begin(), kMarks.end(), code) != kMarks.end()) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

bool cased(char32_t code) {
  static constexpr std::array<std::pair<char32_t, char32_t>, 7> kSigns{{{0xAA, 0xAA},  // ª º Ⅷ Ⓐ 🄰 🅐 🅰
                                                                        {0xBA, 0xBA},
                                                                        {0x2160, 0x217F},
                                                                        {0x24B6, 0x24E9},
                                                                        {0x1F130, 0x1F149},
                                                                        {0x1F150, 0x1F169},
                                                                        {0x1F170, 0x1F189}}};
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT ||
         std::any_of(kSigns.begin(), kSigns.end(),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

// Unicode's Final_Sigma: a cased letter before, none after, whatever is ignorable between.
bool ends_its_word(const std::u32string& text, size_t at) {
  const auto met = [](auto first, auto last) {
    const auto found = std::find_if_not(first, last, case_ignorable);
    return found != last && cased(*found);
  };
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(at);
  return met(std::make_reverse_iterator(here), text.rend()) && !met(here + 1, text.end());
}

}  // namespace

bool is_white_space(char32_t code) { return is_space(code) || (code >= 0x1C && code <= 0x1F); }

std::vector<std::string> split_words(std::string_view utf8) {
  std::vector<std::string> words;
  bool within = false;
  each_character(utf8, [&](char32_t code, std::string_view bytes) {
    const bool space = is_white_space(code);
    if (!space && !within) words.emplace_back();
    if (!space) words.back() += bytes;
    within = !space;
  });
  return words;
}

std::string_view stripped_right(std::string_view utf8) {
  size_t at = 0, end = 0;
  each_character(utf8, [&](char32_t code, std::string_view bytes) {
    at += bytes.size();
    if (!is_white_space(code)) end = at;
  });
  return utf8.substr(0, end);
}

std::string_view stripped(std::string_view utf8) {
  const std::string_view kept = stripped_right(utf8);
  size_t start = 0;
  bool met = false;
  each_character(kept, [&](char32_t code, std::string_view bytes) {
    met = met || !is_white_space(code);
    if (!met) start += bytes.size();
  });
  return kept.substr(start);
}

std::string lowered(std::string_view utf8) {
  const std::u32string text = code_points(utf8);
  std::string lower;
  lower.reserve(utf8.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t code = text[i];
    if (code < 0x80) {
      lower += static_cast<char>(code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code);
    } else if (code == 0x130) {  // İ
      lower += "i\u0307";
    } else if (code == 0x3A3) {  // Σ
      lower += ends_its_word(text, i) ? "ς" : "σ";
    } else {
      append_utf8(lower, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
    }
  }
  return lower;
}

std::u32string WordNumbers::operator()(const std::vector<std::string>& words) {
  std::u32string text;
  text.reserve(words.size());
  for (const std::string& word : words) {
    text += known_.try_emplace(word, static_cast<char32_t>(known_.size())).first->second;
  }
  return text;
}

GramCounts count_grams(std::u32string_view text, size_t length) {
  if (length == 0 || text.size() < length) return {};
  std::vector<std::u32string_view> grams;
  grams.reserve(text.size() - length + 1);
  for (size_t i = 0; i + length <= text.size(); ++i) grams.push_back(text.substr(i, length));
  std::sort(grams.begin(), grams.end());
  GramCounts counts;
  for (const std::u32string_view gram : grams) {
    if (counts.empty() || counts.back().gram != gram) counts.push_back({gram, 0});
    ++counts.back().count;
  }
  return counts;
}

GramCounts larger_counts(const GramCounts& a, const GramCounts& b) {
  GramCounts made;
  made.reserve(a.size() + b.size());
  auto x = a.begin();
  for (const CountedGram& y : b) {
    while (x != a.end() && x->gram < y.gram) made.push_back(*x++);
    const bool both = x != a.end() && x->gram == y.gram;
    made.push_back({y.gram, both ? std::max(x->count, y.count) : y.count});
    if (both) ++x;
  }
  made.insert(made.end(), x, a.end());
  return made;
}

int64_t shared_count(const GramCounts& a, const GramCounts& b) {
  int64_t shared = 0;
  auto x = a.begin();
  for (const CountedGram& y : b) {
    while (x != a.end() && x->gram < y.gram) ++x;
    if (x != a.end() && x->gram == y.gram) shared += std::min(x->count, y.count);
  }
  return shared;
}

int64_t total_count(const GramCounts& grams) {
  return std::accumulate(grams.begin(), grams.end(), int64_t{0},
                         [](int64_t sum, const CountedGram& gram) { return sum + gram.count; });
}

int64_t levenshtein(std::u32string_view a, std::u32string_view b) {
  std::vector<int64_t> row(b.size() + 1);  // distances of the part of a so far to every beginning of b
  std::iota(row.begin(), row.end(), int64_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t before = std::exchange(row[0], static_cast<int64_t>(i) + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t kept = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({kept, before + 1, row[j] + 1});
    }
  }
  return row.back();
}

int64_t common_subsequence(std::u32string_view a, std::u32string_view b) {
  std::vector<int64_t> row(b.size() + 1, 0);
  for (const char32_t unit : a) {
    int64_t before = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t extended = before + 1;
      before = row[j + 1];
      row[j + 1] = unit == b[j] ? extended : std::max(before, row[j]);
    }
  }
  return row.back();
}

}  // namespace ordo
