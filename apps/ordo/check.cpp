// SPDX-License-Identifier: Apache-2.0
// ordo check CONFIG: reads and assembles a config without training, and says what a training would cost.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/attention/attention.h"
#include "ordo/core/text.h"
#include "ordo/models/stack_of.h"
#include "ordo/nn/precision.h"
#include "ordo/nn/unallocated.h"
#include "ordo/tasks/data_report.h"
#include "ordo/train/memory.h"
#include "ordo/train/trainer.h"
#include "ordo/train/weights.h"
#include "runs.h"

namespace ordo::cli {
namespace {

// "decoder.blocks.3.attention.q.weight" -> "decoder.blocks.*.attention": what people mean by a part of a model.
std::string part_of(const std::string& parameter) {
  Words steps = split(parameter, '.');
  for (auto& step : steps)
    if (step.find_first_not_of("0123456789") == step.npos) step = "*";
  steps.pop_back();  // weight, bias
  const auto star = std::find(steps.begin(), steps.end(), "*");
  if (star != steps.end() && steps.end() - star > 2) steps.erase(star + 2, steps.end());
  return join(steps, ".");
}

std::vector<std::pair<std::string, int64_t>> parameters_by_part(const Model& model) {
  std::vector<std::pair<std::string, int64_t>> parts;
  for (const auto& parameter : parameters_of(model)) {
    const std::string part = part_of(parameter.name);
    auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == part; });
    if (found == parts.end()) found = parts.insert(parts.end(), {part, 0});
    found->second += parameter.value.numel();
  }
  return parts;
}

struct MemoryEstimate {
  double weights = 0, gradients = 0, optimizer = 0, ema = 0, activations = 0;
  double total() const { return weights + gradients + optimizer + ema + activations; }
};

MemoryEstimate estimate_memory(const RunConfig& config, const Model& model) {
  MemoryEstimate bytes;
  const OptimizerFacts facts{parameters_of(model)};
  for (const auto& parameter : facts.parameters) bytes.weights += static_cast<double>(parameter.value.nbytes());
  bytes.gradients = bytes.weights;
  for (const auto& [name, tensor] : optimizers().build(config.train.optimizer, facts)->state())
    bytes.optimizer += static_cast<double>(tensor.nbytes());
  if (config.train.ema > 0) bytes.ema = bytes.weights;
  bytes.activations = activation_bytes(config, model);
  return bytes;
}

struct KernelChoice {
  std::string part;             // "": of the only stack; "encoder", "decoder", "decoder, cross-attention"
  int64_t first = 0, last = 0;  // layers
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> refused;
  bool same_as(const KernelChoice& other) const {
    return part == other.part && kernel == other.kernel && refused == other.refused;
  }
};

// Throws when the configured kernel refuses the layer, as the first step of a training would.
KernelChoice kernel_choice(const std::string& part, const MultiHeadAttention& attention, const AttentionCall& call) {
  const int64_t layer = attention.settings().layer;
  KernelChoice choice{.part = part, .first = layer, .last = layer};
  if (const auto* chooser = attention.kernel().as<AutoKernel>()) {
    auto verdict = chooser->choose(call);
    choice.kernel = verdict.kind;
    choice.refused = std::move(verdict.refused);
  } else {
    const auto& configured = attention.settings().config.kernel;
    choice.kernel = configured.kind;
    if (const auto refusal = attention.refusal(call)) throw KernelRefusal(placed(configured.source, *refusal));
  }
  return choice;
}

Stack& stack_named(Model& model, const std::string& name) {
  auto* const stack = model.named_children()[name]->as<Stack>();
  ORDO_ASSERT(stack != nullptr);
  return *stack;
}

// What a part of a model is called where it has several stacks.
std::string part_name(const std::vector<NamedStack>& stacks, const NamedStack& stack, bool cross = false) {
  if (stacks.size() == 1) return "";
  return cross ? stack.name + ", cross-attention" : stack.name;
}

