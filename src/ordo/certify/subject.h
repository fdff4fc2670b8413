// SPDX-License-Identifier: Apache-2.0
// What a certificate is made for: something that assembles one model in variants.
#pragma once
#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/models/stack.h"

namespace ordo {

// How a model is asked for; with nothing set it is the subject itself, at a size that is quick to run.
struct Variant {
  bool tiny = false;        // as small as can be, for fp64 finite differences
  std::string kernel = {};  // of attention, in place of the config's own
  bool bare = false;        // without its position encoding
  double dropout = 0.0;     // everywhere
  uint64_t seed = 1;        // of first weights
  auto operator<=>(const Variant&) const = default;
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string name() const = 0;
  // What was made smaller, and with which weights, in words.
  virtual std::vector<std::string> scaled() const { return {}; }
  virtual int64_t vocab_size(const Variant& variant) const = 0;
  // A model of its own at each call, on the CPU. Equal variants are equal to the bit; a parameter that two variants
  // share has the same values in both. Throws ConfigError for a kernel that can never serve the encoding.
  virtual std::shared_ptr<Model> build(const Variant& variant) const = 0;
};

// The model of a config, with weights of its own where they are given and fit.
class ConfigSubject final : public Subject {
 public:
  // weights: of a run (empty: fresh draws). Throws ConfigError for a model that is no stack of attention.
  ConfigSubject(std::string name, const Choice<Model>& model, const ModelFacts& facts, NamedTensors weights = {});
  std::string name() const override;
  std::vector<std::string> scaled() const override;
  int64_t vocab_size(const Variant& variant) const override;
  std::shared_ptr<Model> build(const Variant& variant) const override;

 private:
  bool as_it_is() const;
  bool trained() const;
  void choose_size();
  StackConfig config_of(const Variant& variant) const;
  std::shared_ptr<Model> assembled(const StackConfig& config, const ModelFacts& facts) const;
  void load(Model& model) const;

  std::string name_;
  Choice<Model> model_;
  StackConfig full_, work_;
  ModelFacts facts_;
  int64_t words_ = 0;  // vocabulary at working size
  NamedTensors weights_;
};

// The stack of a model's config, its length filled in. Throws ConfigError for a model that is no stack of attention.
StackConfig stack_of(const Choice<Model>& model, const ModelFacts& facts);
bool two_sided(const Choice<Model>& model);

// Draws what starts at zero (a table of offsets, the last layer of a bias network), so that what it does shows.
void stir_zeros(PositionEncoding& position);

}  // namespace ordo
