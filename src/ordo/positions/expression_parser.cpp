// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/expression_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

struct FormulaWord {
  std::string_view name;
  FormulaOp op;
};
constexpr FormulaWord kFormulaVariables[] = {
    {"i", FormulaOp::i},    {"j", FormulaOp::j},     {"distance", FormulaOp::subtract},
    {"h", FormulaOp::head}, {"H", FormulaOp::heads}, {"length", FormulaOp::length}};
constexpr FormulaWord kFormulaFunctions[] = {
    {"abs", FormulaOp::abs},   {"log", FormulaOp::log}, {"exp", FormulaOp::exp},
    {"sqrt", FormulaOp::sqrt}, {"min", FormulaOp::min}, {"max", FormulaOp::max},
    {"sin", FormulaOp::sin},   {"cos", FormulaOp::cos}, {"floor", FormulaOp::floor}};
constexpr FormulaWord kFormulaComparisons[] = {{"<=", FormulaOp::less_equal}, {">=", FormulaOp::greater_equal},
                                               {"==", FormulaOp::equal},      {"!=", FormulaOp::unequal},
                                               {"<", FormulaOp::less},        {">", FormulaOp::greater}};

const FormulaWord* formula_word(std::span<const FormulaWord> words, std::string_view name) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.name == name; });
  return found == words.end() ? nullptr : &*found;
}

