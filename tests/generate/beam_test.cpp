// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/beam.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ordo/generate/sampling.h"
#include "small_models.h"
#include "support/thrown.h"
#include "table_model.h"

namespace ordo::test {

namespace {

struct Written {
  Row ids;
  bool ended;
  double log_probability;
};

double score_of(const Written& w, double length_penalty) {
  return w.log_probability / std::pow(static_cast<double>(w.ids.size()) + (w.ended ? 1.0 : 0.0), length_penalty);
}

// Every answer to a prompt of at most `longest` tokens under a rule, with 0 as the stop id.
void enumerate(const Rule& rule, const Row& prompt, int64_t longest, const Written& so_far, std::vector<Written>& all) {
  if (static_cast<int64_t>(so_far.ids.size()) == longest) {
    all.push_back(so_far);
    return;
  }
  Row text = prompt;
  text.insert(text.end(), so_far.ids.begin(), so_far.ids.end());
  const auto probabilities = softmax(rule(text, {}));
  for (size_t id = 0; id < probabilities.size(); ++id) {
    Written next = so_far;
    next.log_probability += std::log(probabilities[id]);
    if (id == 0) {
      all.push_back({next.ids, true, next.log_probability});
    } else {
      next.ids.push_back(static_cast<int64_t>(id));
      enumerate(rule, prompt, longest, next, all);
    }
  }
}

// The search as one would write it down: whole texts, all continuations sorted, no early stop, no cache.
std::vector<Answer> plain_beams(const Rule& rule, const Row& prompt, const GenerateConfig& config) {
  struct Open {
    Row ids;
    double sum;
    int64_t newest;
  };
  const auto width = static_cast<size_t>(config.beam.width);
  std::vector<Open> open{{{}, 0.0, 0}};
  std::vector<Written> ended;
  for (int64_t length = 1; length <= config.max_new_tokens; ++length) {
    std::vector<Open> all;
    for (const Open& one : open) {
      Row text = prompt;
      text.insert(text.end(), one.ids.begin(), one.ids.end());
      const auto probabilities = softmax(rule(text, {}));
      for (size_t id = 0; id < probabilities.size(); ++id)
        all.push_back({one.ids, one.sum + std::log(probabilities[id]), static_cast<int64_t>(id)});
    }
    std::stable_sort(all.begin(), all.end(), [](const Open& a, const Open& b) { return a.sum > b.sum; });
    open.clear();
    for (size_t rank = 0; rank < all.size(); ++rank) {
      Open& one = all[rank];
      const bool stops = one.newest == 0;
      if (stops && rank < width) ended.push_back({one.ids, true, one.sum});
      if (stops || open.size() == width) continue;
      one.ids.push_back(one.newest);
      if (length < config.max_new_tokens)
        open.push_back(one);
      else if (rank < width)
        ended.push_back({one.ids, false, one.sum});
    }
  }
  std::vector<Answer> answers;
  for (const Written& w : ended)
    answers.push_back({w.ids, w.log_probability, score_of(w, config.beam.length_penalty), w.ended});
  std::stable_sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) { return a.score > b.score; });
  answers.resize(std::min(answers.size(), static_cast<size_t>(config.n_best)));
  return answers;
}

void check_same(const std::vector<Answer>& found, const std::vector<Answer>& expected, double margin) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].ids == expected[i].ids);
    CHECK(found[i].ended == expected[i].ended);
    CHECK(found[i].log_probability == Approx(expected[i].log_probability).margin(margin));
    CHECK(found[i].score == Approx(expected[i].score).margin(margin));
  }
}

}  // namespace

TEST_CASE("a beam of width 1 that stops at the first end is the greedy choice", "[unit]") {
  for (const auto* position : {"none", "learned", "rope", "alibi"})
    for (int64_t stop = 0; stop < 11; stop += 2) {
      CAPTURE(position, stop);
      const auto model = small_model(position);
      const Answers greedy =
          generate(*model, prompts_of(kUneven), {.max_new_tokens = 10, .greedy = true, .stop = {stop}});
      const Answers beam = generate(*model, prompts_of(kUneven),
                                    {.max_new_tokens = 10,
                                     .beam = {.width = 1, .length_penalty = 0.0, .stopping = Stopping::first},
                                     .stop = {stop}});
      for (size_t prompt = 0; prompt < kUneven.size(); ++prompt) check_same(beam[prompt], greedy[prompt], 1e-4);
    }
}

