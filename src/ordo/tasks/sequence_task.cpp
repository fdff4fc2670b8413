// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/sequence_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/data/streams.h"
#include "ordo/tasks/measured.h"
#include "ordo/tasks/scores.h"

namespace ordo {

namespace {

// A causal row begins with the mark `start`: in front of equal symbols a model without an encoding could not tell their
// number (Kazemnejad et al. 2023 build positions from it). A two-sided model does not know it.
enum Mark : int64_t { padding, equals, slot, question, start, marks };

// [rows, the longest of them], `with` behind the shorter ones.
Tensor filled(const std::vector<std::vector<int64_t>>& lists, int64_t with) {
  size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  const auto rows = static_cast<int64_t>(lists.size()), L = static_cast<int64_t>(longest);
  Tensor all = at::full({rows, L}, with, at::kLong);
  int64_t* place = all.data_ptr<int64_t>();
  for (const auto& list : lists) {
    std::copy(list.begin(), list.end(), place);
    place += L;
  }
  return all;
}

// Adds for each row the likeliest ids at its targets [B, L], which are on the CPU. A row at a time: whole logits of a
// batch may be large.
void add_likeliest(const Head& head, const Tensor& hidden, const Tensor& targets,
                   std::vector<std::vector<int64_t>>& likeliest) {
  for (int64_t row = 0; row < targets.size(0); ++row) {
    const Tensor asked = targets[row].ne(kIgnore).nonzero().squeeze(1).to(hidden.device());
    const Tensor best = head.logits(hidden[row].index_select(0, asked)).argmax(1).to(at::kCPU).contiguous();
    likeliest.emplace_back(best.const_data_ptr<int64_t>(), best.const_data_ptr<int64_t>() + best.numel());
  }
}

}  // namespace

SequenceTask::SequenceTask(const TaskFacts& facts, Asks asks, ReadAt read) : facts_(facts), asks_(asks), read_(read) {}

bool SequenceTask::reads_mean() const {
  if (asks_ != Asks::label || facts_.reads_source) return false;
  return read_ == ReadAt::mean || (read_ == ReadAt::automatic && !facts_.causal);
}

int64_t SequenceTask::row_length(int64_t size) const {
  if (facts_.reads_source) return std::max(given_length(size), asked_length(size));
  const int64_t given = given_length(size) + (facts_.causal ? 1 : 0), asked = asked_length(size);
  if (asks_ == Asks::each || reads_mean()) return given;
  if (asks_ == Asks::label) return given + 1;  // the closing ?
  return given + asked;  // causal: "=" and all but the last symbol asked; two-sided: a slot for each
}

ModelFacts SequenceTask::complete(ModelFacts facts) const {
  facts.vocab_size = static_cast<int64_t>(symbols().size()) + (facts_.causal ? marks : start);
  if (given_symbols() > 0) facts.source_vocab_size = given_symbols() + 1;  // padding behind them
  facts.max_length = row_length(facts.max_length);
  return facts;
}

std::optional<std::string> SequenceTask::refuses(const Model& model) const {
  ORDO_ASSERT(model.causal() == facts_.causal && model.reads_source() == facts_.reads_source);
  return std::nullopt;
}

// What is not asked is a dot; what the model writes there may be a mark.
std::string SequenceTask::words(const std::vector<int64_t>& ids) const {
  constexpr std::string_view kMarks[] = {"<padding>", "<equals>", "<slot>", "<question>", "<start>"};
  std::vector<std::string> list;
  for (const int64_t id : ids) {
    if (id == kIgnore)
      list.emplace_back(".");
    else if (id < std::ssize(symbols()))
      list.push_back(symbols()[static_cast<size_t>(id)]);
    else
      list.emplace_back(kMarks[id - std::ssize(symbols())]);
  }
  return join(list, " ");
}

std::string SequenceTask::text(const Example& example) const {
  return words(example.given) + " -> " + words(example.asked);
}

std::string SequenceTask::where(Split split, uint64_t index) const {
  return fmt::format("{} example {}", split_name(split), index);
}

// ---- rows ----

// The decoder's row is the answer, shifted by the mark of the start; a symbol that is not asked is fed as a slot.
void SequenceTask::lay_out_pair(const Example& e, Rows& rows) const {
  const auto V = static_cast<int64_t>(symbols().size());
  rows.sources.push_back(e.given);
  auto& row = rows.ids.emplace_back(1, V + start);
  for (size_t i = 0; i + 1 < e.asked.size(); ++i) row.push_back(e.asked[i] == kIgnore ? V + slot : e.asked[i]);
  rows.targets.push_back(e.asked);
}

void SequenceTask::lay_out(const Example& e, Rows& rows) const {
  ORDO_ASSERT(asks_ != Asks::label || e.asked.size() == 1);
  ORDO_ASSERT(asks_ != Asks::each || e.asked.size() == e.given.size());
  if (facts_.reads_source) return lay_out_pair(e, rows);
  const auto V = static_cast<int64_t>(symbols().size());
  auto& row = rows.ids.emplace_back();
  if (facts_.causal) row.push_back(V + start);
  row.insert(row.end(), e.given.begin(), e.given.end());
  auto& target = rows.targets.emplace_back(row.size(), kIgnore);
  if (reads_mean()) {
    target = e.asked;
  } else if (asks_ == Asks::each) {
    std::copy(e.asked.begin(), e.asked.end(), target.end() - std::ssize(e.asked));
  } else if (asks_ == Asks::label) {
    row.push_back(V + question);
    target.push_back(e.asked.front());
  } else {
    row.push_back(V + (facts_.causal ? equals : slot));
    for (size_t i = 0; i + 1 < e.asked.size(); ++i) row.push_back(facts_.causal ? e.asked[i] : V + slot);
    target.insert(target.end(), e.asked.begin(), e.asked.end());
  }
}

Batch SequenceTask::batch_of(const std::vector<Example>& examples) const {
  Rows rows;
  for (const auto& example : examples) lay_out(example, rows);
  const int64_t pad = static_cast<int64_t>(symbols().size()) + padding;
  Batch batch{.ids = filled(rows.ids, pad), .targets = filled(rows.targets, kIgnore)};
  batch.weight = batch.targets.ne(kIgnore).sum().item<double>();
  batch.at = consecutive(0, batch.ids.size(1), at::kCPU);
  const auto padded = [](const Tensor& ids, int64_t with) {  // undefined: none is
    const Tensor real = ids.ne(with);
    return real.all().item<bool>() ? Tensor() : real;
  };
  // A causal row does not see the padding behind it.
  if (!facts_.causal || reads_mean()) batch.mask.keys = padded(batch.ids, pad);
  if (!facts_.reads_source) return batch;
  const int64_t source_pad = given_symbols() > 0 ? given_symbols() : pad;
  batch.source.ids = filled(rows.sources, source_pad);
  batch.source.at = consecutive(0, batch.source.ids.size(1), at::kCPU);
  batch.source.keys = padded(batch.source.ids, source_pad);
  return batch;
}

Prompt SequenceTask::prompt_of(std::vector<int64_t> given) const {
  ORDO_ASSERT(facts_.causal && asks_ == Asks::sequence);
  const auto V = static_cast<int64_t>(symbols().size());
  if (facts_.reads_source) return {.ids = {V + start}, .source = std::move(given)};
  given.insert(given.begin(), V + start);
  given.push_back(V + equals);
  return {.ids = std::move(given)};
}

Tensor SequenceTask::judged(Model& model, const Batch& batch) const {
  const Tensor hidden = model.forward(input_of(batch));
  if (!reads_mean()) return hidden;
  if (!batch.mask.keys.defined()) return hidden.mean(1, /*keepdim=*/true);
  const Tensor real = batch.mask.keys.unsqueeze(-1).to(hidden.scalar_type());
  return (hidden * real).sum(1, /*keepdim=*/true) / real.sum(1, /*keepdim=*/true);
}

Loss SequenceTask::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  return {.sum = model.head().loss(judged(model, batch), batch.targets, options), .weight = batch.weight};
}

