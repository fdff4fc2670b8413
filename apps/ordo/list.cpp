// SPDX-License-Identifier: Apache-2.0
// ordo list KINDS: the catalogues, and which position encodings work under which kernels.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "options.h"
#include "ordo/attention/attention.h"
#include "ordo/core/text.h"
#include "ordo/data/splits.h"
#include "ordo/data/text_source.h"
#include "ordo/data/tokenizer.h"
#include "ordo/models/input.h"
#include "ordo/models/model.h"
#include "ordo/nn/module.h"
#include "ordo/positions/encoding.h"
#include "ordo/tasks/task.h"
#include "ordo/train/optimizer.h"
#include "ordo/train/run_config.h"
#include "ordo/train/schedule.h"

namespace ordo::cli {
namespace {

struct CatalogueName {
  std::string_view name, where;  // where a config names one of it
  const Kinds& (*kinds)();
};
constexpr CatalogueName kCatalogues[] = {
    {"positions", "model.position.kind", kinds_of<PositionEncoding>},
    {"kernels", "model.attention.kernel.kind", kinds_of<AttentionKernel>},
    {"models", "model.kind", kinds_of<Model>},
    {"inputs", "model.input.kind", kinds_of<InputLayer>},
    {"tasks", "task.kind", kinds_of<Task>},
    {"splits", "task.split.kind", kinds_of<SplitRule>},
    {"tokenizers", "task.tokenizer.kind", kinds_of<Tokenizer>},
    {"sources", "task.data.generate.kind", kinds_of<TextSource>},
    {"optimizers", "train.optimizer.kind", kinds_of<Optimizer>},
    {"schedules", "train.schedule.kind", kinds_of<Schedule>},
    {"recompute", "train.recompute.kind", kinds_of<Recompute>},
    {"caches", "", kinds_of<KVCache>},
};

const CatalogueName& find_catalogue(const std::string& name) {
  Words names;
  for (const auto& catalogue : kCatalogues) {
    if (catalogue.name == name) return catalogue;
    names.emplace_back(catalogue.name);
  }
  const std::string near = nearest(name, names);
  throw ConfigError(fmt::format("unknown catalogue '{}'{}; there are {}", name,
                                near.empty() ? "" : fmt::format(": did you mean '{}'?", near), join(names, ", ")));
}

// What the table of pairs is made from: a small model, since no answer depends on its size.
PositionFacts example(bool causal) {
  return {.dim = 32, .heads = 4, .kv_heads = 4, .head_dim = 8, .layers = 1, .max_length = 64, .causal = causal};
}
constexpr KernelFacts kExampleKernel{.dim = 32, .heads = 4, .kv_heads = 4, .head_dim = 8};

// An encoding as its default settings make it. A formula without learned numbers would say too much of formulas.
constexpr std::string_view kSettings = "Default settings; expression with a learned number.";
std::shared_ptr<PositionEncoding> example_of(std::string_view kind, bool causal) {
  if (kind != "expression") return positions().build(kind, example(causal));
  Choice<PositionEncoding> formula;
  load_config_text("position: {kind: expression, bias: -a*abs(distance), parameters: [{name: a, init: 1}]}",
                   [&](Fields& f) { f("position", formula, ""); }, {});
  return positions().build(formula, example(causal));
}

// The attention call of the small model's one layer.
AttentionCall example_call(PositionEncoding* position, bool causal) {
  const PositionFacts facts = example(causal);
  AttentionLayer layer{.config = {.heads = facts.heads, .kv_heads = facts.kv_heads, .head_dim = facts.head_dim},
                       .dim = facts.dim};
  layer.config.scale = 0.35;
  return training_call(layer, position, causal, {.length = 16}, {});
}

// A refusal in full, and without what is said of the one encoding: for a table that names it beside.
struct Refusal {
  std::string text, brief;
};

// What an encoding says of itself starts with its name.
Refusal of_encoding(std::string_view encoding, const ConfigError& error) {
  const std::string text = error.what(), own = fmt::format("{}: ", encoding);
  return {text, text.starts_with(own) ? text.substr(own.size()) : text};
}

// Why a kernel does not serve an encoding in training, in its own words or the encoding's. What it would say without
// any encoding too (a type or a device that it does not take) is not the pair's affair.
std::optional<Refusal> refuses_pair(const AttentionKernel& kernel, std::string_view kind, PositionEncoding& position,
                                    std::string_view encoding, bool causal) {
  if (const auto never = never_works(kernel.traits(), kind, position.traits(), encoding))
    return Refusal{*never, fmt::format("it does not let an encoding act on {}",
                                       missing_places(kernel.traits(), position.traits()).text())};
  try {
    const auto refused = kernel.refuses(example_call(&position, causal));
    if (!refused || refused == kernel.refuses(example_call(nullptr, causal))) return std::nullopt;
    return Refusal{*refused, *refused};
  } catch (const ConfigError& error) {
    return of_encoding(encoding, error);
  }
}

constexpr std::string_view kSides[] = {"causal", "two-sided"};

struct Verdict {
  std::string position, kernel;
  std::string_view side;           // of kSides
  std::optional<Refusal> refusal;  // nothing: the pair works
  bool works() const { return !refusal; }
  bool same_refusal(const Verdict& other) const {
    return works() == other.works() && (works() || refusal->text == other.refusal->text);
  }
};

// Every encoding under every kernel in a causal stack and in a two-sided one; an encoding that cannot be built for a
// stack says so for all kernels.
std::vector<Verdict> verdicts() {
  std::vector<Verdict> all;
  for (const auto& position : positions().entries()) {
    const std::string encoding(position.info.kind);
    for (const std::string_view side : kSides) {
      const bool causal = side == kSides[0];
      std::shared_ptr<PositionEncoding> built;
      std::optional<Refusal> unfit;
      try {
        built = example_of(encoding, causal);
        initialise(*built, /*seed=*/1, {}, /*layers=*/1);  // some forms depend on the numbers
      } catch (const ConfigError& error) {
        unfit = of_encoding(encoding, error);
      }
      for (const auto& entry : kernels().entries()) {
        const std::string kind(entry.info.kind);
        all.push_back(
            {encoding, kind, side,
             built ? refuses_pair(*kernels().build(kind, kExampleKernel), kind, *built, encoding, causal) : unfit});
      }
    }
  }
  return all;
}

std::string places_of(std::string_view position) {
  try {
    return positions().build(position, example(/*causal=*/true))->traits().places.text();
  } catch (const ConfigError&) {  // one for two-sided stacks alone
    return positions().build(position, example(/*causal=*/false))->traits().places.text();
  }
}

// Why pairs do not work, each reason once, with the encodings that it holds for.
class Refusals {
 public:
  void add(const std::string& kernel, const std::string& reason, const std::string& position) {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const One& r) { return r.kernel == kernel && r.reason == reason; });
    One& one = found == all_.end() ? all_.emplace_back(One{kernel, reason, {}}) : *found;
    one.positions.push_back(position);
  }
  // "sdpa with t5_bias, kerple: its fused path has no gradient for a learned bias"
  std::string text() const {
    std::string lines;
    for (const One& one : all_)
      lines += fmt::format("{} with {}: {}\n", one.kernel, join(one.positions, ", "), one.reason);
    return lines;
  }

