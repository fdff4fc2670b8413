// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue_data.h"

#include <fmt/format.h>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/data/mixture.h"
#include "ordo/data/text_file.h"

namespace ordo {

namespace {

constexpr NamedValue kDialogueFormats[] = {{"automatic", static_cast<int>(DialogueFormat::automatic)},
                                           {"sgd", static_cast<int>(DialogueFormat::sgd)},
                                           {"crosswoz", static_cast<int>(DialogueFormat::crosswoz)},
                                           {"jsonl", static_cast<int>(DialogueFormat::jsonl)}};

const std::vector<fs::path>& dialogue_files_of(const DialogueData& c, Split split) {
  return split == Split::train ? c.train : split == Split::validation ? c.validation : c.test;
}

void divide_dialogues(std::vector<FiledDialogue>&& file, const SplitRule& rule, const fs::path& path,
                      DialogueTexts& made) {
  std::vector<SplitKey> keys;
  std::vector<std::string> texts(file.size());
  for (size_t i = 0; i < file.size(); ++i) {
    for (const auto& turn : file[i].spoken.turns) texts[i] += turn.text + "\n";
    keys.push_back({.number = file[i].number, .text = texts[i]});
  }
  const auto splits = divided(rule, keys, path.string());
  for (size_t i = 0; i < file.size(); ++i)
    made.splits[static_cast<size_t>(splits[i])].push_back(std::move(file[i].spoken));
}

DialogueTexts made_dialogues(const RecallConfig& c, uint64_t seed) {
  DialogueTexts made;
  for (const Split split : kSplits) {
    const uint64_t key = key_of(seed, fmt::format("recall dialogues {}", split_name(split)));
    const int64_t count = split == Split::train ? c.dialogues : c.held_out;
    for (int64_t i = 0; i < count; ++i)
      made.splits[static_cast<size_t>(split)].push_back(recall_dialogue(key, static_cast<uint64_t>(i), c.exchanges));
  }
  return made;
}

}  // namespace

void fields(Fields& f, DialogueData& c) {
  f("train", c.train, "files of dialogues (.json, .jsonl, .gz or .zst behind it or not); with task.split divided");
  f("weights", c.weights, kWeightsHelp, above(0.0));
  f("validation", c.validation, "files of the validation split");
  f("test", c.test, "files of the test split");
  f("format", c.format,
    R"(what the files are; automatic: by how they begin. jsonl: a dialogue a line, {"turns": [{"role": "user" or )"
    R"("system", "text": "…"}, …]}; sgd and crosswoz: JSON of these collections)",
    kDialogueFormats);
  f("on_bad_line", c.on_bad_line, "a dialogue that cannot be read ends the run, or is left out and counted",
    kOnBadLine);
  f("generate", c.generate, "in place of files: dialogues that are made, of things put somewhere and asked for later");
}

bool has_split(const DialogueData& c, const SplitRule* rule, Split split) {
  return split == Split::train || c.generate || !dialogue_files_of(c, split).empty() ||
         (rule != nullptr && rule->gives(split));
}

std::string contradiction(const DialogueData& c, const SplitRule* rule) {
  if (c.train.empty() && !c.generate) return "task.data.train is missing: files of dialogues";
  for (const Split split : kSplits) {
    const bool files = !dialogue_files_of(c, split).empty();
    if (c.generate && files)
      return fmt::format("task.data.generate and task.data.{} contradict: dialogues are either made or read",
                         split_name(split));
    if (split != Split::train && files && rule != nullptr && rule->gives(split))
      return fmt::format(
          "task.split takes the {0} split from task.data.train, and task.data.{0} names files of it: "
          "give one of them",
          split_name(split));
  }
  if (auto wrong = wrong_weights(c.weights, c.train.size(), "task.data"); !wrong.empty()) return wrong;
  if (c.generate && rule != nullptr)
    return "task.split divides files, and task.data.generate makes each split by itself: leave one out";
  return {};
}

DialogueTexts read_dialogue_texts(const DialogueData& config, const SplitRule* rule, uint64_t seed) {
  if (config.generate) return made_dialogues(*config.generate, seed);
  BadLines bad(config.on_bad_line);
  DialogueTexts made;
  for (const Split split : kSplits) {
    auto& dialogues = made.splits[static_cast<size_t>(split)];
    for (const auto& [path, entry] : expand_entries(dialogue_files_of(config, split))) {
      auto file = read_dialogues(path, config.format, bad);
      for (auto& dialogue : file) dialogue.spoken.entry = entry;
      if (split == Split::train && rule != nullptr) {
        divide_dialogues(std::move(file), *rule, path, made);
        continue;
      }
      for (auto& dialogue : file) dialogues.push_back(std::move(dialogue.spoken));
    }
  }
  for (const Split split : kSplits)
    require<DataError>(!has_split(config, rule, split) || !made.splits[static_cast<size_t>(split)].empty(),
                       "task.split leaves no dialogue for the {} split", split_name(split));
  made.left_out = bad.sentence();
  return made;
}

}  // namespace ordo
