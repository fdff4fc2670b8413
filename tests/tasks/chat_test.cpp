// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/chat.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "dialogue_models.h"
#include "dialogues.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr int64_t kWindow = 100;  // dialogues of five exchanges do not fit
const GenerateConfig kGreedy{.max_new_tokens = 20, .greedy = true};

struct ChatSubject {
  std::shared_ptr<Dialogue> task;
  std::shared_ptr<Model> model;
  int64_t window = kWindow;
};

// A few steps of plain descent.
void descend(const ChatSubject& subject) {
  const auto stream = subject.task->open({.batch_size = 4, .length = subject.window, .seed = 2});
  for (int step = 0; step < 3; ++step) {
    const Batch batch = *stream->next();
    subject.task->loss(*subject.model, batch, {.scale = 1.0 / batch.weight}).sum.backward();
    const c10::NoGradGuard no_gradients;
    for (Tensor& weight : subject.model->parameters()) {
      if (!weight.grad().defined()) continue;
      weight.sub_(weight.grad(), 0.05);
      weight.mutable_grad().zero_();
    }
  }
}

// A model that was trained a little on dialogues in English (sgd) or Chinese (crosswoz).
ChatSubject trained(const std::string& position, bool chinese) {
  const Scratch scratch;
  const auto file = chinese ? scratch.write("a.json", crosswoz_text(chinese_dialogues(8)))
                            : scratch.write("a.json", sgd_text(english_dialogues(8)));
  ChatSubject made;
  made.task = dialogue_task("tokenizer: char, answer_tokens: 32, data: {train: " + file.string() + "}");
  made.model = dialogue_model(*made.task, position, kWindow);
  descend(made);
  return made;
}

// What the whole window gives as one prompt.
Answer as_one_prompt(const ChatSubject& subject, const std::vector<Turn>& turns, const GenerateConfig& decoding) {
  const DialogueLayout layout = subject.task->layout();
  Prompt prompt{.ids = {layout.start()}};
  for (size_t i = first_kept(turns, layout.room(subject.window)); i < turns.size(); ++i)
    layout.append(turns[i], prompt.ids);
  prompt.ids.push_back(layout.mark(layout.answers()));
  GenerateConfig config = decoding;
  config.stop = {layout.end()};
  config.vocab_size = layout.start();
  return generate(*subject.model, {prompt}, config).at(0).at(0);
}

// The users' turns of some dialogues one after the other, each answered. Returns how many turns were dropped.
int64_t check_greedy_chat(const ChatSubject& subject, std::span<const EncodedDialogue> dialogues) {
  Chat chat(*subject.model, subject.task->layout(), {.length = subject.window, .decoding = kGreedy});
  std::vector<Turn> turns;
  for (const auto& dialogue : dialogues)
    for (const Turn& turn : dialogue.turns) {
      if (turn.speaker == Speaker::system) continue;
      turns.push_back(turn);
      CHECK_FALSE(chat.hear(turn));
      const Answer expected = as_one_prompt(subject, turns, kGreedy);
      std::vector<int64_t> heard;
      const Answer found = chat.answer([&](int64_t, int64_t id) {
        heard.push_back(id);
        return true;
      });
      CHECK(found.ids == expected.ids);
      CHECK(heard == expected.ids);
      CHECK(found.ended == expected.ended);
      CHECK(found.log_probability == Approx(expected.log_probability).margin(1e-3));
      turns.push_back({.speaker = Speaker::system, .ids = found.ids});
      CHECK(chat.tokens() <= subject.window);
    }
  CHECK(chat.dropped() + std::ssize(chat.window()) == std::ssize(turns));
  return chat.dropped();
}

// Of a split, answer by answer with the cache and in whole windows. Returns how many turns were dropped.
int64_t check_perplexity(const ChatSubject& subject, Split split) {
  double nats = 0.0, tokens = 0.0;
  int64_t dropped = 0;
  for (const auto& dialogue : subject.task->dialogues(split)) {
    Chat chat(*subject.model, subject.task->layout(), {.length = subject.window, .decoding = {.max_new_tokens = 1}});
    for (const Turn& turn : dialogue.turns) {
      if (turn.speaker == Speaker::user) {
        chat.hear(turn);
        continue;
      }
      nats -= chat.repeat(turn).log_probability;
      tokens += static_cast<double>(turn.ids.size()) + 1.0;
    }
    dropped += chat.dropped();
  }
  subject.model->eval();
  const Evaluation whole = subject.task->evaluate(
      *subject.model, {.split = split, .batch_size = 3, .length = subject.window, .training = false});
  CHECK(whole.tokens == tokens);
  CHECK(std::abs(std::exp(nats / tokens) / whole.metrics.at("perplexity") - 1.0) <= 1e-6);
  return dropped;
}

const std::vector<std::string> kEncodings{"rope", "learned", "sinusoidal", "alibi", "none"};

}  // namespace

TEST_CASE("a chat answers token for token what its window gives as one prompt, also after it was cut", "[unit]") {
  for (const bool chinese : {false, true})
    for (const auto& position : kEncodings) {
      CAPTURE(chinese, position);
      const ChatSubject subject = trained(position, chinese);
      CHECK(check_greedy_chat(subject, std::span(subject.task->dialogues(Split::train)).subspan(3, 2)) > 0);
    }
}

