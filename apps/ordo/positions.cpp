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
    PositionSubject subject{.name = choice.kind,
                            .summary = std::string(positions().find(choice.kind).info.summary),
                            .encoding = positions().build(choice, facts_of(o, causal)),
                            .facts = facts_of(o, causal)};
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

// Names and summaries of a config's list of encodings.
PositionSubject named(const std::vector<Choice<PositionEncoding>>& list) {
  Words kinds, summaries;
  for (const auto& choice : list) {
    kinds.push_back(choice.kind);
    summaries.emplace_back(positions().find(choice.kind).info.summary);
  }
  return {
      .name = list.empty() ? "none" : join(kinds, "+"), .summary = join(summaries, "; "), .encoding = {}, .facts = {}};
}

StackOf stack_of_subject(const RunConfig& config, const std::string& subject) {
  const auto stack = stack_of(config.model);
  require<ConfigError>(stack.has_value(), "{}: its model '{}' has no position encoding to look at", subject,
                       config.model.kind);
  return *stack;
}

PositionSubject of_config(const std::string& file, const PositionsOptions& o) {
  const RunConfig config = load_subject(file, o.overrides).config;
  const StackOf stack = stack_of_subject(config, file);
  StackConfig own = stack.config;
  if (own.max_length == 0) own.max_length = config.train.length;
  PositionSubject subject = named(own.position);
  subject.facts = position_facts(own, stack.causal, config.train.trained_length);
  subject.encoding = make_position(own.position, subject.facts);
  prepare(subject, config.seed());
  return subject;
}

// A run's own encoding, trained; `trained` keeps the model that it is a part of.
PositionSubject of_run(const std::string& run, const PositionsOptions& o, std::optional<TrainedModel>& trained) {
  trained.emplace(open_model(run, "", o.overrides));
  const StackOf stack = stack_of_subject(trained->config, run);
  StackConfig own = stack.config;
  own.max_length = trained->parts.model->max_length();
  PositionSubject subject = named(own.position);
  subject.facts = position_facts(own, stack.causal, trained_length(trained->checkpoint));
  Model& model = *trained->parts.model;
  model.to(at::kCPU);
  subject.encoding = std::dynamic_pointer_cast<PositionEncoding>(model.position().shared_from_this());
  return subject;
}

struct Seen {
  PositionView view;
  std::optional<PositionView> plain;  // the kind with its default settings, when it was given others
};

Seen look(const std::string& name, const PositionsOptions& o) {
  std::optional<TrainedModel> trained;
  const bool path = is_path(name);
  std::error_code ignored;
  const PositionSubject subject = !path                             ? built(read_kind(name, o.overrides), o)
                                  : fs::is_directory(name, ignored) ? of_run(name, o, trained)
                                                                    : of_config(name, o);
  const int64_t length = o.length > 0 ? o.length : subject.facts.max_length;
  const ViewOptions options{.length = length, .matrix = kPairs};
  Seen seen{look_at(subject, options), std::nullopt};
  if (path || o.overrides.empty() || !seen.view.at_length.defined()) return seen;
  try {
    seen.plain = look_at(built(Choice<PositionEncoding>(name), o), options);
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

void write_all(const Seen& seen, const fs::path& folder) {
  const std::string& name = seen.view.name;
  write_file(folder / (name + ".svg"), position_picture(seen.view, seen.plain ? &*seen.plain : nullptr));
  write_file(folder / (name + ".json"), json_text(position_json(seen.view)));
  write_safetensors(folder / (name + ".safetensors"), position_tensors(seen.view), {{"kind", name}});
}

int compare(const PositionsOptions& o) {
  std::vector<PositionView> views;
  for (const auto& subject : o.subjects) views.push_back(look(subject, o).view);
  Json all = Json::array();
  for (const auto& view : views) all.push_back(position_json(view));
  const Json document{{"compared", std::move(all)}};
  if (o.json)
    print_json(document);
  else
    print(comparison_text(views));
  if (!o.folder) return kDone;
  const fs::path folder = make_folder(*o.folder);
  write_file(folder / "compare.svg", comparison_picture(views));
  write_file(folder / "compare.json", json_text(document));
  return kDone;
}

}  // namespace

int show_positions(const Words& words) {
  PositionsOptions o;
  Options options("positions",
                  "What a position encoding does: its tables, angles or biases, how scores fall with the distance, and "
                  "what changes beyond the length it was built for.");
  options.positionals("KIND", o.subjects,
                      "a kind (ordo list positions); or a config file or a run: its model.position");
  options.integer("--length", o.length, "how many positions to look at (as many as it is built for)", 2, 1 << 17);
  options.integer("--max-length", o.max_length, "how many it is built for (128)", 2, 1 << 24);
  options.integer("--dim", o.dim, "width of the model (128)", 1, 1 << 16);
  options.integer("--heads", o.heads, "attention heads (4)", 1, 1 << 10);
  options.integer("--head-dim", o.head_dim, "width of a head (dim / heads)", 1, 1 << 12);
  options.flag("--causal", o.causal, "in a stack where a token sees what stands before it (the usual one)");
  options.flag("--two-sided", o.two_sided, "in a stack where all see all");
  options.flag("--compare", o.compare, "several kinds, drawn over each other, and one table");
  options.text("-o,--output", o.folder, "DIR", "write KIND.svg, KIND.json and KIND.safetensors there");
  options.flag("--json", o.json, "one JSON document");
  options.overrides(o.overrides);
  options.footer(
      "Words of the form k=v after the kind are its own settings (theta=500000 scaling.kind=yarn scaling.factor=4); "
      "after a config file or a run they are overrides of its config (model.position.theta=500000)");
  if (!options.parse(words)) return kDone;
  check_options(options, o);
  if (o.compare) return compare(o);

  const Seen seen = look(o.subjects.front(), o);
  if (o.json)
    print_json(position_json(seen.view));
  else
    print(position_text(seen.view));
  if (o.folder) {
    const fs::path folder = make_folder(*o.folder);
    write_all(seen, folder);
    if (!o.json)
      print(fmt::format("\nwritten: {0}.svg, {0}.json, {0}.safetensors\n", (folder / seen.view.name).string()));
  }
  return kDone;
}

}  // namespace ordo::cli
