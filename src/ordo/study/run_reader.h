// SPDX-License-Identifier: Apache-2.0
// What one run folder holds for a study: facts of the training, metrics at each length, first weights.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/study/results.h"

namespace ordo {

struct FirstWeight {
  std::string hash;
  std::vector<int64_t> shape = {};  // empty: a scalar, or not known
  bool operator==(const FirstWeight&) const = default;
};
using FirstWeights = std::map<std::string, FirstWeight>;

inline constexpr std::string_view kStatusFile = "status.json";
inline constexpr std::string_view kStartFile = "start.json";

// The file of an evaluation: number 0 is as trained, n the n-th scaling.
std::string evaluation_file(int64_t scaling);

// Status, reason and seconds as status.json has them; missing unless it was written for this hash (empty: for any).
void read_status(const fs::path& folder, std::string_view hash, RunFacts& facts);
// Steps, tokens, curves, speed, memory, data order, parameters, FLOPs: as far as the folder tells them.
void read_training(const fs::path& folder, RunFacts& facts);
// The rows of one evaluation file; none when there is no such file. Levels, seed and run are the caller's; for a
// scaling stands what the evaluation changed ("model.position.scaling={kind: yarn}").
std::vector<ResultRow> read_evaluation(const fs::path& file);
// The evaluation of the validation split during training that belongs to the best checkpoint, else the last one.
std::vector<ResultRow> read_best_evaluation(const fs::path& folder);
// By name, from start.json; shapes from the last checkpoint. Empty when it does not say.
FirstWeights read_first_weights(const fs::path& folder);

}  // namespace ordo
