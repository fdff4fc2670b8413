// SPDX-License-Identifier: Apache-2.0
// Rules by which the examples of one set of files are divided into training, validation and test.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/data/batch.h"

namespace ordo {

struct SplitKey {
  int64_t number = 0;     // of the example in its file, from 0
  std::string_view text;  // what must not stand on both sides: the source of a pair, a text to be classified
  std::map<std::string, std::string> names = {};  // what else is known of it ("speaker": "theo")
};

struct SplitFacts {
  uint64_t seed = 0;
};

class SplitRule {
 public:
  virtual ~SplitRule() = default;
  // Of all examples of one file, in their order. Throws DataError when they lack what it goes by.
  virtual std::vector<Split> divide(const std::vector<SplitKey>& examples) const = 0;
  virtual bool gives(Split split) const = 0;
  virtual bool drawn() const { return false; }  // another seed divides otherwise
};

using SplitCatalog = Catalog<SplitRule, SplitFacts>;
const SplitCatalog& splits();  // number, hash, share, tail, name
template <>
const Kinds& kinds_of<SplitRule>();

}  // namespace ordo
