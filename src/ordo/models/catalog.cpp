// SPDX-License-Identifier: Apache-2.0
// The only list of models.
#include "ordo/config/config.h"
#include "ordo/models/cnn.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/models/recurrent.h"
#include "ordo/models/stack_of.h"
#include "ordo/models/token_input.h"

namespace ordo {

const ModelCatalog& models() {
  static const ModelCatalog list("model", {entry<Decoder, Model, ModelFacts>(), entry<Encoder, Model, ModelFacts>(),
                                           entry<EncoderDecoder, Model, ModelFacts>(), entry<Lstm, Model, ModelFacts>(),
                                           entry<Gru, Model, ModelFacts>(), entry<Cnn, Model, ModelFacts>()});
  return list;
}

template <>
const Kinds& kinds_of<Model>() {
  return models().kinds();
}

namespace {

// An encoding that ends somewhere (a learned table, a window) cannot serve longer rows: it is asked, as no other part
// of the house knows which ones do.
void check_stack_model(const StackConfig& c, bool causal, const std::string& path, int64_t length, Problems& problems) {
  check(c, path, problems);
  if (!problems.empty()) return;
  StackConfig whole = c;
  if (whole.max_length == 0) whole.max_length = length;
  // Whether a scaling needs a trained length of its own is asked when the model is built; here any will do.
  const PositionFacts facts = position_facts(whole, causal, /*trained_length=*/whole.max_length);
  const auto refusal = make_position(c.position, facts)->refuses_length(length);
  if (!refusal) return;
  if (whole.max_length < length)
    problems.add(path + ".max_length", "{}.max_length ({}) is smaller than train.length ({}): {}", path, c.max_length,
                 length, *refusal);
  else
    problems.add(path + ".position", "{}.position does not reach train.length ({}): {}", path, length, *refusal);
}

// Null for other kinds of models.
const RecurrentConfig* recurrent_config(const Choice<Model>& model) {
  if (!model.config) return nullptr;
  if (model.kind == Lstm::kKind) return &model.as<Lstm::Config>();
  if (model.kind == Gru::kKind) return &model.as<Gru::Config>();
  return nullptr;
}

}  // namespace

std::optional<StackOf> stack_of(const Choice<Model>& model) {
  if (!model.config) return std::nullopt;
  if (model.kind == Decoder::kKind) return StackOf{model.as<Decoder::Config>(), /*causal=*/true};
  if (model.kind == Encoder::kKind) return StackOf{model.as<Encoder::Config>(), /*causal=*/false};
  return std::nullopt;
}

std::vector<NamedStack> stacks_of(const Choice<Model>& model) {
  if (const auto stack = stack_of(model)) return {{model.kind, stack->config}};
  if (model.kind != EncoderDecoder::kKind || !model.config) return {};
  const auto& pair = model.as<EncoderDecoder::Config>();
  return {{"encoder", pair.encoder_stack()}, {"decoder", pair.decoder_stack(), pair.decoder.cross_position}};
}

bool reads_source(const Choice<Model>& model) {
  if (const auto* const recurrent = recurrent_config(model)) return recurrent->cross_attention != SourceScore::none;
  return model.kind == EncoderDecoder::kKind;
}

bool is_causal(const Choice<Model>& model) {
  if (const auto stack = stack_of(model)) return stack->causal;
  if (const auto* const recurrent = recurrent_config(model)) return !recurrent->bidirectional;
  return model.kind != Cnn::kKind || !model.config || model.as<Cnn::Config>().causal;
}

void check(const Choice<Model>& model, const std::string& path, int64_t length, Problems& problems) {
  if (const auto stack = stack_of(model)) {
    // How many tokens another input layer makes of a row its data say: then the model itself is asked.
    if (static_cast<const StackModelConfig&>(stack->config).input.kind == TokenInput::kKind)
      check_stack_model(stack->config, stack->causal, path, length, problems);
    else
      check(stack->config, path, problems);
  }
  if (const auto* const recurrent = recurrent_config(model)) check(*recurrent, path, problems);
  if (model.kind == Cnn::kKind && model.config) check(model.as<Cnn::Config>(), path, problems);
  if (model.kind != EncoderDecoder::kKind || !model.config) return;
  const auto& pair = model.as<EncoderDecoder::Config>();
  check(pair, path, problems);
  if (problems.empty()) check_stack_model(pair.encoder_stack(), /*causal=*/false, path, length, problems);
  if (problems.empty()) check_stack_model(pair.decoder_stack(), /*causal=*/true, path, length, problems);
}

}  // namespace ordo