Evaluation SequenceTask::evaluate(Model& model, const StreamOptions& options) const {
  StreamOptions whole = options;
  whole.training = false;
  const auto stream = open(whole);
  const bool tells_each = options.details && tells_symbols();
  TokenScores scores(nullptr, {.outcomes = true, .examples = options.details});
  std::vector<std::vector<int64_t>> likeliest;
  const c10::NoGradGuard no_gradients;
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    const Batch there = to_device(*batch, model.head().weight().device());
    const Tensor hidden = judged(model, there);
    scores.judge(model.head(), hidden, there.targets, there.weight, never_right());
    if (tells_each) add_likeliest(model.head(), hidden, batch->targets, likeliest);
  }
  Evaluation made = scores.evaluation();
  made.protocol = "whole_examples";
  made.outcomes.twins = twins();
  if (asks_ == Asks::label) made.metrics.erase("exact_match");
  if (options.details) scores.examples().add_intervals(blocks_of(scores.examples().count(), twins()), made);
  if (tells_each) add_rows(options, scores.examples(), likeliest, made);
  return made;
}

void SequenceTask::add_rows(const StreamOptions& options, const TokenExamples& examples,
                            const std::vector<std::vector<int64_t>>& likeliest, Evaluation& made) const {
  for (int64_t i = 0; i < examples.count(); ++i) {
    const auto number = static_cast<uint64_t>(i);
    const Example example = held_out_example(options.split, number, options.length);
    std::vector<int64_t> shown = example.asked;  // with a dot wherever nothing is asked
    auto next = likeliest[number].begin();
    for (int64_t& id : shown) id = id == kIgnore ? kIgnore : *next++;
    Json told{{"given", words(example.given)},
              {"asked", words(example.asked)},
              {"likeliest", words(shown)},
              {"right", examples.at(i).all_right()}};
    told.update(examples.values(i, made.metrics));
    made.rows.push_back(example_line(number, where(options.split, number), told));
  }
  if (made.outcomes.twins > 1 && !made.intervals.empty())
    made.notes.push_back(fmt::format("{} examples at a time belong together, and are drawn together", twins()));
}

}  // namespace ordo
