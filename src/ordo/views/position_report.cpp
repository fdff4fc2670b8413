// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/core/text.h"
#include "ordo/views/position_picture.h"

namespace ordo {

namespace {

std::vector<int64_t> told_distances(int64_t length) {
  std::vector<int64_t> some;
  for (int64_t d = 1; d < length; d *= 8) some.push_back(d);
  if (some.empty() || some.back() != length - 1) some.push_back(length - 1);
  return some;
}

int64_t parameter_count(const PositionView& view) {
  int64_t all = 0;
  for (const auto& [name, tensor] : view.parameters) all += tensor.numel();
  return all;
}

std::string parameters_text(const PositionView& view) {
  std::vector<std::string> parts;
  for (const auto& [name, tensor] : view.parameters)
    parts.push_back(fmt::format("{} [{}]", name, fmt::join(tensor.sizes(), ", ")));
  if (parts.empty()) return "none";
  return fmt::format("{}: {}{}", parameter_count(view), join(parts, ", "), view.untrained() ? "; fresh weights" : "");
}

std::string beyond_text(const PositionView& view) {
  if (!view.refused.empty()) return fmt::format("ends at {} positions", view.length);
  return view.traits.unbounded ? "defined at any length" : fmt::format("defined up to what was asked ({})", view.asked);
}

std::string wavelengths_text(const PositionView& view) {
  const auto w = view.wavelengths();
  if (w.empty()) return "none";
  return fmt::format("{} from {:.4g} to {:.4g}", w.size(), w.front(), w.back());
}

// What a longer sequence does to the frequencies, as for scalings that follow the length.
std::string scaled_text(const PositionView& view) {
  if (!view.frequencies_at_max_length.defined() || view.asked == view.facts.max_length) return "";
  if (view.frequencies_at_max_length.sizes() != view.frequencies.sizes()) return "other ones";
  const Tensor ratio = view.frequencies / view.frequencies_at_max_length;
  const double low = ratio.nan_to_num(1.0).min().item<double>(), high = ratio.nan_to_num(1.0).max().item<double>();
  if (low == 1.0 && high == 1.0) return fmt::format("the same as at length {}", view.facts.max_length);
  return fmt::format("{:.4g} to {:.4g} times those at length {}", low, high, view.facts.max_length);
}

Json numbers(const Tensor& t) {
  if (!t.defined()) return nullptr;
  if (t.dim() == 0) return t.item<double>();
  Json list = Json::array();
  const Tensor plain = t.to(at::kDouble).contiguous();
  if (t.dim() == 1) {
    for (int64_t i = 0; i < plain.numel(); ++i) list.push_back(plain.const_data_ptr<double>()[i]);
    return list;
  }
  for (int64_t i = 0; i < t.size(0); ++i) list.push_back(numbers(plain[i]));
  return list;
}

}  // namespace

std::string position_text(const PositionView& view) {
  std::string text = view.title + (view.summary.empty() ? "" : ": " + view.summary) + "\n";
  if (!view.layer_note.empty()) text += view.layer_note + "\n";
  text += "\n";
  Table facts({});
  if (!view.origin.empty()) facts.row({"of", view.origin});
  facts.row({"acts on", view.traits.places.text()});
  facts.row({"relative", view.traits.relative ? "yes: a common shift of all positions changes nothing" : "no"});
  facts.row({"length", beyond_text(view)});
  facts.row({"parameters", parameters_text(view)});
  facts.row({"wavelengths", wavelengths_text(view)});
  if (const std::string scaled = scaled_text(view); !scaled.empty())
    facts.row({"frequencies", fmt::format("at length {}: {}", view.asked, scaled)});
  facts.row({"cached keys", view.traits.keys == KeyCache::raw ? "raw, turned at every step" : "as they are used"});
  facts.row({"model", fmt::format("dim {}, {} heads of {} ({} for keys), {}, built for {} positions", view.facts.dim,
                                  view.facts.heads, view.facts.head_dim, view.facts.kv_heads,
                                  view.facts.causal ? "causal" : "two-sided", view.facts.max_length)});
  text += facts.text() + "\nscore between equal tokens, less that at distance 0 (mean of the heads)\n";
  if (const std::string why = view.silence(); !why.empty()) text += why + "\n";
  std::vector<std::string> header{"distance"}, row{"score"};
  for (const int64_t d : told_distances(view.length)) {
    header.push_back(std::to_string(d));
    row.push_back(decimal_text(view.decay_at(d)));
  }
  Table decay(header);
  decay.row(row);
  return text + decay.text();
}

std::string comparison_text(const std::vector<PositionView>& views) {
  std::vector<std::string> header{"kind", "acts on", "relative", "serves", "parameters", "wavelengths"};
  int64_t longest = 0;
  for (const auto& view : views) longest = std::max(longest, view.asked);
  const auto distances = told_distances(longest);
  for (const int64_t d : distances) header.push_back("at " + std::to_string(d));
  Table table(header);
  for (const auto& view : views) {
    std::vector<std::string> row{view.name,
                                 view.traits.places.text(),
                                 view.traits.relative ? "yes" : "no",
                                 view.traits.unbounded ? "any length" : fmt::format("up to {}", view.length),
                                 fmt::format("{}{}", parameter_count(view), view.untrained() ? " (fresh)" : ""),
                                 wavelengths_text(view)};
    for (const int64_t d : distances) row.push_back(decimal_text(view.decay_at(d)));
    table.row(row);
  }
  std::string text =
      table.text() +
      "\n\"at d\": score between equal tokens at distance d, less that at distance 0 (mean of the heads)\n";
  for (const auto& view : views)
    if (const auto notes = view.notes(); view.set || !notes.empty())
      text += fmt::format("{}{}{}\n", view.full_name(), notes.empty() ? "" : ": ", join(notes, "; "));
  return text;
}

Json position_json(const PositionView& view) {
  Json parameters = Json::array();
  for (const auto& [name, tensor] : view.parameters)
    parameters.push_back(
        {{"name", name}, {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())}});
  const auto& p = view.traits.places;
  const auto& f = view.facts;
  Json document{{"name", view.name},
                {"kind", view.kinds},
                {"title", view.title},
                {"summary", view.summary},
                {"of", view.origin.empty() ? Json(nullptr) : Json(view.origin)},
                {"fresh_weights", view.untrained()},
                {"places",
                 {{"positions", p.positions},
                  {"input", p.input},
                  {"query_key", p.query_key},
                  {"scores", p.scores},
                  {"values", p.values}}},
                {"relative", view.traits.relative},
                {"unbounded", view.traits.unbounded},
                {"cached_keys", view.traits.keys == KeyCache::raw ? "raw" : "turned"},
                {"model",
                 {{"dim", f.dim},
                  {"heads", f.heads},
                  {"kv_heads", f.kv_heads},
                  {"head_dim", f.head_dim},
                  {"layers", f.layers},
                  {"max_length", f.max_length},
                  {"causal", f.causal}}},
                {"layer", view.layer},
                {"layer_note", view.layer_note.empty() ? Json(nullptr) : Json(view.layer_note)},
                {"asked", view.asked},
                {"length", view.length},
                {"refused", view.refused.empty() ? Json(nullptr) : Json(view.refused)},
                {"parameters", std::move(parameters)},
                {"wavelengths", view.wavelengths()},
                {"frequencies", numbers(view.frequencies)},
                {"frequencies_at_max_length", numbers(view.frequencies_at_max_length)},
                {"distances", numbers(view.distances)},
                {"bias_by_distance", numbers(view.bias_by_distance)},
                {"decay", numbers(view.decay)},
                {"moved", numbers(view.moved)},
                {"moved_in_training", numbers(view.moved_training)}};
  return document;
}

NamedTensors position_tensors(const PositionView& view) {
  NamedTensors all;
  const auto add = [&](const char* name, const Tensor& t) {
    if (t.defined()) all.emplace_back(name, t.contiguous().clone());
  };
  add("table", view.table);
  add("frequencies", view.frequencies);
  add("frequencies_at_max_length", view.frequencies_at_max_length);
  add("angles", view.angles);
  add("distances", view.distances);
  add("bias_by_distance", view.bias_by_distance);
  add("bias", view.bias);
  add("values_by_offset", view.values_by_offset);
  add("decay", view.decay);
  add("similarity", view.similarity);
  add("similarity_positions", view.similar);
  add("moved", view.moved);
  add("moved_in_training", view.moved_training);
  for (const auto& [name, tensor] : view.parameters)
    all.emplace_back("parameters." + name, tensor.contiguous().clone());
  return all;
}

}  // namespace ordo
