// SPDX-License-Identifier: Apache-2.0
// The recurrent models that Transformers are compared with: language model, reader of whole rows, and encoder-decoder
// with attention, of LSTM or GRU cells.
#pragma once
#include <memory>

#include "ordo/models/baseline_model.h"
#include "ordo/models/recurrent_layer.h"
#include "ordo/models/source_attention.h"
#include "ordo/models/token_input.h"

namespace ordo {

struct RecurrentConfig : BaselineConfig {
  int64_t layers = 0;
  bool bidirectional = false;
  SourceScore cross_attention = SourceScore::none;
};
void fields(Fields& f, RecurrentConfig& c);
void check(const RecurrentConfig& c, const std::string& path, Problems& problems);

// With cross_attention it is an encoder-decoder. The encoder reads the source in both directions; the decoder begins
// with the encoder's last states, layer by layer. Attention stands behind the decoder's layers and feeds the head
// alone, not the next token (Luong et al. 2015 without input feeding), so that a whole target is one call of each
// layer.
class RecurrentModel : public BaselineModel {
 public:
  Tensor forward(const ModelInput& in, Cache* cache = nullptr) override;
  Tensor pooled(const ModelInput& in) override;
  bool causal() const override { return !config_.bidirectional; }
  bool reads_source() const override { return attention_ != nullptr; }
  int64_t layers() const override { return config_.layers * (reads_source() ? 2 : 1); }

 protected:
  RecurrentModel(RecurrentCell cell, const RecurrentConfig& config, const ModelFacts& facts);
  Tensor run(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) override;
  // Of an encoder-decoder: of a token of the target and one of the source together, both rows being that long.
  ModelCost layers_cost(int64_t tokens) const override;

 private:
  void build_encoder(const ModelFacts& facts);
  // In order: the encoder's outputs, what the score needs of them, their keys (or undefined); then the states that it
  // ended with.
  States encode(const EncoderInput& source, const Draw& draw);

  RecurrentCell cell_;
  RecurrentConfig config_;
  std::shared_ptr<RecurrentStack> stack_;  // child "lstm" or "gru"; of an encoder-decoder "decoder"
  // Of an encoder-decoder: children "encoder", "attention", "dropout" (of what attention gives), and
  // "source_embedding" where the source has a vocabulary of its own.
  std::shared_ptr<RecurrentStack> encoder_;
  std::shared_ptr<SourceAttention> attention_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<TokenInput> source_embedding_;
};

class Lstm final : public RecurrentModel {
 public:
  struct Config : RecurrentConfig {};
  static constexpr std::string_view kKind = "lstm",
                                    kSummary = "LSTM: causal, bidirectional, or encoder-decoder with cross_attention";
  Lstm(const Config& config, const ModelFacts& facts) : RecurrentModel(RecurrentCell::lstm, config, facts) {}
};
void fields(Fields& f, Lstm::Config& c);

class Gru final : public RecurrentModel {
 public:
  struct Config : RecurrentConfig {};
  static constexpr std::string_view kKind = "gru",
                                    kSummary = "GRU: causal, bidirectional, or encoder-decoder with cross_attention";
  Gru(const Config& config, const ModelFacts& facts) : RecurrentModel(RecurrentCell::gru, config, facts) {}
};
void fields(Fields& f, Gru::Config& c);

}  // namespace ordo