// Projections of zeros, as a layer's own are, for encodings that score with them: kernels look at shapes alone.
struct Projections {
  Projections(Stack& stack, c10::Device device) {
    const AttentionLayer& layer = stack.blocks().front()->attention().settings();
    const AttentionConfig& c = layer.config;
    q = std::make_shared<Linear>(layer.dim, c.heads * c.head_dim, Linear::Options{.bias = layer.bias});
    k = std::make_shared<Linear>(layer.dim, c.kv_heads * c.head_dim, Linear::Options{.bias = layer.bias});
    q->to(device);
    k->to(device);
    for (PositionEncoding* const encoding : {&stack.position(), stack.cross_position()}) {
      if (encoding == nullptr) continue;
      encoding->to(device);
      for (int64_t i = 0; i < std::ssize(stack.blocks()); ++i) encoding->attach(i, *q, *k);
    }
  }
  std::shared_ptr<Linear> q, k;
};

std::vector<KernelChoice> kernel_choices(Model& model, const RunConfig& config, c10::Device device, bool on_paper) {
  const at::TensorOptions options = at::TensorOptions().device(device).dtype(compute_type(config.train.precision));
  // Of an image or a sound an input layer may make fewer tokens, for which the model is then built.
  const RowTokens row{.length = std::min(row_length(config), model.max_length()), .kept = model.kept_tokens()};
  const auto stacks = stacks_of(config.model);
  std::vector<KernelChoice> choices;
  const auto look = [&](const std::string& part, MultiHeadAttention& attention, PositionEncoding* position,
                        bool causal) {
    auto choice = kernel_choice(part, attention, training_call(attention.settings(), position, causal, row, options));
    if (!choices.empty() && choices.back().same_as(choice))
      choices.back().last = choice.last;
    else
      choices.push_back(std::move(choice));
  };
  for (const auto& named : stacks) {
    Stack& stack = stack_named(model, named.name);
    std::optional<Projections> projections;
    if (on_paper) projections.emplace(stack, device);
    for (const auto& block : stack.blocks())
      look(part_name(stacks, named), block->attention(), &stack.position(), stack.causal());
    for (const auto& block : stack.blocks())
      if (block->cross() != nullptr)
        look(part_name(stacks, named, /*cross=*/true), *block->cross(), stack.cross_position(), /*causal=*/false);
  }
  return choices;
}

// What one entry of model.position does.
struct EncodingEntry {
  std::string part, kind, acts_on;  // part: as of KernelChoice
  std::vector<int64_t> layers;      // in which it acts; empty: before them
  bool everywhere = false;          // in all layers of its stack
  int64_t parameters = 0;
};

EncodingEntry entry_of(const std::string& kind, const PositionEncoding& encoding, int64_t layers) {
  const Places places = encoding.traits().places;
  EncodingEntry entry{.kind = kind, .acts_on = places.text(), .layers = {}};
  if (places.in_layers())
    for (int64_t layer = 0; layer < layers; ++layer)
      if (encoding.acts_in(layer)) entry.layers.push_back(layer);
  entry.everywhere = std::ssize(entry.layers) == layers;
  for (const auto& parameter : parameters_of(encoding)) entry.parameters += parameter.value.numel();
  return entry;
}

std::vector<EncodingEntry> entries_of(const std::vector<Choice<PositionEncoding>>& list, PositionEncoding& encoding,
                                      int64_t layers) {
  if (list.empty()) return {{.kind = "none", .acts_on = Places{}.text(), .layers = {}}};
  std::vector<EncodingEntry> entries;
  for (const auto* part : encoding.parts()) entries.push_back(entry_of(list[entries.size()].kind, *part, layers));
  return entries;
}

