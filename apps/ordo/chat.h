// SPDX-License-Identifier: Apache-2.0
// ordo generate RUN --chat: the user's turns are read line by line, each is answered.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ordo/tasks/chat.h"
#include "ordo/tasks/text_writer.h"

namespace ordo::cli {

struct ChatCall {
  Ensemble models;
  const TextWriter& writer;  // of a task with dialogues
  ChatConfig config;
  std::optional<std::string> file;  // of the turns; nothing: standard input
  bool json = false;                // one document with all turns at the end
  Json about;                       // what stands before the turns there
};
int chat(const ChatCall& call);  // the exit code

}  // namespace ordo::cli
