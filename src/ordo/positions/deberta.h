// SPDX-License-Identifier: Apache-2.0
// Disentangled attention (He et al. 2021): a table P of relative positions, shared by all layers, is projected as keys
// and as queries; with r the row of i - j, the score of (i, j) is
//   (q_i . k_j + q_i . Pk[r] (content to position) + k_j . Pq[r] (position to content)) / sqrt(E x (1 + terms)).
// Queries come out divided by sqrt(1 + terms). Far distances share rows: clipped, or in buckets whose width grows
// (DeBERTa v2).
#pragma once
#include <vector>

#include "ordo/positions/content.h"

namespace ordo {

class Deberta final : public PositionEncoding, public Resets {
 public:
  enum class Term { c2p, p2c };
  enum class TableNorm { none, layer_norm };  // layer_norm: DeBERTa v3
  struct Config {
    std::vector<Term> pos_att_type = {Term::c2p, Term::p2c};
    int64_t position_buckets = 0;        // 0, -1: none, rows for clipped distances
    int64_t max_relative_positions = 0;  // 0: the model's max_length
    bool share_att_key = false;
    TableNorm norm_rel_ebd = TableNorm::none;
  };
  static constexpr std::string_view kKind = "deberta",
                                    kSummary = "queries and keys meet projected vectors of the relative position";
  Deberta(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = true, .scores = true}, .relative = true, .reads_content = true};
  }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void attach(int64_t layer, const Linear& q, const Linear& k) override;
  void reset(const Initialiser& init, const std::string& path) override;
  // Distances int64 -> buckets int64, the sign kept: exact up to buckets / 2, then growing in width up to `longest`.
  static Tensor bucket(const Tensor& distance, int64_t buckets, int64_t longest);

 private:
  struct Projection {
    Tensor weight, bias;  // parameters [layers, H E, D], [layers, H E]; undefined when shared or not asked for
    std::vector<const Linear*> shared = {};  // of each layer
  };
  void project(Projection& p, const char* name, const PositionFacts& facts);
  Tensor table() const;                                                             // [2 span, D], normed
  Tensor projected(const Tensor& table, const Projection& p, int64_t layer) const;  // [H, 2 span, E]

  Config config_;  // resolved
  int64_t heads_, head_dim_, span_;
  double shrink_;              // 1 / sqrt(1 + terms)
  Tensor weight_;              // parameter "weight" [2 span, D]
  Tensor norm_scale_, shift_;  // parameters "norm_weight", "norm_bias" [D]; undefined without a norm
  Projection key_, query_;     // parameters "pos_key_weight", "pos_key_bias", "pos_query_weight", "pos_query_bias"
};
void fields(Fields& f, Deberta::Config& c);

}  // namespace ordo
