// SPDX-License-Identifier: Apache-2.0
// What a trained model says of inputs that nobody has judged: classes, tags, values. Tasks whose models write have a
// TextWriter instead.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/models/model.h"

namespace ordo {

// An input as a user gives it, and where it stands ("a.txt: line 7").
struct PredictorInput {
  std::string text, where;
};

// The numbers of an input, apart by commas, so many of them. Throws DataError with the place for all else.
std::vector<float> listed_numbers(const PredictorInput& input, int64_t count);

class Predictor {
 public:
  virtual ~Predictor() = default;
  // What an input is, for people: "a text", "a sound file".
  virtual std::string reads() const = 0;
  virtual bool reads_files() const { return false; }  // an input is a path
  // Of each input an object. Classes: {"class": "positive", "probability": 0.93, "probabilities": {"positive": …}}, of
  // several labels "classes" with those from 0.5 on. The model must be in eval mode. `length`: train.length. Throws
  // DataError, with the place, for an input that cannot be read.
  virtual std::vector<Json> predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const = 0;
  // An object of predict() beside its input, as a line for people.
  virtual std::string line(const Json& told, const PredictorInput& input) const = 0;
};

}  // namespace ordo
