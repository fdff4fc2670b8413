// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/generate.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ordo/core/hash.h"
#include "ordo/generate/sampling.h"
#include "small_models.h"
#include "support/thrown.h"
#include "table_model.h"

namespace ordo::test {

namespace {

Rows generate_rows(Model& model, const Rows& prompts, const GenerateConfig& config, const OnToken& on_token = {}) {
  return first_ids(generate(model, prompts_of(prompts), config, on_token));
}

// Without a cache and without padding: the whole text anew for each token.
Row plainly(Model& model, const Row& prompt, int64_t row, const GenerateConfig& config) {
  const c10::NoGradGuard no_gradients;
  model.eval();
  Row text = prompt;
  for (int64_t step = 0; step < config.max_new_tokens; ++step) {
    const auto length = static_cast<int64_t>(text.size());
    const Tensor hidden = model.forward({.ids = at::tensor(text).unsqueeze(0), .at = consecutive(0, length, at::kCPU)});
    const Tensor logits = model.head().logits(hidden.select(1, length - 1)).to(at::kDouble).contiguous();
    const double* const first = logits.data_ptr<double>();
    const uint64_t key =
        mix(mix(key_of(config.seed, "generate"), static_cast<uint64_t>(row)), static_cast<uint64_t>(step));
    text.push_back(choose_token({first, first + logits.size(1)}, text, config, KeyedSequence(key).unit()));
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace

TEST_CASE("generation: uneven prompts in one batch, with a cache, go on as each alone and without one", "[unit]") {
  for (const auto* position : {"none", "sinusoidal", "learned", "rope", "alibi"}) {
    const auto model = small_model(position);
    for (const bool greedy : {true, false}) {
      CAPTURE(position, greedy);
      const GenerateConfig config{.max_new_tokens = 12, .greedy = greedy, .seed = 8};
      const Rows together = generate_rows(*model, kUneven, config);
      REQUIRE(together.size() == kUneven.size());
      for (size_t row = 0; row < kUneven.size(); ++row)
        CHECK(together[row] == plainly(*model, kUneven[row], static_cast<int64_t>(row), config));
    }
  }
}

TEST_CASE("generation: even prompts go on as each alone", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 10, .seed = 2};
  const Rows prompts{{1, 2, 3}, {3, 2, 1}, {0, 0, 0}};
  const Rows together = generate_rows(*model, prompts, config);
  for (size_t row = 0; row < prompts.size(); ++row)
    CHECK(together[row] == plainly(*model, prompts[row], static_cast<int64_t>(row), config));
}

TEST_CASE("generation: a row's draws do not depend on the other rows", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 10, .seed = 5};
  const Rows one = generate_rows(*model, {{1, 2}, {3, 4, 5}}, config),
             other = generate_rows(*model, {{9}, {3, 4, 5}, {7, 7, 7, 7}}, config);
  CHECK(one[1] == other[1]);
}

TEST_CASE("generation: the same prompt in two rows is drawn twice, and another seed draws anew", "[unit]") {
  const auto model = small_model("rope");
  const Rows rows = generate_rows(*model, {{1, 2}, {1, 2}}, {.max_new_tokens = 15, .seed = 5});
  CHECK(rows[0] != rows[1]);
  CHECK(generate_rows(*model, {{1, 2}}, {.max_new_tokens = 15, .seed = 5})[0] == rows[0]);
  CHECK(generate_rows(*model, {{1, 2}}, {.max_new_tokens = 15, .seed = 6})[0] != rows[0]);
}

TEST_CASE("generation: rows end at a stop id, which is left out, and the others go on undisturbed", "[unit]") {
  const auto model = small_model("rope");
  GenerateConfig config{.max_new_tokens = 14, .seed = 1};
  const Rows free = generate_rows(*model, kUneven, config);
  std::set<size_t> lengths;
  for (int64_t stop = 0; stop < 11; ++stop) {
    config.stop = {stop};
    const Rows stopped = generate_rows(*model, kUneven, config);
    for (size_t row = 0; row < free.size(); ++row) {
      const Row expected(free[row].begin(), std::find(free[row].begin(), free[row].end(), stop));
      CHECK(stopped[row] == expected);
      lengths.insert(expected.size());
    }
  }
  CHECK(lengths.size() > 3);  // else the case shows little
}

TEST_CASE("generation: the listener hears each token in order of steps, and may end it all", "[unit]") {
  const auto model = small_model("alibi");
  const GenerateConfig config{.max_new_tokens = 6, .seed = 1};
  Rows heard(kUneven.size());
  std::vector<int64_t> order;
  const Rows rows = generate_rows(*model, kUneven, config, [&](int64_t row, int64_t id) {
    heard[static_cast<size_t>(row)].push_back(id);
    order.push_back(row);
    return true;
  });
  CHECK(heard == rows);
  CHECK(std::vector<int64_t>(order.begin(), order.begin() + 8) == std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3});
  int64_t count = 0;
  const Rows cut = generate_rows(*model, kUneven, config, [&](int64_t, int64_t) { return ++count < 6; });
  CHECK(count == 6);
  CHECK(cut == Rows{{rows[0][0], rows[0][1]}, {rows[1][0], rows[1][1]}, {rows[2][0]}, {rows[3][0]}});
}

TEST_CASE("generation: a model in training mode is asked in eval mode and left as it was", "[unit]") {
  const auto model = small_model("rope");
  model->eval();
  const Rows expected = generate_rows(*model, kUneven, {.max_new_tokens = 8});
  model->train();
  CHECK(generate_rows(*model, kUneven, {.max_new_tokens = 8}) == expected);
  CHECK(model->is_training());
}

TEST_CASE("generation: what leaves the encoding's range is refused with what fits", "[unit]") {
  const auto model = small_model("learned");  // 24 positions
  CHECK(generate_rows(*model, {{1, 2, 3, 4}}, {.max_new_tokens = 21})[0].size() ==
        21);  // the last token needs no position
  const auto message = thrown<ConfigError>([&] { generate_rows(*model, {{1}, {1, 2, 3, 4}}, {.max_new_tokens = 22}); });
  CHECK(contains(message, "25 positions"));
  CHECK(contains(message, "at most 21 new tokens fit"));
  CHECK(contains(thrown<ConfigError>([&] { generate_rows(*model, {Row(30, 1)}, {.max_new_tokens = 1}); }),
                 "shorten the prompt"));
  CHECK(generate_rows(*small_model("rope"), {{1, 2, 3, 4}}, {.max_new_tokens = 40})[0].size() == 40);
}

TEST_CASE("generation: ids beyond the tokenizer's vocabulary are never chosen", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 20, .temperature = 3.0, .repetition_penalty = 1.1, .vocab_size = 4};
  for (const auto& row : generate_rows(*model, kUneven, config)) {
    CHECK(row.size() == 20);
    CHECK(*std::max_element(row.begin(), row.end()) == 3);
  }
}