TEST_CASE("a beam as wide as the tree finds the best answers of all", "[unit]") {
  const int64_t longest = 4;
  for (uint64_t seed = 0; seed < 5; ++seed)
    for (const double length_penalty : {-0.5, 0.0, 0.6, 1.0, 2.0}) {
      CAPTURE(seed, length_penalty);
      const Rule rule = drawn_rule(4, 4.0, seed);
      std::vector<Written> all;
      enumerate(rule, {1, 2}, longest, {{}, false, 0.0}, all);
      std::stable_sort(all.begin(), all.end(), [&](const Written& a, const Written& b) {
        return score_of(a, length_penalty) > score_of(b, length_penalty);
      });
      std::vector<Answer> expected;
      for (size_t i = 0; i < 20; ++i)
        expected.push_back({all[i].ids, all[i].log_probability, score_of(all[i], length_penalty), all[i].ended});
      TableModel model(4, rule);
      const GenerateConfig config{.max_new_tokens = longest,
                                  .beam = {.width = 4 * 4 * 4 * 4, .length_penalty = length_penalty},
                                  .n_best = 20,
                                  .stop = {0}};
      check_same(generate(model, prompts_of({{1, 2}}), config)[0], expected, 1e-9);
    }
}

TEST_CASE("stopping when nothing can come to be better changes no answer, and saves steps", "[unit]") {
  int64_t saved = 0;
  for (uint64_t seed = 0; seed < 30; ++seed)
    for (const double length_penalty : {-0.5, 0.0, 0.3, 1.0})
      for (const int64_t width : {1, 2, 5}) {
        CAPTURE(seed, length_penalty, width);
        const Rule rule = drawn_rule(5, 5.0, seed);
        TableModel model(5, rule);
        const GenerateConfig config{.max_new_tokens = 10,
                                    .beam = {.width = width, .length_penalty = length_penalty},
                                    .n_best = width,
                                    .stop = {0}};
        check_same(generate(model, prompts_of({{1}}), config)[0], plain_beams(rule, {1}, config), 1e-9);
        saved += 10 - model.calls;
      }
  CHECK(saved > 200);
}

TEST_CASE("the rules of stopping differ where they should", "[unit]") {
  // Stop or go on with 1; ever the same choice, but for what follows 1 1.
  const Rule rule = [](const Tokens& text, const Tokens&) {
    const std::vector<std::vector<double>> rows{{0.40, 0.55, 0.05}, {0.30, 0.68, 0.02}, {0.02, 0.96, 0.02}};
    Logits logits;
    for (const double p : rows[std::min(text.size() - 1, size_t{2})]) logits.push_back(std::log(p));
    return logits;
  };
  const auto search = [&](Stopping stopping) {
    TableModel model(3, rule);
    const auto answer = generate(model, prompts_of({{2}}),
                                 {.max_new_tokens = 12, .beam = {.width = 2, .stopping = stopping}, .stop = {0}})[0][0];
    return std::pair{answer.ids.size(), model.calls};
  };
  // Two answers have ended after two steps: "" and "1", of which the second scores log(0.165) / 2 = -0.90.
  CHECK(search(Stopping::first) == std::pair{size_t{1}, int64_t{2}});
  // "1 1" stands at log(0.374) / 2 = -0.49: the search goes on, to the end, since 1 goes on to be likely.
  CHECK(search(Stopping::estimate) == std::pair{size_t{12}, int64_t{12}});
  CHECK(search(Stopping::best) == std::pair{size_t{12}, int64_t{12}});
}

TEST_CASE("an estimate stops where a longer answer could still come to be better", "[unit]") {
  const Rule rule = [](const Tokens& text, const Tokens&) {
    return text.size() == 1 ? Logits{std::log(0.7), std::log(0.3)} : Logits{std::log(0.001), std::log(0.999)};
  };
  const auto search = [&](Stopping stopping) {
    TableModel model(2, rule);
    return generate(model, prompts_of({{1}}),
                    {.max_new_tokens = 8, .beam = {.width = 1, .stopping = stopping}, .stop = {0}})[0][0];
  };
  CHECK(search(Stopping::estimate).ids.empty());  // "1" stands at -1.20, the stop scored -0.36
  CHECK(search(Stopping::best).ids == Row(8, 1));
  CHECK(search(Stopping::best).score == Approx((std::log(0.3) + 7 * std::log(0.999)) / 8).epsilon(1e-12));
}

