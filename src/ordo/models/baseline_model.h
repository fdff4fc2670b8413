// SPDX-License-Identifier: Apache-2.0
// What models without attention have in common: an input layer, layers that carry states from token to token, a head.
// They know the order of a row by how they read it, and need no position encoding.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/models/documents.h"
#include "ordo/models/input.h"
#include "ordo/models/pool.h"
#include "ordo/models/state_cache.h"

namespace ordo {

// In YAML under `model`.
struct BaselineConfig {
  int64_t dim = 0;
  double dropout = 0.0;
  bool bias = true;
  Choice<InputLayer> input{"tokens"};
  Pool pool = Pool::automatic;
  // Matrices keep the scale of what they are given; embeddings are small enough for a head that shares them.
  InitConfig init{.kind = InitKind::lecun_normal, .embedding_std = 0.1};
  bool tie_embeddings = true;
  bool scale_embedding = false;
  std::optional<double> softcap = {};
};
void fields(Fields& f, BaselineConfig& c);
// Relations between the options, reported at `path` ("model").
void check(const BaselineConfig& c, const std::string& path, Problems& problems);

// Padding changes nothing, wherever it stands, and packed documents see only themselves.
class BaselineModel : public Model {
 public:
  Tensor forward(const ModelInput& in, Cache* cache = nullptr) override;
  Tensor pooled(const ModelInput& in) override;
  Head& head() override { return *head_; }
  // Throws ConfigError in a model that sees both sides: there is nothing to go on from.
  std::shared_ptr<Cache> make_cache() const override;
  int64_t max_length() const override { return max_length_; }  // that of training; no row is too long
  std::optional<std::string> refuses_length(int64_t length) override;
  PositionEncoding& position() override { return *none_; }
  // Throws ConfigError where anything is to be recomputed: that is for blocks of attention.
  void recompute(const std::vector<bool>& blocks) override;
  int64_t dim() const override { return dim_; }
  ModelCost cost(int64_t length) const override;

 protected:
  BaselineModel(const BaselineConfig& config, const ModelFacts& facts);
  // Called by the constructor of the model, once its layers are there. pooled_width: of what pool() gives, where that
  // is the model's own.
  void build_head(const BaselineConfig& config, const ModelFacts& facts, std::optional<int64_t> pooled_width = {});

  // As Layers.
  virtual Tensor run(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) = 0;
  virtual Tensor pool(const Tensor& hidden, const Tensor& keys, const Draw& draw);
  virtual ModelCost layers_cost(int64_t tokens) const = 0;  // of a token in rows of so many, without input and head

  // Of in, or what the cache says there is to read; `first`: states that stand before the first token.
  Tensor read(const ModelInput& in, StateCache* cache, const States& first = {});
  InputLayer& input() { return *input_; }
  int64_t tokens(int64_t length) const { return input_->tokens(length); }

 private:
  Tensor through(const Embedded& in, States& states, const Draw& draw);
  int64_t dim_, max_length_ = 0;
  bool pools_;
  Pool pool_;
  std::shared_ptr<InputLayer> input_;       // child "embedding"
  std::shared_ptr<PositionEncoding> none_;  // no child: it has nothing
  std::shared_ptr<Head> head_;              // child "head"; tied: no weight of its own
};

}  // namespace ordo
