// SPDX-License-Identifier: Apache-2.0
// Whole translations, written and compared with their references.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/core/log.h"
#include "ordo/metrics/bleu.h"
#include "ordo/metrics/chrf.h"
#include "ordo/metrics/rouge.h"
#include "ordo/metrics/ter.h"
#include "ordo/tasks/measured.h"
#include "ordo/tasks/text_writer.h"
#include "ordo/tasks/translation.h"

namespace ordo {

namespace {

constexpr NamedValue kTextMeasures[] = {{"bleu", static_cast<int>(TextMeasure::bleu)},
                                        {"chrf", static_cast<int>(TextMeasure::chrf)},
                                        {"ter", static_cast<int>(TextMeasure::ter)},
                                        {"rouge_l", static_cast<int>(TextMeasure::rouge_l)}};
constexpr NamedValue kBleuWords[] = {{"13a", static_cast<int>(BleuWords::western)},
                                     {"zh", static_cast<int>(BleuWords::chinese)},
                                     {"char", static_cast<int>(BleuWords::characters)}};

Tokenisation tokenisation_of(BleuWords words) {
  if (words == BleuWords::chinese) return Tokenisation::chinese;
  return words == BleuWords::characters ? Tokenisation::characters : Tokenisation::western;
}

std::unique_ptr<TextMetric> made_metric(TextMeasure measure, BleuWords words) {
  switch (measure) {
    case TextMeasure::bleu:
      return std::make_unique<Bleu>(BleuConfig{.tokenisation = tokenisation_of(words)});
    case TextMeasure::chrf:
      return std::make_unique<Chrf>();
    case TextMeasure::ter:
      return std::make_unique<Ter>();
    case TextMeasure::rouge_l:
      break;
  }
  const bool western = words == BleuWords::western;
  return std::make_unique<Rouge>(RougeConfig{.tokenisation = western ? Tokenisation::rouge : tokenisation_of(words)});
}

}  // namespace

void fields(Fields& f, WrittenConfig& c) {
  f("metrics", c.metrics, "what written texts are judged by; an empty list: nothing is written", kTextMeasures);
  f("words", c.words, "how BLEU cuts texts into words, by sacreBLEU's names", kBleuWords);
  f("beam", c.beam, "open hypotheses; 1: the likeliest token each time", within(1, 1 << 10));
  f("length_penalty", c.length_penalty, "exponent of the length that a beam's scores are divided by");
  f("in_training", c.in_training, "write them in every evaluation of a training too; else ordo eval alone does");
}

// In the order of the split's pairs, `count` of them; empty when it was stopped.
std::vector<std::string> Translation::write(Model& model, const StreamOptions& options, int64_t count) const {
  const auto& all = pairs(options.split);
  const auto writer = this->writer();
  std::vector<std::string> texts;
  for (int64_t from = 0; from < count; from += options.batch_size) {
    if (options.stop != nullptr && options.stop->load()) return {};
    std::vector<Prompt> prompts;
    for (int64_t i = from; i < std::min(count, from + options.batch_size); ++i)
      prompts.push_back(prompt_of(all[static_cast<size_t>(i)].ids.given));
    GenerateConfig config{.max_new_tokens = most_written(model, options.length),
                          .greedy = config_.written.beam == 1,
                          .stop = writer->ends(),
                          .vocab_size = writer->vocab_size()};
    if (!config.greedy)
      config.beam = {.width = config_.written.beam,
                     .length_penalty = config_.written.length_penalty,
                     .stopping = Stopping::estimate};
    for (const auto& answers : generate(model, prompts, config)) texts.push_back(writer->text(answers.at(0).ids));
    log::progress(fmt::format("{} of {} texts written", texts.size(), count));
  }
  log::progress("");
  return texts;
}

// Twice the longest source and some more, as far as the model reaches: the same for all, whoever is in their batch.
int64_t Translation::most_written(Model& model, int64_t longest) const {
  const int64_t start = model.reads_source() ? 1 : longest + 2;
  int64_t most = 2 * longest + 16;
  while (most > 1 && model.refuses_length(start + most)) --most;
  return most;
}

void Translation::judge_written(Model& model, const StreamOptions& options, Evaluation& made) const {
  const int64_t count = up_to(options.split, options.length);
  const auto hypotheses = write(model, options, count);
  if (std::ssize(hypotheses) < count) return;
  const auto& given = texts().pairs[static_cast<size_t>(options.split)];
  const auto text_of = [&](int64_t i) -> const TextPair& {
    return given[pairs(options.split)[static_cast<size_t>(i)].number];
  };
  std::vector<std::unique_ptr<TextMetric>> metrics;
  std::vector<const ExampleMetric*> columns;
  for (const TextMeasure kind : config_.written.metrics) {
    const auto& metric = metrics.emplace_back(made_metric(kind, config_.written.words));
    for (int64_t i = 0; i < count; ++i)
      metric->add(hypotheses[static_cast<size_t>(i)], std::vector<std::string>{text_of(i).target});
    measure(*metric, options, made);
    columns.push_back(metric.get());
  }
  for (int64_t i = 0; options.details && i < count; ++i) {
    const TextPair& pair = text_of(i);
    made.rows.push_back(example_line(
        static_cast<uint64_t>(i), pair.where,
        {{"source", pair.source}, {"reference", pair.target}, {"written", hypotheses[static_cast<size_t>(i)]}},
        columns));
  }
}

Evaluation Translation::evaluate(Model& model, const StreamOptions& options) const {
  Evaluation made = SequenceTask::evaluate(model, options);
  if (made.metrics.empty()) return made;
  if ((options.details || config_.written.in_training) && !config_.written.metrics.empty())
    judge_written(model, options, made);
  if (auto longer = longer_than(options.split, options.length); !longer.empty())
    made.notes.push_back(std::move(longer));
  if (options.details && !texts().left_out.empty()) made.notes.push_back(texts().left_out);
  return made;
}

}  // namespace ordo
