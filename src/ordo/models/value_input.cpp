// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/value_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include "ordo/models/signal_text.h"

namespace ordo {

namespace {

// The last step `more` times behind the others: x [B, L, ...].
Tensor last_repeated(const Tensor& x, int64_t more) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape[1] = more;
  return at::cat({x, x.slice(1, x.size(1) - 1).expand(shape)}, 1);
}

}  // namespace

void fields(Fields& f, ValueInput::Config& c) {
  f("patch", c.patch, "steps that make one token", within(1, 1 << 20));
  f("stride", c.stride, "steps from the start of a patch to that of the next; 0: those of a patch, none in two",
    within(0, 1 << 20));
  f("pad_end", c.pad_end, "the last step is first repeated `stride` times, so that none is left over");
}

ValueInput::ValueInput(const Config& config, const InputFacts& facts)
    : InputLayer(facts.dim, facts.scaled), config_(config), channels_(facts.signal.channels) {
  require<ConfigError>(facts.signal.defined() && !facts.signal.image(),
                       "model.input: values reads series of numbers, but the data of this task are {}; use {}",
                       signal_kind(facts.signal), inputs_reading(facts.signal));
  if (config_.stride == 0) config_.stride = config_.patch;
  require<ConfigError>(
      config_.stride <= config_.patch,
      "model.input.stride ({}) is longer than model.input.patch ({}): the steps between would never be "
      "read",
      config_.stride, config_.patch);
  project_ = register_module(
      "project", std::make_shared<Linear>(config_.patch * channels_, facts.dim, Linear::Options{.bias = facts.bias}));
}

std::optional<std::string> ValueInput::refuses_length(int64_t length) const {
  if (length + padded() >= config_.patch) return std::nullopt;
  return fmt::format("model.input.patch ({}) is longer than rows of {} steps", config_.patch, length);
}

int64_t ValueInput::tokens(int64_t length) const {
  const auto refused = refuses_length(length);
  require<ConfigError>(!refused, "{}", refused.value_or(""));
  return (length + padded() - config_.patch) / config_.stride + 1;
}

double ValueInput::flops_per_token() const { return 2.0 * static_cast<double>(project_->weight.numel()); }

Tensor ValueInput::embed(const Tensor& patches) const {
  const Tensor x = project_->forward(patches);
  return scaled(x);
}

Embedded ValueInput::forward(const ModelInput& in) {
  const auto [B, L, C] = sizes<3>(in.signal, "a series [B, L, C]");
  require(C == channels_, "a series has {} channels, the input layer was built for {}", C, channels_);
  require(!in.mask.q_segment.defined(), "rows of a series are not packed");
  if (by_step()) return {embed(in.signal), in.at, in.mask};
  require(!in.at.start || *in.at.start == 0, "patches of a row that goes on from an earlier call are not known");

  const int64_t N = tokens(L), padding = config_.pad_end ? config_.stride : 0;
  const auto patches = [&](const Tensor& t) {
    return (padding > 0 ? last_repeated(t, padding) : t).unfold(1, config_.patch, config_.stride);
  };
  Embedded made{.x = embed(patches(in.signal).reshape({B, N, C * config_.patch})),
                .at = consecutive(0, N, in.signal.device()),
                .mask = in.mask};
  if (in.mask.keys.defined()) made.mask.keys = patches(in.mask.keys).any(2);
  if (in.at.coords.defined()) {
    const Tensor last =
        (at::arange(N, made.at.index.options()) * config_.stride + (config_.patch - 1)).clamp_max(L - 1);
    made.at.coords = in.at.coords.index_select(1, last);
  }
  return made;
}

}  // namespace ordo
