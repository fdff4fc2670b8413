// SPDX-License-Identifier: Apache-2.0
// summary.json
#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/study/summary.h"

namespace ordo {

namespace {

// JSON has no NaN and no infinity.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

Json interval_json(const Interval& interval) {
  if (!interval.exists()) return nullptr;
  return {{"kind", interval.kind}, {"low", interval.low}, {"high", interval.high}};
}

template <class T>
Json list_json(const std::vector<T>& items, Json (*one)(const T&)) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(one(item));
  return list;
}

void name_question(Json& json, const std::string& metric, int64_t length) {
  json["length"] = length > 0 ? Json(length) : Json("area");
  json["metric"] = metric;
}

// What a cell is of; a scaling only where there is one.
void name_place(Json& json, const std::string& scaling, const std::string& metric, int64_t length) {
  if (!scaling.empty()) json["scaling"] = scaling;
  name_question(json, metric, length);
}

Json cell_json(const Cell& cell) {
  Json json{{"factors", levels_json(cell.levels)}, {"split", cell.split}};
  name_place(json, cell.scaling, cell.metric, cell.length);
  json["n"] = cell.n;
  json["values"] = numbers_json(cell.values);
  json["seeds"] = cell.seeds;
  json["mean"] = number_json(cell.mean);
  json["sd"] = number_json(cell.sd);
  json["interval"] = interval_json(cell.interval);
  if (cell.two_modes) json["two_modes"] = true;
  if (cell.solved_interval.exists()) {
    json["solved"] = {cell.solved, cell.runs};
    json["solved_interval"] = interval_json(cell.solved_interval);
  }
  if (cell.diverged > 0) {
    json["diverged"] = cell.diverged;
    json["mean_with_diverged"] = cell.mean_with_diverged ? number_json(*cell.mean_with_diverged) : Json(nullptr);
  }
  if (cell.missing > 0) json["missing"] = cell.missing;
  if (!cell.refused.empty()) json["refused"] = cell.refused;
  return json;
}

Json pair_json(const Pair& pair) {
  Json json{{"a", pair.a}, {"b", pair.b}, {"where", levels_json(pair.where)}};
  name_question(json, pair.metric, pair.length);
  json["n"] = pair.n;
  json["seeds"] = pair.seeds;
  json["differences"] = numbers_json(pair.differences);
  json["difference"] = number_json(pair.difference);
  json["sd"] = number_json(pair.sd);
  json["effect"] = number_json(pair.effect);
  json["interval"] = interval_json(pair.interval);
  json["wins"] = {pair.wins, pair.n};
  json["p"] = pair.p;
  json["p_adjusted"] = pair.p_adjusted;
  json["p_smallest"] = pair.p_smallest;
  json["verdict"] = pair.verdict;
  json["why"] = pair.why;
  json["seeds_needed"] = pair.seeds_needed > 0.0 ? Json(std::llround(pair.seeds_needed)) : Json(nullptr);
  return json;
}

Json measured_json(const Measured& measured) {
  Json json{{"level", measured.level}, {"where", levels_json(measured.where)}};
  if (!measured.scaling.empty()) json["scaling"] = measured.scaling;
  json["values"] = numbers_json(measured.values);
  json["seeds"] = measured.seeds;
  json["mean"] = number_json(measured.mean);
  json["interval"] = interval_json(measured.interval);
  if (measured.missing > 0) json["missing"] = measured.missing;
  if (measured.diverged > 0) json["diverged"] = measured.diverged;
  return json;
}

Json claim_json(const ClaimVerdict& claim) {
  return {{"name", claim.name},
          {"text", claim.text},
          {"verdict", claim.verdict},
          {"why", claim.why},
          {"measured", list_json(claim.measured, measured_json)}};
}

Json curve_json(const LengthCurve& curve) {
  Json json{{"factors", levels_json(curve.levels)}};
  if (!curve.scaling.empty()) json["scaling"] = curve.scaling;
  json["metric"] = curve.metric;
  json["lengths"] = curve.lengths;
  Json means = Json::array();
  for (const auto& cell : curve.cells) means.push_back(number_json(cell.mean));
  json["means"] = std::move(means);
  json["area"] = number_json(curve.area);
  json["first_failing"] = curve.first_failing ? Json(*curve.first_failing) : Json(nullptr);
  return json;
}

Json ranks_json(const std::optional<LevelRanks>& ranks) {
  if (!ranks) return nullptr;
  Json levels = Json::object();
  for (size_t i = 0; i < ranks->levels.size(); ++i) levels[ranks->levels[i]] = number_json(ranks->table.ranks[i]);
  return {{"metric", ranks->metric},
          {"blocks", ranks->table.blocks},
          {"ranks", std::move(levels)},
          {"friedman_p", number_json(ranks->table.p)},
          {"critical_difference", number_json(ranks->table.critical_difference)}};
}

Json variance_json(const SourceShares& shares) {
  Json json{{"factors", levels_json(shares.levels)}};
  name_place(json, shares.scaling, shares.metric, shares.length);
  json["seed"] = number_json(shares.shares.seed);
  json["instance"] = number_json(shares.shares.instance);
  json["item"] = number_json(shares.shares.item);
  json["rest"] = number_json(shares.shares.rest);
  return json;
}

Json pairing_json(const PairingProof& proof) {
  Json unpaired = Json::object();
  for (const auto& [arm, parameters] : proof.unpaired) unpaired[arm] = parameters;
  return {{"weights_equal", {proof.weights_equal, proof.groups}},
          {"order_equal", {proof.order_equal, proof.orders}},
          {"unpaired_parameters", std::move(unpaired)},
          {"exceptions", proof.exceptions}};
}

Json trial_json(const Trial& trial) {
  return {{"arm", levels_json(trial.arm)},        {"trial", trial.trial},
          {"values", numbers_json(trial.values)}, {"failed", trial.failed},
          {"mean", number_json(trial.mean)},      {"chosen", trial.chosen}};
}

Json reference_json(const Reference& reference) {
  Json json{{"name", reference.name}, {"metric", reference.metric}};
  if (reference.length) json["length"] = *reference.length;
  json["value"] = reference.value;
  json["source"] = reference.source;
  return json;
}

Json cost_json(const Cost& cost) {
  return {{"factors", levels_json(cost.levels)},
          {"parameters", cost.parameters},
          {"flops", cost.flops},
          {"seconds", cost.seconds},
          {"tokens_per_second", cost.tokens_per_second},
          {"peak_memory", cost.peak_memory}};
}

Json left_out_json(const LeftOut& left) { return {{"factors", levels_json(left.levels)}, {"why", left.why}}; }

}  // namespace

Json summary_json(const Summary& summary) {
  return {{"study", summary.study},
          {"headline", summary.headline},
          {"complete", summary.complete},
          {"runs", summary.runs},
          {"failed", summary.failed},
          {"missing", summary.missing},
          {"left_out", list_json(summary.left_out, left_out_json)},
          {"cells", list_json(summary.cells, cell_json)},
          {"comparisons", summary.family},
          {"pairs", list_json(summary.pairs, pair_json)},
          {"claims", list_json(summary.claims, claim_json)},
          {"curves", list_json(summary.curves, curve_json)},
          {"ranks", ranks_json(summary.ranks)},
          {"variance", list_json(summary.variance, variance_json)},
          {"pairing", pairing_json(summary.pairing)},
          {"tune", list_json(summary.tune, trial_json)},
          {"references", list_json(summary.references, reference_json)},
          {"notes", summary.notes},
          {"cost", list_json(summary.cost, cost_json)}};
}

}  // namespace ordo
