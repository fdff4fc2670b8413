// SPDX-License-Identifier: Apache-2.0
// The worked example of word order: "cat chases mouse" against "mouse chases cat" through one head of attention, first
// without an encoding, then with one, number by number. Queries, keys and values are the words' vectors themselves
// (identity projections), so that everything can be checked by hand.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/models/model.h"

namespace ordo {

using Rows64 = std::vector<std::vector<double>>;

// One word order. LabRows are the words in this order; columns of score matrices too.
struct WorkedOrder {
  std::vector<size_t> words;                  // places in kWorkedWords
  Rows64 inputs, queries, keys, values = {};  // [3][d], of the head that is shown
  Rows64 scores, scaled, bias, weights;       // [3][3]; hidden entries have the weight 0
  Rows64 outputs;                             // [3][d]
};
struct WorkedPass {
  bool causal = false;
  std::array<WorkedOrder, 2> orders;
  double difference = 0.0;  // the largest between a word's outputs in the two orders
};
// One row of weights for vectors of a given width, whose numbers have variance 1.
struct WorkedWidth {
  int64_t width = 0;
  std::vector<double> scores, unscaled, scaled;
};
struct WorkedExample {
  std::string encoding;  // the kinds that act in the layer that is shown: "learned + rope"
  std::string title;     // the same with the settings that are not defaults
  int64_t layer = 0;
  std::string layer_note;       // as of layer_text(); empty where every part acts in every layer
  int64_t head_dim = 0;         // d
  WorkedPass plain, encoded;    // plain: two-sided, without an encoding; encoded: as the model sees
  double mask_alone = 0.0;      // of a causal model: the difference that the mask makes without the encoding
  double encoding_alone = 0.0;  // the largest change that the encoding makes to an output, word order and mask equal
  std::vector<WorkedWidth> widths;
};

struct WorkedWord {
  const char* english;
  const char* chinese;
  std::array<double, 4> vector;
};
// Where the four numbers stand in a head: in pairs, whether an encoding takes neighbours or halves for pairs.
std::vector<int64_t> worked_channels(int64_t head_dim);
extern const std::array<WorkedWord, 3> kWorkedWords;  // cat 猫, chases 追, mouse 老鼠

// `facts` of the model: one head of width 4 is used where the encoding allows it, else heads of the model's own width.
// The encoding is a fresh one. `layer`: nothing is the first in which something acts.
WorkedExample worked_example(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts,
                             std::optional<int64_t> layer = {});
// The same for a model's config. Throws ConfigError for a model that is no stack of attention, or has no such layer.
WorkedExample worked_example(const Choice<Model>& model, const ModelFacts& facts, std::optional<int64_t> layer = {});
std::string worked_text(const WorkedExample& example);
Json as_json(const WorkedExample& example);

}  // namespace ordo
