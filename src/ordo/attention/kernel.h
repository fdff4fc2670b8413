// SPDX-License-Identifier: Apache-2.0
// What turns q, k, v, a mask and a bias into outputs. A kernel states its conditions and refuses in plain words.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/ops/bias.h"
#include "ordo/positions/encoding.h"

namespace ordo {

struct AttentionCall {
  Tensor q;     // [B, H, Lq, E]
  Tensor k, v;  // [B, G, Lk, E]
  Mask mask = {};
  std::shared_ptr<const ScoreBias> bias = {};
  std::shared_ptr<const ValueTerm> value_term = {};
  double scale = 1.0, dropout = 0.0;
  uint64_t draw = 0;  // key of this layer's dropout: element (b, h, i, j) of [B, H, Lq, Lk] for every kernel
  std::optional<double> softcap = {};  // scores become cap * tanh(scores / cap) before the bias is added
  bool want_weights = false;           // diagnostics
};
// What a layer throws when its kernel refuses a call: the model is sound, and another kernel would serve it.
class KernelRefusal : public ConfigError {
 public:
  using ConfigError::ConfigError;
};
// Throws, naming both sides, when the tensors of a call or of its mask do not fit each other: kernels that read raw
// memory ask first.
void check_shapes(const AttentionCall& call);

struct Attended {
  Tensor out;           // [B, H, Lq, E] in q's type; a row that sees no key is zero
  Tensor weights = {};  // [B, H, Lq, Lk] when wanted
};

struct KernelTraits {
  Places places = {};    // where an encoding may act under it
  bool weights = false;  // can give them
};
struct KernelFacts {
  int64_t dim = 0, heads = 0, kv_heads = 0, head_dim = 0;
};

// A module, since some kernels own projections (Linformer, Performer).
class AttentionKernel : public torch::nn::Module {
 public:
  virtual KernelTraits traits() const = 0;
  // A reason in plain words, or nothing. Looks at shapes, types and forms only, never at values.
  virtual std::optional<std::string> refuses(const AttentionCall& call) const = 0;
  virtual Attended run(const AttentionCall& call) = 0;
};

using KernelCatalog = Catalog<AttentionKernel, KernelFacts>;
const KernelCatalog& kernels();  // attention/catalog.cpp: auto, eager, sdpa, tiled, flash
template <>
const Kinds& kinds_of<AttentionKernel>();

// Where an encoding acts and the kernel does not let it.
Places missing_places(const KernelTraits& kernel, const PositionTraits& position);
// A pair that can never work is refused when the model is built: the reason in words, or nothing.
std::optional<std::string> never_works(const KernelTraits& kernel, std::string_view kernel_kind,
                                       const PositionTraits& position, std::string_view position_kind);

// Asks the kernels in order and takes the first that does not refuse; tells the choice and the refusals once per kind
// of call in a process.
class AutoKernel final : public AttentionKernel {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "auto", kSummary = "the fastest exact kernel that takes the call";
  AutoKernel(const Config& config, const KernelFacts& facts);
  KernelTraits traits() const override;
  std::optional<std::string> refuses(const AttentionCall& call) const override;
  Attended run(const AttentionCall& call) override;
  struct Verdict {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> refused;
  };
  Verdict choose(const AttentionCall& call) const;

 private:
  std::vector<std::pair<std::string, std::shared_ptr<AttentionKernel>>> order_;
};
void fields(Fields& f, AutoKernel::Config& c);

}  // namespace ordo
