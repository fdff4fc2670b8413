// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/drift.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/core/log.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {
constexpr std::string_view kShape = "it decides which weights there are and what they mean";
constexpr std::string_view kFunction = "the same weights would compute something else";
constexpr std::string_view kOrder = "the rest of the run would see other data than it was going to";
constexpr std::string_view kDraws = "data order and dropout follow from it";
constexpr std::string_view kOnward = "it holds from here on";
constexpr std::string_view kNoEffect = "results do not depend on it";
constexpr std::string_view kIds = "token ids would mean something else";
constexpr std::string_view kFirstWeights = "the weights come from the checkpoint";

constexpr DriftRule kDriftRules[] = {
    {"name", Drift::allowed, kNoEffect},
    {"seed", Drift::needs_force, kDraws},
    {"instance", Drift::needs_force, kOrder},
    {"device", Drift::allowed, "results then agree in about four digits, not to the bit"},
    {"task", Drift::needs_force, kOrder},
    {"task.data", Drift::allowed, "the training data itself is compared by its fingerprint"},
    {"task.kind", Drift::refused, "the model was trained for another task"},
    {"task.vocab_size", Drift::refused, kShape},
    {"task.tokenizer", Drift::refused, kIds},
    {"task.tokenizer.file", Drift::allowed, "the checkpoint has a copy of its own"},
    {"model", Drift::refused, kShape},
    {"model.dropout", Drift::allowed, kOnward},
    {"model.drop_path", Drift::allowed, kOnward},
    {"model.init", Drift::allowed, kFirstWeights},
    {"model.softcap", Drift::needs_force, kFunction},
    {"model.scale_embedding", Drift::needs_force, kFunction},
    {"model.norm.eps", Drift::needs_force, kFunction},
    {"model.norm.placement", Drift::needs_force, kFunction},
    {"model.feed_forward.activation", Drift::needs_force, kFunction},
    {"model.position", Drift::needs_force, kFunction},
    {"model.position.kind", Drift::refused, kShape},
    {"model.memory", Drift::needs_force, kFunction},
    {"model.attention.dropout", Drift::allowed, kOnward},
    {"model.attention.kernel", Drift::allowed, "kernels agree to rounding, not to the bit"},
    {"model.attention.window", Drift::needs_force, kFunction},
    {"model.attention.softcap", Drift::needs_force, kFunction},
    {"model.attention.scale", Drift::needs_force, kFunction},
    {"train.steps", Drift::allowed, "the schedule is stretched to it"},
    {"train.batch_size", Drift::needs_force, kOrder},
    {"train.batch_tokens", Drift::needs_force, kOrder},
    {"train.length", Drift::needs_force, kOrder},
    {"train.trained_length", Drift::needs_force, kFunction},
    {"train.accumulate", Drift::needs_force, kOrder},
    {"train.optimizer", Drift::allowed, kOnward},
    {"train.optimizer.kind", Drift::refused, "its state does not fit another optimiser"},
    {"train.schedule", Drift::allowed, kOnward},
    {"train.precision", Drift::allowed, kOnward},
    {"train.scaler", Drift::allowed, kOnward},
    {"train.recompute", Drift::allowed, kNoEffect},
    {"train.clip", Drift::allowed, kOnward},
    {"train.ema", Drift::allowed, "an average that was not kept starts from the checkpoint's weights"},
    {"train.label_smoothing", Drift::allowed, kOnward},
    {"train.z_loss", Drift::allowed, kOnward},
    {"train.early_stop", Drift::allowed, kOnward},
    {"train.on_nonfinite", Drift::allowed, kOnward},
    {"train.deterministic", Drift::allowed, kOnward},
    {"train.tf32", Drift::allowed, kOnward},
    {"train.certify", Drift::allowed, kNoEffect},
    {"train.log_every", Drift::allowed, kNoEffect},
    {"evaluate", Drift::allowed, kOnward},
    {"checkpoint", Drift::allowed, kOnward},
};

bool covers(std::string_view rule, std::string_view path) {
  return path == rule || (path.size() > rule.size() && path.starts_with(rule) && path[rule.size()] == '.');
}