std::vector<EncodingEntry> encoding_entries(const RunConfig& config, Model& model) {
  std::vector<EncodingEntry> all;
  const auto stacks = stacks_of(config.model);
  for (const auto& named : stacks) {
    Stack& stack = stack_named(model, named.name);
    const auto add = [&](std::vector<EncodingEntry> entries, const std::string& part) {
      for (auto& entry : entries) {
        entry.part = part;
        all.push_back(std::move(entry));
      }
    };
    add(entries_of(named.config.position, stack.position(), named.config.layers), part_name(stacks, named));
    if (stack.cross_position() != nullptr)
      add(entries_of(named.cross_position, *stack.cross_position(), named.config.layers),
          part_name(stacks, named, /*cross=*/true));
  }
  return all;
}

struct Findings {
  std::string device;
  std::vector<EncodingEntry> position;
  std::vector<std::string> data;
  std::vector<std::pair<std::string, int64_t>> parts;
  int64_t parameters = 0, rows = 0;
  ModelCost cost;
  MemoryEstimate memory;
  std::vector<KernelChoice> kernels;
  std::optional<StepReport> step;
};

// Weights have shapes alone: what is counted may be larger than this machine.
Assembly assembled_on_paper(const RunConfig& config) {
  const Unallocated scope;
  Assembly made;
  made.task = make_task(config);
  made.model = models().build(config.model, model_facts(config, *made.task));
  return made;
}

Findings look_at(const RunConfig& config, bool with_step) {
  const c10::Device device = open_device_quietly(config.device);
  Assembly parts = with_step ? assemble(config, device, {}) : assembled_on_paper(config);
  // Opens the training data and builds the schedule over the steps that there will be: what train would refuse, too.
  warn_of_moves_alone(config, *parts.model);
  warn_of_mirror(config, *parts.task);
  Trainer trainer(config, {.task = parts.task, .model = parts.model, .device = device});
  DataReport data = report_of_data(*parts.task, config.train.length);
  data.lines.insert(data.lines.end(), data.left_out.begin(), data.left_out.end());
  Findings found{.device = device.str(),
                 .data = std::move(data.lines),
                 .parts = parameters_by_part(*parts.model),
                 .rows = rows_of(config.train)};
  for (const auto& [part, count] : found.parts) found.parameters += count;
  found.cost = parts.model->cost(row_length(config));
  found.position = encoding_entries(config, *parts.model);
  found.memory = estimate_memory(config, *parts.model);
  found.kernels = kernel_choices(*parts.model, config, device, /*on_paper=*/!with_step);
  if (with_step) found.step = trainer.step();
  return found;
}

Json as_json(const Findings& found, const RunConfig& config) {
  Json parts = Json::object(), kernels = Json::array(), position = Json::array();
  const auto add = [](Json& list, const std::string& part, Json entry) {
    if (!part.empty()) entry["part"] = part;
    list.push_back(std::move(entry));
  };
  for (const auto& entry : found.position)
    add(position, entry.part,
        {{"kind", entry.kind}, {"acts_on", entry.acts_on}, {"layers", entry.layers}, {"parameters", entry.parameters}});
  for (const auto& [part, count] : found.parts) parts[part] = count;
  for (const auto& choice : found.kernels) {
    Json refused = Json::object();
    for (const auto& [kind, why] : choice.refused) refused[kind] = why;
    add(kernels, choice.part,
        {{"layers", {choice.first, choice.last}}, {"kernel", choice.kernel}, {"refused", std::move(refused)}});
  }
  const auto& m = found.memory;
  Json document{
      {"name", config.name},
      {"device", found.device},
      {"parameters", found.parameters},
      {"parameters_by_part", std::move(parts)},
      {"flops_per_token", {{"forward", found.cost.flops_per_token}, {"training", 3 * found.cost.flops_per_token}}},
      {"memory",
       {{"weights", m.weights},
        {"gradients", m.gradients},
        {"optimizer", m.optimizer},
        {"ema", m.ema},
        {"activations", m.activations},
        {"total", m.total()}}},
      {"position", std::move(position)},
      {"kernels", std::move(kernels)},
      {"data", found.data}};
  if (found.step)
    document["step"] = {{"loss", found.step->loss},
                        {"grad_norm", found.step->grad_norm},
                        {"seconds", found.step->seconds},
                        {"peak_memory", found.step->peak_memory}};
  return document;
}

