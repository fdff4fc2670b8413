// SPDX-License-Identifier: Apache-2.0
// Biases of a two-dimensional window (Swin: Liu et al. 2021; Swin V2: Liu et al. 2022), for images cut into tokens.
// With Dy, Dx the rows and columns from key to query:
//   swin:     a learned table, row (Dy + rows - 1)(2 columns - 1) + Dx + columns - 1
//   swin_v2:  16 sigmoid(MLP(s(Dy), s(Dx))), s(D) = sign(D) log2(1 + |x|) / log2 8 with x = 8 D / (w - 1), w the window
//             that was trained on; the MLP 2 -> hidden -> H with ReLU
// With `cosine` (Swin V2's attention) scores are the cosine of query and key times a learned factor a head, at most
// 100, and nothing else scales them. One set a layer. A token's place is coords [B, L, 2] (row, column, rounded), else
// its index read row by row. A length or a place outside of the window is refused; on a GPU, where places cannot be
// looked at without waiting for them, distances count as at most the window's.
#pragma once
#include "ordo/positions/encoding.h"
#include "ordo/positions/fixed.h"

namespace ordo {

class WindowBias final : public PositionEncoding, public Resets {
 public:
  enum class Variant { swin, swin_v2 };
  struct Config {
    Variant variant = Variant::swin;
    std::vector<int64_t> window = {};             // rows, columns, or one number for both; 0: the root of max_length
    std::vector<int64_t> saved_window = {};       // of swin: that of weights with another window; absent: a square
    std::vector<int64_t> pretrained_window = {};  // of swin_v2, as `window`; absent or 0: the trained one
    std::optional<int64_t> hidden = {};           // of swin_v2; absent: 512
    std::optional<bool> cosine = {};              // absent: with swin_v2
  };
  static constexpr std::string_view kKind = "window_bias",
                                    kSummary = "a learned bias of rows and columns apart, within a window";
  WindowBias(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.query_key = log_scale_.defined(), .scores = true}, .unbounded = false, .takes_axes = 2};
  }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  std::optional<Resized> resized(const std::string& name, const Tensor& saved) const override;
  void reset(const Initialiser& init, const std::string& path) override;

  struct Window {
    int64_t rows = 0, columns = 0;
    int64_t offsets() const { return (2 * rows - 1) * (2 * columns - 1); }
    bool operator==(const Window&) const = default;
  };
  // What swin_v2's network is asked: s(Dy), s(Dx) for every offset, in the order of swin's table. fp64 [offsets, 2]
  static Tensor coordinates(const Window& window, const Window& pretrained);

 private:
  struct Bias;
  Window saved_window(int64_t offsets) const;
  Tensor table_of(const AttentionPass& pass) const;  // [offsets, H]
  Tensor places(const Positions& at) const;          // row and column, int64 [B|1, L, 2]
  Window window_, saved_;
  double scale_;             // what the kernel multiplies scores by
  FixedTensor coordinates_;  // of swin_v2, fp64 [offsets, 2]
  Tensor table_;             // parameter "table" of swin [layers, offsets, H]
  Tensor w1_, b1_, w2_;      // parameters of swin_v2 [layers, hidden, 2], [layers, hidden], [layers, H, hidden]
  Tensor log_scale_;         // parameter "log_scale" with cosine [layers, H]
};
void fields(Fields& f, WindowBias::Config& c);

}  // namespace ordo
