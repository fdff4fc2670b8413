// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>

#include "ordo/positions/expression_parser.h"

namespace ordo::test {

namespace {

const std::vector<FormulaName>& formula_test_names() {
  static const std::vector<FormulaName> kNames{{"a"}, {"b"}, {"t", true}};
  return kNames;
}

std::variant<Formula, TextProblem> read_formula(std::string_view text) {
  return parse_formula(text, formula_test_names());
}

// The value of a formula of numbers alone, which the parser computes.
double number_of(std::string_view text) {
  INFO(text);
  const auto read = read_formula(text);
  if (const auto* problem = std::get_if<TextProblem>(&read)) FAIL(problem->offset << ": " << problem->text);
  const FormulaNode& whole = std::get<Formula>(read).nodes.back();
  REQUIRE(whole.op == FormulaOp::number);
  return whole.number;
}

TextProblem problem_of(std::string_view text) {
  const auto read = read_formula(text);
  INFO(text.substr(0, 100));
  REQUIRE(std::holds_alternative<TextProblem>(read));
  return std::get<TextProblem>(read);
}

bool by_difference(std::string_view text) {
  INFO(text);
  const auto read = read_formula(text);
  REQUIRE(std::holds_alternative<Formula>(read));
  return std::get<Formula>(read).depends_on_difference();
}

}  // namespace

TEST_CASE("formula: operators bind as in mathematics", "[unit]") {
  CHECK(number_of("2 + 3*4") == 14.0);
  CHECK(number_of("(2 + 3)*4") == 20.0);
  CHECK(number_of("2 - 3 - 4") == -5.0);
  CHECK(number_of("24/4/2") == 3.0);
  CHECK(number_of("2*3^2") == 18.0);
  CHECK(number_of("1 + 1 < 3") == 1.0);
  CHECK(number_of("1 + 2 == 4 - 1") == 1.0);
}

TEST_CASE("formula: powers group to the right, and a sign stands outside of them", "[unit]") {
  CHECK(number_of("2^3^2") == 512.0);
  CHECK(number_of("-2^2") == -4.0);
  CHECK(number_of("(-2)^2") == 4.0);
  CHECK(number_of("2^-1") == 0.5);
  CHECK(number_of("2^-2^2") == 0.0625);
  CHECK(number_of("3 - -2") == 5.0);
  CHECK(number_of("--2") == 2.0);
  CHECK(number_of("+2*-3") == -6.0);
}

TEST_CASE("formula: numbers are written as anywhere", "[unit]") {
  CHECK(number_of("1e-4") == 1e-4);
  CHECK(number_of(" .5\t") == 0.5);
  CHECK(number_of("2.") == 2.0);
  CHECK(number_of("1.5E+2\n") == 150.0);
}

TEST_CASE("formula: comparisons give 1 or 0", "[unit]") {
  CHECK(number_of("2 < 3") == 1.0);
  CHECK(number_of("3 < 3") == 0.0);
  CHECK(number_of("3 <= 3") == 1.0);
  CHECK(number_of("2 > 3") == 0.0);
  CHECK(number_of("3 >= 4") == 0.0);
  CHECK(number_of("3 == 3") == 1.0);
  CHECK(number_of("3 != 3") == 0.0);
}

TEST_CASE("formula: functions nest, and min and max take any number of values", "[unit]") {
  CHECK(number_of("abs(-3)") == 3.0);
  CHECK(number_of("log(exp(2))") == Approx(2.0));
  CHECK(number_of("sqrt(9) + floor(2.7) - cos(0)") == 4.0);
  CHECK(number_of("sin(0)") == 0.0);
  CHECK(number_of("min(4, 2, 3)") == 2.0);
  CHECK(number_of("max(1, min(5, 3), -2)") == 3.0);
}

TEST_CASE("formula: each mistake is told at its byte", "[unit]") {
  struct Mistake {
    std::string_view text;
    size_t offset, length;
    std::string_view says;
  };
  for (const auto& [text, offset, length, says] : std::vector<Mistake>{{"", 0, 1, "empty"},
                                                                       {"  ", 0, 1, "empty"},
                                                                       {"1 +", 3, 1, "ends where"},
                                                                       {"a * (b + 1", 4, 1, "never closed"},
                                                                       {"a)", 1, 1, "found ')'"},
                                                                       {"2 i", 2, 1, "found 'i'"},
                                                                       {"a ** 2", 3, 1, "found '*'"},
                                                                       {"a = b", 2, 1, "found '='"},
                                                                       {"1 < a < 2", 6, 1, "found '<'"},
                                                                       {"a − b", 2, 3, "found '−'"},
                                                                       {"lgo(a)", 0, 3, "unknown name 'lgo'"},
                                                                       {"1 + abs(a, b)", 4, 3, "one value, found 2"},
                                                                       {"min(a)", 0, 3, "two values or more, found 1"},
                                                                       {"abs()", 4, 1, "found ')'"},
                                                                       {"log + 1", 0, 3, "is a function"},
                                                                       {"a(i)", 0, 1, "'a' is no function"},
                                                                       {"i(3)", 0, 1, "'i' is no function"},
                                                                       {"a[0]", 1, 1, "without rows"},
                                                                       {"1 + t", 4, 1, "is a table"},
                                                                       {"t[0", 1, 1, "never closed"},
                                                                       {"1 + 2/0", 5, 1, "not finite"},
                                                                       {"log(0)", 0, 3, "not finite"},
                                                                       {"1e999", 0, 5, "too large"},
                                                                       {".", 0, 1, "found '.'"},
                                                                       {"a; b", 1, 1, "found ';'"}}) {
    INFO(text);
    const TextProblem problem = problem_of(text);
    CHECK(problem.offset == offset);
    CHECK(problem.length == length);
    CHECK_THAT(problem.text, Catch::Contains(std::string(says)));
  }
}

TEST_CASE("formula: hints say what was meant", "[unit]") {
  CHECK_THAT(problem_of("lgo(a)").hint, Catch::Contains("did you mean 'log'?"));
  CHECK_THAT(problem_of("dist").hint, Catch::Contains("a, b, t, i, j, distance"));
  CHECK_THAT(problem_of("a = b").hint, Catch::Contains("=="));
  CHECK_THAT(problem_of("2 i").hint, Catch::Contains("never left out"));
  CHECK_THAT(problem_of("a ** 2").hint, Catch::Contains("a^b"));
}

TEST_CASE("formula: nesting without end, and length without end, are mistakes like any other", "[unit]") {
  for (const std::string& bracket : {std::string("("), std::string("-"), std::string("abs("), std::string("2^"),
                                     std::string("t["), std::string("min(1,")}) {
    std::string deep;
    while (deep.size() < kLongestFormula / 2) deep += bracket;
    INFO(bracket);
    CHECK_THAT(problem_of(deep).text, Catch::Contains("nested deeper than"));
    while (deep.size() < 100'000) deep += bracket;
    CHECK_THAT(problem_of(deep).text, Catch::Contains("longer than"));
  }
}

TEST_CASE("formula: as many terms as fit are read", "[unit]") {
  std::string text = "0";
  while (text.size() + 2 <= kLongestFormula) text += "+1";
  CHECK(number_of(text) == static_cast<double>((text.size() - 1) / 2));
}

TEST_CASE("formula: a shift that changes nothing is found where the tree shows it", "[unit]") {
  for (const auto* text : {"i - j",
                           "distance",
                           "-a*abs(j - i)",
                           "log(1 + b*abs(distance))",
                           "h/H",
                           "a",
                           "3",
                           "2*i - 2*j",
                           "(i - j)^2",
                           "i >= j",
                           "(i < j)*a",
                           "min(i, j) - j",
                           "max(i, j) - min(i, j)",
                           "floor(i) - j",
                           "floor(distance/2)",
                           "t[min(abs(i - j), 3)]",
                           "(i + j)/2 - j",
                           "i + -j",
                           "0.5*i - j/2",
                           "cos(i - j)",
                           "i == j"})
    CHECK(by_difference(text));
  for (const auto* text :
       {"i", "j", "i + j", "i*j", "log(i + 1)", "i/max(j, 1)", "length", "distance/length", "floor(i/2) - floor(j/2)",
        "a*i - a*j", "i^1 - j", "i >= 3", "2*i - j", "t[i]", "cos(i)", "min(i, 3) - j", "log(i + 1) - log(j + 1)"})
    CHECK_FALSE(by_difference(text));
}

TEST_CASE("formula: it says which names it uses", "[unit]") {
  const auto read = read_formula("a + t[length]");
  const Formula& formula = std::get<Formula>(read);
  CHECK(formula.used == std::vector<bool>{true, false, true});
  CHECK(formula.uses(FormulaOp::length));
  CHECK_FALSE(formula.uses(FormulaOp::i));
}

TEST_CASE("formula: names of parameters are words that formulas do not know", "[unit]") {
  for (const auto* name : {"a", "slope_2", "_x", "I"}) CHECK_FALSE(check_formula_name(name).has_value());
  for (const auto* name : {"i", "j", "h", "H", "distance", "length", "log", "max"})
    CHECK_THAT(check_formula_name(name).value().text, Catch::Contains("taken"));
  CHECK(check_formula_name("2a").value().offset == 0);
  CHECK(check_formula_name("a-b").value().offset == 1);
  CHECK(check_formula_name("aé").value().length == 2);
  CHECK(check_formula_name("").has_value());
  CHECK(check_formula_name(std::string(65, 'a')).value().offset == 64);
}

}  // namespace ordo::test
