// SPDX-License-Identifier: Apache-2.0
// Which blocks drop their insides in the forward pass and replay them on the way back (gradient checkpointing, Chen et
// al. 2016).
#pragma once
#include <vector>

#include "ordo/config/catalog.h"

namespace ordo {

struct RecomputeFacts {
  int64_t layers = 0;
  double activation_bytes = 0.0;  // kept for backward by all layers together, for one micro-batch
};

class Recompute {
 public:
  virtual ~Recompute() = default;
  virtual std::vector<bool> blocks() const = 0;  // one flag a block, true = recompute
};

using RecomputeCatalog = Catalog<Recompute, RecomputeFacts>;
const RecomputeCatalog& recompute_policies();  // none, blocks, every, budget
template <>
const Kinds& kinds_of<Recompute>();

class RecomputeNone final : public Recompute {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "none", kSummary = "keeps all activations";
  RecomputeNone(const Config& config, const RecomputeFacts& facts);
  std::vector<bool> blocks() const override { return std::vector<bool>(static_cast<size_t>(layers_), false); }

 private:
  int64_t layers_;
};
void fields(Fields& f, RecomputeNone::Config& c);

class RecomputeBlocks final : public Recompute {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "blocks",
                                    kSummary = "recomputes every block: least memory, about 1.4 times the time";
  RecomputeBlocks(const Config& config, const RecomputeFacts& facts);
  std::vector<bool> blocks() const override { return std::vector<bool>(static_cast<size_t>(layers_), true); }

 private:
  int64_t layers_;
};
void fields(Fields& f, RecomputeBlocks::Config& c);

class RecomputeEvery final : public Recompute {
 public:
  struct Config {
    int64_t n = 2;
  };
  static constexpr std::string_view kKind = "every", kSummary = "recomputes one block in n";
  RecomputeEvery(const Config& config, const RecomputeFacts& facts);
  std::vector<bool> blocks() const override;  // the first, then each n-th after it

 private:
  int64_t n_, layers_;
};
void fields(Fields& f, RecomputeEvery::Config& c);

// As few blocks as bring the activations below a budget; when even all do not, all (and a line in the log).
class RecomputeBudget final : public Recompute {
 public:
  struct Config {
    Quantity memory{4, "GB"};
  };
  static constexpr std::string_view kKind = "budget",
                                    kSummary = "recomputes as many blocks as the memory for activations asks for";
  RecomputeBudget(const Config& config, const RecomputeFacts& facts);
  std::vector<bool> blocks() const override;

 private:
  double budget_bytes_;
  RecomputeFacts facts_;
};
void fields(Fields& f, RecomputeBudget::Config& c);

}  // namespace ordo