 private:
  struct One {
    std::string kernel, reason;
    Words positions;
  };
  std::vector<One> all_;
};

using Pairs = std::span<const Verdict>;  // of one encoding in one kind of stack: a verdict of each kernel

bool same_kernels(Pairs a, Pairs b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const Verdict& x, const Verdict& y) { return x.works() == y.works(); });
}

// Whether the encoding itself refuses the stack, whatever the kernel.
bool all_refuse_alike(Pairs pairs) {
  return std::all_of(pairs.begin(), pairs.end(),
                     [&](const Verdict& v) { return !v.works() && v.same_refusal(pairs[0]); });
}

void add_refusals(Pairs pairs, Pairs other_side, Refusals& refusals) {
  const bool alike = all_refuse_alike(pairs);
  for (size_t n = 0; n < (alike ? 1 : pairs.size()); ++n) {
    const Verdict& pair = pairs[n];
    const bool both = pair.same_refusal(other_side[n]);
    if (pair.works() || (both && pair.side != kSides[0])) continue;  // said with the causal stack
    refusals.add(alike ? "all" : pair.kernel, pair.refusal->brief,
                 both ? pair.position : fmt::format("{} ({})", pair.position, pair.side));
  }
}

// One row for both kinds of stacks where they agree, else one each.
void print_pairs() {
  Words header{"position", "acts on", "stack"};
  for (const auto& kernel : kernels().entries()) header.emplace_back(kernel.info.kind);
  Table table(header);
  Refusals refusals;
  const auto row = [&](Pairs pairs, std::string_view stack) {
    Words cells{pairs[0].position, places_of(pairs[0].position), std::string(stack)};
    for (const Verdict& pair : pairs) cells.emplace_back(pair.works() ? "yes" : "no");
    table.row(cells);
  };
  const auto all = verdicts();
  const size_t width = kernels().entries().size();
  for (size_t i = 0; i < all.size(); i += 2 * width) {
    const Pairs causal(&all[i], width), both_sided(&all[i + width], width);
    const bool same = same_kernels(causal, both_sided);
    row(causal, same ? "both" : kSides[0]);
    if (!same) row(both_sided, kSides[1]);
    add_refusals(causal, both_sided, refusals);
    add_refusals(both_sided, causal, refusals);
  }
  print(fmt::format("{}\n{} Why not:\n\n{}", table.text(), kSettings, refusals.text()));
}

