// SPDX-License-Identifier: Apache-2.0
// Numbers of sacreBLEU, rouge-score, jiwer and scikit-learn, from tests/goldens/metrics/make.py.
#pragma once
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/metrics/text_metric.h"
#include "support/catch.h"

namespace ordo::test {

inline Json stored(const std::string& name) {
  const fs::path file = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/metrics" / (name + ".json");
  return parse_json(read_file(file), file.string());
}

// One part of them, by value: what a loop goes over must outlive it.
inline Json stored(const std::string& name, const std::string& part) { return stored(name).at(part); }

// Numbers, null being NaN.
inline double number(const Json& value) { return value.is_null() ? kNoNumber : value.get<double>(); }

inline std::vector<double> numbers(const Json& list) {
  std::vector<double> found;
  for (const Json& value : list) found.push_back(number(value));
  return found;
}

// To 1e-9, or both NaN.
inline bool same(double found, const Json& expected) {
  const double wanted = number(expected);
  if (std::isnan(wanted)) return std::isnan(found);
  return std::abs(found - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
}

inline std::map<std::string, double> values_of(const ExampleMetric& metric, std::vector<double> weights = {}) {
  weights.resize(static_cast<size_t>(metric.examples()), weights.empty() ? 1.0 : 0.0);
  const std::vector<double> values = metric.values(weights);
  std::map<std::string, double> named;
  for (size_t i = 0; i < values.size(); ++i) named[metric.names().at(i)] = values[i];
  return named;
}

inline std::string hypothesis_of(const Json& example) { return example.at("hypothesis"); }
inline std::vector<std::string> references_of(const Json& example) { return example.at("references"); }

// A metric of a stored corpus of texts, whose numbers are compared with the stored ones: the first value, the
// signature but for its version, and for the first column of each example the sentence score.
template <class Metric>
void check_corpus(const Json& corpus, const std::string& name, Metric metric, const std::string& sentences = {}) {
  for (const Json& example : corpus.at("examples")) metric.add(hypothesis_of(example), references_of(example));
  INFO(corpus.at("examples").dump());
  const double expected = corpus.at("scores").at(name), found = values_of(metric).at(metric.names().front());
  INFO(name << ": expected " << expected << ", found " << found);
  CHECK(same(found, expected));
  if (corpus.at("signatures").contains(name)) {
    CHECK(metric.signature() ==
          corpus.at("signatures").at(name).get<std::string>() + "|version:ordo-" + std::string(ORDO_VERSION));
  }
  if (sentences.empty()) return;
  for (int64_t i = 0; i < metric.examples(); ++i) {
    const Json& sentence = corpus.at("sentences").at(sentences).at(static_cast<size_t>(i));
    INFO("example " << i << ": expected " << sentence << ", found " << metric.example(i).front());
    CHECK(same(metric.example(i).front(), sentence));
  }
}

}  // namespace ordo::test
