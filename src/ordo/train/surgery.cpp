// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/surgery.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ordo/checkpoint/weights.h"
#include "ordo/core/text.h"
#include "ordo/models/stack_of.h"
#include "ordo/positions/rope_scaling.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {

using Fate = TensorFate::Fate;

// The positions that a model of this config is built for.
int64_t built_length(const RunConfig& config) {
  const auto stacks = stacks_of(config.model);
  return !stacks.empty() && stacks.front().config.max_length > 0 ? stacks.front().config.max_length
                                                                 : row_length(config);
}

std::string default_of(const Kinds& kinds, const std::string& kind, const std::string& key) {
  const auto info = std::find_if(kinds.begin(), kinds.end(), [&](const KindInfo& i) { return i.kind == kind; });
  if (info == kinds.end()) return {};
  const auto config = info->config();
  for (const auto& d : differ([](Fields&) {}, [&](Fields& f) { info->fields(f, config.get()); }))
    if (d.path == key) return d.b;
  return {};
}

// "factor 4", for a setting of a kind that is new here; empty for one that is left at its default.
std::string setting_text(const std::string& choice, const std::string& kind, const std::string& key,
                         const std::string& value, int64_t trained) {
  if (key == "original_max_position_embeddings")
    return value == "null" ? fmt::format("original length {} (from the run)", trained) : "original length " + value;
  const bool scaling = choice.ends_with(".scaling");
  const Kinds& kinds = scaling ? kinds_of<RopeScaling>() : kinds_of<PositionEncoding>();
  return value == default_of(kinds, kind, key) ? "" : fmt::format("{} {}", key, value);
}

// What makes a position encoding another one, or gives its tensors another shape. Settings that came with a kind stand
// beside it; those that went with one are left out.
std::vector<std::string> position_changes(RunConfig saved, RunConfig now) {
  struct Change {
    std::string choice, kind, text;  // choice: of a kind that is new, "model.position.0"
  };
  std::vector<Change> changes;
  const auto all = differ(walk_of(saved), walk_of(now));
  for (const auto& d : all) {
    if (d.path != "model.position" && !d.path.starts_with("model.position.")) continue;
    const bool kind = d.path.ends_with(".kind"), one_sided = d.a.empty() || d.b.empty();
    if (one_sided && (!kind || d.a + d.b == "none")) continue;  // also a choice within a kind, where nothing is chosen
    const std::string text = d.a.empty()   ? d.b + " is there now"
                             : d.b.empty() ? d.a + " is gone"
                                           : fmt::format("{} -> {}", d.a, d.b);
    const std::string choice = kind ? d.path.substr(0, d.path.size() - std::string_view(".kind").size()) : "";
    changes.push_back({choice, d.b, fmt::format("{}: {}", d.path, text)});
  }
  const int64_t trained = now.train.trained_length > 0 ? now.train.trained_length : trained_length(saved);
  for (const auto& d : all) {
    const auto of = std::find_if(changes.rbegin(), changes.rend(), [&](const Change& c) {
      return !c.choice.empty() && d.a.empty() && d.path.starts_with(c.choice + ".");
    });
    if (of == changes.rend() || d.path == of->choice + ".kind") continue;
    const std::string setting = setting_text(of->choice, of->kind, d.path.substr(of->choice.size() + 1), d.b, trained);
    if (!setting.empty()) of->text += ", " + setting;
  }
  std::vector<std::string> texts;
  for (const auto& change : changes) texts.push_back(change.text);
  return texts;
}

// An encoding may have been built for another length than the checkpoint's; that matters only where tensors show it.
std::string length_change(const RunConfig& saved, const RunConfig& now) {
  if (built_length(saved) == built_length(now)) return {};
  return fmt::format("model.max_length: {} -> {}", built_length(saved), built_length(now));
}

// An entry of a list of encodings, and how its tensors' names begin below the encoding's module.
struct EntryPlace {
  std::string kind, prefix;
};

