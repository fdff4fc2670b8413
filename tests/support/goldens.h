// SPDX-License-Identifier: Apache-2.0
// Reference numbers of independent implementations, from tests/goldens/<set> or, with ORDO_GOLDENS set, from another
// folder of the same form.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/json.h"
#include "support/tolerance.h"

namespace ordo::test {

// One case of a manifest: its settings, and tensors that are read when they are asked for.
class GoldenCase {
 public:
  GoldenCase(Json entry, std::filesystem::path folder) : entry_(std::move(entry)), folder_(std::move(folder)) {}
  std::string id() const { return entry_.at("id"); }
  std::string family() const { return entry_.at("pe"); }
  const Json& params() const { return entry_.at("params"); }
  bool has(const std::string& tensor) const { return entry_.at("tensors").contains(tensor); }
  std::vector<std::string> outputs() const;  // the names of what is to be compared
  at::Tensor tensor(const std::string& name) const;
  Tolerance tolerance(const std::string& tensor) const;  // its own, else the case's

  // A setting, or what it is when the case does not name it.
  template <class T>
  T param(const char* name, const T& absent) const {
    return params().contains(name) ? params().at(name).get<T>() : absent;
  }

 private:
  Json entry_;
  std::filesystem::path folder_;
};

// The cases of one family ("rope") of a set ("positions"). What another folder than the tests' own lacks is left out
// with a word on stderr.
std::vector<GoldenCase> goldens(const std::string& set, std::string_view family);
// Whether $ORDO_GOLDENS names another folder: it need not hold every case.
bool goldens_elsewhere();

// Every tensor of a safetensors file by name. Small files only: they are read whole.
std::map<std::string, at::Tensor> read_golden_file(const std::filesystem::path& file);

}  // namespace ordo::test
