// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/control.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {

std::string steps_text(double steps) { return number_text(std::max(1.0, std::floor(steps))); }

// The value of a key in the resolved config, as YAML.
std::string value_at(const RunConfig& config, const std::string& path) {
  RunConfig copy = config;
  const Json all = dump_json(walk_of(copy));
  const Json* at = &all;
  for (const auto& name : split(path, '.')) {
    if (!at->is_object() || !at->contains(name)) return "";
    at = &at->at(name);
  }
  return at->is_string() ? at->get<std::string>() : at->dump();
}

class Adjuster {
 public:
  Adjuster(const StudyConfig& study, Problems& problems, std::vector<std::string>& notes)
      : study_(study), problems_(problems), notes_(notes) {}

  void budget(Arm& arm) {
    const Quantity run = *study_.budget.run;
    if (run.unit == "s") return;
    if (run.unit != "flops") return lay(arm, "train.steps", quantity_text(run));
    const double steps = run.value / figures_of(arm.config).flops_per_step;
    if (steps < 1.0)
      return add_at_key(
          problems_, study_, "budget.run",
          fmt::format("one step takes {} FLOPs, more than the budget of a run", count_text(run.value / steps)));
    lay(arm, "train.steps", steps_text(steps));
  }
  // Makes the arm's parameters as many as the reference has.
  void parameters(Arm& arm, const Arm& reference) {
    const auto wanted = static_cast<double>(figures_of(reference.config).parameters);
    const auto off = [&](int64_t count) { return std::abs(static_cast<double>(count) - wanted) / wanted; };
    const auto& [equal, by, within] = study_.control;
    const int64_t before = figures_of(arm.config).parameters;
    if (off(before) <= within) return;
    const auto best = nearest_value(arm, wanted);
    if (!best) return;
    const auto [value, count] = *best;
    if (off(count) > within)
      return add_at_key(problems_, study_, "control.within",
                        fmt::format("{}: the nearest is {} = {} with {} parameters, {:.2g} % from {}",
                                    combination_text(arm.levels), by, value, count, 100.0 * off(count), wanted),
                        "allow more with control.within, or adjust a finer key with control.by");
    const std::string was = value_at(arm.config, by);
    lay(arm, by, std::to_string(value));
    tell(arm, fmt::format("{} {} in place of {}, {} parameters in place of {} ({:.2g} % from {} of {})", by, value, was,
                          count, before, 100.0 * off(count), wanted, combination_text(reference.levels)));
  }
  // Gives the arm as many steps as cost what the reference's cost.
  void flops(Arm& arm, const Arm& reference) {
    const Quantity before = arm.config.train.steps;
    const double ratio = figures_of(reference.config).flops_per_step / figures_of(arm.config).flops_per_step;
    Quantity steps = reference.config.train.steps;
    steps.value *= ratio;
    if (steps.unit != "epochs") steps.value = std::max(1.0, std::round(steps.value));
    if (steps == before) return;
    lay(arm, "train.steps", quantity_text(steps));
    tell(arm, fmt::format("train.steps {} in place of {}, for the FLOPs of {}", quantity_text(steps),
                          quantity_text(before), combination_text(reference.levels)));
  }

