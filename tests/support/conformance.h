// SPDX-License-Identifier: Apache-2.0
// Models with one encoding under one kernel, and the walk over all of them: whoever is listed in a catalogue is tested.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"

namespace ordo::test {

inline constexpr int64_t kConformingVocabulary = 13, kConformingLayers = 2, kConformingLength = 64;

// `encoding`: model.position as YAML ("rope", "{kind: kerple, variant: power}", "[rope, alibi]"), or a kind of
// small_encodings().
struct ConformingCase {
  std::string encoding, kernel = "auto";
  bool causal = true;
  int64_t kv_heads = 2;
  std::string text() const;
};

// The settings of a model of two layers, four heads of eight channels, as large as it must be for `encoding`.
Decoder::Config conforming_config(const ConformingCase& c);
// A decoder or an encoder of them. Throws ConfigError where encoding and side do not go together.
std::shared_ptr<Model> conforming_model(const ConformingCase& c, uint64_t seed = 3);
// Whether the encoding can be built for a stack of that side at all.
bool serves_side(const std::string& encoding, bool causal);

// Such a model; for an encoding of the tests' own, bare attention layers with it.
class Subject : public torch::nn::Module {
 public:
  explicit Subject(const ConformingCase& c);
  // ids [B, L] -> hidden [B, L, D]
  Tensor run(const Tensor& ids, const Positions& at, const Mask& mask = {}, KVCache* cache = nullptr);
  Tensor run(const Tensor& ids) { return run(ids, consecutive(0, ids.size(1), at::kCPU)); }
  PositionEncoding& position() { return model_ ? model_->position() : *own_; }
  PositionTraits traits() { return position().traits(); }
  const ConformingCase& what() const { return case_; }

 private:
  ConformingCase case_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<PositionEncoding> own_;
  std::vector<std::shared_ptr<MultiHeadAttention>> layers_;
};

// `fixed`: every encoding with its defaults and two of them together, under every kernel in causal stacks, under auto
// in two-sided ones. `whole`: further settings of the encodings, under every kernel, on both sides, with keys for each
// head, for two heads together and for all.
enum class Scope { fixed, whole };

// Settings of the encodings beside their defaults.
const std::vector<std::string>& encoding_variants();
std::vector<std::string> catalogue_encodings(Scope scope);

struct Walked {
  bool gradients = false, causal_only = false;
  std::vector<std::string> encodings = {};  // empty: those of the scope and of the tests
};
// Calls check(subject) for every case that its kernel takes; auto, eager and tiled must take all that they are tried
// with. `check` makes all its calls outside of assertions: an assertion would take a kernel's refusal for a failure.
void for_every_case(Scope scope, const std::function<void(Subject&)>& check, const Walked& how = {});

// One row of ids that repeat with no short period.
Tensor mixed_ids(int64_t length, int64_t from = 0);

}  // namespace ordo::test
