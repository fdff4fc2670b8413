// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/corpus_task.h"

#include <algorithm>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/data/splits.h"
#include "ordo/models/stack_model.h"
#include "ordo/tasks/scores.h"

namespace ordo {

void fields(Fields& f, CorpusConfig& c) {
  f("tokenizer", c.tokenizer, "how text becomes tokens; not needed for token files with vocab_size");
  f("data", c.data, "files and splits");
  f("vocab_size", c.vocab_size,
    "tokens of the model; 0 = those of the tokenizer and of the task, more = room to spare; with token files alone: "
    "those of the files",
    at_least(0));
}

CorpusTask::CorpusTask(const CorpusConfig& config, const TaskFacts& facts)
    : corpus_config_(config), facts_(facts), corpus_(std::make_unique<Corpus>(config.data, facts.seed)) {
  auto problems = contradictions(config.data, "task.data");
  const bool files = !config.data.train.empty() || config.data.generate;
  if (files && corpus_->has_text() && !config.tokenizer)
    problems.push_back(fmt::format("task.tokenizer is missing: the training data is text, which needs one ({})",
                                   join(names_of(tokenizers().kinds()), ", ")));
  if (files && !corpus_->has_text() && !config.tokenizer && config.vocab_size == 0)
    problems.push_back(
        "task.vocab_size is missing: the training data is token files, whose ids need a vocabulary (or give the "
        "tokenizer that made them)");
  require<ConfigError>(problems.empty(), "{}", join(problems, "\n"));
}

const Tokenizer* CorpusTask::tokenizer() const {
  if (!tokenizer_ && corpus_config_.tokenizer) {
    TokenizerFacts from{.saved = facts_.saved_tokenizer};
    if (corpus_->has_text()) from.text = [this] { return corpus_->training_text(); };
    tokenizer_ = tokenizers().build(*corpus_config_.tokenizer, from);
  }
  return tokenizer_.get();
}

int64_t CorpusTask::text_vocab_size() const {
  const Tokenizer* const made = tokenizer();
  return made == nullptr ? corpus_config_.vocab_size : made->vocab_size();
}

int64_t CorpusTask::vocab_size() const {
  const int64_t needed = text_vocab_size() + own_ids(), given = corpus_config_.vocab_size;
  const Tokenizer* const made = tokenizer();
  if (made == nullptr || given == 0) return needed;
  require<ConfigError>(
      given >= needed, "task.vocab_size ({}) is smaller than the vocabulary of the {} tokenizer ({}){}", given,
      made->kind(), made->vocab_size(), own_ids() == 0 ? "" : fmt::format(" and {} ids of the task itself", own_ids()));
  return given;
}

std::shared_ptr<const TokenSequence> CorpusTask::tokens(Split split) const {
  return corpus_->tokens(split, tokenizer(), vocab_size());
}

ModelFacts CorpusTask::complete(ModelFacts facts) const {
  facts.vocab_size = vocab_size();
  return facts;
}

std::unique_ptr<BatchStream> CorpusTask::named(Split split,
                                               const std::function<std::unique_ptr<BatchStream>()>& make) const {
  try {
    return make();
  } catch (const DataError& error) {
    const DataConfig& data = corpus_config_.data;
    const auto& own = split == Split::train ? data.train : split == Split::validation ? data.validation : data.test;
    const auto& files = own.empty() ? data.train : own;  // validation may be a part of it
    throw DataError(fmt::format("{}the {} split is too short: {}", files.empty() ? "" : files.front().string() + ": ",
                                split_name(split), error.what()));
  }
}

Loss CorpusTask::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  const Tensor hidden = model.forward(input_of(batch));
  return {.sum = model.head().loss(hidden, batch.targets, options), .weight = batch.weight};
}

Evaluation CorpusTask::judged(Model& model, BatchStream& stream, const StreamOptions& options,
                              const Tokenizer* text) const {
  const int64_t kept = kept_tokens(model);
  if (const auto refusal = model.refuses_length(row_length(options.length) + kept)) throw ConfigError(*refusal);
  SegmentMemory memory;
  TokenScores scores(text);
  while (auto batch = stream.next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    if (!batch->continues) memory.hidden.clear();
    if (kept > 0) batch->memory = &memory;
    scores.add(model, *batch);
  }
  require<DataError>(scores.tokens() > 0.0, "the {} split has no token to judge: its documents are too short",
                     split_name(options.split));
  Evaluation made = scores.evaluation();
  made.protocol = options.stride > 0 && options.stride < options.length ? "sliding" : "non_overlapping";
  return made;
}

uint64_t CorpusTask::fingerprint() const { return tokens(Split::train)->fingerprint(); }

std::vector<std::string> CorpusTask::summary() const {
  std::vector<std::string> lines;
  if (const Tokenizer* const made = tokenizer())
    lines.push_back(fmt::format("tokenizer: {}, {} tokens", made->kind(), made->vocab_size()));
  if (corpus_config_.vocab_size > 0) lines.push_back(fmt::format("vocabulary of the model: {}", vocab_size()));
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    const auto data = tokens(split);
    lines.push_back(fmt::format("{}: {} tokens in {} document{}", split_name(split), data->size(), data->documents(),
                                data->documents() == 1 ? "" : "s"));
  }
  return lines;
}

}  // namespace ordo
