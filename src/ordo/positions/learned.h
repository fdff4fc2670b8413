// SPDX-License-Identifier: Apache-2.0
// Learned absolute encoding (Gehring et al. 2017, BERT, GPT-2): x + E[i + offset]. Undefined past the table, unless
// on_overflow says what then: the last row; or, interpolate, every position of a row is multiplied by
// (max_positions - 1) / (the row's longest position), so that the row fits, and falls between two rows of the table.
// That factor changes as a row grows: past the table, decoding through a cache is not the same as one full pass.
// With a grid (ViT: Dosovitskiy et al. 2021) the rows are those of an image's patches, one line after the other, behind
// prefix_tokens of their own.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fusion.h"
#include "ordo/positions/resize.h"

namespace ordo {

class Learned final : public PositionEncoding, public Resets {
 public:
  enum class Overflow { error, clamp, interpolate };
  struct Config {
    int64_t max_positions = 0;  // 0: the model's max_length, or what the grid makes
    int64_t offset = 0;         // rows before that of position 0: 2 in OPT, padding index + 1 in RoBERTa
    double init_std = 0.02;
    Overflow on_overflow = Overflow::error;
    std::optional<OnResize> on_resize = {};    // absent: extend; a grid is always interpolated
    std::vector<int64_t> grid = {};            // [rows, columns]; empty: a line
    std::vector<int64_t> saved_grid = {};      // of weights with another grid; empty: a square, or in grid's proportion
    std::optional<int64_t> saved_offset = {};  // of weights with another offset
    int64_t prefix_tokens = 0;                 // rows before the grid's, for tokens that are no patches
    FusionSettings fusion = {};
  };
  static constexpr std::string_view kKind = "learned",
                                    kSummary = "a learned vector for each position, added to the input";
  Learned(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.input = true}, .unbounded = config_.on_overflow != Overflow::error};
  }
  Tensor input(const Tensor& x, const Positions& at) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  std::optional<Resized> resized(const std::string& name, const Tensor& saved) const override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor rows(const Positions& at, at::ScalarType type) const;      // [1|B, L, Dp]
  Tensor squeezed(const Positions& at, at::ScalarType type) const;  // the same, past the table
  std::optional<TableGrid> grid_of(int64_t patches) const;          // of a saved table
  std::optional<Resized> resized_line(const Tensor& saved) const;
  Config config_;                   // max_positions resolved
  std::shared_ptr<Fusion> fusion_;  // child "fusion"
  Tensor weight_;                   // parameter "weight" [offset + max_positions, Dp]
};
void fields(Fields& f, Learned::Config& c);

}  // namespace ordo
