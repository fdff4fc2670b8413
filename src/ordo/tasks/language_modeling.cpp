// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/language_modeling.h"

#include "ordo/tasks/text_writer.h"

namespace ordo {

namespace {

constexpr NamedValue kSamplings[] = {{"random", static_cast<int>(Sampling::random)},
                                     {"packed", static_cast<int>(Sampling::packed)},
                                     {"consecutive", static_cast<int>(Sampling::consecutive)},
                                     {"streamed", static_cast<int>(Sampling::streamed)}};

}  // namespace

void fields(Fields& f, LanguageModeling::Config& c) {
  fields(f, static_cast<CorpusConfig&>(c));
  f("sampling", c.sampling,
    "training windows: anywhere at random; packed: all tokens once an epoch, side by side in shuffled order; "
    "consecutive: each row reads a part of the text in order, as model.memory needs it; streamed: as packed, but a "
    "block of data.buffer MiB at a time, so that files may be larger than memory",
    kSamplings);
  f("baselines", c.baselines,
    "beside each loss those of counted single tokens and of smoothed pairs (unigram_loss, bigram_loss)");
}

LanguageModeling::LanguageModeling(const Config& config, const TaskFacts& facts)
    : CorpusTask(config, facts, config.sampling), baselines_(config.baselines) {
  require<ConfigError>(config.sampling != Sampling::streamed || !config.baselines,
                       "task.baselines counts the tokens of the whole training text, which task.sampling: streamed "
                       "does not read: leave it out, or use sampling: packed");
  require<ConfigError>(
      config.data.weights.empty() || config.sampling != Sampling::consecutive,
      "task.sampling: consecutive reads the text from its start to its end, and task.data.weights read "
      "some files more often than others: use sampling: packed or random, or leave the weights out");
}

std::shared_ptr<const TextWriter> LanguageModeling::writer() const {
  const Tokenizer* const made = tokenizer();
  return made == nullptr ? nullptr : std::make_shared<TokenizerWriter>(*made);
}

std::optional<std::string> LanguageModeling::refuses(const Model& model) const {
  if (model.reads_source())
    return "language_modeling goes on from a text, and has no source for an encoder-decoder to read; use model.kind: "
           "decoder";
  if (model.causal()) return refuses_memory(model);
  return "language_modeling asks for the next token, which a model that sees both sides has before it; use model.kind: "
         "decoder";
}

std::optional<std::string> LanguageModeling::refuses_memory(const Model& model) const {
  if (model.kept_tokens() == 0 || !rows_go_on()) return std::nullopt;
  const int64_t documents = tokens(Split::train)->documents();
  if (documents == 1) return std::nullopt;
  return fmt::format(
      "model.memory ({}) goes on through one text, but the training data are {} documents, and a segment of one must "
      "not see another: give a single file with task.data.documents: file, or model.memory: 0",
      model.kept_tokens(), documents);
}

std::unique_ptr<WindowStream> LanguageModeling::to_judge(const Model& model, const StreamOptions& options) const {
  if (model.kept_tokens() == 0) return windows(options);
  require<ConfigError>(options.stride == 0 || options.stride == options.length,
                       "evaluate.stride ({}) slides windows over each other, but with model.memory ({}) each goes on "
                       "where the one before ended: leave it out",
                       options.stride, model.kept_tokens());
  const auto text = tokens(options.split);
  return named(options.split, [&] { return reading_stream(text, options.length, options.ranks); });
}

Evaluation LanguageModeling::evaluate(Model& model, const StreamOptions& options) const {
  Evaluation made = judged(model, *to_judge(model, options), options, tokenizer());
  if (baselines_ && !made.metrics.empty()) add_baselines(options.split, made);
  return made;
}

// Counted once a split: a training evaluates often.
void LanguageModeling::add_baselines(Split split, Evaluation& made) const {
  auto found = baseline_losses_.find(split);
  if (found == baseline_losses_.end()) {
    const NgramModel model(*tokens(Split::train), vocab_size());
    found = baseline_losses_.emplace(split, model.losses(*tokens(split))).first;
  }
  made.metrics["unigram_loss"] = found->second.unigram;
  made.metrics["bigram_loss"] = found->second.bigram;
}

}  // namespace ordo
