// SPDX-License-Identifier: Apache-2.0
// Numbers that tests/goldens/statistics/make.py computed with scipy.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/catch.h"

namespace ordo::test {

inline Json stored(const std::string& name) {
  const fs::path file = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/statistics" / (name + ".json");
  return parse_json(read_file(file), file.string());
}

inline std::vector<double> numbers(const Json& list) { return list.get<std::vector<double>>(); }

// One part of them, by value: what a loop goes over must outlive it.
inline Json stored(const std::string& name, const std::string& part) { return stored(name).at(part); }

// Equal to nine digits, both computations being in double precision.
inline Approx nearly(const Json& expected) { return Approx(expected.get<double>()).epsilon(1e-9).margin(1e-12); }

}  // namespace ordo::test