TEST_CASE("of equal continuations the lower id comes first", "[unit]") {
  TableModel model(5, [](const Tokens&, const Tokens&) { return Logits(5, 0.25); });
  const GenerateConfig config{.max_new_tokens = 2, .beam = {.width = 6}, .n_best = 6, .vocab_size = 3};
  Rows found;
  for (const Answer& answer : answers_to(model, {.ids = {1}}, config)) found.push_back(answer.ids);
  CHECK(found == Rows{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("the best answers are different ones, sorted by score", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 9, .beam = {.width = 6}, .n_best = 6, .stop = {4, 7}};
  for (const auto& answers : generate(*model, prompts_of(kUneven), config)) {
    REQUIRE(answers.size() == 6);
    std::set<std::pair<Row, double>> different;  // two answers may differ in the stop id alone
    for (const Answer& answer : answers) different.insert({answer.ids, answer.log_probability});
    CHECK(different.size() == 6);
    CHECK(std::is_sorted(answers.begin(), answers.end(),
                         [](const Answer& a, const Answer& b) { return a.score > b.score; }));
    for (const Answer& answer : answers)
      CHECK(answer.score == answer.log_probability / std::pow(answer.ids.size() + (answer.ended ? 1.0 : 0.0), 1.0));
  }
}

TEST_CASE("beams of eight prompts in one batch are those of each prompt alone", "[unit]") {
  Rows rows = kUneven;
  rows.insert(rows.end(), {{0}, {10, 9, 8, 7}, {3, 3, 3}, {6, 1}});
  for (const auto* position : {"none", "sinusoidal", "learned", "rope", "alibi"})
    for (const int64_t width : {2, 4}) {
      CAPTURE(position, width);
      const auto model = small_model(position);
      const GenerateConfig config{.max_new_tokens = 10, .beam = {.width = width}, .n_best = 2, .stop = {4, 7}};
      const Answers together = generate(*model, prompts_of(rows), config);
      for (size_t row = 0; row < rows.size(); ++row) {
        CAPTURE(row);
        check_same(together[row], generate(*model, prompts_of({rows[row]}), config)[0], 1e-4);
      }
    }
}

TEST_CASE("beams over sources of unequal length are those of each source alone", "[unit]") {
  TableModel model(6, drawn_rule(6, 4.0), /*reads_source=*/true);
  std::vector<Prompt> prompts;
  for (int64_t length = 1; length <= 8; ++length)
    prompts.push_back({.ids = Row(static_cast<size_t>(1 + length % 2), 1),
                       .source = Row(static_cast<size_t>(length), length % 6),
                       .prefix = Row(static_cast<size_t>(length % 3), 2)});
  const GenerateConfig config{.max_new_tokens = 7, .beam = {.width = 3}, .n_best = 3, .stop = {0}};
  const Answers together = generate(model, prompts, config);
  for (size_t i = 0; i < prompts.size(); ++i) check_same(together[i], generate(model, {prompts[i]}, config)[0], 0.0);
}

TEST_CASE("beams keep to the settings: no n-gram twice, no end too early, the prefix first, ids below the limit",
          "[unit]") {
  const auto model = small_model("alibi");
  GenerateConfig config{
      .max_new_tokens = 8, .beam = {.width = 4}, .n_best = 4, .no_repeat_ngram = 2, .min_new_tokens = 5, .stop = {2}};
  config.vocab_size = 9;
  const std::vector<Prompt> prompts{{.ids = {1, 3, 1}, .prefix = {1, 3}}, {.ids = {5}}};
  const Answers answers = generate(*model, prompts, config);
  for (size_t prompt = 0; prompt < 2; ++prompt)
    for (const Answer& answer : answers[prompt]) {
      CHECK(answer.ids.size() >= 5);
      CHECK(*std::max_element(answer.ids.begin(), answer.ids.end()) < 9);
      std::set<Row> pairs;
      const auto free = answer.ids.begin() + static_cast<std::ptrdiff_t>(prompts[prompt].prefix.size());
      for (auto at = free; at + 1 < answer.ids.end(); ++at) CHECK(pairs.insert({at, at + 2}).second);
    }
  for (const Answer& answer : answers[0]) CHECK(Row(answer.ids.begin(), answer.ids.begin() + 2) == Row{1, 3});
}

TEST_CASE("a hypothesis that nothing may follow ends there", "[unit]") {
  TableModel model(3, drawn_rule(3, 2.0));
  const GenerateConfig config{.max_new_tokens = 9, .beam = {.width = 2}, .n_best = 2, .no_repeat_ngram = 1};
  const auto answers = generate(model, prompts_of({{1}}), config)[0];
  REQUIRE(answers.size() == 2);
  for (const Answer& answer : answers)
    CHECK(std::set<int64_t>(answer.ids.begin(), answer.ids.end()) == std::set<int64_t>{0, 2});
  const auto nothing = generate(model, prompts_of({{0, 1, 2}}), config)[0];
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].ids.empty());
  CHECK(nothing[0].score == 0.0);
}

TEST_CASE("logits that are not numbers end a beam search in a numeric error", "[unit]") {
  TableModel model(3, [](const Tokens&, const Tokens&) { return Logits{0.0, std::nan(""), 1.0}; });
  CHECK(contains(thrown<NumericError>([&] { generate(model, prompts_of({{1}}), {.beam = {.width = 2}}); }),
                 "not a number"));
}

TEST_CASE("nobody can listen to a beam search", "[unit]") {
  const auto model = small_model("rope");
  CHECK(contains(thrown<Error>([&] {
                   generate(*model, prompts_of({{1}}), {.beam = {.width = 2}}, [](int64_t, int64_t) { return true; });
                 }),
                 "listen"));
}

}  // namespace ordo::test
