// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/generate.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/generate/sampling.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Row = std::vector<int64_t>;
using Rows = std::vector<Row>;

struct ModelFile {
  Choice<Model> model;
};
void fields(Fields& f, ModelFile& c) { f("model", c.model, "model"); }

// A small decoder of 11 tokens whose weights are large enough that its choices differ.
std::shared_ptr<Model> small_model(const std::string& position) {
  ModelFile file;
  load_config_text(
      "model: {kind: decoder, dim: 16, layers: 2, max_length: 24, attention: {heads: 2}, init: {std: 0.5}, dropout: "
      "0.2, position: " +
          position + "}",
      walk_of(file), {});
  return models().build(file.model, {.vocab_size = 11, .max_length = 24, .seed = 3});
}

const Rows kUneven{{1, 2, 3}, {4}, {5, 6, 7, 8, 9, 10, 0}, {2, 2}};

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
      const Rows together = generate(*model, kUneven, config);
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
  const Rows together = generate(*model, prompts, config);
  for (size_t row = 0; row < prompts.size(); ++row)
    CHECK(together[row] == plainly(*model, prompts[row], static_cast<int64_t>(row), config));
}

TEST_CASE("generation: a row's draws do not depend on the other rows", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 10, .seed = 5};
  const Rows one = generate(*model, {{1, 2}, {3, 4, 5}}, config),
             other = generate(*model, {{9}, {3, 4, 5}, {7, 7, 7, 7}}, config);
  CHECK(one[1] == other[1]);
}

TEST_CASE("generation: the same prompt in two rows is drawn twice, and another seed draws anew", "[unit]") {
  const auto model = small_model("rope");
  const Rows rows = generate(*model, {{1, 2}, {1, 2}}, {.max_new_tokens = 15, .seed = 5});
  CHECK(rows[0] != rows[1]);
  CHECK(generate(*model, {{1, 2}}, {.max_new_tokens = 15, .seed = 5})[0] == rows[0]);
  CHECK(generate(*model, {{1, 2}}, {.max_new_tokens = 15, .seed = 6})[0] != rows[0]);
}

TEST_CASE("generation: rows end at a stop id, which is left out, and the others go on undisturbed", "[unit]") {
  const auto model = small_model("rope");
  GenerateConfig config{.max_new_tokens = 14, .seed = 1};
  const Rows free = generate(*model, kUneven, config);
  std::set<size_t> lengths;
  for (int64_t stop = 0; stop < 11; ++stop) {
    config.stop = {stop};
    const Rows stopped = generate(*model, kUneven, config);
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
  const Rows rows = generate(*model, kUneven, config, [&](int64_t row, int64_t id) {
    heard[static_cast<size_t>(row)].push_back(id);
    order.push_back(row);
    return true;
  });
  CHECK(heard == rows);
  CHECK(std::vector<int64_t>(order.begin(), order.begin() + 8) == std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3});
  int64_t count = 0;
  const Rows cut = generate(*model, kUneven, config, [&](int64_t, int64_t) { return ++count < 6; });
  CHECK(count == 6);
  CHECK(cut == Rows{{rows[0][0], rows[0][1]}, {rows[1][0], rows[1][1]}, {rows[2][0]}, {rows[3][0]}});
}

TEST_CASE("generation: a model in training mode is asked in eval mode and left as it was", "[unit]") {
  const auto model = small_model("rope");
  model->eval();
  const Rows expected = generate(*model, kUneven, {.max_new_tokens = 8});
  model->train();
  CHECK(generate(*model, kUneven, {.max_new_tokens = 8}) == expected);
  CHECK(model->is_training());
}

TEST_CASE("generation: what leaves the encoding's range is refused with what fits", "[unit]") {
  const auto model = small_model("learned");                                        // 24 positions
  CHECK(generate(*model, {{1, 2, 3, 4}}, {.max_new_tokens = 21})[0].size() == 21);  // the last token needs no position
  const auto message = thrown<ConfigError>([&] { generate(*model, {{1}, {1, 2, 3, 4}}, {.max_new_tokens = 22}); });
  CHECK(contains(message, "25 positions"));
  CHECK(contains(message, "at most 21 new tokens fit"));
  CHECK(contains(thrown<ConfigError>([&] { generate(*model, {Row(30, 1)}, {.max_new_tokens = 1}); }),
                 "shorten the prompt"));
  CHECK(generate(*small_model("rope"), {{1, 2, 3, 4}}, {.max_new_tokens = 40})[0].size() == 40);
}

TEST_CASE("generation: ids beyond the tokenizer's vocabulary are never chosen", "[unit]") {
  const auto model = small_model("rope");
  const GenerateConfig config{.max_new_tokens = 20, .temperature = 3.0, .repetition_penalty = 1.1, .vocab_size = 4};
  for (const auto& row : generate(*model, kUneven, config)) {
    CHECK(row.size() == 20);
    CHECK(*std::max_element(row.begin(), row.end()) == 3);
  }
}

TEST_CASE("generation: prompts without tokens or with unknown ids are refused", "[unit]") {
  const auto model = small_model("rope");
  CHECK(contains(thrown<ConfigError>([&] { generate(*model, {{1}, {}}, {}); }), "prompt 1 is empty"));
  CHECK(contains(thrown<ConfigError>([&] { generate(*model, {{11}}, {}); }), "token id 11"));
  CHECK(contains(thrown<ConfigError>([&] { generate(*model, {{1}}, {.top_p = 0.0}); }), "top_p"));
  CHECK(generate(*model, {}, {}).empty());
  CHECK(generate(*model, {{1}, {2}}, {.max_new_tokens = 0}) == Rows{{}, {}});
}

}  // namespace ordo::test