std::vector<EntryPlace> entries_of(const RunConfig& config) {
  const auto stack = stack_of(config.model);
  if (!stack) return {};
  const auto& list = stack->config.position;
  std::vector<EntryPlace> places;
  for (size_t i = 0; i < list.size(); ++i)
    places.push_back({list[i].kind, list.size() == 1 ? std::string() : std::to_string(i) + "."});
  return places;
}

std::string path_of(const torch::nn::Module& root, const torch::nn::Module& wanted) {
  for (const auto& module : root.named_modules())
    if (module.value().get() == &wanted) return module.key() + ".";
  return {};
}

// Which tensor of the checkpoint each tensor of the model's encoding comes from.
class Graft {
 public:
  Graft(const RunConfig& saved, const RunConfig& now, Model& model)
      : encoding_(model.position()), path_(path_of(model, encoding_)) {
    const auto before = entries_of(saved);
    std::set<size_t> taken;
    for (const auto& entry : entries_of(now)) {
      matches_.push_back({entry.prefix, std::nullopt});
      for (size_t i = 0; i < before.size() && !matches_.back().second; ++i)
        if (before[i].kind == entry.kind && taken.insert(i).second) matches_.back().second = before[i].prefix;
    }
  }

  // `from` and `into` as load_into takes them, without what is new or dropped; fates are told to `report`.
  std::pair<NamedTensors, NamedTensors> fitted(const NamedTensors& from, const NamedTensors& into,
                                               std::vector<TensorFate>& report) const {
    std::map<std::string, Tensor> pool;  // the checkpoint's tensors of its encoding
    std::pair<NamedTensors, NamedTensors> fit;
    for (const auto& [name, tensor] : from) {
      if (own(name))
        pool.emplace(name, tensor);
      else
        fit.first.emplace_back(name, tensor);
    }
    for (const auto& [name, tensor] : into) {
      if (own(name)) {
        report.push_back(settle(name, tensor, pool, fit.first));
        if (report.back().fate == Fate::fresh) continue;
      }
      fit.second.emplace_back(name, tensor);
    }
    for (const auto& [name, tensor] : pool) report.push_back({name, Fate::dropped, ""});
    return fit;
  }

 private:
  bool own(const std::string& name) const { return !path_.empty() && name.starts_with(path_); }

  // Takes the tensor that belongs to `name` out of the pool, in the shape that is wanted.
  TensorFate settle(const std::string& name, const Tensor& wanted, std::map<std::string, Tensor>& pool,
                    NamedTensors& fit) const {
    const auto source = former_name(name);
    const auto found = source ? pool.find(*source) : pool.end();
    if (found == pool.end()) return {name, Fate::fresh, ""};
    const Tensor saved = found->second;
    const std::string from = *source == name ? "" : *source;
    pool.erase(found);
    const auto resized = encoding_.resized(name.substr(path_.size()), saved);  // a table may change at an equal size
    if (!resized && saved.sizes() == wanted.sizes()) {
      fit.emplace_back(name, saved);
      return {name, Fate::kept, from};
    }
    if (!resized) return {name, Fate::fresh, ""};
    fit.emplace_back(name, resized->value.detach());
    return {name, Fate::resized, from.empty() ? resized->how : fmt::format("{} (from {})", resized->how, from)};
  }

  std::optional<std::string> former_name(const std::string& name) const {
    const std::string below = name.substr(path_.size());
    for (const auto& [prefix, former] : matches_)
      if (below.starts_with(prefix))
        return former ? std::optional(path_ + *former + below.substr(prefix.size())) : std::nullopt;
    return std::nullopt;
  }

  const PositionEncoding& encoding_;
  std::string path_;                                                         // "decoder.position."
  std::vector<std::pair<std::string, std::optional<std::string>>> matches_;  // prefix now, prefix in the checkpoint
};

