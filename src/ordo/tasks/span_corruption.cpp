// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/span_corruption.h"

#include <algorithm>

namespace ordo {

void fields(Fields& f, SpanCorruption::Config& c) {
  fields(f, static_cast<CorpusConfig&>(c));
  f("share", c.share, "of the tokens that are cut out", within(0.001, 0.999));
  f("mean_span", c.mean_span, "tokens of a span that is cut out, on average", at_least(1.0));
  f("sentinels", c.sentinels, "ids that stand for spans; one more than a window has spans", within(2, 1 << 16));
}

SpanCorruption::SpanCorruption(const Config& config, const TaskFacts& facts)
    : CorpusTask(config, facts), config_(config) {}

SpanRules SpanCorruption::rules() const {
  SpanRules rules{.share = config_.share, .mean_span = config_.mean_span};
  int64_t next = text_vocab_size();
  const auto id_of = [&](const std::string& name) {
    const auto own = tokenizer() == nullptr ? std::nullopt : tokenizer()->find(name);
    return own ? *own : next++;
  };
  for (int64_t i = 0; i < config_.sentinels; ++i) rules.sentinels.push_back(id_of(fmt::format("<extra_id_{}>", i)));
  rules.start = id_of("<pad>");
  return rules;
}

int64_t SpanCorruption::own_ids() const {
  const SpanRules own = rules();
  const int64_t last = std::max(own.start, *std::max_element(own.sentinels.begin(), own.sentinels.end()));
  return std::max<int64_t>(last + 1 - text_vocab_size(), 0);
}

int64_t SpanCorruption::row_length(int64_t length) const {
  const auto [cut, spans] = span_counts(length, config_.share, config_.mean_span);
  return std::max(length - cut + spans, cut + spans + 1);
}

ModelFacts SpanCorruption::complete(ModelFacts facts) const {
  facts = CorpusTask::complete(facts);
  if (facts.max_length > 0) facts.max_length = row_length(facts.max_length);
  return facts;
}

std::optional<std::string> SpanCorruption::refuses(const Model& model) const {
  if (model.reads_source()) return std::nullopt;
  return "span_corruption gives a text with gaps to an encoder and asks a decoder for what is missing; use model.kind: "
         "encoder_decoder";
}

std::optional<std::string> SpanCorruption::refuses_length(Split split, int64_t length) const {
  (void)split;
  const int64_t spans = span_counts(length, config_.share, config_.mean_span).spans;
  if (spans < config_.sentinels) return std::nullopt;
  return fmt::format("{} spans are cut out of a window of {} tokens, which takes {} sentinels; task.sentinels is {}",
                     spans, length, spans + 1, config_.sentinels);
}

BatchMaker SpanCorruption::maker(const StreamOptions& o) const {
  const auto refusal = refuses_length(o.split, o.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  const uint64_t key = o.training ? key_of(o.seed, "spans") : key_of(0, "spans of an evaluation");
  return [rules = rules(), key](const TokenSequence& text, const std::vector<Window>& windows, int64_t epoch) {
    return span_batch(text, windows, rules, mix(key, static_cast<uint64_t>(epoch)));
  };
}

Evaluation SpanCorruption::evaluate(Model& model, const StreamOptions& options) const {
  return judged(model, *windows(options), options, /*text=*/nullptr);
}

}  // namespace ordo
