// SPDX-License-Identifier: Apache-2.0
// The encoder-decoder (Vaswani et al. 2017): an encoder reads the source with both sides in sight; a causal decoder
// writes the target, and looks at the encoder's output through cross-attention.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/models/stack.h"
#include "ordo/models/token_input.h"

namespace ordo {

// What one of the two stacks has of its own; what is absent stands under `model`, for both. A group that is given
// (attention, feed_forward, norm) replaces the whole group.
struct SideConfig {
  std::optional<int64_t> layers = {};
  std::optional<AttentionConfig> attention = {};
  std::optional<FeedForwardConfig> feed_forward = {};
  std::optional<NormConfig> norm = {};
  std::vector<Choice<PositionEncoding>> position = {};  // empty: that of `model`
  std::optional<double> dropout = {}, drop_path = {};
};
void fields(Fields& f, SideConfig& c);

struct DecoderSideConfig : SideConfig {
  std::vector<Choice<PositionEncoding>> cross_position = {};  // empty: none
};
void fields(Fields& f, DecoderSideConfig& c);

class EncoderDecoder final : public Model {
 public:
  struct Config : StackConfig {
    SideConfig encoder;
    DecoderSideConfig decoder;
    StackConfig encoder_stack() const;
    StackConfig decoder_stack() const;
  };
  static constexpr std::string_view kKind = "encoder_decoder",
                                    kSummary = "an encoder reads, a causal decoder with cross-attention writes";
  // Parameters are encoder.blocks.0.attention.q.weight, decoder.blocks.0.cross.q.weight; one embedding serves both,
  // unless the source has a vocabulary of its own.
  EncoderDecoder(const Config& config, const ModelFacts& facts);
  // Hidden states of the decoder. in.source must be given, except with a cache that has been written.
  Tensor forward(const ModelInput& in, Cache* cache = nullptr) override;
  Tensor encode(const EncoderInput& source, const Draw& draw = {});  // [B, Ls, D]
  Head& head() override { return *head_; }
  // Holds the decoder's keys and values, and those of the encoder's output, which it writes in the first call.
  std::shared_ptr<Cache> make_cache() const override;
  bool reads_source() const override { return true; }
  int64_t max_length() const override { return config_.max_length; }
  // Asked of both sides: rows of a source and of a target may be that long.
  std::optional<std::string> refuses_length(int64_t length) override;
  bool causal() const override { return true; }
  PositionEncoding& position() override { return decoder_->position(); }
  // Of a token of the target and one of the source together, both rows being that long.
  ModelCost cost(int64_t length) const override;
  void recompute(const std::vector<bool>& blocks) override;  // the encoder's, then the decoder's
  int64_t layers() const override;                           // of both
  int64_t dim() const override { return config_.dim; }

 private:
  Config config_;
  std::shared_ptr<TokenInput> embedding_, source_embedding_;  // children "embedding", "source_embedding" or the same
  std::shared_ptr<Stack> encoder_, decoder_;                  // children "encoder", "decoder"
  std::shared_ptr<Head> head_;                                // child "head"; tied: no weight of its own
};
void fields(Fields& f, EncoderDecoder::Config& c);
// Relations between the options, reported at `path` ("model").
void check(const EncoderDecoder::Config& c, const std::string& path, Problems& problems);

}  // namespace ordo
