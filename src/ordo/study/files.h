// SPDX-License-Identifier: Apache-2.0
// What a study was read from: texts and places for messages, trees of its base configs.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "ordo/config/layers.h"
#include "ordo/config/node.h"
#include "ordo/study/study.h"

namespace ordo {

struct StudyFiles {
  Problems read;  // the study's texts, and where each of its keys stands
  Folders folders;
  std::map<std::string, Node> bases;  // by path, as in StudyConfig::base and Level::base
};

// A problem at a key of the study ("claims.0.length"), or the nearest key above it that is there.
void add_at_key(Problems& problems, const StudyConfig& study, std::string_view path, std::string text,
                std::string hint = "");

}  // namespace ordo
