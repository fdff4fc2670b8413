// SPDX-License-Identifier: Apache-2.0
// What all models without attention promise: padding, packing, batches and caches change nothing.
#include "support/baselines.h"
#include "support/catch.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "ordo/models/baseline_model.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {

std::vector<std::string> both_sides() {
  std::vector<std::string> all = kCausalBaselines;
  all.insert(all.end(), kTwoSidedBaselines.begin(), kTwoSidedBaselines.end());
  return all;
}

// Where the real tokens of three rows of 7, 12 and 2 stand among 14 columns.
struct Padded {
  Tensor ids, keys;
  std::vector<Tensor> rows, columns;  // the tokens of each row alone, [1, n], and where they stand
  ModelInput input() const { return {.ids = ids, .at = consecutive(0, ids.size(1), at::kCPU), .mask = {.keys = keys}}; }
};

enum class Fill { left, right, between };

Padded padded(Fill fill) {
  constexpr int64_t kColumns = 14;
  Padded made{.ids = at::zeros({3, kColumns}, at::kLong), .keys = at::zeros({3, kColumns}, at::kBool), .rows = {}};
  for (const int64_t length : {7, 12, 2}) {  // not the longest first
    const auto row = std::ssize(made.rows);
    made.rows.push_back(some_ids(3, 12).slice(0, row, row + 1).slice(1, 0, length));
    std::vector<int64_t> columns;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t gap = fill == Fill::left ? kColumns - length : fill == Fill::right ? 0 : i > length / 2 ? 2 : 1;
      columns.push_back(i + gap);
    }
    made.columns.push_back(at::tensor(columns, at::kLong));
    made.ids[row].index_copy_(0, made.columns.back(), made.rows.back()[0]);
    made.keys[row].index_fill_(0, made.columns.back(), true);
  }
  return made;
}

constexpr Fill kFills[] = {Fill::left, Fill::right, Fill::between};

Tensor alone(Model& model, const Tensor& ids) { return evaluated(model, input_of(ids)); }

}  // namespace

TEST_CASE("without attention: padding changes nothing, wherever it stands", "[unit]") {
  for (const auto& kind : both_sides()) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    for (const Fill fill : kFills) {
      const Padded batch = padded(fill);
      const Tensor hidden = evaluated(*model, batch.input());
      REQUIRE(hidden.sizes() == at::IntArrayRef({3, 14, 16}));
      for (size_t row = 0; row < batch.rows.size(); ++row)
        CHECK(close(hidden[static_cast<int64_t>(row)].index_select(0, batch.columns[row]),
                    alone(*model, batch.rows[row])[0], Tolerance::fp32));
    }
  }
}

TEST_CASE("without attention: padding changes no gradient", "[unit]") {
  for (const auto& kind : both_sides()) {
    CAPTURE(kind);
    const Padded batch = padded(Fill::right);
    const auto together = baseline(kind), apart = baseline(kind);
    const Tensor hidden = together->forward(batch.input());
    (hidden.pow(3) * batch.keys.unsqueeze(2)).sum().backward();
    for (const Tensor& row : batch.rows) apart->forward(input_of(row)).pow(3).sum().backward();
    const auto named = apart->named_parameters();
    for (const auto& parameter : together->named_parameters()) {
      CAPTURE(parameter.key());
      if (parameter.key().starts_with("head")) continue;
      CHECK(close_gradient(parameter.value().grad(), named[parameter.key()].grad(), 1e-4));
    }
  }
}

TEST_CASE("without attention: rows of a batch are as alone", "[unit]") {
  for (const auto& kind : both_sides()) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor ids = some_ids(3, 9), whole = alone(*model, ids);
    for (int64_t row = 0; row < 3; ++row)
      CHECK(close(whole[row], alone(*model, ids.slice(0, row, row + 1))[0], Tolerance::fp32));
  }
}

TEST_CASE("without attention: packed documents see only themselves, with padding behind them too", "[unit]") {
  for (const auto& kind : both_sides()) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor ids = some_ids(2, 10);
    const Tensor segments =
        at::tensor({0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 5, 5, 3, 3, 3, 3, 3, 3, 0, 0}, at::kLong).view({2, 10});
    ModelInput in{.ids = ids, .at = from_segments(segments), .mask = {.q_segment = segments, .k_segment = segments}};
    const auto check_documents = [&](const Tensor& hidden, int64_t end) {
      const std::vector<std::vector<int64_t>> borders{{0, 3, 8, end}, {0, 2, 8, end}};
      for (size_t row = 0; row < 2; ++row)
        for (size_t i = 0; i + 1 < borders[row].size(); ++i) {
          const auto of_row = [&](const Tensor& t) {
            const auto n = static_cast<int64_t>(row);
            return t.slice(0, n, n + 1).slice(1, borders[row][i], borders[row][i + 1]);
          };
          CHECK(close(of_row(hidden), alone(*model, of_row(ids)), Tolerance::fp32));
        }
    };
    check_documents(evaluated(*model, in), 10);
    in.mask.keys = at::ones({1, 10}, at::kBool);
    in.mask.keys.slice(1, 9).fill_(false);
    check_documents(evaluated(*model, in), 9);
  }
}