NamedTensors named_parameters(const Model& model) {
  NamedTensors named;
  for (const auto& parameter : parameters_of(model)) named.emplace_back(parameter.name, parameter.value);
  return named;
}

RunConfig config_of(const std::string& text) {
  return load_run_config_text(text, "the checkpoint's config.yaml", {}).config;
}

// Grafting knows one stack: the encodings of an encoder-decoder stay those that it was trained with.
void require_same_positions(RunConfig saved, RunConfig now) {
  if (!reads_source(now.model)) return;
  for (const auto& d : differ(walk_of(saved), walk_of(now)))
    require<ConfigError>(d.path.find("position") == std::string::npos,
                         "{}: {} -> {}: the trained weights of an {} keep their position encodings; train one with "
                         "the others to compare them",
                         d.path, d.a.empty() ? "nothing" : d.a, d.b.empty() ? "nothing" : d.b, now.model.kind);
}

}  // namespace

std::string fate_name(Fate fate) {
  switch (fate) {
    case Fate::kept:
      return "kept";
    case Fate::resized:
      return "resized";
    case Fate::fresh:
      return "new";
    default:
      return "dropped";
  }
}

std::string TensorFate::text() const {
  if (fate == Fate::kept && !how.empty()) return fmt::format("{}: kept, it was {}", name, how);
  return fmt::format("{}: {}", name, how.empty() ? fate_name(fate) : how);
}

int64_t Surgery::count(Fate fate) const {
  return std::count_if(tensors.begin(), tensors.end(), [fate](const TensorFate& t) { return t.fate == fate; });
}

std::vector<std::string> Surgery::lines() const {
  if (!made()) return {};
  std::vector<std::string> lines{"positions are not those of the checkpoint: " + join(changes, "; ")};
  for (const auto& tensor : tensors)
    if (tensor.fate != Fate::kept || !tensor.how.empty()) lines.push_back(tensor.text());
  if (!tensors.empty())
    lines.push_back(fmt::format("tensors of the position encoding: {} kept, {} resized, {} new, {} dropped",
                                count(Fate::kept), count(Fate::resized), count(Fate::fresh), count(Fate::dropped)));
  return lines;
}

int64_t trained_length(const RunConfig& saved) {
  return saved.train.trained_length > 0 ? saved.train.trained_length : built_length(saved);
}

int64_t trained_length(const Checkpoint& checkpoint) { return trained_length(config_of(checkpoint.config())); }

Surgery adopt_weights(const CheckpointContent& from, const RunConfig& now, Model& model, std::string_view what) {
  const RunConfig saved = config_of(from.config);
  require_same_positions(saved, now);
  Surgery surgery{.changes = position_changes(saved, now), .tensors = {}};
  const bool settings_changed = surgery.made();
  if (const auto length = length_change(saved, now); !length.empty()) surgery.changes.push_back(length);
  const Graft graft(saved, now, model);
  const auto load = [&](const NamedTensors& source, const NamedTensors& into, std::vector<TensorFate>& report) {
    if (!surgery.made()) return load_into(source, into, what);
    const auto [fit, targets] = graft.fitted(source, into, report);
    load_into(fit, targets, what);
  };
  load(from.model, weights_of(model), surgery.tensors);
  std::vector<TensorFate> same;  // averages share the fate of what they are of
  if (!from.ema.empty()) load(from.ema, named_parameters(model), same);
  // Another length alone is nothing to an encoding whose tensors are all as they were.
  if (!settings_changed && surgery.count(Fate::kept) == static_cast<int64_t>(surgery.tensors.size())) return {};
  return surgery;
}

Surgery adopt_weights(const Checkpoint& from, const RunConfig& now, Model& model) {
  return adopt_weights({.model = from.model(),
                        .optimizer = {},
                        .ema = from.ema(),
                        .state = {},
                        .config = from.config(),
                        .tokenizer = {}},
                       now, model, from.folder().string());
}

}  // namespace ordo