TEST_CASE("the perplexity of answers is the same turn by turn with the cache as in whole windows", "[unit]") {
  for (const bool chinese : {false, true})
    for (const auto& position : kEncodings) {
      CAPTURE(chinese, position);
      CHECK(check_perplexity(trained(position, chinese), Split::train) > 0);
    }
}

TEST_CASE("a chat keeps its cache on real dialogues: greedy answers and perplexity are those of whole windows",
          "[slow]") {
  const auto sgd = data_set("sgd-sample/test_dialogues_011.json.gz"), crosswoz = data_set("crosswoz-val/val.json.gz");
  if (!sgd || !crosswoz) return;
  const std::vector<std::string> settings{"tokenizer: byte, answer_tokens: 256, data: {train: " + sgd->string() +
                                              "}, split: {kind: number, modulus: 10, test: [0]}",
                                          "tokenizer: char, answer_tokens: 144, data: {train: " + crosswoz->string() +
                                              "}, split: {kind: number, modulus: 50, test: [0]}"};
  for (const auto& setting : settings)
    for (const auto& position : kEncodings) {
      CAPTURE(setting, position);
      ChatSubject subject{.task = dialogue_task(setting), .model = nullptr, .window = 520};
      subject.model = dialogue_model(*subject.task, position, subject.window);
      descend(subject);
      CHECK(check_greedy_chat(subject, std::span(subject.task->dialogues(Split::test)).first(4)) > 0);
      CHECK(check_perplexity(subject, Split::test) > 0);
    }
}

TEST_CASE("draws of a chat depend on the seed and the answer's number", "[unit]") {
  const ChatSubject subject = trained("rope", false);
  const Turn said = subject.task->dialogues(Split::train)[0].turns[0];
  const auto answers = [&](uint64_t seed) {
    Chat chat(*subject.model, subject.task->layout(),
              {.length = kWindow, .decoding = {.max_new_tokens = 12, .temperature = 2.0, .seed = seed}});
    std::vector<std::vector<int64_t>> all;
    for (int i = 0; i < 3; ++i) {
      chat.hear(said);
      all.push_back(chat.answer().ids);
    }
    return all;
  };
  const auto first = answers(1);
  CHECK(answers(1) == first);
  CHECK(answers(2) != first);
  CHECK(first[0] != first[1]);
  const GenerateConfig drawn{.max_new_tokens = 12, .temperature = 2.0, .seed = 1};
  CHECK(as_one_prompt(subject, {said}, drawn).ids == first[0]);
}

TEST_CASE("a chat ends an answer when nobody listens any more, and goes on from there", "[unit]") {
  const ChatSubject subject = trained("rope", false);
  Chat chat(*subject.model, subject.task->layout(), {.length = kWindow, .decoding = kGreedy});
  const Turn said = subject.task->dialogues(Split::train)[0].turns[0];
  chat.hear(said);
  const Answer cut = chat.answer([](int64_t, int64_t) { return false; });
  REQUIRE(cut.ids.size() == 1);
  CHECK_FALSE(cut.ended);
  chat.hear(said);
  CHECK(chat.answer().ids ==
        as_one_prompt(subject, {said, {.speaker = Speaker::system, .ids = cut.ids}, said}, kGreedy).ids);
}

TEST_CASE("what a chat cannot do is refused, and it stays as it was", "[unit]") {
  const ChatSubject subject = trained("learned", false);
  const DialogueLayout layout = subject.task->layout();
  const auto refused = [&](const ChatConfig& config) {
    return thrown<ConfigError>([&] { Chat(*subject.model, layout, config); });
  };
  CHECK(contains(refused({.length = 30, .decoding = {.max_new_tokens = 4}}), "has no room"));
  CHECK(contains(refused({.length = kWindow + 1, .decoding = {.max_new_tokens = 4}}), "too large"));
  CHECK(contains(refused({.length = kWindow, .decoding = {.max_new_tokens = 32}}), "room for 31 tokens"));
  CHECK(contains(refused({.length = kWindow, .decoding = {.max_new_tokens = 4, .samples = 2}}), "several samples"));
  CHECK(contains(refused({.length = kWindow, .decoding = {.max_new_tokens = 4, .temperature = -1.0}}), "temperature"));
  Chat chat(*subject.model, layout, {.length = kWindow, .decoding = {.max_new_tokens = 4, .greedy = true}});
  const Turn long_turn{.speaker = Speaker::user, .ids = std::vector<int64_t>(65, 1)};
  CHECK(contains(thrown<DataError>([&] { chat.hear(long_turn); }), "a turn of 65 tokens is too long"));
  CHECK(chat.window().empty());
  CHECK(chat.tokens() == 1);
  const Turn said{.speaker = Speaker::user, .ids = std::vector<int64_t>(64, 1)};
  chat.hear(said);
  CHECK(chat.answer().ids == as_one_prompt(subject, {said}, {.max_new_tokens = 4, .greedy = true}).ids);
}

}  // namespace ordo::test
