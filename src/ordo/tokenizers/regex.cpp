// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <new>

#include "ordo/core/errors.h"
#include "ordo/core/utf8.h"

namespace ordo {

struct Regex::Compiled {
  std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> code{nullptr, pcre2_code_free};
  std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits{nullptr, pcre2_match_context_free};
};

namespace {

constexpr uint32_t kMostSteps = 20'000'000, kMostHeapKiB = 256 * 1024;
constexpr size_t kMostStack = size_t{64} << 20, kLongestPattern = size_t{1} << 16;

std::string reason_of(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// From Oniguruma's words into PCRE2's, character by character.
class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}
  std::string translate() {
    while (at_ < pattern_.size()) step();
    return std::move(made_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }
  void copy(size_t count) {
    made_ += pattern_.substr(at_, count);
    at_ = std::min(at_ + count, pattern_.size());
  }
  void put(std::string_view text, size_t instead_of) {
    made_ += text;
    at_ += instead_of;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw DataError(fmt::format("the regular expression '{}' has {} at character {}, which is not supported", pattern_,
                                what, at_ + 1));
  }

  void step() {
    const char c = peek();
    if (c == '\\') return escape();
    if (!in_class_ && c == '[') return open_class();
    if (in_class_ && c == '[') {
      if (peek(1) != ':') refuse("a bracket within a bracket");
      const size_t end = pattern_.find(":]", at_ + 2);
      return copy(end == std::string_view::npos ? 1 : end + 2 - at_);
    }
    if (in_class_ && c == '&' && peek(1) == '&') refuse("an intersection (&&)");
    if (in_class_ && c == ']') in_class_ = false;
    copy(1);
  }
  void open_class() {
    in_class_ = true;
    copy(1);
    if (peek() == '^') copy(1);
    if (peek() == ']') copy(1);  // the first character of a class stands for itself
  }
  void escape() {
    switch (peek(1)) {
      case 's':
        return put(R"(\p{White_Space})", 2);
      case 'S':
        return put(R"(\P{White_Space})", 2);
      case 'd':
        return put(R"(\p{Nd})", 2);
      case 'D':
        return put(R"(\P{Nd})", 2);
      case 'w':
        return put(in_class_ ? kWords : bracket(kWords), 2);
      case 'h':
        return put(in_class_ ? kHexadecimal : bracket(kHexadecimal), 2);
      case 'W':
      case 'H':
        if (in_class_) refuse("\\W or \\H within brackets");
        return put(peek(1) == 'W' ? bracket(kWords, "^") : bracket(kHexadecimal, "^"), 2);
      case 'u':
        made_ += fmt::format("\\x{{{}}}", pattern_.substr(std::min(at_ + 2, pattern_.size()), 4));
        at_ = std::min(at_ + 6, pattern_.size());
        return;
      default:
        return copy(2);
    }
  }
  static std::string bracket(std::string_view inside, std::string_view before = "") {
    return fmt::format("[{}{}]", before, inside);
  }

  static constexpr std::string_view kHexadecimal = "0-9A-Fa-f", kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
  std::string_view pattern_;
  std::string made_;
  size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

// In Oniguruma's syntax ^ and $ are always ends of lines.
Regex::Regex(const std::string& pattern) : Regex(pattern, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE) {}

Regex::Regex(std::string_view pattern, uint32_t options) : pattern_(pattern) {
  require<DataError>(pattern.size() <= kLongestPattern, "a regular expression has {} bytes; at most {} are taken",
                     pattern.size(), kLongestPattern);
  int problem = 0;
  size_t offset = 0;
  auto made = std::make_shared<Compiled>();
  made->code.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &problem, &offset, nullptr));
  require<DataError>(made->code != nullptr, "the regular expression '{}' is wrong at byte {}: {}", pattern, offset,
                     reason_of(problem));
  pcre2_jit_compile(made->code.get(), PCRE2_JIT_COMPLETE);  // without it (a machine that lacks it) matching is slower
  made->limits.reset(pcre2_match_context_create(nullptr));
  if (made->limits == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(made->limits.get(), kMostSteps);
  pcre2_set_heap_limit(made->limits.get(), kMostHeapKiB);
  compiled_ = std::move(made);
}

Regex Regex::from_oniguruma(std::string_view pattern) { return Regex(Translator(pattern).translate()); }

Regex Regex::literal(std::string_view text) { return Regex(text, PCRE2_UTF | PCRE2_LITERAL); }

std::optional<Span> Regex::find(std::string_view text, size_t from) const {
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(
      pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr), pcre2_match_data_free);
  if (data == nullptr) throw std::bad_alloc();
  const auto match = [&](pcre2_match_context* limits) {
    return pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                       PCRE2_NO_UTF_CHECK, data.get(), limits);
  };
  int found = match(compiled_->limits.get());
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // seldom: a stack of its own is made for this text alone
    const std::unique_ptr<pcre2_jit_stack, void (*)(pcre2_jit_stack*)> stack(
        pcre2_jit_stack_create(size_t{1} << 16, kMostStack, nullptr), pcre2_jit_stack_free);
    const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits(
        pcre2_match_context_copy(compiled_->limits.get()), pcre2_match_context_free);
    if (stack == nullptr || limits == nullptr) throw std::bad_alloc();
    pcre2_jit_stack_assign(limits.get(), nullptr, stack.get());
    found = match(limits.get());
  }
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  require<DataError>(found >= 0, "the regular expression '{}' gives up on a text of {} bytes: {}", pattern_,
                     text.size(), reason_of(found));
  const size_t* const ends = pcre2_get_ovector_pointer(data.get());
  return Span{ends[0], ends[1]};
}

std::optional<Span> Matches::next() {
  while (from_ <= text_.size()) {
    const auto found = regex_.find(text_, from_);
    if (!found) return std::nullopt;
    const bool empty = found->from >= found->to;  // \K may even turn it round
    const size_t step = !empty ? 0 : found->from < text_.size() ? code_point_at(text_, found->from).bytes : 1;
    from_ = found->to + step;
    if (empty && end_ == found->to) continue;
    end_ = found->to;
    return Span{std::min(found->from, found->to), found->to};
  }
  return std::nullopt;
}

}  // namespace ordo
