// SPDX-License-Identifier: Apache-2.0
// Transformer-XL's relative attention (Dai et al. 2019): score (i, j) is
//   ((q_i + u) . k_j + (q_i + v) . W_R R[i - j]) x scale
// with R the sinusoids of the distance (sines first), W_R learned for each layer, u and v learned for each head.
// Queries come out as q + u, so that the first product is the kernel's own; the bias holds the rest.
#pragma once
#include "ordo/positions/content.h"
#include "ordo/positions/table.h"

namespace ordo {

class TransformerXl final : public PositionEncoding, public Resets {
 public:
  struct Config {
    bool untie_r = false;      // u and v of their own for each layer
    int64_t clamp_length = 0;  // farther keys count as so far away; 0: no bound
    double init_std = 0.02;
  };
  static constexpr std::string_view kKind = "transformer_xl",
                                    kSummary = "scores gain a product of the query with sinusoids of the distance";
  TransformerXl(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = true, .scores = true}, .relative = true, .reads_content = true};
  }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  Tensor frequencies(int64_t length) const override;
  void reset(const Initialiser& init, const std::string& path) override;
  // R[-offset] for the offsets low … high: [high - low + 1, D].
  Tensor sinusoids(int64_t low, int64_t high, at::ScalarType type, at::Device device);

 private:
  Tensor of_layer(const Tensor& per_head, int64_t layer) const { return per_head.select(0, untied_ ? layer : 0); }
  bool untied_;
  int64_t heads_, clamp_;
  double init_std_;
  PositionTable table_;
  Tensor r_weight_;  // parameter "r_weight" [layers, H E, D]
  Tensor u_, v_;     // parameters "u", "v" [1|layers, H, E]
};
void fields(Fields& f, TransformerXl::Config& c);

}  // namespace ordo
