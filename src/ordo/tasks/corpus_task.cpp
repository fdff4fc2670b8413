// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/corpus_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/data/mixture.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/judged_windows.h"
#include "ordo/tasks/measured.h"
#include "ordo/tasks/scores.h"
#include "ordo/tasks/unknown_words.h"

namespace ordo {

void fields(Fields& f, CorpusConfig& c) {
  f("tokenizer", c.tokenizer, "how text becomes tokens; not needed for token files with vocab_size");
  f("data", c.data, "files and splits");
  f("vocab_size", c.vocab_size,
    "tokens of the model; 0 = those of the tokenizer and of the task, more = room to spare; with token files alone: "
    "those of the files",
    at_least(0));
}

CorpusTask::CorpusTask(const CorpusConfig& config, const TaskFacts& facts, Sampling sampling)
    : corpus_config_(config),
      facts_(facts),
      sampling_(sampling),
      corpus_(std::make_unique<Corpus>(config.data, facts.seed)) {
  auto problems = contradictions(config.data, "task.data");
  if (sampling == Sampling::streamed)
    for (auto& problem : streamed_contradictions(config.data, "task.data")) problems.push_back(std::move(problem));
  else if (config.data.buffer)
    problems.push_back(
        "task.data.buffer is of a training text that is streamed: give task.sampling: streamed, of language_modeling, "
        "with it, or leave it out");
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
    if (corpus_->has_text()) from.text = [this] { return text_to_learn(); };
    tokenizer_ = tokenizers().build(*corpus_config_.tokenizer, from);
  }
  return tokenizer_.get();
}

std::string CorpusTask::text_to_learn() const {
  require<ConfigError>(
      sampling_ != Sampling::streamed,
      "task.tokenizer ({}) learns its vocabulary from the whole training text, which task.sampling: streamed does not "
      "read: use byte, or one that is there: hf, or sentencepiece or word with a file (ordo tokenizer train makes one)",
      corpus_config_.tokenizer->kind);
  return corpus_->training_text();
}

const TextFiles& CorpusTask::streamed_files() const {
  const DataConfig& data = corpus_config_.data;
  if (!streamed_files_)
    streamed_files_ = checked_text_files({.paths = data.train,
                                          .format = data.format,
                                          .column = data.column,
                                          .documents = data.documents,
                                          .on_bad_line = data.on_bad_line,
                                          .block = static_cast<uint64_t>(data.buffer.value_or(16)) << 20});
  return *streamed_files_;
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

std::unique_ptr<BatchStream> CorpusTask::open(const StreamOptions& o) const {
  if (!o.training) return windows(o);
  const BatchMaker make = maker(o);
  if (sampling_ == Sampling::streamed) {
    const TextFiles& files = streamed_files();
    tokenizer();  // makes it
    return streamed_text(files, tokenizer_, {sampling_, o.batch_size, o.length, o.seed, o.ranks, make});
  }
  const auto text = tokens(o.split);
  return named(o.split, [&] {
    return training_stream(text, {sampling_, o.batch_size, o.length, o.seed, o.ranks, make, corpus_->parts()});
  });
}

std::unique_ptr<WindowStream> CorpusTask::windows(const StreamOptions& options) const {
  StreamOptions o = options;
  o.training = false;
  const auto text = tokens(o.split);
  const BatchMaker make = maker(o);
  return named(o.split, [&] { return evaluation_stream(text, {o.batch_size, o.length, o.stride, o.ranks, make}); });
}

void CorpusTask::throw_too_short(Split split, const DataError& error) const {
  const DataConfig& data = corpus_config_.data;
  const auto& own = split == Split::train ? data.train : split == Split::validation ? data.validation : data.test;
  const auto& files = own.empty() ? data.train : own;  // validation may be a part of it
  throw DataError(fmt::format("{}the {} split is too short: {}", files.empty() ? "" : files.front().string() + ": ",
                              split_name(split), error.what()));
}

Loss CorpusTask::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  const Tensor hidden = model.forward(input_of(batch));
  return {.sum = model.head().loss(hidden, batch.targets, options), .weight = batch.weight};
}

