// SPDX-License-Identifier: Apache-2.0
// Convolutional models: residual blocks of dilated convolutions, causal for language models (gates of Dauphin et al.
// 2017, dilation of Bai et al. 2018) or with both sides in sight; and over them, for tasks that ask of whole rows,
// TextCNN (Kim 2014), which is all there is with `layers: 0`.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/models/baseline_model.h"

namespace ordo {

enum class CnnActivation { gated, relu };  // gated: a * sigmoid(b) of twice the width

// What whole rows are read by: convolutions of several widths side by side, of each the largest value over the row.
struct FeatureConfig {
  std::vector<int64_t> widths = {3, 4, 5};
  int64_t filters = 100;  // of each width
};
void fields(Fields& f, FeatureConfig& c);

struct CnnConfig : BaselineConfig {
  int64_t layers = 0;
  bool causal = true;
  int64_t kernel = 3;
  std::vector<int64_t> dilation = {};  // a pattern over the layers; empty: 1, 2, 4, …
  CnnActivation activation = CnnActivation::gated;
  std::optional<FeatureConfig> features = {};
};
void check(const CnnConfig& c, const std::string& path, Problems& problems);

// x + project(act(convolve(norm(x)))), x [N, T, D].
class CnnBlock : public torch::nn::Module, public Resets {
 public:
  struct Options {
    int64_t dim = 0, kernel = 3, dilation = 1;
    bool causal = true, bias = true;
    CnnActivation activation = CnnActivation::gated;
    double dropout = 0.0;
  };
  explicit CnnBlock(const Options& options);
  // state: of a causal block what it convolved last, [N, reach, D]; undefined: zeros.
  Tensor forward(const Tensor& x, const DocumentRows* rows, Tensor& state, const Draw& draw) const;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  int64_t reach() const { return (options_.kernel - 1) * options_.dilation; }  // tokens beside its own
  Options options_;
  Tensor weight_, bias_;           // "weight" [D or 2 D, D, kernel], "bias"
  std::shared_ptr<Norm> norm_;     // child "norm"
  std::shared_ptr<Linear> out_;    // child "out"
  std::shared_ptr<Dropout> drop_;  // child "dropout"
};

class RowFeatures : public torch::nn::Module, public Resets {
 public:
  RowFeatures(const FeatureConfig& config, int64_t dim, bool bias);
  int64_t width() const;
  // Rows [N, T, D] -> [N, width]. A window may stand over the ends of a row, by all but one token, as over zeros.
  Tensor forward(const Tensor& x, const DocumentRows* rows) const;
  double flops() const;  // of a token
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  std::vector<Tensor> weights_, biases_;  // "weight3" [filters, D, 3], "bias3", …
};

class Cnn final : public BaselineModel {
 public:
  struct Config : CnnConfig {};
  static constexpr std::string_view kKind = "cnn", kSummary = "convolutions: causal, two-sided, or TextCNN for classes";
  Cnn(const Config& config, const ModelFacts& facts);
  bool causal() const override { return config_.causal; }
  int64_t layers() const override { return config_.layers; }

 protected:
  Tensor run(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) override;
  Tensor pool(const Tensor& hidden, const Tensor& keys, const Draw& draw) override;
  ModelCost layers_cost(int64_t tokens) const override;

 private:
  int64_t dilation(int64_t layer) const;
  CnnConfig config_;
  std::vector<std::shared_ptr<CnnBlock>> blocks_;  // children "blocks.0", …
  std::shared_ptr<Norm> norm_;                     // child "norm"; null without blocks
  std::shared_ptr<RowFeatures> features_;          // child "features"; null: rows are pooled
  std::shared_ptr<Dropout> dropout_;               // child "dropout", of features
};
void fields(Fields& f, Cnn::Config& c);

}  // namespace ordo