TEST_CASE("without attention: a causal model's later token changes nothing before it, a two-sided one's does",
          "[unit]") {
  const Tensor ids = some_ids(1, 8);
  Tensor changed = ids.clone();
  changed[0][5] = (changed[0][5] + 1).remainder(kSmallVocabulary);
  for (const auto& kind : kCausalBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor before = alone(*model, ids), after = alone(*model, changed);
    CHECK(close(after.slice(1, 0, 5), before.slice(1, 0, 5), Tolerance::fp32));
    CHECK_FALSE(close(after.slice(1, 5, 6), before.slice(1, 5, 6), Tolerance::fp32));
    CHECK_FALSE(close(after.slice(1, 6, 7), before.slice(1, 6, 7), Tolerance::fp32));
    CHECK(model->causal());
  }
  for (const auto& kind : kTwoSidedBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor before = alone(*model, ids), after = alone(*model, changed);
    for (const int64_t place : {3, 4, 5, 6, 7})
      CHECK_FALSE(close(after.slice(1, place, place + 1), before.slice(1, place, place + 1), Tolerance::fp32));
    CHECK_FALSE(model->causal());
    CHECK(contains(thrown<ConfigError>([&] { model->make_cache(); }), "both sides"));
  }
}

TEST_CASE("without attention: what is fed in pieces through a cache is what is fed at once", "[unit]") {
  for (const auto& kind : kCausalBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor ids = some_ids(2, 9), whole = alone(*model, ids);
    const auto cache = model->make_cache();
    std::vector<Tensor> pieces;
    for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 5}, {5, 6}, {6, 9}})
      pieces.push_back(evaluated(*model, {.ids = ids.slice(1, from, to), .at = consecutive(from, to - from, at::kCPU)},
                                 cache.get()));
    CHECK(close(at::cat(pieces, 1), whole, Tolerance::fp32));
    CHECK(cache->size() == 9);
  }
}

TEST_CASE("without attention: a cache is cut anywhere, and its rows are dropped and repeated", "[unit]") {
  for (const auto& kind : kCausalBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Tensor ids = some_ids(3, 8), next = some_ids(2, 3).flip(1);
    const auto cache = model->make_cache();
    evaluated(*model, input_of(ids), cache.get());
    const Tensor rows = at::tensor({2, 0}, at::kLong);
    cache->keep_rows(rows);
    cache->truncate(5);
    CHECK(cache->size() == 5);
    const Tensor text = at::cat({ids.index_select(0, rows).slice(1, 0, 5), next}, 1);
    const auto feed = [&](int64_t from, int64_t to) {
      return evaluated(*model, {.ids = text.slice(1, from, to), .at = consecutive(from, to - from, at::kCPU)},
                       cache.get());
    };
    CHECK(close(feed(5, 7), alone(*model, text).slice(1, 5, 7), Tolerance::fp32));
    cache->keep_rows(at::tensor({1, 1, 0}, at::kLong));
    const Tensor last = evaluated(*model,
                                  {.ids = text.index_select(0, at::tensor({1, 1, 0}, at::kLong)).slice(1, 7, 8),
                                   .at = consecutive(7, 1, at::kCPU)},
                                  cache.get());
    CHECK(close(last, alone(*model, text).index_select(0, at::tensor({1, 1, 0}, at::kLong)).slice(1, 7, 8),
                Tolerance::fp32));
    CHECK(contains(thrown<Error>([&] { evaluated(*model, input_of(some_ids(2, 1)), cache.get()); }), "3 rows"));
    cache->truncate(0);
    CHECK(close(evaluated(*model, input_of(some_ids(2, 4)), cache.get()), alone(*model, some_ids(2, 4)),
                Tolerance::fp32));
  }
}

TEST_CASE("without attention: padding in a cache moves no state", "[unit]") {
  for (const auto& kind : kCausalBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    const Padded first = padded(Fill::left);
    const auto cache = model->make_cache();
    evaluated(*model, first.input(), cache.get());
    const Tensor next = some_ids(3, 4);
    Tensor keys = at::ones({3, 4}, at::kBool);
    keys[0].slice(0, 0, 3).fill_(false);  // one new token; two, with a gap; four
    keys[1][1] = keys[1][2] = false;
    const Tensor hidden =
        evaluated(*model, {.ids = next, .at = consecutive(14, 4, at::kCPU), .mask = {.keys = keys}}, cache.get());
    cache->truncate(16);  // what is read anew keeps its padding
    const Tensor again = evaluated(
        *model, {.ids = next.slice(1, 2), .at = consecutive(16, 2, at::kCPU), .mask = {.keys = keys.slice(1, 2)}},
        cache.get());
    for (int64_t row = 0; row < 3; ++row) {
      const Tensor real = keys[row].nonzero().squeeze(1);
      const Tensor before = first.rows[static_cast<size_t>(row)];
      const Tensor text = at::cat({before, next[row].index_select(0, real).unsqueeze(0)}, 1);
      const Tensor expected = alone(*model, text)[0].slice(0, before.size(1));
      CHECK(close(hidden[row].index_select(0, real), expected, Tolerance::fp32));
      CHECK(close(again[row][1], expected[-1], Tolerance::fp32));
    }
  }
}