 private:
  void tell(const Arm& arm, const std::string& text) {
    notes_.push_back(fmt::format("{}{}: {}", kAdjusted, combination_text(arm.levels), text));
  }
  void lay(Arm& arm, const std::string& path, const std::string& value) {
    const Source* at =
        study_.files->read.find(path == "train.steps" && study_.budget.run ? "budget.run" : "control.by");
    const Setting setting{path, value, at == nullptr ? Source{} : *at};
    arm.settings.push_back(setting);
    arm.adjusted.push_back(setting);
    if (auto config = resolve(study_, arm.base, arm.settings, problems_)) arm.config = std::move(*config);
  }
  // Parameters with this value of the key; nothing when the model cannot be built with it.
  std::optional<int64_t> count(const Arm& arm, int64_t value) const {
    auto settings = arm.settings;
    settings.push_back({study_.control.by, std::to_string(value), {}});
    Problems refused;
    const auto config = resolve(study_, arm.base, settings, refused);
    if (!config) return std::nullopt;
    try {
      return figures_of(*config).parameters;
    } catch (const ConfigError&) {
      return std::nullopt;
    }
  }
  struct Tried {
    int64_t value = 0, count = 0;
  };
  // The first value from `from` on, up to `end`, that gives a model.
  std::optional<Tried> first_valid(const Arm& arm, int64_t from, int64_t end) const {
    constexpr int64_t kPatience = 256;  // a width must fit the heads: not every number does
    for (int64_t value = from; value <= std::min(end, from + kPatience); ++value)
      if (const auto parameters = count(arm, value)) return Tried{value, *parameters};
    return std::nullopt;
  }
  // By bisection: a larger value gives more parameters.
  std::optional<Tried> nearest_value(const Arm& arm, double wanted) {
    constexpr int64_t kLargest = 1 << 20;
    auto low = first_valid(arm, 1, kLargest), high = low;
    while (high && static_cast<double>(high->count) < wanted && high->value * 2 <= kLargest) {
      low = high;
      high = first_valid(arm, high->value * 2, kLargest);
    }
    if (!high || high->count == first_valid(arm, 1, kLargest)->count) {
      unequal(arm, wanted);
      return std::nullopt;
    }
    while (high->value - low->value > 1) {
      const auto middle = first_valid(arm, (low->value + high->value) / 2, high->value - 1);
      if (!middle) {
        // Nothing in the upper half is a model: what is left lies below.
        const auto lower = first_valid(arm, low->value + 1, (low->value + high->value) / 2 - 1);
        if (!lower) break;
        (static_cast<double>(lower->count) < wanted ? low : high) = lower;
        continue;
      }
      (static_cast<double>(middle->count) < wanted ? low : high) = middle;
    }
    const auto off = [&](const Tried& t) { return std::abs(static_cast<double>(t.count) - wanted); };
    return off(*low) < off(*high) ? low : high;
  }
  void unequal(const Arm& arm, double wanted) {
    add_at_key(
        problems_, study_, "control.by",
        fmt::format("{}: no value of {} gives {} parameters", combination_text(arm.levels), study_.control.by, wanted),
        "control.by names a key whose larger values give more parameters");
  }

  const StudyConfig& study_;
  Problems& problems_;
  std::vector<std::string>& notes_;
};

// What an arm is made equal to: the level that is compared against, else the first one, with the arm's other levels.
const Arm& reference_of(const StudyConfig& study, const std::vector<Arm>& arms, const Arm& arm) {
  const auto others_same = [&](const Arm& other) {
    return std::all_of(arm.levels.begin(), arm.levels.end(), [&](const auto& level) {
      return level.first == study.compare.factor || level_of(other.levels, level.first) == level.second;
    });
  };
  const Arm* first = nullptr;
  for (const auto& other : arms) {
    if (!others_same(other)) continue;
    if (level_of(other.levels, study.compare.factor) == study.compare.against) return other;
    if (first == nullptr) first = &other;
  }
  return *first;
}

}  // namespace

Figures figures_of(const RunConfig& config) {
  const auto task = make_task(config);
  const auto model = models().build(config.model, task->complete({.max_length = config.train.length,
                                                                  .seed = config.seed(),
                                                                  .trained_length = config.train.trained_length}));
  Figures figures;
  for (const auto& parameter : parameters_of(*model)) figures.parameters += parameter.value.numel();
  const int64_t length = task->row_length(config.train.length);
  figures.tokens_per_step = static_cast<double>(rows_of(config.train) * config.train.accumulate * length);
  figures.flops_per_step = 3.0 * model->cost(length).flops_per_token * figures.tokens_per_step;
  return figures;
}

void adjust(const StudyConfig& study, std::vector<Arm>& arms, Problems& problems, std::vector<std::string>& notes) {
  Adjuster adjuster(study, problems, notes);
  if (study.budget.run)
    for (auto& arm : arms) adjuster.budget(arm);
  if (study.control.equal != Control::parameters && study.control.equal != Control::flops) return;
  const std::vector<Arm> before = arms;
  for (size_t i = 0; i < arms.size(); ++i) {
    const Arm& reference = reference_of(study, before, before[i]);
    if (&reference == &before[i]) continue;
    if (study.control.equal == Control::parameters)
      adjuster.parameters(arms[i], reference);
    else
      adjuster.flops(arms[i], reference);
  }
}

}  // namespace ordo
