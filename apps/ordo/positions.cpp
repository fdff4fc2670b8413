// SPDX-License-Identifier: Apache-2.0
// ordo positions KIND: what a position encoding does, as text, picture, JSON and tensors.
#include "ordo/positions/encoding.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/core/files.h"
#include "ordo/core/text.h"
#include "ordo/models/stack_of.h"
#include "ordo/views/position_picture.h"
#include "runs.h"

namespace ordo::cli {
namespace {

constexpr int64_t kUsualLength = 128, kPairs = 256;  // positions that are shown; of them, those shown pair by pair

struct PositionsOptions {
  Words subjects, overrides;
  std::optional<std::string> folder;
  std::optional<int64_t> layer;  // nothing: the first in which something acts
  int64_t length = 0, max_length = kUsualLength, dim = 128, heads = 4, head_dim = 0;
  bool compare = false, causal = false, two_sided = false, json = false;
};

// One encoding by itself, read as a config's `position` is.
struct LoneEncoding {
  Choice<PositionEncoding> position;
};
void fields(Fields& f, LoneEncoding& c) { f("position", c.position, "the encoding to look at", required()); }

bool is_kind(const std::string& name) {
  const auto& kinds = kinds_of<PositionEncoding>();
  return std::any_of(kinds.begin(), kinds.end(), [&](const KindInfo& kind) { return kind.kind == name; });
}

// A name that is no kind may be a file or a folder; what looks like neither is taken for a misspelt kind.
bool is_path(const std::string& subject) {
  std::error_code ignored;
  return !is_kind(subject) && (fs::exists(subject, ignored) || subject.find('/') != std::string::npos ||
                               subject.ends_with(".yaml") || subject.ends_with(".yml"));
}

Choice<PositionEncoding> read_kind(const std::string& kind, const Words& settings) {
  LoneEncoding lone;
  Words overrides{"position.kind=" + kind};
  for (const auto& setting : settings) overrides.push_back("position." + setting);
  load_config_text("position: {}\n", walk_of(lone), {.overrides = overrides, .name = "command line"});
  return lone.position;
}

PositionFacts facts_of(const PositionsOptions& o, bool causal) {
  require<ConfigError>(o.head_dim > 0 || o.dim % o.heads == 0,
                       "--heads {} does not divide --dim {}; give another one, or --head-dim", o.heads, o.dim);
  return {.dim = o.dim,
          .heads = o.heads,
          .kv_heads = o.heads,
          .head_dim = o.head_dim > 0 ? o.head_dim : o.dim / o.heads,
          .layers = 1,
          .max_length = o.max_length,
          .causal = causal};
}

// Built for a causal stack unless asked otherwise; for a two-sided one where it refuses causal ones.
PositionSubject built(const Choice<PositionEncoding>& choice, const PositionsOptions& o) {
  const auto build = [&](bool causal) {
    PositionSubject subject = assembled({choice}, facts_of(o, causal));
    prepare(subject, /*seed=*/1);
    return subject;
  };
  try {
    return build(!o.two_sided);
  } catch (const ConfigError& refusal) {
    if (o.causal || o.two_sided) throw;
    try {
      return build(false);
    } catch (const ConfigError&) {
      throw refusal;
    }
  }
}

StackOf stack_of_subject(const RunConfig& config, const std::string& subject) {
  const auto stack = stack_of(config.model);
  require<ConfigError>(stack.has_value(),
                       "{}: its model is of kind {}; positions looks at the encoding of a decoder or an encoder alone",
                       subject, config.model.kind);
  return *stack;
}

// "rope" of configs/rope.yaml, "b" of the run runs/b, "b-step-00000040" of a checkpoint in it.
std::string short_name(const std::string& path) {
  std::error_code ignored;
  const fs::path plain = (fs::absolute(path) / "").lexically_normal().parent_path();
  if (!fs::is_directory(plain, ignored)) return plain.stem().string();
  const fs::path run = run_folder(plain);
  return run == plain ? run.filename().string() : run.filename().string() + "-" + plain.filename().string();
}

PositionSubject of_config(const std::string& file, const PositionsOptions& o) {
  const RunConfig config = load_subject(file, o.overrides).config;
  const StackOf stack = stack_of_subject(config, file);
  StackConfig own = stack.config;
  if (own.max_length == 0) own.max_length = row_length(config);
  PositionSubject subject = assembled(own.position, position_facts(own, stack.causal, config.train.trained_length));
  subject.origin = "config " + file;
  prepare(subject, config.seed());
  return subject;
}

// A run's own encoding, trained; `trained` keeps the model that it is a part of.
PositionSubject of_run(const std::string& run, const PositionsOptions& o, std::optional<TrainedModel>& trained) {
  trained.emplace(open_model(run, "", o.overrides));
  const StackOf stack = stack_of_subject(trained->config, run);
  StackConfig own = stack.config;
  own.max_length = trained->parts.model->max_length();
  Model& model = *trained->parts.model;
  model.to(at::kCPU);
  const auto encoding = std::dynamic_pointer_cast<PositionEncoding>(model.position().shared_from_this());
  return {.origin = fmt::format("run {}, weights of step {}{}", run, trained->checkpoint.step(),
                                trained->surgery.made() ? ", under other settings" : ""),
          .fresh = false,
          .parts = parts_of(own.position, encoding),
          .encoding = encoding,
          .facts = position_facts(own, stack.causal, trained_length(trained->checkpoint))};
}

struct Seen {
  PositionView view;
  std::string file;                   // what its files are called, without the ending
  std::optional<PositionView> plain;  // the kind with its default settings, when it was given others
};

// `name`: of a run or config, in tables and file names.
Seen look(const std::string& given, const std::string& name, const PositionsOptions& o) {
  std::optional<TrainedModel> trained;
  const bool path = is_path(given);
  std::error_code ignored;
  PositionSubject subject = !path                              ? built(read_kind(given, o.overrides), o)
                            : fs::is_directory(given, ignored) ? of_run(given, o, trained)
                                                               : of_config(given, o);
  if (path) subject.name = name;
  const int64_t length = o.length > 0 ? o.length : subject.facts.max_length;
  const ViewOptions options{.length = length, .matrix = kPairs, .layer = o.layer};
  Seen seen{look_at(subject, options), given, std::nullopt};
  if (path) {
    seen.file = name + "." + seen.view.kinds;
    std::replace(seen.file.begin(), seen.file.end(), '/', '_');
  }
  if (path || o.overrides.empty() || !seen.view.frequencies.defined()) return seen;
  try {
    seen.plain = look_at(built(Choice<PositionEncoding>(given), o), options);
  } catch (const ConfigError&) {  // its defaults alone do not make an encoding: nothing to draw beside
  }
  return seen;
}

void check_options(const Options& options, const PositionsOptions& o) {
  require<ConfigError>(!o.causal || !o.two_sided, "--causal and --two-sided contradict");
  require<ConfigError>(o.compare || o.subjects.size() == 1,
                       "several kinds: 'ordo positions --compare {}' compares them", join(o.subjects, " "));
  require<ConfigError>(!o.compare || o.subjects.size() >= 2, "--compare wants at least two kinds");
  require<ConfigError>(
      !o.compare || o.overrides.empty(),
      "--compare shows kinds with their own defaults: {} would be of which one? Give config files with "
      "the settings instead",
      o.overrides.empty() ? "" : o.overrides.front());
  for (const auto& subject : o.subjects)
    for (const char* name : {"--dim", "--heads", "--head-dim", "--max-length", "--causal", "--two-sided"})
      require<ConfigError>(o.compare || !is_path(subject) || !options.given(name),
                           "{} goes with a kind; {} says by itself what its model is", name, subject);
}

fs::path make_folder(const std::string& name) {
  std::error_code failed;
  fs::create_directories(name, failed);
  require(!failed, "cannot make the folder {}: {}", name, failed.message());
  return name;
}

// Three files of one name in a folder; returns the line that says so.
std::string write_all(const fs::path& folder, const std::string& name, const std::string& picture, const Json& document,
                      const NamedTensors& tensors) {
  const auto file = [&](const char* ending) { return folder / (name + ending); };
  const bool over = fs::exists(file(".svg")) || fs::exists(file(".json")) || fs::exists(file(".safetensors"));
  write_file(file(".svg"), picture);
  write_file(file(".json"), json_text(document));
  write_safetensors(file(".safetensors"), tensors, {{"name", name}});
  return fmt::format("\n{0}: {1}.svg, {1}.json, {1}.safetensors\n", over ? "written over" : "written",
                     (folder / name).string());
}

// Runs and configs of one name and kind are told apart by the paths that were given.
std::vector<Seen> look_at_all(const PositionsOptions& o) {
  std::vector<Seen> all;
  for (const auto& subject : o.subjects) all.push_back(look(subject, short_name(subject), o));
  const auto count = [&](const std::string& name) {
    return std::count_if(all.begin(), all.end(), [&](const Seen& seen) { return seen.view.name == name; });
  };
  std::vector<size_t> doubles;
  for (size_t i = 0; i < all.size(); ++i)
    if (count(all[i].view.name) > 1) doubles.push_back(i);
  for (const size_t i : doubles) all[i] = look(o.subjects[i], o.subjects[i], o);
  for (const auto& seen : all)
    require<ConfigError>(count(seen.view.name) == 1, "--compare: '{}' stands there twice", seen.view.name);
  return all;
}

int compare(const PositionsOptions& o) {
  std::vector<PositionView> views;
  Json all = Json::array();
  NamedTensors tensors;
  for (const auto& seen : look_at_all(o)) {
    all.push_back(position_json(seen.view));
    for (const auto& [name, tensor] : position_tensors(seen.view)) tensors.emplace_back(seen.file + "." + name, tensor);
    views.push_back(seen.view);
  }
  const Json document{{"compared", std::move(all)}};
  if (o.json)
    print_json(document);
  else
    print(comparison_text(views));
  if (!o.folder) return kDone;
  const std::string said = write_all(make_folder(*o.folder), "compare", comparison_picture(views), document, tensors);
  if (!o.json) print(said);
  return kDone;
}

}  // namespace

int show_positions(const Words& words) {
  PositionsOptions o;
  int64_t layer = 0;
  Options options("positions",
                  "What a position encoding does: its tables, angles or biases, how scores fall with the distance, and "
                  "what changes beyond the length it was built for.");
  options.positionals("KIND", o.subjects,
                      "a kind (ordo list positions); or a config file or a run: its model.position");
  options.integer("--length", o.length, "how many positions to look at (as many as it is built for)", 2, 1 << 17);
  options.integer("--layer", layer, "the layer to look at, from 0 (the first in which something acts)", 0, 1 << 16);
  options.integer("--max-length", o.max_length, "how many it is built for (128)", 2, 1 << 24);
  options.integer("--dim", o.dim, "width of the model (128)", 1, 1 << 16);
  options.integer("--heads", o.heads, "attention heads (4)", 1, 1 << 10);
  options.integer("--head-dim", o.head_dim, "width of a head (dim / heads)", 1, 1 << 12);
  options.flag("--causal", o.causal, "in a stack where a token sees what stands before it (the usual one)");
  options.flag("--two-sided", o.two_sided, "in a stack where all see all");
  options.flag("--compare", o.compare, "several kinds, drawn over each other, and one table");
  options.text(
      "-o,--output", o.folder, "DIR",
      "write KIND.svg, KIND.json and KIND.safetensors there (of a run or config: NAME.KIND, of several: compare)");
  options.flag("--json", o.json, "one JSON document");
  options.overrides(o.overrides);
  options.footer(
      "Words of the form k=v after the kind are its own settings (theta=500000 scaling.kind=linear scaling.factor=4); "
      "after a config file or a run they are overrides of its config (model.position.theta=500000)");
  if (!options.parse(words)) return kDone;
  if (options.given("--layer")) o.layer = layer;
  check_options(options, o);
  if (o.compare) return compare(o);

  const std::string& subject = o.subjects.front();
  const Seen seen = look(subject, short_name(subject), o);
  if (o.json)
    print_json(position_json(seen.view));
  else
    print(position_text(seen.view));
  if (!o.folder) return kDone;
  const std::string said =
      write_all(make_folder(*o.folder), seen.file, position_picture(seen.view, seen.plain ? &*seen.plain : nullptr),
                position_json(seen.view), position_tensors(seen.view));
  if (!o.json) print(said);
  return kDone;
}

}  // namespace ordo::cli