TEST_CASE("without attention: a row's vector is its own, whatever stands around it", "[unit]") {
  std::vector<std::string> kinds;
  for (const auto& kind : both_sides())
    for (const std::string pool : {"automatic", "mean", "max", "first", "last"})
      kinds.push_back(kind + ", pool: " + pool);
  kinds.emplace_back("kind: cnn, layers: 0");
  kinds.emplace_back("kind: cnn, layers: 1, causal: false, features: {widths: [2, 7], filters: 5}");
  for (const auto& kind : kinds) {
    CAPTURE(kind);
    const auto model = baseline(kind, {.outputs = 3, .pools = true});
    const c10::NoGradGuard no_gradients;
    for (const auto& parameter : model->named_parameters())  // what stands beyond a row's end would show by them
      if (parameter.key().starts_with("features.bias")) parameter.value().fill_(3.0);
    for (const Fill fill : kFills) {
      const Padded batch = padded(fill);
      const Tensor vectors = model->pooled(batch.input());
      CHECK(model->head().logits(vectors).sizes() == at::IntArrayRef({3, 3}));
      for (size_t row = 0; row < batch.rows.size(); ++row)
        CHECK(close(vectors[static_cast<int64_t>(row)], model->pooled(input_of(batch.rows[row]))[0], Tolerance::fp32));
    }
  }
}

TEST_CASE("without attention: rows of one length lie side by side", "[unit]") {
  const auto model = baseline("kind: gru, layers: 1, pool: flatten", {.outputs = 2, .pools = true, .max_length = 6});
  const c10::NoGradGuard no_gradients;
  const Tensor ids = some_ids(2, 6);
  CHECK(close(model->pooled(input_of(ids)), model->forward(input_of(ids)).flatten(1), Tolerance::exact));
}

TEST_CASE("without attention: dropout is a function of the step, and silent in evaluation", "[unit]") {
  for (const std::string kind : {"kind: lstm, layers: 2", "kind: gru, layers: 1", "kind: cnn, layers: 2"}) {
    CAPTURE(kind);
    const auto model = baseline(kind + ", dropout: 0.5");
    const Tensor ids = some_ids(2, 6), still = alone(*model, ids);
    CHECK(close(still, alone(*baseline(kind), ids), Tolerance::exact));
    model->train();
    const auto drawn = [&](int64_t step) { return evaluated(*model, input_of(ids, {.seed = 1, .step = step})); };
    CHECK(close(drawn(1), drawn(1), Tolerance::exact));
    CHECK_FALSE(close(drawn(1), drawn(2), Tolerance::fp32));
    CHECK_FALSE(close(drawn(1), still, Tolerance::fp32));
  }
}

TEST_CASE("without attention: what has no meaning is refused in words", "[unit]") {
  const auto refusal = [](const std::string& kind, const ModelFacts& facts = {}) {
    return thrown<ConfigError>([&] { baseline(kind, facts); });
  };
  const ModelFacts classes{.outputs = 3, .pools = true};
  CHECK(contains(refusal("kind: lstm, layers: 1, pool: class_token", classes), "attention fills"));
  CHECK(contains(refusal("kind: lstm, layers: 1, pool: mean"), "asks of each token"));
  CHECK(contains(refusal("kind: cnn, layers: 1, features: {filters: 3}"), "asks of each token"));
  CHECK(contains(refusal("kind: cnn, layers: 0"), "leaves each token alone"));
  CHECK(
      contains(refusal("kind: cnn, layers: 1, pool: mean, features: {filters: 3}", classes), "leave one of them out"));
  CHECK(contains(refusal("kind: cnn, layers: 1, features: {widths: [3, 3]}", classes), "each of them once"));
  CHECK(contains(refusal("kind: cnn, layers: 1, causal: false, kernel: 4"), "must be odd"));
  CHECK(contains(refusal("kind: cnn, layers: 1, dilation: [1, 2]"), "has 2 entries"));
  const auto model = baseline("kind: lstm, layers: 2");
  CHECK_NOTHROW(model->recompute({}));
  CHECK_NOTHROW(model->recompute({false, false}));
  CHECK(contains(thrown<ConfigError>([&] { model->recompute({true, false}); }), "train.recompute"));
  ModelInput in = input_of(some_ids(1, 3));
  in.mask.prefix = 2;
  CHECK(contains(thrown<Error>([&] { model->forward(in); }), "prefix"));
  in.mask = {.keys = at::zeros({1, 3}, at::kBool)};
  CHECK(contains(thrown<Error>([&] { model->forward(in); }), "not a single real token"));
}

}  // namespace ordo::test