TEST_CASE("generation: prompts without tokens or with unknown ids are refused", "[unit]") {
  const auto model = small_model("rope");
  CHECK(contains(thrown<ConfigError>([&] { generate_rows(*model, {{1}, {}}, {}); }), "prompt 2 is empty"));
  CHECK(contains(thrown<ConfigError>([&] { generate_rows(*model, {{11}}, {}); }), "token id 11"));
  CHECK(contains(thrown<ConfigError>([&] { generate_rows(*model, {{1}}, {.top_p = 0.0}); }), "top_p"));
  CHECK(generate_rows(*model, {}, {}).empty());
  CHECK(generate_rows(*model, {{1}, {2}}, {.max_new_tokens = 0}) == Rows{{}, {}});
}

TEST_CASE("generation: several draws of a prompt are its only draw and others beside it", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig once{.max_new_tokens = 8, .seed = 4};
  GenerateConfig config = once;
  config.samples = 5;
  const Answers answers = generate(*model, prompts_of(kUneven), config);
  const Rows alone = generate_rows(*model, kUneven, once);
  for (size_t prompt = 0; prompt < kUneven.size(); ++prompt) {
    REQUIRE(answers[prompt].size() == 5);
    CHECK(answers[prompt][0].ids == alone[prompt]);
    std::set<Row> different;
    for (const Answer& answer : answers[prompt]) different.insert(answer.ids);
    CHECK(different.size() == 5);
  }
  CHECK(generate(*model, prompts_of({kUneven[0]}), config)[0][4].ids == answers[0][4].ids);
}

