// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue_examples.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ordo/core/utf8.h"
#include "ordo/ops/fused_loss.h"

namespace ordo {

namespace {

// [rows, length], `with` behind the shorter ones.
Tensor filled_rows(const std::vector<std::vector<int64_t>>& rows, size_t length, int64_t with) {
  Tensor all = at::full({std::ssize(rows), static_cast<int64_t>(length)}, with, at::kLong);
  int64_t* place = all.data_ptr<int64_t>();
  for (const auto& row : rows) {
    std::copy(row.begin(), row.end(), place);
    place += length;
  }
  return all;
}

}  // namespace

DialogueExamples::DialogueExamples(const DialogueLayout& layout, std::vector<EncodedDialogue> dialogues, int64_t length)
    : layout_(layout), dialogues_(std::move(dialogues)) {
  const auto refusal = layout.refuses_length(length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  for (size_t i = 0; i < dialogues_.size(); ++i) {
    auto& turns = dialogues_[i].turns;
    for (Turn& turn : turns) {
      turn = layout.fitted(std::move(turn), length);
      cut_turns_ += turn.cut ? 1 : 0;
    }
    for (const TurnWindow& window : layout.windows(turns, length)) {
      int64_t tokens = 0;  // the start mark is read, the last end mark is not
      for (size_t turn = window.first; turn < window.end; ++turn) tokens += turns[turn].size();
      windows_.push_back({.dialogue = i, .turns = window, .tokens = tokens});
    }
  }
}

TurnRow DialogueExamples::row(uint64_t number) const {
  const Window& window = windows_[number];
  return layout_.row(dialogues_[window.dialogue].turns, window.turns);
}

Batch DialogueExamples::batch(std::span<const uint64_t> numbers) const {
  std::vector<std::vector<int64_t>> ids, targets;
  size_t longest = 0;
  for (const uint64_t number : numbers) {
    TurnRow made = row(number);
    longest = std::max(longest, made.ids.size());
    ids.push_back(std::move(made.ids));
    targets.push_back(std::move(made.targets));
  }
  // What a causal model reads before padding does not see it: no mask is needed.
  Batch batch{.ids = filled_rows(ids, longest, layout_.end()), .targets = filled_rows(targets, longest, kIgnore)};
  batch.at = consecutive(0, batch.ids.size(1), at::kCPU);
  batch.weight = batch.targets.ne(kIgnore).sum().item<double>();
  return batch;
}

std::string DialogueExamples::name(uint64_t number) const {
  const Window& window = windows_[number];
  return fmt::format("{}: turns {} to {}", dialogues_[window.dialogue].where, window.turns.first + 1, window.turns.end);
}

int64_t DialogueExamples::characters(uint64_t number) const {
  const Window& window = windows_[number];
  const auto& turns = dialogues_[window.dialogue].turns;
  int64_t count = 0;
  for (size_t i = window.turns.judged; i < window.turns.end; ++i) {
    if (turns[i].speaker != layout_.answers()) continue;
    std::vector<int64_t> known;
    for (const int64_t id : turns[i].ids) (id == layout_.unknown() ? void(++count) : known.push_back(id));
    each_character(layout_.tokenizer().decode(known), [&](char32_t, std::string_view) { ++count; });
  }
  return count;
}

}  // namespace ordo