void print_parameters(const Findings& found) {
  Table table({"part", "parameters", "share"});
  for (const auto& [part, count] : found.parts)
    table.row({part, fmt::format("{}", count),
               fmt::format("{:.1f}%", 100.0 * static_cast<double>(count) / static_cast<double>(found.parameters))});
  table.row({"all", fmt::format("{}", found.parameters), count_text(static_cast<double>(found.parameters))});
  print(table.text());
}

void print_position(const Findings& found) {
  for (const auto& entry : found.position) {
    Words numbers;
    for (const int64_t layer : entry.layers) numbers.push_back(std::to_string(layer));
    std::string where;
    if (entry.everywhere)
      where = " in all layers";
    else if (!entry.layers.empty())
      where = fmt::format(" in layer{} {}", entry.layers.size() == 1 ? "" : "s", join(numbers, ", "));
    const std::string part = entry.part.empty() ? "" : entry.part + ": ";
    print(fmt::format("position     {}{}: acts on {}{}, {}\n", part, entry.kind, entry.acts_on, where,
                      entry.parameters == 0 ? "no parameters" : fmt::format("{} parameters", entry.parameters)));
  }
}

void print_kernels(const Findings& found) {
  for (const auto& choice : found.kernels) {
    const std::string layers = choice.first == choice.last ? fmt::format("layer {}", choice.first)
                                                           : fmt::format("layers {}-{}", choice.first, choice.last);
    const std::string part = choice.part.empty() ? "" : choice.part + ": ";
    print(fmt::format("attention    {}{}: {}\n", part, layers, choice.kernel));
    for (const auto& [kind, why] : choice.refused) print(fmt::format("             {} refused: {}\n", kind, why));
  }
}

void print_findings(const Findings& found, const RunConfig& config) {
  const auto& m = found.memory;
  print(fmt::format("{}: {} on {}\n\n", config.name, config.model.kind, found.device));
  print_parameters(found);
  print(fmt::format("\narithmetic   {} FLOPs a token forward, {} in training, at length {}\n",
                    count_text(found.cost.flops_per_token), count_text(3 * found.cost.flops_per_token),
                    row_length(config)));
  print(fmt::format(
      "memory       weights {}, gradients {}, optimizer {}{}, activations about {} for {} rows of {}: {} in all\n",
      bytes_text(m.weights), bytes_text(m.gradients), bytes_text(m.optimizer),
      m.ema > 0 ? fmt::format(", averages {}", bytes_text(m.ema)) : "", bytes_text(m.activations), found.rows,
      row_length(config), bytes_text(m.total())));
  print_position(found);
  print_kernels(found);
  for (const auto& line : found.data) print(fmt::format("data         {}\n", line));
  if (found.step)
    print(fmt::format("one step     loss {:.4f}, gradient norm {:.3g}, {}, peak memory {}\n", found.step->loss,
                      found.step->grad_norm, duration_text(found.step->seconds), bytes_text(found.step->peak_memory)));
  print(found.step ? "the config holds: it was assembled and one step was made\n"
                   : "the config holds: it was assembled (--step also makes one step)\n");
}

}  // namespace

int check_config(const Words& words) {
  Options options("check", "Read and assemble a config without training.");
  std::string file;
  Words overrides;
  bool step = false, json = false;
  options.positional("CONFIG", file, "a config file, a run folder or a checkpoint");
  options.flag("--step", step, "also make one training step of the largest batch (nothing is written)");
  options.flag("--json", json, "one JSON document");
  options.overrides(overrides);
  if (!options.parse(words)) return kDone;

  const RunConfig config = load_subject(file, overrides).config;
  const Findings found = look_at(config, step);
  if (json)
    print_json(as_json(found, config));
  else
    print_findings(found, config);
  return kDone;
}

}  // namespace ordo::cli
