// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/recurrent_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_pack_padded_sequence.h>
#include <ATen/ops/_pad_packed_sequence.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include <optional>

#include "ordo/nn/unallocated.h"
#include "ordo/ops/autocast.h"

namespace ordo {

namespace {

int64_t gates_of(RecurrentCell cell) { return cell == RecurrentCell::lstm ? 4 : 3; }

// [N, width] with the directions side by side <-> [directions, N, H].
Tensor apart(const Tensor& state, int64_t directions) {
  return state.reshape({state.size(0), directions, -1}).transpose(0, 1).contiguous();
}
Tensor together(const Tensor& state) { return state.transpose(0, 1).flatten(1); }

}  // namespace

RecurrentLayer::RecurrentLayer(const Options& options) : options_(options) {
  ORDO_ASSERT(options.width % directions() == 0);
  const int64_t H = hidden(), rows = gates_of(options.cell) * H;
  for (int64_t d = 0; d < directions(); ++d) {
    const std::string end = d == 0 ? "" : "_reverse";
    parameters_.push_back(register_parameter("weight_ih" + end, at::zeros({rows, options.inputs}, weight_options())));
    parameters_.push_back(register_parameter("weight_hh" + end, at::zeros({rows, H}, weight_options())));
    if (!options.bias) continue;
    parameters_.push_back(register_parameter("bias_ih" + end, at::zeros({rows}, weight_options())));
    parameters_.push_back(register_parameter("bias_hh" + end, at::zeros({rows}, weight_options())));
  }
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
}

void RecurrentLayer::reset(const Initialiser& init, const std::string& path) {
  for (const auto& parameter : named_parameters(/*recurse=*/false)) {
    const Tensor& value = parameter.value();
    if (value.dim() == 2)
      init.normal(value, parameter_name(path, parameter.key()), init.std(value.size(1)));
    else
      value.zero_();
    if (options_.cell == RecurrentCell::lstm && parameter.key().starts_with("bias_ih"))
      value.slice(0, hidden(), 2 * hidden()).fill_(1.0);
  }
}

Tensor RecurrentLayer::forward(const PackedRows& rows, Tensor* state, const Draw& draw) const {
  // Narrow cells are cuDNN's affair: oneDNN has them on some CPUs alone, so there they stay as wide as the weights.
  std::optional<AutocastScope> wide;
  if (rows.x.is_cpu()) wide.emplace(c10::DeviceType::CPU, no_autocast());
  const Tensor x = dropout_->forward(rows.x, draw).to(parameters_.front().scalar_type());
  const int64_t N = rows.packed() ? rows.batch_sizes[0].item<int64_t>() : x.size(0);
  std::vector<Tensor> before;
  for (int64_t i = 0; i < states(options_.cell); ++i)
    before.push_back(state[i].defined() ? apart(state[i].to(x.scalar_type()), directions())
                                        : at::zeros({directions(), N, hidden()}, x.options()));
  const bool gradients = at::GradMode::is_enabled(), both = options_.bidirectional;
  constexpr int64_t kLayers = 1;
  constexpr double kNoDropout = 0.0;
  Tensor y;
  if (options_.cell == RecurrentCell::lstm) {
    Tensor h, c;
    std::tie(y, h, c) =
        rows.packed()
            ? at::lstm(x, rows.batch_sizes, before, parameters_, options_.bias, kLayers, kNoDropout, gradients, both)
            : at::lstm(x, before, parameters_, options_.bias, kLayers, kNoDropout, gradients, both,
                       /*batch_first=*/true);
    state[0] = together(h);
    state[1] = together(c);
  } else {
    Tensor h;
    std::tie(y, h) = rows.packed() ? at::gru(x, rows.batch_sizes, before[0], parameters_, options_.bias, kLayers,
                                             kNoDropout, gradients, both)
                                   : at::gru(x, before[0], parameters_, options_.bias, kLayers, kNoDropout, gradients,
                                             both, /*batch_first=*/true);
    state[0] = together(h);
  }
  return y;
}

RecurrentStack::RecurrentStack(const RecurrentStackConfig& config) : config_(config) {
  const auto list = register_module("layers", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < config.layers; ++i)
    layers_.push_back(list->register_module(std::to_string(i), std::make_shared<RecurrentLayer>(RecurrentLayer::Options{
                                                                   .cell = config.cell,
                                                                   .inputs = config.dim,
                                                                   .width = config.dim,
                                                                   .bidirectional = config.bidirectional,
                                                                   .bias = config.bias,
                                                                   .dropout = config.dropout})));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(config.dropout));
}

Tensor RecurrentStack::forward(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) const {
  PackedRows now{.x = x, .batch_sizes = {}};
  if (rows != nullptr)
    std::tie(now.x, now.batch_sizes) = at::_pack_padded_sequence(x, rows->lengths, /*batch_first=*/true);
  const auto each = static_cast<size_t>(RecurrentLayer::states(config_.cell));
  states.resize(each * layers_.size());
  for (size_t i = 0; i < layers_.size(); ++i) now.x = layers_[i]->forward(now, &states[each * i], draw);
  now.x = dropout_->forward(now.x, draw);
  if (!now.packed()) return now.x;
  return std::get<0>(at::_pad_packed_sequence(now.x, now.batch_sizes, /*batch_first=*/true, 0.0, x.size(1)));
}

}  // namespace ordo
