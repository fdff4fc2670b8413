// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/session.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/generate/prompts.h"
#include "ordo/models/probe.h"

namespace ordo {

namespace {

// fp64 on the CPU: [rows, V], of one model or the logarithm of the mean of several.
Tensor mean_of(const std::vector<Tensor>& logits) {
  if (logits.size() == 1) return logits.front();
  std::vector<Tensor> logarithms;
  for (const Tensor& one : logits) logarithms.push_back(at::log_softmax(one, 1));
  return at::logsumexp(at::stack(logarithms), 0).sub(std::log(static_cast<double>(logits.size()))).contiguous();
}

// Blocks report in their order, so that the last one's weights stay.
class SourceWatch final : public Probe {
 public:
  bool wants_source_weights(int64_t) const override { return true; }
  void source_weights(int64_t, const Tensor& weights) override {
    last_ = weights.select(2, weights.size(2) - 1).mean(1, /*keepdim=*/false, at::kDouble).to(at::kCPU);
  }
  const Tensor& last() const {
    require<ConfigError>(
        last_.defined(),
        "coverage_penalty needs attention from a decoder's blocks to its source, which this model does "
        "not have; it is for model.kind: encoder_decoder");
    return last_;
  }

 private:
  Tensor last_;  // [B, Ls]
};

}  // namespace

Session::Session(const Ensemble& models, TokenRows sources, Watch watch)
    : models_(models), evaluation_(models), sources_(std::move(sources)), watch_(watch) {
  require_sources(models_, sources_);
  for (const Model* const model : models_.models()) caches_.push_back(model->make_cache());
}

void Session::require_fit(const TokenRows& tokens) const {
  require(!tokens.empty(), "nothing to append: a session needs at least one row");
  require(lengths_.empty() || tokens.size() == lengths_.size(), "the session has {} row(s), asked to append to {}",
          lengths_.size(), tokens.size());
  require(sources_.empty() || !lengths_.empty() || tokens.size() == sources_.size(),
          "{} source(s) for {} row(s): each row needs its own", sources_.size(), tokens.size());
  require_tokens(tokens, models_.vocab_size(), "row");
  int64_t longest = 0;
  for (size_t row = 0; row < tokens.size(); ++row)
    longest = std::max(longest, static_cast<int64_t>(tokens[row].size()) + (lengths_.empty() ? 0 : lengths_[row]));
  const auto refusal = models_.refuses_length(longest);
  require<ConfigError>(!refusal, "{} tokens are too many: {}", longest, refusal.value_or(""));
}

ModelInput Session::input(const TokenRows& tokens, c10::Device device) const {
  const PaddedRows rows = pad_rows(tokens, Side::left, device);
  ModelInput in{.ids = rows.ids, .mask = {.keys = rows.keys}};
  if (even_) {
    in.at = consecutive(lengths_.front(), rows.ids.size(1), device);
  } else {
    const Tensor before = at::tensor(lengths_).unsqueeze(1).to(device);
    in.at = rows.keys.defined() ? Positions{.index = (from_padding(rows.keys).index + before) * rows.keys}
                                : Positions{.index = consecutive(0, rows.ids.size(1), device).index + before};
  }
  if (lengths_.front() == 0) in.source = encoder_input(sources_, device);
  return in;
}

Tensor Session::append(const TokenRows& tokens) {
  require_fit(tokens);
  const c10::NoGradGuard no_gradients;  // not inference mode: tables that an encoding makes may serve training later
  if (lengths_.empty()) lengths_.resize(tokens.size());
  const auto same_length = [&](const auto& row) { return row.size() == tokens.front().size(); };
  even_ = even_ && std::all_of(tokens.begin(), tokens.end(), same_length);
  std::vector<Tensor> logits, looks;
  for (size_t i = 0; i < caches_.size(); ++i) {
    Model& model = *models_.models()[i];
    ModelInput in = input(tokens, model.head().weight().device());
    SourceWatch watch;
    if (watch_ == Watch::source) in.probe = &watch;
    const Tensor hidden = model.forward(in, caches_[i].get());
    if (watch_ == Watch::source) looks.push_back(watch.last());
    logits.push_back(model.head().logits(hidden.select(1, hidden.size(1) - 1)).to(at::kCPU, at::kDouble).contiguous());
  }
  for (size_t row = 0; row < tokens.size(); ++row) lengths_[row] += static_cast<int64_t>(tokens[row].size());
  if (!looks.empty()) source_weights_ = at::stack(looks).mean(0).contiguous();
  return mean_of(logits);
}

void Session::keep_rows(const std::vector<int64_t>& rows) {
  std::vector<int64_t> lengths;
  bool same = rows.size() == lengths_.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    same = same && rows[i] == static_cast<int64_t>(i);
    lengths.push_back(lengths_.at(static_cast<size_t>(rows[i])));
  }
  if (same) return;
  lengths_ = std::move(lengths);
  for (size_t i = 0; i < caches_.size(); ++i)
    caches_[i]->keep_rows(at::tensor(rows).to(models_.models()[i]->head().weight().device()));
}

void Session::truncate(int64_t tokens) {
  require(even_, "rows of a session that are padded cannot be cut at a number of tokens; append rows of equal length");
  require(!lengths_.empty() && tokens >= 1 && tokens <= lengths_.front(),
          "asked to keep {} token(s) of a session that holds {}; to start from nothing make another one", tokens,
          lengths_.empty() ? 0 : lengths_.front());
  for (const auto& cache : caches_) cache->truncate(tokens);
  std::fill(lengths_.begin(), lengths_.end(), tokens);
}

}  // namespace ordo