TEST_CASE("generation: the listener hears the draws of a prompt as rows of their own", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 4, .samples = 3};
  Rows heard(2 * 3);
  const Answers answers = generate(*model, prompts_of({{1, 2}, {3}}), config, [&](int64_t row, int64_t id) {
    heard[static_cast<size_t>(row)].push_back(id);
    return true;
  });
  for (size_t prompt = 0; prompt < 2; ++prompt)
    for (size_t sample = 0; sample < 3; ++sample) CHECK(heard[prompt * 3 + sample] == answers[prompt][sample].ids);
}

TEST_CASE("generation: the best of several draws come first, by their log-probability", "[unit]") {
  const auto model = small_model("rope");
  GenerateConfig config{.max_new_tokens = 6, .samples = 8, .seed = 2, .stop = {3}};
  std::vector<double> all;
  for (const Answer& answer : answers_to(*model, {.ids = {1, 2}}, config)) all.push_back(answer.score);
  CHECK_FALSE(std::is_sorted(all.rbegin(), all.rend()));
  std::sort(all.rbegin(), all.rend());
  config.n_best = 3;
  const auto best = generate(*model, prompts_of({{1, 2}}), config)[0];
  REQUIRE(best.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(best[i].score == all[i]);
}

TEST_CASE("generation: a log-probability is the model's own, whatever filters and temperature say", "[unit]") {
  const Logits logits{0.0, 1.0, 2.0, 0.5};
  TableModel model(4, [&](const Tokens&, const Tokens&) { return logits; });
  const auto probabilities = softmax(logits);
  const GenerateConfig config{.max_new_tokens = 2, .temperature = 3.0, .top_k = 3, .samples = 9, .stop = {1}};
  std::set<bool> ends;
  for (const Answer& answer : answers_to(model, {.ids = {0}}, config)) {
    double expected = answer.ended ? std::log(probabilities[1]) : 0.0;
    for (const int64_t id : answer.ids) expected += std::log(probabilities[static_cast<size_t>(id)]);
    CHECK(answer.log_probability == Approx(expected).epsilon(1e-12));
    CHECK(answer.ended == (answer.ids.size() < 2));
    ends.insert(answer.ended);
  }
  CHECK(ends.size() == 2);  // else the case shows little
}

TEST_CASE("generation: no n-gram stands twice in prompt and answer when that is asked for", "[unit]") {
  const auto model = small_model("alibi");
  for (const bool greedy : {true, false})
    for (int64_t n = 1; n <= 3; ++n) {
      CAPTURE(greedy, n);
      const GenerateConfig config{.max_new_tokens = 8, .greedy = greedy, .no_repeat_ngram = n};
      const Row prompt{1, 2, 1}, answer = generate_rows(*model, {prompt}, config)[0];
      Row text = prompt;
      text.insert(text.end(), answer.begin(), answer.end());
      std::set<Row> seen;
      for (auto first = text.begin() + (n == 1 ? 2 : 0); text.end() - first >= n; ++first)
        CHECK(seen.insert({first, first + n}).second);
      CHECK(answer.size() == 8);
    }
}

TEST_CASE("generation: an answer ends where the settings leave nothing to choose from", "[unit]") {
  TableModel model(3, drawn_rule(3, 1.0));
  const auto answer = generate(model, prompts_of({{1}}), {.max_new_tokens = 9, .no_repeat_ngram = 1})[0][0];
  CHECK(std::set<int64_t>(answer.ids.begin(), answer.ids.end()) == std::set<int64_t>{0, 2});
  CHECK_FALSE(answer.ended);
}

TEST_CASE("generation: no answer ends before min_new_tokens", "[unit]") {
  TableModel model(3, [](const Tokens&, const Tokens&) { return Logits{5.0, 1.0, 0.0}; });
  GenerateConfig config{.max_new_tokens = 9, .greedy = true, .stop = {0}};
  CHECK(generate_rows(model, {{1}}, config)[0].empty());
  config.min_new_tokens = 4;
  CHECK(generate_rows(model, {{1}}, config)[0] == Row{1, 1, 1, 1});
}

TEST_CASE("generation: an answer begins with its prompt's prefix, and each prompt has its own", "[unit]") {
  const auto model = small_model("rope");
  const std::vector<Prompt> prompts{{.ids = {1, 2}, .prefix = {7, 7, 4}}, {.ids = {3}}, {.ids = {4}, .prefix = {0}}};
  const GenerateConfig config{.max_new_tokens = 6, .greedy = true};
  const Rows rows = first_ids(generate(*model, prompts, config));
  CHECK(Row(rows[0].begin(), rows[0].begin() + 3) == Row{7, 7, 4});
  CHECK(Row(rows[0].begin() + 3, rows[0].end()) ==
        generate_rows(*model, {{1, 2, 7, 7, 4}}, {.max_new_tokens = 3, .greedy = true})[0]);
  CHECK(rows[1] == generate_rows(*model, {{3}}, config)[0]);
  CHECK(rows[2][0] == 0);
  const auto refused = [&](const Prompt& prompt, GenerateConfig with) {
    return thrown<ConfigError>([&] { generate(*model, {prompt}, with); });
  };
  CHECK(contains(refused({.ids = {1}, .prefix = {11}}, {}), "forces token id 11"));
  CHECK(contains(refused({.ids = {1}, .prefix = {5}}, {.vocab_size = 5}), "end at 4"));
  CHECK(contains(refused({.ids = {1}, .prefix = {5}}, {.stop = {5}}), "stop id"));
  CHECK(contains(refused({.ids = {1}, .prefix = {5, 5}}, {.max_new_tokens = 1}), "max_new_tokens"));
}

TEST_CASE("generation: uneven sources are read as each alone, once, by an encoder-decoder", "[unit]") {
  TableModel model(7, drawn_rule(7, 3.0), /*reads_source=*/true);
  const std::vector<Prompt> prompts{
      {.ids = {0}, .source = {1, 2, 3}}, {.ids = {0}, .source = {4}}, {.ids = {0, 1}, .source = {5, 6}}};
  const GenerateConfig config{.max_new_tokens = 6, .greedy = true, .stop = {2}};
  const Rows together = first_ids(generate(model, prompts, config));
  for (size_t row = 0; row < prompts.size(); ++row)
    CHECK(together[row] == generate(model, {prompts[row]}, config)[0][0].ids);
  CHECK(together[0] != first_ids(generate(model, {{.ids = {0}, .source = {1, 2, 4}}}, config))[0]);
}

TEST_CASE("generation: a source that nobody reads, and a reader without one, are refused", "[unit]") {
  TableModel reader(7, drawn_rule(7, 3.0), /*reads_source=*/true), decoder(7, drawn_rule(7, 3.0));
  const auto refused = [](Model& model, const std::vector<Prompt>& prompts) {
    return thrown<ConfigError>([&] { generate(model, prompts, {}); });
  };
  CHECK(contains(refused(reader, {{.ids = {0}}}), "encoder-decoder"));
  CHECK(contains(refused(reader, {{.ids = {0}, .source = {1}}, {.ids = {0}}}), "source 2 is empty"));
  CHECK(contains(refused(reader, {{.ids = {0}, .source = {7}}}), "source 1 has token id 7"));
  CHECK(contains(refused(reader, {{.ids = {0}, .source = Row(1001, 1)}}), "source 1 has 1001 tokens"));
  CHECK(contains(refused(decoder, {{.ids = {0}, .source = {1}}}), "no encoder"));
}

}  // namespace ordo::test