// "model.position.0.theta" -> "model.position.theta"; of one side of an encoder-decoder what holds for both.
std::string without_places(std::string_view path) {
  auto parts = split(path, '.');
  if (parts.size() > 2 && parts[0] == "model" && (parts[1] == "encoder" || parts[1] == "decoder"))
    parts.erase(parts.begin() + 1);
  std::erase_if(parts, [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  });
  return join(parts, ".");
}

// "model.position.0.kind" -> "model.position.0": the choice whose kind this is; empty for other keys.
std::string_view choice_of(std::string_view path) {
  constexpr std::string_view kKind = ".kind";
  return path.ends_with(kKind) ? path.substr(0, path.size() - kKind.size()) : std::string_view();
}

// A choice of another kind is one change: its settings are those of the kinds.
std::vector<Drifted> without_their_settings(std::vector<Drifted> all) {
  std::vector<std::string> choices;
  for (const auto& d : all)
    if (const auto choice = choice_of(d.change.path); !choice.empty()) choices.emplace_back(choice);
  std::erase_if(all, [&](const Drifted& d) {
    return std::any_of(choices.begin(), choices.end(), [&](const std::string& choice) {
      return d.change.path != choice + ".kind" && covers(choice, d.change.path);
    });
  });
  // A list of one is spoken to as that one, in files and on the command line.
  const bool one = std::none_of(all.begin(), all.end(), [](const Drifted& d) {
    return d.change.path.starts_with("model.position.") && !d.change.path.starts_with("model.position.0.");
  });
  for (auto& d : all) {
    if (const auto choice = choice_of(d.change.path); !choice.empty()) d.change.path = std::string(choice);
    if (one && covers("model.position.0", d.change.path)) d.change.path.erase(std::string("model.position").size(), 2);
  }
  return all;
}

std::string change_text(const Drifted& d) {
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("absent") : value; };
  return fmt::format("{}: {} -> {}", d.change.path, shown(d.change.a), shown(d.change.b));
}
}  // namespace

std::span<const DriftRule> drift_rules() { return kDriftRules; }

const DriftRule* drift_rule(std::string_view path) {
  const std::string plain = without_places(path);
  const DriftRule* best = nullptr;
  for (const auto& rule : kDriftRules)
    if (covers(rule.path, plain) && (best == nullptr || rule.path.size() > best->path.size())) best = &rule;
  return best;
}

std::vector<Drifted> drifted(const std::string& checkpoint_config, const RunConfig& now) {
  RunConfig before = load_run_config_text(checkpoint_config, "the checkpoint's config.yaml", {}).config;
  RunConfig after = now;
  std::vector<Drifted> all;
  for (auto& change : differ(walk_of(before), walk_of(after))) {
    const DriftRule* rule = drift_rule(change.path);
    ORDO_ASSERT(rule != nullptr);
    all.push_back({std::move(change), rule});
  }
  return all;
}

void check_drift(const std::string& checkpoint_config, const RunConfig& now, bool force, std::string_view checkpoint) {
  std::string refused;
  std::vector<std::string> allowed;
  for (const auto& d : without_their_settings(drifted(checkpoint_config, now))) {
    const std::string text = fmt::format("{} ({})", change_text(d), d.rule->why);
    if (d.rule->drift == Drift::refused) {
      refused += "\n  refused:       " + text;
    } else if (d.rule->drift == Drift::needs_force && !force) {
      refused += "\n  needs --force: " + text;
    } else {
      allowed.push_back(text);
    }
  }
  require<ConfigError>(refused.empty(),
                       "the config has changed since {}, which it would go on from. Start a new run (--run DIR; with "
                       "--init RUN it begins with these weights), or put the values back:{}",
                       checkpoint, refused);
  for (const auto& text : allowed) log::info("changed since the checkpoint: {}", text);
}

void check_tokenizer(const RunConfig& now, const Tokenizer* kept, std::string_view checkpoint) {
  if (kept == nullptr) return;
  RunConfig copy = now;
  const std::string file = dump_json(walk_of(copy)).value(Json::json_pointer("/task/tokenizer/file"), "");
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return;
  const auto task = make_task(now);
  require<ConfigError>(
      task->tokenizer()->fingerprint() == kept->fingerprint(),
      "task.tokenizer.file: {} is another tokenizer than that of {}: {}. Give the file that its weights "
      "were trained with, or start a new run without them",
      file, checkpoint, kIds);
}

}  // namespace ordo
