// SPDX-License-Identifier: Apache-2.0
// Rules by which the examples of one set of files are divided into training, validation and test.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/data/batch.h"

namespace ordo {

inline constexpr Split kSplits[] = {Split::train, Split::validation, Split::test};

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

// Of all examples of one file; what the rule refuses is told with the file's name.
std::vector<Split> divided(const SplitRule& rule, const std::vector<SplitKey>& examples, const std::string& file);
template <class T>
void move_apart(std::vector<T>&& examples, const std::vector<Split>& to, std::array<std::vector<T>, 3>& into) {
  for (size_t i = 0; i < examples.size(); ++i) into[static_cast<size_t>(to[i])].push_back(std::move(examples[i]));
}

using SplitCatalog = Catalog<SplitRule, SplitFacts>;
const SplitCatalog& splits();  // number, hash, share, tail, name
template <>
const Kinds& kinds_of<SplitRule>();

}  // namespace ordo
