// SPDX-License-Identifier: Apache-2.0
// libFuzzer over reading, overriding, including and dumping. The input is a config, then overrides, with bytes 0xFF
// between them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "config/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == 0xFF)
      parts.emplace_back();
    else
      parts.back() += static_cast<char>(data[i]);
  }
  const std::vector<std::string> overrides(parts.begin() + 1, parts.end());
  ordo::sample::Loaded loaded;
  try {
    loaded = ordo::sample::load(parts.front(), overrides);
  } catch (const ordo::ConfigError&) {
    return 0;
  }
  // What was accepted is written as YAML that reads back to the same.
  const std::string dumped = ordo::dump_yaml(ordo::walk_of(loaded.root), &loaded.sources);
  ordo::sample::Loaded back = ordo::sample::load(dumped);
  if (!ordo::differ(ordo::walk_of(loaded.root), ordo::walk_of(back.root)).empty()) {
    std::fputs(dumped.c_str(), stderr);
    std::abort();
  }
  return 0;
}
