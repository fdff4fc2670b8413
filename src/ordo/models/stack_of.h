// SPDX-License-Identifier: Apache-2.0
// The stack behind a model that was chosen in a config, for those who ask about its parts before anything is built.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/models/stack.h"

namespace ordo {

struct StackOf {
  const StackConfig& config;  // the choice's own
  bool causal;
};
// Nothing for a model that is not made of one stack. Defined in models/catalog.cpp.
std::optional<StackOf> stack_of(const Choice<Model>& model);

struct NamedStack {
  std::string name;  // of the Stack among the children of its model
  StackConfig config;
  std::vector<Choice<PositionEncoding>> cross_position = {};  // of its cross-attention
};
// All stacks of a model, in the order in which they act.
std::vector<NamedStack> stacks_of(const Choice<Model>& model);

// As Model::causal() of the model that will be built; of an encoder-decoder its decoder is.
bool is_causal(const Choice<Model>& model);

}  // namespace ordo
