// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/generate.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/generate/sampling.h"

namespace ordo {

namespace {

using TokenRows = std::vector<std::vector<int64_t>>;

// Puts a model into eval mode for a scope.
class EvalScope {
 public:
  explicit EvalScope(Model& model) : model_(model), training_(model.is_training()) { model_.eval(); }
  ~EvalScope() { model_.train(training_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  Model& model_;
  bool training_;
};

int64_t longest_of(const TokenRows& prompts) {
  size_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, prompt.size());
  return static_cast<int64_t>(longest);
}

void require_prompts(Model& model, const TokenRows& prompts) {
  const int64_t vocab_size = model.head().weight().size(0);
  for (size_t row = 0; row < prompts.size(); ++row) {
    require<ConfigError>(!prompts[row].empty(), "prompt {} is empty: a model needs at least one token to go on from",
                         row);
    for (const int64_t id : prompts[row])
      require<ConfigError>(id >= 0 && id < vocab_size, "prompt {} has token id {}, the model's vocabulary has {}", row,
                           id, vocab_size);
  }
}

void require_length(Model& model, int64_t prompt, int64_t fresh) {
  const int64_t needed = prompt + fresh - 1;  // the last token is never fed back
  const auto refusal = model.position().refuses_length(needed);
  if (!refusal) return;
  const int64_t room = model.max_length() - prompt + 1;
  const bool helps = room > 0 && !model.position().refuses_length(model.max_length());
  throw ConfigError(fmt::format("a prompt of {} token(s) and {} new one(s) need {} positions: {}; {}", prompt, fresh,
                                needed, *refusal,
                                helps ? fmt::format("at most {} new tokens fit", room) : "shorten the prompt"));
}

// Rows that still grow, in one cache. The order of rows is that of the prompts; those that end leave.
class Generation {
 public:
  Generation(Model& model, const TokenRows& prompts, const GenerateConfig& config)
      : model_(model),
        config_(config),
        device_(model.head().weight().device()),
        cache_(model.make_cache()),
        texts_(prompts),
        fresh_(prompts.size()) {
    for (size_t row = 0; row < prompts.size(); ++row) live_.push_back(static_cast<int64_t>(row));
    const auto size = prompts.empty() ? 0 : prompts[0].size();
    even_ = std::all_of(prompts.begin(), prompts.end(), [&](const auto& prompt) { return prompt.size() == size; });
  }

  TokenRows run(const OnToken& on_token) {
    for (int64_t step = 0; step < config_.max_new_tokens && !live_.empty(); ++step) {
      const Tensor logits = last_logits(step == 0 ? padded_prompts() : newest_tokens());
      if (!take_tokens(logits, step, on_token)) break;
    }
    return std::move(fresh_);
  }

 private:
  // The prompts, padded on the left; nothing is padding when all have one length, and kernels and tables may then take
  // their short ways.
  ModelInput padded_prompts() const {
    const auto rows = static_cast<int64_t>(texts_.size()), length = longest_of(texts_);
    const Tensor ids = at::zeros({rows, length}, at::kLong), keys = at::zeros({rows, length}, at::kBool);
    for (int64_t row = 0; row < rows; ++row) {
      const auto& text = texts_[static_cast<size_t>(row)];
      const auto begin = length - static_cast<int64_t>(text.size());
      std::copy(text.begin(), text.end(), ids.data_ptr<int64_t>() + row * length + begin);
      std::fill_n(keys.data_ptr<bool>() + row * length + begin, text.size(), true);
    }
    if (even_) return {.ids = ids.to(device_), .at = consecutive(0, length, device_)};
    const Tensor there = keys.to(device_);
    return {.ids = ids.to(device_), .at = from_padding(there), .mask = {.keys = there}};
  }

  // The last token of each live row, at the row's own position.
  ModelInput newest_tokens() const {
    std::vector<int64_t> ids, places;
    for (const int64_t row : live_) {
      const auto& text = texts_[static_cast<size_t>(row)];
      ids.push_back(text.back());
      places.push_back(static_cast<int64_t>(text.size()) - 1);
    }
    const auto column = [&](const std::vector<int64_t>& values) { return at::tensor(values).unsqueeze(1).to(device_); };
    if (even_) return {.ids = column(ids), .at = consecutive(places[0], 1, device_)};
    return {.ids = column(ids), .at = {.index = column(places)}};
  }

  // fp64 on the CPU: [live rows, V].
  Tensor last_logits(const ModelInput& in) {
    const Tensor hidden = model_.forward(in, cache_.get());
    return model_.head().logits(hidden.select(1, hidden.size(1) - 1)).to(at::kCPU, at::kDouble).contiguous();
  }

  // One token for each live row; rows that end leave the cache. False: the listener has heard enough.
  bool take_tokens(const Tensor& logits, int64_t step, const OnToken& on_token) {
    std::vector<int64_t> staying, places;
    for (size_t i = 0; i < live_.size(); ++i) {
      const int64_t row = live_[i];
      const int64_t id = choose(logits, i, step);
      if (std::find(config_.stop.begin(), config_.stop.end(), id) != config_.stop.end()) continue;
      texts_[static_cast<size_t>(row)].push_back(id);
      fresh_[static_cast<size_t>(row)].push_back(id);
      staying.push_back(row);
      places.push_back(static_cast<int64_t>(i));
      if (on_token && !on_token(row, id)) return false;
    }
    if (!staying.empty() && staying.size() < live_.size()) cache_->keep_rows(at::tensor(places).to(device_));
    live_ = std::move(staying);
    return true;
  }

  int64_t choose(const Tensor& logits, size_t i, int64_t step) const {
    const int64_t row = live_[i], size = logits.size(1);
    const double* const first = logits.data_ptr<double>() + static_cast<int64_t>(i) * size;
    const uint64_t key =
        mix(mix(key_of(config_.seed, "generate"), static_cast<uint64_t>(row)), static_cast<uint64_t>(step));
    return choose_token({first, first + usable(size)}, texts_[static_cast<size_t>(row)], config_,
                        KeyedSequence(key).unit());
  }

  int64_t usable(int64_t size) const { return config_.vocab_size > 0 ? std::min(config_.vocab_size, size) : size; }

  Model& model_;
  const GenerateConfig& config_;
  c10::Device device_;
  std::shared_ptr<KVCache> cache_;
  TokenRows texts_, fresh_;    // prompt and what followed; what followed alone
  std::vector<int64_t> live_;  // rows in the cache, in its order
  bool even_ = true;           // all prompts have one length
};

}  // namespace

TokenRows generate(Model& model, const TokenRows& prompts, const GenerateConfig& config, const OnToken& on_token) {
  check(config);
  require_prompts(model, prompts);
  if (prompts.empty() || config.max_new_tokens == 0) return TokenRows(prompts.size());
  require_length(model, longest_of(prompts), config.max_new_tokens);
  const c10::NoGradGuard
      no_gradients;  // not inference mode: tables that an encoding makes here may serve training later
  const EvalScope eval(model);
  return Generation(model, prompts, config).run(on_token);
}

}  // namespace ordo
