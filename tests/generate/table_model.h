// SPDX-License-Identifier: Apache-2.0
// A model whose next token follows a rule that a test can compute: logits as a function of the tokens so far, and of
// the source where there is one. It insists on positions that count the row's own tokens.
#pragma once
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/models/model.h"
#include "ordo/models/probe.h"
#include "ordo/positions/none.h"

namespace ordo::test {

using Tokens = std::vector<int64_t>;
using Logits = std::vector<double>;
using Rule = std::function<Logits(const Tokens& text, const Tokens& source)>;
// How the last token of a text divides its attention among the source.
using Looks = std::function<std::vector<double>(const Tokens& text, const Tokens& source)>;

// Logits drawn from the whole text and source, in [0, spread).
inline Rule drawn_rule(int64_t vocab_size, double spread, uint64_t seed = 1) {
  return [=](const Tokens& text, const Tokens& source) {
    uint64_t key = mix(seed, source.size());
    for (const int64_t id : source) key = mix(key, static_cast<uint64_t>(id));
    for (const int64_t id : text) key = mix(key, static_cast<uint64_t>(id) + 1000);
    KeyedSequence draw(key);
    Logits logits(static_cast<size_t>(vocab_size));
    for (double& logit : logits) logit = spread * draw.unit();
    return logits;
  };
}

class TableCache final : public Cache {
 public:
  int64_t size() const override { return columns; }
  void keep_rows(const Tensor& rows) override {
    const auto pick = [&](std::vector<Tokens>& of) {
      std::vector<Tokens> picked;
      for (int64_t i = 0; i < rows.numel(); ++i) picked.push_back(of.at(rows[i].item().toLong()));
      of = std::move(picked);
    };
    pick(texts);
    pick(sources);
  }
  void truncate(int64_t size) override {
    for (Tokens& text : texts) text.resize(static_cast<size_t>(size));
    columns = size;
  }

  std::vector<Tokens> texts, sources;
  int64_t columns = 0;
};

class TableModel final : public Model {
 public:
  TableModel(int64_t vocab_size, Rule rule, bool reads_source = false, Looks looks = {})
      : vocab_size_(vocab_size), rule_(std::move(rule)), reads_source_(reads_source), looks_(std::move(looks)) {
    head_ = register_module("head", std::make_shared<Head>(vocab_size, vocab_size, std::nullopt));
    head_->to(at::kDouble);
    const c10::NoGradGuard no_gradients;
    Tensor(head_->weight()).copy_(at::eye(vocab_size));
    register_module("position", position_);
  }

  Tensor forward(const ModelInput& in, Cache* cache) override {
    ++calls;
    TableCache alone;
    auto& held = cache == nullptr ? alone : dynamic_cast<TableCache&>(*cache);
    const auto [B, L] = sizes<2>(in.ids, "ids [B, L]");
    require(in.source.defined() == (reads_source_ && held.columns == 0), "a source comes in the first call alone");
    if (held.columns == 0) start(in, B, held);
    require(held.texts.size() == static_cast<size_t>(B), "{} rows in the cache, {} given", held.texts.size(), B);
    held.columns += L;
    const Tensor hidden = at::zeros({B, L, vocab_size_}, at::kDouble);
    for (int64_t row = 0; row < B; ++row)
      for (int64_t t = 0; t < L; ++t) {
        if (in.mask.keys.defined() && !in.mask.keys[row][t].item().toBool()) continue;
        Tokens& text = held.texts[static_cast<size_t>(row)];
        const int64_t place = in.at.index[in.at.index.size(0) == 1 ? 0 : row][t].item().toLong();
        require(place == static_cast<int64_t>(text.size()), "row {} has {} tokens, the next is at {}", row, text.size(),
                place);
        text.push_back(in.ids[row][t].item().toLong());
        const Logits logits = rule_(text, held.sources[static_cast<size_t>(row)]);
        for (int64_t id = 0; id < vocab_size_; ++id) hidden[row][t][id] = logits[static_cast<size_t>(id)];
      }
    if (looks_ && in.probe != nullptr && in.probe->wants_source_weights(0)) report(held, L, *in.probe);
    return hidden;
  }
  Head& head() override { return *head_; }
  std::shared_ptr<Cache> make_cache() const override { return std::make_shared<TableCache>(); }
  bool reads_source() const override { return reads_source_; }
  int64_t max_length() const override { return 1000; }
  std::optional<std::string> refuses_length(int64_t length) override {
    return length <= max_length() ? std::nullopt : std::optional<std::string>("the table ends");
  }
  bool causal() const override { return true; }
  PositionEncoding& position() override { return *position_; }
  ModelCost cost(int64_t) const override { return {}; }
  void recompute(const std::vector<bool>&) override {}
  int64_t layers() const override { return 0; }
  int64_t dim() const override { return vocab_size_; }

  int64_t calls = 0;

 private:
  static void start(const ModelInput& in, int64_t B, TableCache& held) {
    held.texts.resize(static_cast<size_t>(B));
    held.sources.resize(static_cast<size_t>(B));
    if (!in.source.defined()) return;
    for (int64_t row = 0; row < B; ++row)
      for (int64_t t = 0; t < in.source.ids.size(1); ++t) {
        if (in.source.keys.defined() && !in.source.keys[row][t].item().toBool()) continue;
        const int64_t place = in.source.at.index[in.source.at.index.size(0) == 1 ? 0 : row][t].item().toLong();
        require(place == t, "source {}: token {} is at {}", row, t, place);
        held.sources[static_cast<size_t>(row)].push_back(in.source.ids[row][t].item().toLong());
      }
  }

  // Of two heads, one of which looks at nothing: what is reported of the last token has half the weight of the other.
  void report(const TableCache& held, int64_t L, Probe& probe) const {
    size_t longest = 0;
    for (const Tokens& source : held.sources) longest = std::max(longest, source.size());
    const Tensor weights = at::zeros({std::ssize(held.texts), 2, L, static_cast<int64_t>(longest)}, at::kFloat);
    for (size_t row = 0; row < held.texts.size(); ++row) {
      const auto looks = looks_(held.texts[row], held.sources[row]);
      for (size_t i = 0; i < looks.size(); ++i)
        weights[static_cast<int64_t>(row)][1][L - 1][static_cast<int64_t>(i)] = 2.0 * looks[i];
    }
    probe.source_weights(0, weights);
  }

  int64_t vocab_size_;
  Rule rule_;
  bool reads_source_;
  Looks looks_;
  std::shared_ptr<Head> head_;
  std::shared_ptr<NoPosition> position_ = std::make_shared<NoPosition>();
};

}  // namespace ordo::test
