// SPDX-License-Identifier: Apache-2.0
// ordo list KINDS: the catalogues, and which position encodings work under which kernels.
#include <ATen/ops/zeros.h>
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/attention/cache.h"
#include "ordo/attention/kernel.h"
#include "ordo/core/text.h"
#include "ordo/data/text_source.h"
#include "ordo/data/tokenizer.h"
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
PositionFacts example(bool causal) {
  return {.dim = 32, .heads = 4, .kv_heads = 4, .head_dim = 8, .layers = 1, .max_length = 64, .causal = causal};
}
constexpr KernelFacts kExampleKernel{.dim = 32, .heads = 4, .kv_heads = 4, .head_dim = 8};

// The attention call that a layer would make in training: kernels look at shapes, types and forms only. Without an
// encoding: one that has no position.
AttentionCall training_call(PositionEncoding* position, bool causal) {
  constexpr int64_t kLength = 16;
  const PositionFacts facts = example(causal);
  const auto grows = at::TensorOptions().requires_grad(true);
  const Tensor heads = at::zeros({1, facts.heads, kLength, facts.head_dim}, grows);
  AttentionCall call{.q = heads, .k = heads, .v = heads, .mask = {.causal = causal}, .scale = 0.35};
  if (position == nullptr) return call;
  const Positions at = consecutive(0, kLength, at::kCPU);
  const Tensor x = at::zeros({1, kLength, facts.dim}, grows);
  const AttentionPass pass{
      .q = at, .k = at, .scale = call.scale, .x = x, .kept = position->keep(x, at, 0), .mask = call.mask};
  call.bias = position->scores(pass);
  call.value_term = position->values(pass);
  return call;
}

// Why a kernel does not serve an encoding in training, in its own words or the encoding's. What it would say without
// any encoding too (a type or a device that it does not take) is not the pair's affair.
std::optional<std::string> refuses_pair(const AttentionKernel& kernel, std::string_view kind,
                                        PositionEncoding& position, std::string_view encoding, bool causal) {
  if (auto never = never_works(kernel.traits(), kind, position.traits(), encoding)) return never;
  try {
    const auto refused = kernel.refuses(training_call(&position, causal));
    return refused == kernel.refuses(training_call(nullptr, causal)) ? std::nullopt : refused;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

constexpr std::string_view kSides[] = {"causal", "two-sided"};

struct Verdict {
  std::string position, kernel;
  std::string_view side;  // of kSides
  std::string refusal;    // empty: the pair works
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
      std::string unfit;
      try {
        built = positions().build(encoding, example(causal));
        initialise(*built, /*seed=*/1, {}, /*layers=*/1);  // some forms depend on the numbers
      } catch (const ConfigError& error) {
        unfit = error.what();
      }
      for (const auto& entry : kernels().entries()) {
        const std::string kind(entry.info.kind);
        const auto refusal = built
                                 ? refuses_pair(*kernels().build(kind, kExampleKernel), kind, *built, encoding, causal)
                                 : std::optional<std::string>(unfit);
        all.push_back({encoding, kind, side, refusal.value_or("")});
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

// "sdpa, flash: it takes no value terms": kernels that refuse for the same reason together.
Words reasons(const std::vector<Verdict>& verdicts) {
  std::vector<std::pair<std::string, Words>> by_reason;
  for (const Verdict& verdict : verdicts) {
    if (verdict.refusal.empty()) continue;
    auto found = std::find_if(by_reason.begin(), by_reason.end(),
                              [&](const auto& reason) { return reason.first == verdict.refusal; });
    if (found == by_reason.end()) found = by_reason.insert(by_reason.end(), {verdict.refusal, {}});
    found->second.push_back(verdict.kernel);
  }
  Words lines;
  for (const auto& [reason, refusing] : by_reason)
    lines.push_back(
        fmt::format("{}: {}", refusing.size() == kernels().entries().size() ? "all" : join(refusing, ", "), reason));
  return lines;
}

void print_pairs() {
  Words header{"position", "acts on", "stack"}, refusals;
  for (const auto& kernel : kernels().entries()) header.emplace_back(kernel.info.kind);
  Table table(header);
  const auto all = verdicts();
  const size_t width = kernels().entries().size();
  for (size_t i = 0; i < all.size(); i += width) {  // a stack's row
    const std::vector<Verdict> pairs(all.begin() + static_cast<int64_t>(i),
                                     all.begin() + static_cast<int64_t>(i + width));
    Words row{pairs[0].position, places_of(pairs[0].position), std::string(pairs[0].side)};
    for (const Verdict& pair : pairs) row.emplace_back(pair.refusal.empty() ? "yes" : "no");
    table.row(row);
    for (const std::string& reason : reasons(pairs))
      refusals.push_back(fmt::format("{}, {}: {}", pairs[0].position, pairs[0].side, reason));
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
                                   {"stack", verdict.side},
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