std::string words_text(std::span<const FormulaWord> words) {
  std::vector<std::string> names;
  for (const auto& w : words) names.emplace_back(w.name);
  return join(names, ", ");
}

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::span<const FormulaName> names) : text_(text), names_(names) {
    out_.used.resize(names.size());
  }

  std::variant<Formula, TextProblem> parse() {
    if (text_.size() > kLongestFormula)
      return TextProblem{kLongestFormula, 1, fmt::format("the formula is longer than {} characters", kLongestFormula)};
    try {
      skip_space();
      if (at_ == text_.size()) stop(0, 1, "the formula is empty", "for no bias at all, write 0");
      comparison();
      if (at_ < text_.size()) unexpected("an operator or the end");
    } catch (TextProblem& problem) {
      return std::move(problem);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] static void stop(size_t offset, size_t length, std::string text, std::string hint = "") {
    throw TextProblem{offset, std::max<size_t>(length, 1), std::move(text), std::move(hint)};
  }
  [[noreturn]] void unexpected(std::string_view wanted) const {
    if (at_ >= text_.size()) stop(text_.size(), 1, fmt::format("the formula ends where {} is due", wanted));
    const size_t bytes = std::max<size_t>(code_point_at(text_, at_).bytes, 1);
    const std::string_view found = text_.substr(at_, bytes);
    stop(at_, bytes, fmt::format("found '{}' where {} is due", found, wanted), advice(found));
  }
  static std::string advice(std::string_view found) {
    if (found == "−" || found == "–") return "the minus sign is -";
    if (found == "×" || found == "·") return "times is *";
    if (found == "÷") return "a fraction is a/b";
    if (found == "=") return "equality is ==";
    if (found == "|") return "the absolute value is abs(x)";
    if (found == "*") return "a power is a^b";
    if (found == "(" || starts_name(found.front())) return "times is *, never left out";
    if (found == "<" || found == ">") return "one comparison only; join several by *, as in (a < b)*(b < c)";
    return "";
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip_space();
    return true;
  }
  void expect(std::string_view sign, size_t opened) {
    if (take(sign)) return;
    if (at_ >= text_.size())
      stop(opened, 1, fmt::format("'{}' is never closed", text_[opened]), fmt::format("add '{}'", sign));
    unexpected(fmt::format("an operator or '{}'", sign));
  }

  // Deeper by one while it lives: what is nested without end is told rather than run into.
  class Level {
   public:
    Level(FormulaParser& parser, size_t offset) : depth_(parser.depth_) {
      if (++depth_ > kDeepestFormula)
        stop(offset, 1, fmt::format("the formula is nested deeper than {} levels", kDeepestFormula));
    }
    ~Level() { --depth_; }

   private:
    size_t& depth_;
  };

  size_t put(FormulaNode node) {
    out_.nodes.push_back(node);
    return out_.nodes.size() - 1;
  }
  bool is_number(size_t node) const { return out_.nodes[node].op == FormulaOp::number; }
  // A node of one or two operands, computed at once when they are numbers. `offset`: where to point if it has no value.
  size_t combine(FormulaOp op, size_t left, size_t right, size_t offset, size_t length) {
    if (!is_number(left) || !is_number(right)) return put({.op = op, .left = left, .right = right});
    const double value = apply_formula_op(op, out_.nodes[left].number, out_.nodes[right].number);
    if (!std::isfinite(value))
      stop(offset, length, fmt::format("'{}' of these numbers is not finite", text_.substr(offset, length)));
    return put({.number = value});
  }

  size_t comparison() {
    const size_t left = sum();
    for (const auto& [sign, op] : kFormulaComparisons) {
      const size_t offset = at_;
      if (take(sign)) return combine(op, left, sum(), offset, sign.size());
    }
    return left;
  }
  size_t sum() {
    size_t left = product();
    for (;;) {
      const size_t offset = at_;
      if (take("+"))
        left = combine(FormulaOp::add, left, product(), offset, 1);
      else if (take("-"))
        left = combine(FormulaOp::subtract, left, product(), offset, 1);
      else
        return left;
    }
  }
  size_t product() {
    size_t left = signed_value();
    for (;;) {
      const size_t offset = at_;
      if (take("*"))
        left = combine(FormulaOp::multiply, left, signed_value(), offset, 1);
      else if (take("/"))
        left = combine(FormulaOp::divide, left, signed_value(), offset, 1);
      else
        return left;
    }
  }
  size_t signed_value() {
    const size_t offset = at_;
    const Level level(*this, offset);
    if (take("+")) return signed_value();
    if (!take("-")) return power();
    const size_t value = signed_value();
    return combine(FormulaOp::negative, value, value, offset, 1);
  }
  size_t power() {
    const size_t base = primary(), offset = at_;
    if (!take("^")) return base;
    return combine(FormulaOp::power, base, signed_value(), offset, 1);
  }
  size_t primary() {
    if (at_ >= text_.size()) unexpected("a number or a name");
    const size_t opened = at_;
    const char c = text_[at_];
    if (take("(")) {
      const size_t inner = comparison();
      expect(")", opened);
      return inner;
    }
    if (starts_name(c)) return name();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    unexpected("a number or a name");
  }

  size_t number() {
    double value = 0.0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const auto length = static_cast<size_t>(end - begin);
    if (error == std::errc::result_out_of_range) stop(at_, length, "this number is too large or too small");
    if (error != std::errc()) unexpected("a number or a name");
    at_ += length;
    skip_space();
    return put({.number = value});
  }

  size_t name() {
    const size_t offset = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(offset, at_ - offset);
    skip_space();
    if (const auto* function = formula_word(kFormulaFunctions, word)) return call(*function, offset);
    if (const auto* variable = formula_word(kFormulaVariables, word)) {
      if (text_.substr(at_).starts_with('(')) no_function(word, offset);
      if (variable->op != FormulaOp::subtract) return put({.op = variable->op});
      const size_t i = put({.op = FormulaOp::i}), j = put({.op = FormulaOp::j});
      return put({.op = FormulaOp::subtract, .left = i, .right = j});
    }
    const auto known = std::find_if(names_.begin(), names_.end(), [&](const auto& n) { return n.name == word; });
    if (known == names_.end()) unknown_name(word, offset);
    return parameter(static_cast<size_t>(known - names_.begin()), offset);
  }
  [[noreturn]] void no_function(std::string_view word, size_t offset) const {
    stop(offset, word.size(), fmt::format("'{}' is no function", word),
         fmt::format("functions: {}; times is *, never left out", words_text(kFormulaFunctions)));
  }
  [[noreturn]] void unknown_name(std::string_view word, size_t offset) const {
    std::vector<std::string> all;
    for (const auto& n : names_) all.push_back(n.name);
    for (const auto& w : kFormulaVariables) all.emplace_back(w.name);
    for (const auto& w : kFormulaFunctions) all.emplace_back(w.name);
    const std::string near = nearest(word, all);
    if (text_.substr(at_).starts_with('(') && near.empty()) no_function(word, offset);
    stop(offset, word.size(), fmt::format("unknown name '{}'", word),
         fmt::format("{}names: {}", near.empty() ? "" : fmt::format("did you mean '{}'? ", near), join(all, ", ")));
  }
  size_t parameter(size_t which, size_t offset) {
    const auto& [word, table] = names_[which];
    out_.used[which] = true;
    if (text_.substr(at_).starts_with('(')) no_function(word, offset);
    const size_t opened = at_;
    if (!take("[")) {
      if (table)
        stop(offset, word.size(), fmt::format("'{}' is a table", word), fmt::format("name a row: {0}[…]", word));
      return put({.op = FormulaOp::parameter, .parameter = which});
    }
    if (!table)
      stop(opened, 1, fmt::format("'{}' is one number, without rows", word), "a table is a parameter with a size");
    const size_t row = comparison();
    expect("]", opened);
    return put({.op = FormulaOp::element, .parameter = which, .left = row, .right = row});
  }
  size_t call(const FormulaWord& function, size_t offset) {
    const size_t opened = at_;
    if (!take("(")) stop(offset, function.name.size(), fmt::format("'{0}' is a function: {0}(…)", function.name));
    const bool several = function.op == FormulaOp::min || function.op == FormulaOp::max;
    size_t value = comparison(), given = 1;
    for (; take(","); ++given) {
      const size_t more = comparison();
      if (several) value = combine(function.op, value, more, offset, function.name.size());
    }
    expect(")", opened);
    if (several ? given < 2 : given != 1)
      stop(offset, function.name.size(),
           fmt::format("{} takes {}, found {}", function.name, several ? "two values or more" : "one value", given));
    return several ? value : combine(function.op, value, value, offset, function.name.size());
  }

  std::string_view text_;
  std::span<const FormulaName> names_;
  size_t at_ = 0, depth_ = 0;
  Formula out_;
};

}  // namespace

std::variant<Formula, TextProblem> parse_formula(std::string_view text, std::span<const FormulaName> names) {
  return FormulaParser(text, names).parse();
}

std::optional<TextProblem> check_formula_name(std::string_view name) {
  if (formula_word(kFormulaVariables, name) != nullptr || formula_word(kFormulaFunctions, name) != nullptr)
    return TextProblem{0, name.size(), fmt::format("'{}' is taken: formulas know it already", name)};
  if (name.empty()) return TextProblem{0, 1, "the name is empty"};
  for (size_t n = 0; n < name.size(); ++n)
    if (n == 0 ? !starts_name(name[n]) : !continues_name(name[n]))
      return TextProblem{n, std::max<size_t>(code_point_at(name, n).bytes, 1),
                         "a name is made of letters, digits and _, and starts with a letter"};
  constexpr size_t kLongestName = 64;
  if (name.size() > kLongestName)
    return TextProblem{kLongestName, 1, fmt::format("a name has at most {} characters", kLongestName)};
  return std::nullopt;
}

}  // namespace ordo
