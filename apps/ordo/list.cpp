// SPDX-License-Identifier: Apache-2.0
// ordo list KINDS: the catalogues, and which position encodings work under which kernels.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "options.h"
#include "ordo/attention/cache.h"
#include "ordo/attention/kernel.h"
#include "ordo/core/text.h"
#include "ordo/data/text_source.h"
#include "ordo/data/tokenizer.h"
#include "ordo/models/model.h"
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
    {"tasks", "task.kind", kinds_of<Task>},
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
constexpr PositionFacts kExample{.dim = 32, .heads = 4, .kv_heads = 4, .head_dim = 8, .layers = 1, .max_length = 64};

struct KernelVerdict {
  std::string position, kernel, refusal;  // refusal empty: the pair works
};

std::vector<KernelVerdict> verdicts() {
  std::vector<KernelVerdict> all;
  for (const auto& position : positions().entries()) {
    const PositionTraits acts = positions().build(position.info.kind, kExample)->traits();
    for (const auto& kernel : kernels().entries()) {
      const auto built = kernels().build(
          kernel.info.kind,
          {.dim = kExample.dim, .heads = kExample.heads, .kv_heads = kExample.kv_heads, .head_dim = kExample.head_dim});
      const auto refusal = never_works(built->traits(), kernel.info.kind, acts, position.info.kind);
      all.push_back({std::string(position.info.kind), std::string(kernel.info.kind), refusal.value_or("")});
    }
  }
  return all;
}

std::string places_of(std::string_view position) {
  return positions().build(position, kExample)->traits().places.text();
}

void print_pairs() {
  Words header{"position", "acts on"}, refusals;
  for (const auto& kernel : kernels().entries()) header.emplace_back(kernel.info.kind);
  Table table(header);
  const auto all = verdicts();
  for (size_t i = 0; i < all.size();) {
    Words row{all[i].position, places_of(all[i].position)};
    for (const std::string& position = all[i].position; i < all.size() && all[i].position == position; ++i) {
      row.emplace_back(all[i].refusal.empty() ? "yes" : "no");
      if (!all[i].refusal.empty())
        refusals.push_back(fmt::format("{} under {}: {}", all[i].position, all[i].kernel, all[i].refusal));
    }
    table.row(row);
  }
  print(table.text());
  if (!refusals.empty()) print("\n" + join(refusals, "\n") + "\n");
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
                                   {"works", verdict.refusal.empty()},
                                   {"why", verdict.refusal}});
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