Json as_json(const CatalogueName& catalogue, bool pairs) {
  Json kinds = Json::array();
  for (const auto& kind : catalogue.kinds()) {
    Json one{{"kind", kind.kind}, {"summary", kind.summary}};
    if (catalogue.name == "positions") one["places"] = places_of(kind.kind);
    kinds.push_back(std::move(one));
  }
  Json document{{"catalogue", catalogue.name}, {"key", catalogue.where}, {"kinds", std::move(kinds)}};
  if (pairs) {
    document["pairs"] = Json::array();
    for (const auto& verdict : verdicts())
      document["pairs"].push_back({{"position", verdict.position},
                                   {"kernel", verdict.kernel},
                                   {"stack", verdict.side},
                                   {"works", verdict.works()},
                                   {"why", verdict.works() ? "" : verdict.refusal->text}});
  }
  return document;
}

std::string catalogue_names() {
  Words names;
  for (const auto& catalogue : kCatalogues) names.emplace_back(catalogue.name);
  return join(names, ", ");
}

}  // namespace

int list(const Words& words) {
  Options options("list", "The catalogues: what a config may name.");
  std::string name;
  bool pairs = false, json = false;
  options.positional("KINDS", name, "one of " + catalogue_names());
  options.flag("--kernels", pairs, "after positions: which pairs of encoding and kernel work, and why others do not");
  options.flag("--json", json, "one JSON document");
  if (!options.parse(words)) return kDone;

  const CatalogueName& catalogue = find_catalogue(name);
  require<ConfigError>(!pairs || name == "positions", "--kernels goes with 'ordo list positions'");
  if (json) {
    print_json(as_json(catalogue, pairs));
    return kDone;
  }
  if (pairs) {
    print_pairs();
    return kDone;
  }
  Table table({});
  for (const auto& kind : catalogue.kinds()) table.row({std::string(kind.kind), std::string(kind.summary)});
  print(table.text());
  if (!catalogue.where.empty())
    print(fmt::format("\nIn a config: {}; its settings: ordo help {}\n", catalogue.where,
                      catalogue.where.substr(0, catalogue.where.rfind('.'))));
  return kDone;
}

}  // namespace ordo::cli
