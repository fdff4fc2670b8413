// SPDX-License-Identifier: Apache-2.0
// xPos (Sun et al. 2022): rotary turns (interleaved pairs) whose scores also fade with the distance. Pair m of a query
// at i is multiplied by z_m^((i-c)/B), of a key at j by z_m^((c-j)/B), so that their product carries z_m^((i-j)/B),
// where
//   z_m = (2m/d + gamma) / (1 + gamma) < 1, B = scale_base.
// For causal attention only: towards the future the factor would grow.
//
// The centre c is the middle of the row, which keeps both factors near 1; it moves as the row grows, so the cache holds
// keys before turn and factor and each step makes both anew. Queries and keys of a call share c, because the newest key
// is one of the queries. Scores of keys that lie ahead (they are masked) must stay finite too: with scale_base 512 fp32
// carries rows of some 30 000 tokens. A model in fp16 leaves the range of its queries and keys at about 9 000.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"
#include "ordo/positions/table.h"

namespace ordo {

class Xpos final : public PositionEncoding {
 public:
  struct Config {
    double theta = 10000.0;
    double scale_base = 512.0;
    double gamma = 0.4;
  };
  static constexpr std::string_view kKind = "xpos",
                                    kSummary =
                                        "rotary turns whose scores fade with the distance; causal attention only";
  Xpos(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = true}, .relative = true, .keys = KeyCache::raw};
  }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  Tensor frequencies(int64_t length) const override;

 private:
  // The turns of a row, each times its factor: [1|B, L, d]; `side` is 1 for queries, -1 for keys.
  Tensor rows(const Positions& at, at::ScalarType type, double side);
  Config config_;
  FixedTensor frequencies_;  // fp64 [pairs]
  PositionTable table_;      // rows: cosines, then sines
  FixedTensor fading_;       // ln z_m / scale_base, fp64 [pairs]
};
void fields(Fields& f, Xpos::Config& c);

}  // namespace ordo
