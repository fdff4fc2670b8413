// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/masked_language_modeling.h"

#include "ordo/core/hash.h"

namespace ordo {

namespace {
constexpr std::string_view kMaskNames[] = {"[MASK]", "<mask>"};

std::optional<int64_t> mask_of(const Tokenizer* tokenizer) {
  for (const std::string_view name : kMaskNames)
    if (const auto id = tokenizer == nullptr ? std::nullopt : tokenizer->find(name)) return id;
  return std::nullopt;
}
}  // namespace

void fields(Fields& f, MaskedLanguageModeling::Config& c) {
  fields(f, static_cast<CorpusConfig&>(c));
  f("share", c.share, "of the tokens that are asked for; with whole_words of the words", within(0.001, 0.999));
  f("masked", c.masked, "share of these that the model is shown as the mask", within(0.0, 1.0));
  f("random", c.random, "share of these that it is shown as any other token; the rest it is shown as they are",
    within(0.0, 1.0));
  f("whole_words", c.whole_words, "all tokens of a word are asked for, or none");
}

MaskedLanguageModeling::MaskedLanguageModeling(const Config& config, const TaskFacts& facts)
    : CorpusTask(config, facts), config_(config) {
  require<ConfigError>(config.masked + config.random <= 1.0,
                       "task.masked ({}) and task.random ({}) are shares of the same tokens: together at most 1",
                       config.masked, config.random);
  require<ConfigError>(!config.whole_words || config.tokenizer,
                       "task.whole_words needs task.tokenizer, which knows where words begin");
}

int64_t MaskedLanguageModeling::own_ids() const { return mask_of(tokenizer()) ? 0 : 1; }

int64_t MaskedLanguageModeling::mask_id() const { return mask_of(tokenizer()).value_or(text_vocab_size()); }

Masking MaskedLanguageModeling::masking() const {
  return {.share = config_.share,
          .masked = config_.masked,
          .random = config_.random,
          .mask_id = mask_id(),
          .vocab_size = text_vocab_size(),
          .parts = config_.whole_words ? word_parts(*tokenizer()) : std::vector<WordPart>{}};
}

std::optional<std::string> MaskedLanguageModeling::refuses(const Model& model) const {
  if (!model.reads_source() && !model.causal()) return std::nullopt;
  return "masked_language_modeling hides tokens between others that are seen on both sides of them; use model.kind: "
         "encoder";
}

BatchMaker MaskedLanguageModeling::maker(const StreamOptions& o) const {
  const uint64_t key = o.training ? key_of(o.seed, "masks") : key_of(0, "masks of an evaluation");
  return [masking = masking(), key](const TokenSequence& text, const std::vector<Window>& windows, int64_t epoch) {
    return masked_batch(text, windows, masking, mix(key, static_cast<uint64_t>(epoch)));
  };
}

Evaluation MaskedLanguageModeling::evaluate(Model& model, const StreamOptions& options) const {
  return judged(model, *windows(options), options, /*text=*/nullptr);
}

}  // namespace ordo
