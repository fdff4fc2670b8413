// SPDX-License-Identifier: Apache-2.0
// T5's relative bias (Raffel et al. 2020): a learned number for each head and bucket of key - query. Near offsets have
// a bucket of their own, far ones share buckets that widen with the logarithm of the distance, and all from
// max_distance on share the last. In causal stacks all buckets are for the past (what a prefix shows ahead counts as
// distance 0); in others half of them are for the future. T5 itself scores with `model.attention.scale: 1`.
#pragma once
#include "ordo/positions/fixed.h"
#include "ordo/positions/score_parts.h"

namespace ordo {

class T5Bias final : public PositionEncoding, public Resets {
 public:
  struct Config {
    int64_t num_buckets = 32;
    int64_t max_distance = 128;
    bool shared = true;                   // one table for all layers, as T5; false: one a layer, as umT5
    std::optional<double> init_std = {};  // absent: dim^-0.5
  };
  static constexpr std::string_view kKind = "t5_bias",
                                    kSummary = "a learned number for each head and bucket of the distance";
  T5Bias(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor buckets(const Tensor& offset) const;  // of key - query, int64 of any shape

 private:
  struct Bias;
  LayerSets sets_;
  double init_std_;
  FixedTensor buckets_;  // int64 [2 max_distance + 1]: of the offsets from -max_distance to max_distance
  Tensor weight_;        // parameter "weight" [num_buckets, H], of layers of their own [layers, num_buckets, H]
};
void fields(Fields& f, T5Bias::Config& c);

}  // namespace ordo
