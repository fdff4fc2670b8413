// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/arm_models.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/ops/draw.h"
#include "ordo/study/deciding.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {

uint64_t hash_tensor(const Tensor& tensor, uint64_t seed) {
  const Tensor held = tensor.detach().contiguous();
  return hash_bytes(held.data_ptr(), held.nbytes(), seed);
}

// What a model does, as a number.
class Behaviour {
 public:
  explicit Behaviour(const Arm& arm) : arm_(arm), task_(make_task(arm.config)) {
    const auto& config = arm.config;
    facts_ = task_->complete(
        {.max_length = config.train.length, .seed = config.seed(), .trained_length = config.train.trained_length});
    model_ = models().build(config.model, facts_);
  }
  std::optional<std::string> refusal() const { return task_->refuses(*model_); }
  // Nothing when the model needs a source beside its rows to be tried.
  std::optional<uint64_t> hash() {
    try {
      first_weights();
      redraw();
      train();
      const at::NoGradGuard no_grad;
      model_->eval();
      for (const int64_t length : arm_.lengths) evaluate(task_->row_length(length));
      return hash_;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  void add(const Tensor& tensor) { hash_ = hash_tensor(tensor, hash_); }
  void add(std::string_view text) { hash_ = key_of(hash_, text); }

  void first_weights() {
    for (const auto& parameter : parameters_of(*model_)) {
      add(parameter.name);
      add(fmt::format("{} {}", parameter.value.requires_grad(), fmt::join(parameter.value.sizes(), "x")));
      add(parameter.value);
    }
  }
  // First weights may hide what a setting does: a table of zeros adds the same whatever its layout.
  void redraw() {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : parameters_of(*model_)) {
      constexpr double kSize = 0.3;
      const Initialiser draw(/*seed=*/1, {}, 1);
      draw.normal(parameter.value, parameter.name, kSize);
    }
  }
  // A row of what the model reads. An image has one size, whatever its pixels are counted in.
  ModelInput input(int64_t length) const {
    ModelInput in;
    if (const SignalFacts& signal = facts_.signal; signal.image()) {
      in.signal = standard_normal({1, signal.channels, signal.height, signal.width}, /*key=*/1);
      return in;
    }
    if (facts_.signal.defined()) {
      in.signal = standard_normal({1, length, facts_.signal.channels}, /*key=*/1);
    } else {
      in.ids = (at::arange(length, at::kLong) * 7 + 3).remainder(facts_.vocab_size).unsqueeze(0);
    }
    in.at = consecutive(0, length, at::kCPU);
    return in;
  }
  Tensor logits(const ModelInput& in) {
    return model_->head().logits(facts_.pools ? model_->pooled(in) : model_->forward(in));
  }
  void train() {
    model_->train();
    ModelInput in = input(task_->row_length(arm_.config.train.length));
    in.draw = {.seed = 1, .step = 1};
    SegmentMemory memory;
    if (model_->kept_tokens() > 0) {
      in.memory = &memory;
      logits(in);  // the segment before
    }
    const Tensor made = logits(in);
    add(made);
    (made * made).sum().backward();
    for (const auto& parameter : parameters_of(*model_))
      if (parameter.value.grad().defined()) add(parameter.value.grad());
  }
  void evaluate(int64_t length) {
    try {
      add(logits(input(length)));
    } catch (const ConfigError& refusal) {  // the encoding does not reach so far
      add(refusal.what());
    }
  }

  const Arm& arm_;
  std::shared_ptr<Task> task_;
  std::shared_ptr<Model> model_;
  ModelFacts facts_;
  uint64_t hash_ = 0;
};

// The model of an arm; what is refused goes to the problems.
std::unique_ptr<Behaviour> built(const Arm& arm, Problems& problems) {
  const auto refused = [&](const std::string& why) {
    const std::string where = arm.levels.empty() ? "" : fmt::format("with {}: ", combination_text(arm.levels));
    problems.add_at({}, where + why);
    return nullptr;
  };
  try {
    auto model = std::make_unique<Behaviour>(arm);
    const auto why = model->refusal();
    return why ? refused(*why) : std::move(model);
  } catch (const ConfigError& refusal) {
    return refused(refusal.what());
  }
}

// "encoding a and b (task copy)", with the place of what differs.
struct Named {
  std::string text;
  Source at;
};
Named name_both(const StudyConfig& study, const Arm& a, const Arm& b) {
  Combination same;
  std::vector<std::string> first, second;
  Named named;
  for (size_t i = 0; i < a.levels.size(); ++i) {
    const auto& [factor, level] = a.levels[i];
    if (level == b.levels[i].second) {
      same.push_back(a.levels[i]);
      continue;
    }
    first.push_back(fmt::format("{} {}", factor, level));
    second.push_back(fmt::format("{} {}", factor, b.levels[i].second));
    if (named.at.file.empty()) named.at = study.factor(factor)->find(b.levels[i].second)->at;
  }
  named.text = fmt::format("{} and {}", join(first, ", "), join(second, ", "));
  if (!same.empty()) named.text += fmt::format(" (with {})", combination_text(same));
  return named;
}

// The settings in which the two differ all the same.
std::string idle_settings(const Arm& a, const Arm& b) {
  RunConfig of_a = a.config, of_b = b.config;
  std::vector<std::string> idle;
  for (const auto& d : differ(walk_of(of_a), walk_of(of_b))) idle.push_back(d.path);
  return idle.empty() ? "nothing would be compared: take one of them out"
                      : fmt::format("nothing would be compared: {} changes nothing here", join(idle, ", "));
}

}  // namespace

void check_models(const StudyConfig& study, const std::vector<Arm>& arms, Problems& problems) {
  const auto refuse = [&](const Arm& a, const Arm& b) {
    const auto [text, at] = name_both(study, a, b);
    problems.add_at(at, fmt::format("these settings give identical models: {}", text), idle_settings(a, b));
  };
  std::map<std::string, const Arm*> by_config;
  std::map<std::string, std::vector<const Arm*>> by_rest;  // the same but for the model
  for (const auto& arm : arms) {
    Json training = settings_that_decide(arm.config, Decides::judgement);
    const auto [same, fresh] = by_config.emplace(json_line(training), &arm);
    if (!fresh) {
      refuse(*same->second, arm);
      continue;
    }
    training.erase("model");
    by_rest[json_line(training)].push_back(&arm);
  }
  for (const auto& [rest, group] : by_rest) {
    std::map<uint64_t, const Arm*> by_behaviour;
    for (const Arm* arm : group) {
      const auto model = built(*arm, problems);
      const auto hash = model && group.size() > 1 ? model->hash() : std::nullopt;
      if (!hash) continue;
      const auto [same, fresh] = by_behaviour.emplace(*hash, arm);
      if (!fresh) refuse(*same->second, *arm);
    }
  }
}

}  // namespace ordo
