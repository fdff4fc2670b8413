// SPDX-License-Identifier: Apache-2.0
// Layers of an LSTM (Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000) or of a GRU (Cho et al. 2014, with
// the reset gate behind the product, as cuDNN has it), and stacks of them.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ordo/models/documents.h"
#include "ordo/nn/layers.h"

namespace ordo {

enum class RecurrentCell { lstm, gru };

// Rows of one length, x [N, T, D]; or of several, one token after another as LibTorch packs them: x [all, D] with
// batch_sizes [T] on the CPU.
struct PackedRows {
  Tensor x, batch_sizes;
  bool packed() const { return batch_sizes.defined(); }
};

// Both directions together give `width` numbers, each of them half (OpenNMT's way: stacks of one and of two directions
// are then equally wide). Parameters as LibTorch's: weight_ih [gates * H, inputs], weight_hh [gates * H, H], bias_ih,
// bias_hh [gates * H], and the same with _reverse; the gates are i, f, g, o, or r, z, n. The forget gate starts open,
// at a bias of 1 (Jozefowicz et al. 2015).
class RecurrentLayer : public torch::nn::Module, public Resets {
 public:
  struct Options {
    RecurrentCell cell = RecurrentCell::lstm;
    int64_t inputs = 0, width = 0;
    bool bidirectional = false, bias = true;
    double dropout = 0.0;  // of what it reads
  };
  explicit RecurrentLayer(const Options& options);
  // state: undefined tensors are zeros; then what stands behind each row (of the backward direction: before it).
  Tensor forward(const PackedRows& rows, Tensor* state, const Draw& draw) const;
  static int64_t states(RecurrentCell cell) {
    return cell == RecurrentCell::lstm ? 2 : 1;
  }  // h [N, width]; of an LSTM then c
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  int64_t hidden() const { return options_.width / directions(); }
  Options options_;
  std::vector<Tensor> parameters_;
  std::shared_ptr<Dropout> dropout_;  // child "dropout"
};

struct RecurrentStackConfig {
  RecurrentCell cell = RecurrentCell::lstm;
  int64_t dim = 0, layers = 0;
  bool bidirectional = false, bias = true;
  double dropout = 0.0;  // between all layers, not from token to token (Zaremba et al. 2014)
};

class RecurrentStack : public torch::nn::Module {
 public:
  explicit RecurrentStack(const RecurrentStackConfig& config);
  // x [N, T, D] -> [N, T, D]. states: empty, or of each layer those before the rows, in order; then those behind them.
  Tensor forward(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) const;

 private:
  RecurrentStackConfig config_;
  std::vector<std::shared_ptr<RecurrentLayer>> layers_;  // children "layers.0", …
  std::shared_ptr<Dropout> dropout_;                     // child "dropout", of what the last layer gives
};

}  // namespace ordo
