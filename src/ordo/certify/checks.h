// SPDX-License-Identifier: Apache-2.0
// What the checks of a certificate share: variants of the subject, inputs, differences. For the layer certify alone.
#pragma once
#include <ATen/core/grad_mode.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ordo/attention/attention.h"
#include "ordo/certify/certificate.h"
#include "ordo/certify/subject.h"

namespace ordo::certify_checks {

// Largest distances over the largest value, of what is computed in another order, and of what is computed in the same.
inline constexpr double kReordered = 1e-4, kSame = 1e-5;
// A difference that is no rounding.
inline constexpr double kTold = 1e-4;

// max |a - b| / max |b|; infinity when either is not finite.
double difference(const Tensor& a, const Tensor& b);

// `broken`: said in place of `why` when it fails.
Property at_most(double measured, double limit, std::string why, std::string broken = {});
Property more_than(double measured, double limit, std::string why);
Property not_applicable(std::string why, std::optional<double> measured = std::nullopt);
Property failed(std::string why, std::optional<double> measured = std::nullopt);  // whatever was measured
// A failure that the encoding's nature explains is no failure: `nature` empty leaves the property as it is.
Property excused(Property property, const std::string& nature);

// LabRows as a model is given them.
struct LabRows {
  Tensor ids;    // [B, L]
  Positions at;  // [1|B, L]
  Mask mask = {};
};

class Lab {
 public:
  Lab(const Subject& subject, at::Device device);
  // In evaluation mode, on the device; built once for each variant. fresh(): a new one at each call.
  Model& model(const Variant& variant = {});
  std::shared_ptr<Model> fresh(const Variant& variant = {}) const;
  const Subject& subject() const { return subject_; }
  at::Device device() const { return device_; }
  PositionTraits traits() { return model().position().traits(); }
  std::vector<PositionEncoding*> parts();  // of the model's encoding: itself, or what its list is made of
  bool encodes();                          // acts anywhere but on positions

  // Tokens of a row in the checks: within the model's length, and within the length over which the encoding's
  // frequencies stay the same.
  int64_t length();
  // The first length with other frequencies of any part than length 1 has; 0: none in reach. Frequencies are of the
  // positions that a row is moved to, not of its tokens.
  int64_t changes_at();
  bool windowed();  // some layer sees a window
  std::vector<MultiHeadAttention*> attentions(Model& model) const;

  Tensor ids(int64_t rows, int64_t length, uint64_t key = 1, const Variant& variant = {}) const;
  LabRows rows(int64_t count, int64_t length, uint64_t key = 1) const;             // consecutive from 0
  Tensor hidden(Model& model, const LabRows& rows, Cache* cache = nullptr) const;  // without gradients
  Tensor hidden(const LabRows& rows) { return hidden(model(), rows); }
  // The same in pieces that end at `ends`, through a cache of the model's own.
  Tensor in_steps(Model& model, const LabRows& rows, const std::vector<int64_t>& ends) const;
  // Why positions that the encoding moves differ between a whole row and its parts, or the row among others; empty:
  // they do not.
  std::string moves_by_row();

 private:
  int64_t reached(int64_t length);  // one past the last position of a row, wherever the encoding moves it
  bool same_frequencies(int64_t length, int64_t other);

  const Subject& subject_;
  at::Device device_;
  std::map<Variant, std::shared_ptr<Model>> models_;
  std::optional<int64_t> length_, changes_at_;
};

// One and the same row of `length` tokens padded on the left and on the right, and another, shorter row.
struct LabPaddedRows {
  LabRows rows;  // [3, length + pads]
  int64_t pads = 0;
};
LabPaddedRows padded_rows(const Lab& lab, int64_t length);

// A model in training mode while it lives, with gradients; in evaluation mode afterwards, whatever was thrown.
class InTraining {
 public:
  explicit InTraining(Model& model) : with_(true), model_(model) {
    model.train();
    model.zero_grad(/*set_to_none=*/true);
  }
  ~InTraining() { model_.eval(); }
  InTraining(const InTraining&) = delete;
  InTraining& operator=(const InTraining&) = delete;

 private:
  at::AutoGradMode with_;
  Model& model_;
};

using NamedGradients = std::vector<std::pair<std::string, Tensor>>;
// Of all parameters, of the outputs along a fixed direction, in training mode; undefined where none came.
NamedGradients training_gradients(Model& model, const LabRows& rows, const Draw& draw = {});
// Each parameter's distance against its own largest gradient, or a hundredth of the model's (some are zero by theory);
// infinity where only one of the two has one.
double gradients_differ(const NamedGradients& found, const NamedGradients& expected);

using Check = Property (*)(Lab&);
// Order and distance.
Property permutation_equivariance(Lab& lab);
Property order_sensitivity(Lab& lab);
Property shift_invariance(Lab& lab);
Property causality(Lab& lab);
// The company a token is in.
Property cache_equals_full(Lab& lab);
Property padding_invariance(Lab& lab);
Property batch_invariance(Lab& lab);
Property packing_equals_separate(Lab& lab);
// Attention.
Property kernels_agree(Lab& lab);
Property rows_sum_to_one(Lab& lab);
Property masked_rows_are_zero(Lab& lab);
// Training.
Property recompute_equals_plain(Lab& lab);
Property gradients(Lab& lab);
Property save_load_round_trip(Lab& lab);
// Numbers.
Property finite_beyond_length(Lab& lab);
Property low_precision_error(Lab& lab);

// The largest difference between the forms that a layer's biases and value terms offer (whole, tiles, one query, by
// key, by offset, by content); null: it has none.
std::optional<double> forms_differ(Lab& lab);

// The largest distance in radians between angles that any part of the encoding uses, seen in queries or inputs of the
// type, and position x that part's own frequencies; nothing when none declares frequencies, or they cannot be read off.
struct AngleError {
  double radians = 0.0;
  int64_t positions = 0;  // as far as was looked
};
std::optional<AngleError> angle_error(Lab& lab, at::ScalarType type);

}  // namespace ordo::certify_checks
