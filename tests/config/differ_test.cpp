// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"

namespace ordo::sample {

namespace {

std::vector<std::string> differences(const std::string& a, const std::string& b) {
  Root of_a = load(a).root, of_b = load(b).root;
  std::vector<std::string> out;
  for (const auto& [path, left, right] : differ(walk_of(of_a), walk_of(of_b)))
    out.push_back(fmt::format("{}: {} | {}", path, left, right));
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("differ: equal configs have no difference, however they are written", "[unit]") {
  CHECK(differences("model: {dim: 3, heads: 2}", "model: {dim: 3.0}\ntrain: {optimizer: {kind: adamw, lr: 1e-3}}") ==
        Lines{});
}

TEST_CASE("differ: each changed value is told with both sides", "[unit]") {
  CHECK(differences("model: {dim: 3, window: [1, 2]}", "model: {dim: 4, window: [1, 3]}\ntrain: {steps: 5 epochs}") ==
        Lines{"model.dim: 3 | 4", "model.window: [1, 2] | [1, 3]", "train.steps: 2000 steps | 5 epochs"});
}

TEST_CASE("differ: another kind shows the settings of both", "[unit]") {
  CHECK(differences("model: {dim: 3}\ntrain: {optimizer: {lr: 0.1}}", "model: {dim: 3}\ntrain: {optimizer: sgd}") ==
        Lines{"train.optimizer.kind: adamw | sgd", "train.optimizer.weight_decay: 0.01 | ",
              "train.optimizer.betas: [0.9, 0.999] | ", "train.optimizer.momentum:  | 0"});
}

TEST_CASE("differ: an item more in a list of choices shows as its settings", "[unit]") {
  CHECK(differences("model: {dim: 3, position: [alibi]}", "model: {dim: 3, position: [alibi, none]}") ==
        Lines{"model.position.1.kind:  | none"});
}

}  // namespace ordo::sample
