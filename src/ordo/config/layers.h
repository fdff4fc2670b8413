// SPDX-License-Identifier: Apache-2.0
// Settings of one file laid over another file: what a study does with its base configs.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ordo/config/config.h"
#include "ordo/config/reader.h"
#include "ordo/core/files.h"

namespace ordo {

// A key of a config with a value for it, as YAML on one line: {"model.position", "{kind: rope}"}.
struct Setting {
  std::string path, value;
  Source at;                              // of the key
  std::shared_ptr<const Node> node = {};  // the value with its own places; null: read from `value`, all of it at `at`
};

// A config file as a tree, with what it includes; its folder and those of the included files are added to `folders`.
// Nothing when it is no YAML, which is told to the problems. Throws ConfigError when it cannot be read.
std::optional<Node> read_tree(const fs::path& file, Folders& folders, Problems& problems);
// Broader keys first, else in their order: what is written later wins. Relative paths stay those of the file in which
// they are written, and what is wrong is shown there.
void lay_over(Node& root, std::span<const Setting> settings, Problems& problems);
// The node as YAML on one line.
std::string inline_yaml(const Node& node);

}  // namespace ordo
