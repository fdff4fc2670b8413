// SPDX-License-Identifier: Apache-2.0
#include "ordo/certify/subject.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "ordo/checkpoint/weights.h"
#include "ordo/config/config.h"
#include "ordo/config/writer.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/models/signal_text.h"
#include "ordo/models/stack_of.h"

namespace ordo {

namespace {

// Beyond these many parameters a model is certified as a smaller copy: about ten seconds of checks.
constexpr int64_t kQuickFresh = 3'000'000, kQuickTrained = 12'000'000;
constexpr int64_t kFewLayers = 2, kNarrow = 192, kTinyWidth = 32, kFewWords = 512, kTinyWords = 17;

// The longest pattern over the layers: a copy with fewer layers would leave parts of it out.
int64_t longest_pattern(const StackConfig& c) {
  auto longest = static_cast<int64_t>(c.attention.window.size());
  for (const auto& choice : c.position) {
    const auto& kind = positions().find(choice.kind).info;
    const Json written = json_of(kind, choice.config);
    if (const auto layers = written.find("layers"); layers != written.end() && layers->is_array())
      longest = std::max(longest, static_cast<int64_t>(layers->size()));
  }
  return longest;
}

int64_t parameters_of_stack(const StackConfig& c, int64_t vocab_size) {
  const BlockConfig block = resolve_blocks(c).at(0);
  const AttentionConfig& a = block.attention.config;
  const int64_t attention = c.dim * a.head_dim * 2 * (a.heads + a.kv_heads);
  const int64_t feed = c.dim * block.feed_forward.hidden * (block.feed_forward.gated ? 3 : 2);
  return c.layers * (attention + feed) + vocab_size * c.dim * (c.tie_embeddings ? 1 : 2);
}

// Narrower, with heads, groups and head width as they are.
void narrow(StackConfig& c, int64_t dim) {
  if (c.dim <= dim) return;
  const BlockConfig block = resolve_blocks(c).at(0);
  c.attention.head_dim = block.attention.config.head_dim;
  c.feed_forward.hidden = std::max<int64_t>(block.feed_forward.hidden * dim / c.dim, 8);
  c.dim = dim;
}

// First weights large enough that each part of a small model matters: queries and keys of about unit variance.
double telling_std(int64_t dim) { return std::min(1.2 / std::sqrt(static_cast<double>(dim)), 0.3); }

}  // namespace

void stir_zeros(PositionEncoding& position) {
  const at::NoGradGuard no_grad;
  for (const auto& p : position.named_parameters())
    if (p.value().numel() > 0 && p.value().abs().max().item<double>() == 0.0)
      draw_normal(p.value(), 0.1, hash_bytes(p.key().data(), p.key().size()));
}

bool two_sided(const Choice<Model>& model) {
  const auto stack = stack_of(model);
  return stack && !stack->causal;
}

StackConfig stack_of(const Choice<Model>& model, const ModelFacts& facts) {
  const auto stack = stack_of(model);
  require<ConfigError>(stack.has_value(), "model.kind ({}): certificates are of stacks of attention: {} and {}",
                       model.kind, Decoder::kKind, Encoder::kKind);
  StackConfig c = stack->config;
  if (c.max_length == 0) c.max_length = facts.max_length;
  return c;
}

namespace {

Pool pool_of(const Choice<Model>& model) {
  if (!model.config) return Pool::automatic;
  return model.kind == Encoder::kKind ? model.as<Encoder::Config>().pool : model.as<Decoder::Config>().pool;
}

}  // namespace

ConfigSubject::ConfigSubject(std::string name, const Choice<Model>& model, const ModelFacts& facts,
                             NamedTensors weights)
    : name_(std::move(name)),
      model_(model),
      full_(stack_of(model, facts)),
      work_(full_),
      facts_(facts),
      words_(facts.vocab_size),
      weights_(std::move(weights)) {
  require<ConfigError>(!facts.signal.defined(),
                       "certificates are of models that read token ids, and the data of this task are {}",
                       signal_kind(facts.signal));
  const Pool pool = pool_of(model);
  require<ConfigError>(pool != Pool::class_token && pool != Pool::flatten,
                       "certificates look at the hidden state of each token in rows of any length, and model.pool: {} "
                       "makes something else of them; certify the model with model.pool=mean",
                       pool == Pool::flatten ? "flatten" : "class_token");
  choose_size();
}

bool ConfigSubject::as_it_is() const {
  return words_ == facts_.vocab_size && work_.dim == full_.dim && work_.layers == full_.layers;
}

bool ConfigSubject::trained() const { return !weights_.empty() && as_it_is(); }

void ConfigSubject::choose_size() {
  const int64_t most = weights_.empty() ? kQuickFresh : kQuickTrained;
  const auto fits = [&] { return parameters_of_stack(work_, words_) <= most; };
  if (!fits()) words_ = std::min(words_, kFewWords);
  if (!fits()) work_.layers = std::min(work_.layers, std::max(kFewLayers, longest_pattern(work_)));
  if (!fits()) narrow(work_, kNarrow);
}

StackConfig ConfigSubject::config_of(const Variant& v) const {
  StackConfig c = work_;
  if (v.tiny) {
    c.layers = std::min(c.layers, std::max(kFewLayers, longest_pattern(c)));
    narrow(c, kTinyWidth);
  }
  if (v.tiny || !trained()) c.init = {.std = telling_std(c.dim), .scale_residual = c.init.scale_residual};
  if (!v.kernel.empty()) c.attention.kernel = Choice<AttentionKernel>(v.kernel);
  if (v.bare) c.position.clear();
  c.dropout = c.attention.dropout = v.dropout;
  c.drop_path = v.dropout;
  return c;
}

std::shared_ptr<Model> ConfigSubject::assembled(const StackConfig& config, const ModelFacts& facts) const {
  Choice<Model> choice(model_.kind);
  // What stands around the stack is the config's own.
  const auto own = [&]<class Config>(const Config& given) {
    auto made = std::make_shared<Config>(given);
    static_cast<StackConfig&>(*made) = config;
    return made;
  };
  if (model_.kind == Encoder::kKind)
    choice.config = own(model_.as<Encoder::Config>());
  else
    choice.config = own(model_.as<Decoder::Config>());
  return models().build(choice, facts);
}

// A bare model takes what it has of them.
void ConfigSubject::load(Model& model) const {
  std::map<std::string_view, const Tensor*> given;
  for (const auto& [its_name, tensor] : weights_) given.emplace(its_name, &tensor);
  const at::NoGradGuard no_grad;
  for (const auto& [its_name, tensor] : weights_of(model)) {
    const auto found = given.find(its_name);
    require<CheckpointError>(found != given.end() && found->second->sizes() == tensor.sizes(),
                             "{}: its weights have no '{}' of the shape that the config asks for", name_, its_name);
    tensor.copy_(*found->second);
  }
}

std::string ConfigSubject::name() const { return name_; }

std::vector<std::string> ConfigSubject::scaled() const {
  std::vector<std::string> lines;
  const auto smaller = [&](const char* what, int64_t now, int64_t before) {
    if (now != before) lines.push_back(fmt::format("{} scaled down from {} to {}", what, before, now));
  };
  smaller("layers", work_.layers, full_.layers);
  smaller("width", work_.dim, full_.dim);
  smaller("vocabulary", words_, facts_.vocab_size);
  if (lines.empty()) lines.emplace_back("at full size (gradients: a tiny copy)");
  if (trained()) {
    lines.emplace_back("with the trained weights (gradients: fresh ones)");
  } else {
    lines.emplace_back(weights_.empty() ? "with fresh weights, drawn large so that every part shows"
                                        : "with fresh weights: the trained ones fit the full size only");
  }
  return lines;
}

int64_t ConfigSubject::vocab_size(const Variant& variant) const {
  return variant.tiny ? std::min(words_, kTinyWords) : words_;
}

std::shared_ptr<Model> ConfigSubject::build(const Variant& variant) const {
  ModelFacts facts = facts_;
  facts.vocab_size = vocab_size(variant);
  facts.seed = variant.seed;
  auto model = assembled(config_of(variant), facts);
  if (trained() && !variant.tiny && variant.seed == Variant{}.seed)
    load(*model);
  else
    stir_zeros(model->position());
  return model;
}

}  // namespace ordo
