// SPDX-License-Identifier: Apache-2.0
// Small models of dialogues.
#pragma once
#include <memory>
#include <string>

#include "ordo/config/config.h"
#include "ordo/tasks/dialogue.h"

namespace ordo::test {

struct DialogueTaskFile {
  Choice<Task> task;
};
inline void fields(Fields& f, DialogueTaskFile& c) { f("task", c.task, "task"); }
struct DialogueModelFile {
  Choice<Model> model;
};
inline void fields(Fields& f, DialogueModelFile& c) { f("model", c.model, "model"); }

// Settings as in a config file, after `kind`.
inline std::shared_ptr<Dialogue> dialogue_task(const std::string& settings, const TaskFacts& facts = {.seed = 1}) {
  DialogueTaskFile file;
  load_config_text("task: {kind: dialogue, " + settings + "}", walk_of(file), {});
  return std::dynamic_pointer_cast<Dialogue>(tasks().build(file.task, facts));
}

// Weights large enough that its choices differ.
inline std::shared_ptr<Model> dialogue_model(const Task& task, const std::string& position, int64_t length) {
  DialogueModelFile file;
  load_config_text(
      "model: {kind: decoder, dim: 16, layers: 2, attention: {heads: 2}, init: {std: 0.3}, position: " + position + "}",
      walk_of(file), {});
  return models().build(file.model, task.complete({.max_length = length, .seed = 3}));
}

}  // namespace ordo::test
