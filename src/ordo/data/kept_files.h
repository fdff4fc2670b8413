// SPDX-License-Identifier: Apache-2.0
// What was made of files last. A run makes many tasks of one config (to check it, to size it, to train it), and the
// plan of a study those of many runs: they share what was read.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "ordo/config/config.h"
#include "ordo/core/files.h"

namespace ordo {

inline constexpr size_t kKeptValues = 4;  // tasks of a study that are read in turns

// All settings of a config in one line, defaults too: equal for equal ones.
std::string settings_text(const Walk& walk);
template <class C>
std::string settings_text(C config) {
  return settings_text(walk_of(config));
}

// Use kept_files.
std::shared_ptr<const void> kept_value(const std::string& name, const std::vector<fs::path>& sources,
                                       const std::function<std::shared_ptr<const void>()>& make);

// What `make` gives, or gave: the last kKeptValues of a process are kept. `name` says of what settings it was made;
// `sources` are all the files behind it, or folders of such: it is made again once one of them has another size or
// time, is new or gone. Safe to call from several threads, and from within `make`; two threads that ask for one thing
// at once may both make it.
template <class T>
std::shared_ptr<const T> kept_files(const std::string& name, const std::vector<fs::path>& sources,
                                    const std::function<T()>& make) {
  return std::static_pointer_cast<const T>(
      kept_value(typeid(T).name() + ("|" + name), sources, [&] { return std::make_shared<const T>(make()); }));
}

}  // namespace ordo
