// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/data/mixture.h"
#include "ordo/tasks/dialogue_examples.h"
#include "ordo/tasks/dialogue_writer.h"

namespace ordo {

namespace {

constexpr NamedValue kSpeakers[] = {{"user", static_cast<int>(Speaker::user)},
                                    {"system", static_cast<int>(Speaker::system)}};

std::vector<EncodedDialogue> encoded_dialogues(const std::vector<SpokenDialogue>& spoken,
                                               const DialogueLayout& layout) {
  std::vector<EncodedDialogue> made;
  for (const auto& [turns, where, entry] : spoken) {
    auto& dialogue = made.emplace_back(EncodedDialogue{.turns = {}, .where = where, .entry = entry});
    for (const auto& [speaker, text] : turns) {
      try {
        dialogue.turns.push_back({.speaker = speaker, .ids = layout.encode(text)});
      } catch (const DataError& error) {
        throw DataError(fmt::format("{}: turn {}: {}", where, dialogue.turns.size() + 1, error.what()));
      }
    }
  }
  return made;
}

}  // namespace

void fields(Fields& f, Dialogue::Config& c) {
  f("tokenizer", c.tokenizer, "how utterances become tokens; what is learned from text is learned from training turns",
    required());
  f("data", c.data, "the dialogues", required());
  f("split", c.split, "how task.data.train is divided; absent: each split has files of its own");
  f("answers", c.rules.answers, "the side that is learned and answers in a chat", kSpeakers);
  f("answer_tokens", c.rules.answer_tokens,
    "tokens of an answer at most, its end mark included: every window keeps so many free for it",
    required(within(2, 1 << 20)));
  f("too_long", c.rules.too_long,
    "an utterance that no window has room for ends the run, or is cut: its first tokens are read, its end is not asked",
    kTooLong);
}

Dialogue::Dialogue(const Config& config, const TaskFacts& facts) : config_(config), facts_(facts) {
  if (config.split) rule_ = splits().build(*config.split, {.seed = facts.seed});
  const std::string wrong = contradiction(config.data, rule_.get());
  require<ConfigError>(wrong.empty(), "{}", wrong);
}

ModelFacts Dialogue::complete(ModelFacts facts) const {
  facts.vocab_size = layout().vocab_size();
  return facts;
}

std::optional<std::string> Dialogue::refuses(const Model& model) const {
  if (model.causal() && !model.reads_source()) return std::nullopt;
  return "a dialogue is one row that goes on turn by turn, which a model that sees both sides, or reads a source, "
         "cannot "
         "write; use model.kind: decoder";
}

bool Dialogue::has(Split split) const { return has_split(config_.data, rule_.get(), split); }

std::optional<std::string> Dialogue::refuses_length(Split split, int64_t length) const {
  const DialogueLayout layout = this->layout();
  if (const auto refusal = layout.refuses_length(length)) return refusal;
  if (!has(split) || config_.rules.too_long == TooLong::cut) return std::nullopt;
  for (const auto& [turns, where, entry] : dialogues(split))
    for (size_t i = 0; i < turns.size(); ++i)
      if (const int64_t most = layout.longest(turns[i].speaker, length), found = std::ssize(turns[i].ids); found > most)
        return fmt::format(
            "{}: turn {} has {} tokens, and a window of {} with {} for an answer has room for {}: make train.length or "
            "task.answer_tokens larger, or set task.too_long to cut",
            where, i + 1, found, length, config_.rules.answer_tokens, most);
  return std::nullopt;
}

// ---- reading ----

const DialogueTexts& Dialogue::texts() const {
  std::call_once(texts_once_, [this] { texts_ = read_dialogue_texts(config_.data, rule_.get(), facts_.seed); });
  return texts_;
}

std::string Dialogue::training_text() const {
  std::string all;
  for (const auto& dialogue : texts().splits[static_cast<size_t>(Split::train)])
    for (const auto& turn : dialogue.turns) all += turn.text + "\n";
  return all;
}

const Tokenizer* Dialogue::tokenizer() const {
  std::call_once(tokenizer_once_, [this] {
    tokenizer_ = tokenizers().build(config_.tokenizer,
                                    {.saved = facts_.saved_tokenizer, .text = [this] { return training_text(); }});
  });
  return tokenizer_.get();
}

const Dialogue::Data& Dialogue::data() const {
  std::call_once(data_once_, [this] {
    for (const Split split : kSplits)
      data_[static_cast<size_t>(split)] = encoded_dialogues(texts().splits[static_cast<size_t>(split)], layout());
  });
  return data_;
}

// ---- examples ----

std::shared_ptr<const DialogueExamples> Dialogue::examples(Split split, int64_t length) const {
  require<ConfigError>(has(split), "there is no {0} data: give task.data.{0}, or task.split", split_name(split));
  const auto refusal = refuses_length(split, length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  return std::make_shared<DialogueExamples>(layout(), dialogues(split), length);
}

std::unique_ptr<BatchStream> Dialogue::open(const StreamOptions& options) const {
  require<ConfigError>(options.training || options.stride == 0,
                       "dialogues are judged in windows of whole turns, over which none slides: leave the stride out");
  const auto windows = examples(options.split, options.length);
  const auto dialogue_of = [&](uint64_t number) { return windows->dialogue_of(number); };
  return example_stream(windows, {.batch_size = options.batch_size,
                                  .batch_tokens = options.batch_tokens,
                                  .by_length = true,
                                  .training = options.training,
                                  .seed = options.seed,
                                  .ranks = options.ranks,
                                  .mixed = options.training ? mixed(windows->count(), dialogue_of) : MixedExamples()});
}

MixedExamples Dialogue::mixed(int64_t count, const std::function<size_t(uint64_t number)>& dialogue_of) const {
  const auto entry_of = [&](uint64_t number) { return dialogues(Split::train)[dialogue_of(number)].entry; };
  return mixed_examples(config_.data.train, config_.data.weights, count, entry_of);
}

Loss Dialogue::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  const Tensor hidden = model.forward(input_of(batch));
  return {.sum = model.head().loss(hidden, batch.targets, options), .weight = batch.weight};
}

std::shared_ptr<const TextWriter> Dialogue::writer() const { return std::make_shared<DialogueWriter>(layout()); }

// ---- what it is ----

std::vector<MixedPart> Dialogue::parts() const {
  return mixed(std::ssize(dialogues(Split::train)), [](uint64_t number) { return number; }).parts;
}

uint64_t Dialogue::fingerprint() const {
  uint64_t hash = mix(tokenizer()->fingerprint(), static_cast<uint64_t>(config_.rules.answers));
  for (const auto& dialogue : dialogues(Split::train)) {
    std::vector<int64_t> text;
    for (const Turn& turn : dialogue.turns) layout().append(turn, text);
    hash = hash_bytes(text.data(), text.size() * sizeof(int64_t), hash);
  }
  return mixed_fingerprint(hash, parts());
}

namespace {

// What there is of a split.
std::string told_split(const std::vector<EncodedDialogue>& dialogues, const DialogueLayout& layout) {
  size_t turns = 0, longest = 0, longest_answer = 0, unknown = 0, unknown_answers = 0, in_a_row = 0;
  for (const auto& dialogue : dialogues) {
    turns += dialogue.turns.size();
    for (size_t i = 0; i < dialogue.turns.size(); ++i) {
      const Turn& turn = dialogue.turns[i];
      size_t& most = turn.speaker == layout.answers() ? longest_answer : longest;
      most = std::max(most, turn.ids.size());
      const auto lacking = static_cast<size_t>(
          std::count_if(turn.ids.begin(), turn.ids.end(), [&](int64_t id) { return layout.is_unknown(id); }));
      unknown += lacking;
      unknown_answers += turn.speaker == layout.answers() ? lacking : 0;
      in_a_row += i > 0 && turn.speaker == dialogue.turns[i - 1].speaker ? 1 : 0;
    }
  }
  std::string line = fmt::format("{} dialogues of {} turns, answers of up to {} tokens, other turns of up to {}",
                                 dialogues.size(), turns, longest_answer, longest);
  if (in_a_row > 0) line += fmt::format("; {} turns follow one of the same side", in_a_row);
  if (unknown > 0)
    line += fmt::format("; {} {} that the tokenizer has not", unknown, layout.unknown_word() ? "words" : "characters");
  if (unknown_answers > 0) line += fmt::format(", {} of them in answers, which are never right there", unknown_answers);
  return line;
}

}  // namespace

std::vector<std::string> Dialogue::left_out(int64_t) const {
  if (texts().left_out.empty()) return {};
  return {texts().left_out};
}

std::vector<std::string> Dialogue::summary() const {
  std::vector<std::string> lines{
      fmt::format("tokenizer: {}, {} tokens, and 5 marks", tokenizer()->kind(), tokenizer()->vocab_size())};
  for (const Split split : kSplits)
    if (has(split)) lines.push_back(fmt::format("{}: {}", split_name(split), told_split(dialogues(split), layout())));
  for (auto& line : described(parts(), "dialogues")) lines.push_back(std::move(line));
  for (auto& line : left_out(0)) lines.push_back(std::move(line));
  const auto& first = texts().splits[static_cast<size_t>(Split::train)].front().turns;
  lines.push_back(fmt::format("as in: {} -> {}", first[0].text, first[1].text));
  return lines;
}

}  // namespace ordo
