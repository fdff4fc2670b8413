// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/addition.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

constexpr NamedValue kReversals[] = {{"none", static_cast<int>(Reversed::none)},
                                     {"sum", static_cast<int>(Reversed::sum)},
                                     {"all", static_cast<int>(Reversed::all)}};

// Digits of the sum of two numbers of equally many, all with the last digit first.
std::vector<int64_t> digits_of_sum(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t base) {
  std::vector<int64_t> sum;
  int64_t carry = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t total = a[i] + b[i] + carry;
    sum.push_back(total % base);
    carry = total / base;
  }
  sum.push_back(carry);
  return sum;
}

}  // namespace

void fields(Fields& f, Addition::Config& c) {
  f("reversed", c.reversed, "numbers written with their last digit first: none, the sum, or all", kReversals);
  f("base", c.base, "digits are 0 to base - 1", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::sequence);
}

Addition::Addition(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::sequence, joined(numbered_symbols(config.base), {"+"})), config_(config) {}

Example Addition::example(KeyedSequence& draw, int64_t size) const {
  auto a = draw_row(draw, size, config_.base), b = draw_row(draw, size, config_.base);
  auto sum = digits_of_sum(a, b, config_.base);
  if (config_.reversed == Reversed::none) std::reverse(sum.begin(), sum.end());
  if (config_.reversed != Reversed::all) {
    std::reverse(a.begin(), a.end());
    std::reverse(b.begin(), b.end());
  }
  const int64_t plus = config_.base;
  a.push_back(plus);
  a.insert(a.end(), b.begin(), b.end());
  return {std::move(a), std::move(sum)};
}

}  // namespace ordo
