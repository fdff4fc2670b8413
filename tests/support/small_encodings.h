// SPDX-License-Identifier: Apache-2.0
// Three small encodings of the tests' own, so that every interface between encodings and kernels is used: a learned
// offset bias, a content bias with a value term, a gate per key. Built from PositionFacts alone.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo::test {

// bias[h, clip(key - query, -K, K)], learned: an OffsetBias with a gradient (by_offset and tile).
class OffsetTable final : public PositionEncoding, public Resets {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "offset_table",
                                    kSummary = "a learned number for each head and clipped offset";
  static constexpr int64_t kReach = 4;
  OffsetTable(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor table_;  // [H, 2 kReach + 1]
};

// Shaw et al. 2018: q · A_k[clipped offset] joins the score, A_v[clipped offset] joins the value; one pair of tables a
// layer.
class ContentTable final : public PositionEncoding, public Resets {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "content_table",
                                    kSummary = "learned vectors of the clipped offset, beside keys and values";
  static constexpr int64_t kReach = 3;
  ContentTable(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.scores = true, .values = true}, .relative = true, .reads_content = true};
  }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  std::shared_ptr<const ValueTerm> values(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor keys_, values_;  // [layers, 2 kReach + 1, E]
};

// Lin et al. 2025 (forgetting attention), causal: with f = sigmoid(w x + b) per key and head, the score of (i, j) gains
// the sum of ln f over the keys j+1 … i. ln f is what a cache keeps. Padding counts as ln f = 0.
class KeyGate final : public PositionEncoding, public Resets {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "key_gate", kSummary = "a learned forget gate for each key and head";
  KeyGate(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.scores = true}, .relative = true}; }
  int64_t keeps() const override { return bias_.size(1); }
  Tensor keep(const Tensor& x, const Positions& at, int64_t layer) override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor weight_, bias_;  // [layers, H, D], [layers, H]
};

void fields(Fields& f, OffsetTable::Config& c);
void fields(Fields& f, ContentTable::Config& c);
void fields(Fields& f, KeyGate::Config& c);

const PositionCatalog& small_encodings();  // offset_table, content_table, key_gate

// One of small_encodings(), or of positions() with its defaults, with its weights drawn (tables N(0, 0.5), so that what
// they do shows).
std::shared_ptr<PositionEncoding> any_encoding(std::string_view kind, const PositionFacts& facts);
std::vector<std::string> all_encodings();  // kinds of positions(), then of small_encodings()

}  // namespace ordo::test
