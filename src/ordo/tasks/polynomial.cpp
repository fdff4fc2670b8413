// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/polynomial.h"

#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

bool is_prime(int64_t n) {
  for (int64_t divisor = 2; divisor * divisor <= n; ++divisor)
    if (n % divisor == 0) return false;
  return n > 1;
}

}  // namespace

void fields(Fields& f, Polynomial::Config& c) {
  f("modulus", c.modulus, "a prime; x and the coefficients are 0 to modulus - 1", within(2, kMostSymbols));
  drawn_fields(f, c.drawn, Asks::label);
}

Polynomial::Polynomial(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, numbered_symbols(config.modulus)), config_(config) {
  int64_t larger = config.modulus;
  while (!is_prime(larger)) ++larger;
  require<ConfigError>(larger == config.modulus, "task.modulus ({}) must be a prime; the next one is {}",
                       config.modulus, larger);
}

Example Polynomial::example(KeyedSequence& draw, int64_t size) const {
  auto given = draw_row(draw, given_length(size), config_.modulus);
  int64_t value = 0;
  for (size_t i = 1; i < given.size(); ++i) value = (value * given[0] + given[i]) % config_.modulus;
  return {std::move(given), {value}};
}

}  // namespace ordo
