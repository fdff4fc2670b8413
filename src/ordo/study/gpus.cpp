// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/gpus.h"

#include <dlfcn.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "ordo/study/processes.h"

namespace ordo {

namespace {

bool driver_there() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);  // loading it does not start it
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

}  // namespace

std::vector<std::string> gpu_names(int count, const char* visible) {
  std::vector<std::string> names;
  if (visible != nullptr && *visible != '\0') names = split(visible, ',');
  for (int i = static_cast<int>(names.size()); visible == nullptr && i < count; ++i) names.push_back(std::to_string(i));
  if (names.size() > static_cast<size_t>(count)) names.resize(static_cast<size_t>(count));
  return names;
}

std::vector<std::string> gpus_to_share() {
  if (!driver_there()) return {};
  Child doctor({.words = {"doctor", "--json"}, .captured = true});
  if (doctor.wait().code != 0) return {};
  const Json facts = parse_json(doctor.output(), "ordo doctor --json");
  const Json& driver = facts.at("driver");
  return driver.at("usable").get<bool>()
             ? gpu_names(driver.at("devices").get<int>(), std::getenv("CUDA_VISIBLE_DEVICES"))
             : std::vector<std::string>();
}

}  // namespace ordo
