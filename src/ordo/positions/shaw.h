// SPDX-License-Identifier: Apache-2.0
// Relative position representations (Shaw et al. 2018): a learned vector for each clipped offset joins the keys and the
// values: score (i, j) is q_i . (k_j + A[j - i]) x scale, output i is the sum of P_ij (v_j + V[j - i]). Tables are
// shared by the heads of a layer. BERT's forms (Huang et al. 2020) have a row for every offset of a bounded length
// instead, indexed i - j, and may multiply it with the key too.
#pragma once
#include "ordo/positions/content.h"

namespace ordo {

class Shaw final : public PositionEncoding, public Resets {
 public:
  enum class Variant {
    clipped,             // rows for the offsets -left … right
    relative_key,        // BERT: q_i . A[i - j]; no row beyond max_relative_positions
    relative_key_query,  // BERT: (q_i + k_j) . A[i - j]
  };
  enum class Beyond {
    clip,  // the outermost row
    zero,  // nothing (VITS)
  };
  struct Config {
    Variant variant = Variant::clipped;
    int64_t max_relative_positions = 0;  // 0: 16 when clipped, else the model's max_length
    std::optional<int64_t> left = {}, right = {};
    std::optional<Beyond> beyond_window = {};  // absent: clip
    std::optional<bool> use_value = {};        // absent: when clipped
    bool share_kv_table = false;
    double init_std = 0.0;  // 0: Xavier's uniform numbers
  };
  static constexpr std::string_view kKind = "shaw",
                                    kSummary = "learned vectors of the clipped offset, beside keys and values";
  Shaw(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  std::shared_ptr<const ValueTerm> values(const AttentionPass& pass) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  void reset(const Initialiser& init, const std::string& path) override;

  // Which row an offset has: that of the outermost one, or of zeros (the last), outside of [-left, right].
  struct Rows {
    int64_t left = 0, right = 0;
    bool zero_beyond = false, query_minus_key = false;
    int64_t count() const { return left + right + 1; }
    Tensor operator()(const Tensor& offset) const;
  };

  const Rows& rows() const { return rows_; }

 private:
  bool clipped() const { return config_.variant == Variant::clipped; }
  Tensor table(const Tensor& all, int64_t layer) const;  // [1, R, E], with the row of zeros where there is one

  Config config_;  // resolved
  Rows rows_;
  Tensor keys_, values_;  // parameters "keys", "values" [layers, rows, E]; no values without use_value or when shared
};
void fields(Fields& f, Shaw::Config& c);

}  // namespace ordo
