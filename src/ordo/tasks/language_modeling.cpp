// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/language_modeling.h"

#include "ordo/models/stack_model.h"
#include "ordo/tasks/text_writer.h"

namespace ordo {

namespace {

constexpr NamedValue kSamplings[] = {{"random", static_cast<int>(Sampling::random)},
                                     {"packed", static_cast<int>(Sampling::packed)},
                                     {"consecutive", static_cast<int>(Sampling::consecutive)}};

}  // namespace

void fields(Fields& f, LanguageModeling::Config& c) {
  fields(f, static_cast<CorpusConfig&>(c));
  f("sampling", c.sampling,
    "training windows: anywhere at random; packed: all tokens once an epoch, side by side in shuffled order; "
    "consecutive: each row reads a part of the text in order, as model.memory needs it",
    kSamplings);
  f("baselines", c.baselines,
    "beside each loss those of counted single tokens and of smoothed pairs (unigram_loss, bigram_loss)");
}

LanguageModeling::LanguageModeling(const Config& config, const TaskFacts& facts)
    : CorpusTask(config, facts), sampling_(config.sampling), baselines_(config.baselines) {}

std::shared_ptr<const TextWriter> LanguageModeling::writer() const {
  const Tokenizer* const made = tokenizer();
  return made == nullptr ? nullptr : std::make_shared<TokenizerWriter>(*made);
}

std::unique_ptr<BatchStream> LanguageModeling::open(const StreamOptions& o) const {
  const auto data = tokens(o.split);
  return named(o.split, [&] {
    if (o.training) return training_stream(data, {sampling_, o.batch_size, o.length, o.seed, o.ranks});
    return evaluation_stream(data, {o.batch_size, o.length, o.stride, o.ranks});
  });
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
  if (kept_tokens(model) == 0 || !rows_go_on()) return std::nullopt;
  const int64_t documents = tokens(Split::train)->documents();
  if (documents == 1) return std::nullopt;
  return fmt::format(
      "model.memory ({}) goes on through one text, but the training data are {} documents, and a segment of one must "
      "not see another: give a single file with task.data.documents: file, or model.memory: 0",
      kept_tokens(model), documents);
}

std::unique_ptr<BatchStream> LanguageModeling::to_judge(const Model& model, const StreamOptions& options) const {
  StreamOptions whole = options;
  whole.training = false;
  if (kept_tokens(model) == 0) return open(whole);
  require<ConfigError>(options.stride == 0 || options.stride == options.length,
                       "evaluate.stride ({}) slides windows over each other, but with model.memory ({}) each goes on "
                       "where the one before ended: leave it out",
                       options.stride, kept_tokens(model));
  return named(options.split, [&] { return reading_stream(tokens(options.split), options.length, options.ranks); });
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
