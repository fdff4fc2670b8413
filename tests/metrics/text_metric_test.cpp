// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/text_metric.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"
#include "ordo/metrics/chrf.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

// The signature's first part after examples with these numbers of references.
std::string references_signed(const std::vector<size_t>& counts) {
  Chrf metric;
  for (const size_t count : counts) metric.add("a", std::vector<std::string>(count, "a"));
  return metric.signature().substr(0, metric.signature().find('|'));
}

}  // namespace

TEST_CASE("text metric: the signature counts references, and says where they vary", "[unit]") {
  CHECK(references_signed({}) == "nrefs:1");
  CHECK(references_signed({3, 3}) == "nrefs:3");
  CHECK(references_signed({1, 2, 2}) == "nrefs:var");
}

TEST_CASE("text metric: an example without any reference is refused with its number", "[unit]") {
  Chrf metric;
  metric.add("a", std::vector<std::string>{""});
  const std::string said = thrown<DataError>([&] { metric.add("b", {}); });
  CHECK(said.find("example 2 has no reference") != std::string::npos);
  CHECK(metric.examples() == 1);
}

}  // namespace ordo::test
