// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/language_modeling.h"

#include <algorithm>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/tasks/scores.h"
#include "ordo/tasks/text_writer.h"

namespace ordo {

namespace {

constexpr NamedValue kSamplings[] = {{"random", static_cast<int>(Sampling::random)},
                                     {"packed", static_cast<int>(Sampling::packed)}};
constexpr Split kSplits[] = {Split::train, Split::validation, Split::test};

}  // namespace

void fields(Fields& f, LanguageModeling::Config& c) {
  f("tokenizer", c.tokenizer, "how text becomes tokens; not needed for token files with vocab_size");
  f("data", c.data, "files and splits");
  f("vocab_size", c.vocab_size, "tokens of the model; 0 = those of the tokenizer, more = room to spare", at_least(0));
  f("sampling", c.sampling,
    "training windows: anywhere at random, or all tokens once an epoch, side by side in shuffled order", kSamplings);
}

LanguageModeling::LanguageModeling(const Config& config, const TaskFacts& facts)
    : config_(config), facts_(facts), corpus_(std::make_unique<Corpus>(config.data, facts.seed)) {
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

const Tokenizer* LanguageModeling::tokenizer() const {
  if (!tokenizer_ && config_.tokenizer) {
    TokenizerFacts from{.saved = facts_.saved_tokenizer};
    if (corpus_->has_text()) from.text = [this] { return corpus_->training_text(); };
    tokenizer_ = tokenizers().build(*config_.tokenizer, from);
  }
  return tokenizer_.get();
}

std::shared_ptr<const TextWriter> LanguageModeling::writer() const {
  const Tokenizer* const made = tokenizer();
  return made == nullptr ? nullptr : std::make_shared<TokenizerWriter>(*made);
}

int64_t LanguageModeling::vocab_size() const {
  const Tokenizer* const made = tokenizer();
  if (made == nullptr || config_.vocab_size == 0) return made == nullptr ? config_.vocab_size : made->vocab_size();
  require<ConfigError>(config_.vocab_size >= made->vocab_size(),
                       "task.vocab_size ({}) is smaller than the vocabulary of the {} tokenizer ({})",
                       config_.vocab_size, made->kind(), made->vocab_size());
  return config_.vocab_size;
}

std::shared_ptr<const TokenSequence> LanguageModeling::tokens(Split split) const {
  return corpus_->tokens(split, tokenizer(), vocab_size());
}

ModelFacts LanguageModeling::complete(ModelFacts facts) const {
  facts.vocab_size = vocab_size();
  return facts;
}

std::unique_ptr<BatchStream> LanguageModeling::open(const StreamOptions& o) const {
  const auto data = tokens(o.split);
  try {
    if (o.training) return training_stream(data, {config_.sampling, o.batch_size, o.length, o.seed, o.ranks});
    return evaluation_stream(data, {o.batch_size, o.length, o.stride, o.ranks});
  } catch (const DataError& error) {
    throw DataError(fmt::format("the {} split is too short: {}", split_name(o.split), error.what()));
  }
}

std::optional<std::string> LanguageModeling::refuses(const Model& model) const {
  if (model.reads_source())
    return "language_modeling goes on from a text, and has no source for an encoder-decoder to read; use model.kind: "
           "decoder";
  if (model.causal()) return std::nullopt;
  return "language_modeling asks for the next token, which a model that sees both sides has before it; use model.kind: "
         "decoder";
}

Loss LanguageModeling::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  const Tensor hidden = model.forward(input_of(batch));
  return {.sum = model.head().loss(hidden, batch.targets, options), .weight = batch.weight};
}

Evaluation LanguageModeling::evaluate(Model& model, const StreamOptions& options) const {
  if (const auto refusal = model.refuses_length(options.length)) throw ConfigError(*refusal);
  StreamOptions whole = options;
  whole.training = false;
  const auto stream = open(whole);
  TokenScores scores(tokenizer());
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    scores.add(model, *batch);
  }
  require<DataError>(scores.tokens() > 0.0,
                     "the {} split has no token to judge: each of its documents is a single token",
                     split_name(options.split));
  Evaluation made = scores.evaluation();
  made.protocol = options.stride > 0 && options.stride < options.length ? "sliding" : "non_overlapping";
  return made;
}

uint64_t LanguageModeling::fingerprint() const { return tokens(Split::train)->fingerprint(); }

std::vector<std::string> LanguageModeling::summary() const {
  std::vector<std::string> lines;
  if (const Tokenizer* const made = tokenizer())
    lines.push_back(fmt::format("tokenizer: {}, {} tokens", made->kind(), made->vocab_size()));
  if (config_.vocab_size > 0) lines.push_back(fmt::format("vocabulary of the model: {}", vocab_size()));
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    const auto data = tokens(split);
    lines.push_back(fmt::format("{}: {} tokens in {} document{}", split_name(split), data->size(), data->documents(),
                                data->documents() == 1 ? "" : "s"));
  }
  return lines;
}

}  // namespace ordo