namespace {

// `overlap`: how many windows stand over a token.
void add_window_details(const TokenExamples& examples, const JudgedWindows& windows, int64_t overlap,
                        Evaluation& made) {
  const JudgedWindows::Blocks blocks = windows.blocks(overlap);
  examples.add_intervals(blocks.of, made);
  if (!made.intervals.empty()) made.notes.push_back(blocks.note);
  for (int64_t i = 0; i < examples.count(); ++i)
    made.rows.push_back(example_line(static_cast<uint64_t>(i), windows.from(i), examples.values(i, made.metrics)));
}

}  // namespace

Evaluation CorpusTask::judged(Model& model, WindowStream& stream, const StreamOptions& options,
                              const Tokenizer* text) const {
  const int64_t kept = model.kept_tokens();
  if (const auto refusal = model.refuses_length(row_length(options.length) + kept)) throw ConfigError(*refusal);
  SegmentMemory memory;
  TokenScores scores(text, {.examples = options.details});
  JudgedWindows windows(tokens(options.split));
  while (auto batch = stream.next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    if (!batch->continues) memory.hidden.clear();
    if (kept > 0) batch->memory = &memory;
    scores.add(model, *batch);
    if (options.details) windows.add(stream.windows());
  }
  require<DataError>(scores.tokens() > 0.0, "the {} split has no token to judge: its documents are too short{}",
                     split_name(options.split), own_ids() == 0 ? "" : ", or task.share hides none of their tokens");
  Evaluation made = scores.evaluation();
  const bool sliding = options.stride > 0 && options.stride < options.length;
  made.protocol = sliding ? "sliding" : "non_overlapping";
  if (auto left_out = corpus_->left_out(options.split); !left_out.empty()) made.notes.push_back(std::move(left_out));
  if (options.details)
    add_window_details(scores.examples(), windows, sliding ? (options.length + options.stride - 1) / options.stride : 1,
                       made);
  return made;
}

uint64_t CorpusTask::fingerprint() const {
  if (sampling_ == Sampling::streamed) return ordo::fingerprint(streamed_files());
  const uint64_t text = tokens(Split::train)->fingerprint();  // makes the parts known
  return mixed_fingerprint(text, corpus_->parts());
}

namespace {

// How often an id stands in a text.
int64_t count_of(int64_t id, const TokenSequence& text) {
  constexpr int64_t kRead = 1 << 16;
  int64_t count = 0;
  for (int64_t from = 0; from < text.size(); from += kRead) {
    std::vector<int64_t> ids(static_cast<size_t>(std::min(kRead, text.size() - from))), documents(ids.size());
    text.read(from, ids, documents);
    count += std::count(ids.begin(), ids.end(), id);
  }
  return count;
}

}  // namespace

std::vector<std::string> CorpusTask::left_out(int64_t) const {
  std::vector<std::string> lines;
  for (const Split split : kSplits) {
    if (!has(split) || (split == Split::train && sampling_ == Sampling::streamed)) continue;
    tokens(split);  // reads it
    if (const auto sentence = corpus_->left_out(split); !sentence.empty())
      lines.push_back(fmt::format("{}: {}", split_name(split), sentence));
  }
  return lines;
}

std::vector<std::string> CorpusTask::summary() const {
  std::vector<std::string> lines;
  if (const Tokenizer* const made = tokenizer())
    lines.push_back(fmt::format("tokenizer: {}, {} tokens", made->kind(), made->vocab_size()));
  if (corpus_config_.vocab_size > 0) lines.push_back(fmt::format("vocabulary of the model: {}", vocab_size()));
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    if (split == Split::train && sampling_ == Sampling::streamed) {
      lines.push_back(fmt::format("train: {}, streamed in blocks of {} MiB", size_text(streamed_files()),
                                  streamed_files().block >> 20));
      continue;
    }
    const auto data = tokens(split);
    const auto unknown = tokenizer() != nullptr ? unknown_id(*tokenizer()) : std::nullopt;
    const int64_t lacking = split != Split::train && unknown ? count_of(*unknown, *data) : 0;
    lines.push_back(fmt::format("{}: {} tokens in {} document{}{}", split_name(split), data->size(), data->documents(),
                                data->documents() == 1 ? "" : "s", unknown_share(lacking, data->size())));
  }
  for (auto& line : described(corpus_->parts(), "tokens")) lines.push_back(std::move(line));
  for (auto& line : left_out(0)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace ordo
