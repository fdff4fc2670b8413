// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ordo/core/text.h"
#include "ordo/statistics/bootstrap.h"
#include "ordo/statistics/permutation.h"
#include "ordo/study/cells.h"
#include "ordo/study/claim_words.h"
#include "ordo/study/claims.h"
#include "ordo/study/headline.h"
#include "ordo/study/outcomes.h"
#include "ordo/study/pairing.h"
#include "ordo/study/pairs.h"
#include "ordo/study/trials.h"

namespace ordo {

namespace {

void take_failures(const Plan& plan, const Results& results, Summary& summary) {
  summary.runs = static_cast<int64_t>(plan.runs.size());
  for (const auto& run : results.runs) {
    if (run.status == RunStatus::missing) summary.missing.push_back(run.run);
    if (run.status == RunStatus::failed)
      summary.failed.push_back(run.why.empty() ? run.run : fmt::format("{}: {}", run.run, run.why));
  }
  const bool evaluated = std::none_of(results.rows.begin(), results.rows.end(),
                                      [](const ResultRow& row) { return row.status == RunStatus::missing; });
  summary.complete =
      evaluated && summary.missing.empty() && summary.failed.empty() && results.runs.size() == plan.runs.size();
}

// Sums over the runs that were trained to their end, then divided.
std::vector<Cost> costs(const OutcomeTable& table, const Results& results) {
  std::vector<Cost> all;
  for (const auto& levels : table.combinations()) {
    Cost cost{.levels = levels};
    double runs = 0.0;
    for (const auto& run : results.runs) {
      if (run.levels != levels || run.status != RunStatus::done) continue;
      runs += 1.0;
      cost.seconds += run.seconds;
      cost.tokens_per_second += run.tokens_per_second;
      cost.peak_memory = std::max(cost.peak_memory, run.peak_memory);
      cost.flops += run.flops;
      cost.parameters = std::max(cost.parameters, run.parameters);
    }
    for (double* amount : {&cost.seconds, &cost.tokens_per_second, &cost.flops}) *amount /= std::max(runs, 1.0);
    all.push_back(std::move(cost));
  }
  return all;
}

// ---- notes ----

std::string few_seeds_note(const Summary& summary, const CompareConfig& compare) {
  int64_t n = 0;
  for (const auto& pair : summary.pairs) n = std::max(n, pair.n);
  if (n == 0) return "";
  const int64_t family = compare.correction == Correction::holm ? summary.family : 1;
  const int64_t enough = repetitions_to_pass(family);
  if (n >= enough) return "";
  std::string note =
      fmt::format("{} seed{}: p cannot fall below {}", n, n == 1 ? "" : "s", number_text(smallest_sign_flip_p(n)));
  if (family > 1)
    note += fmt::format("; after Holm over {} comparisons", family);
  else
    note += "; for one comparison";
  return note + fmt::format(" {} seeds are needed to pass 0.05 at all", enough);
}

// Why an interval that was to be hierarchical is none.
void note_other_intervals(Summary& summary) {
  bool few = false, no_items = false;
  for (const auto& pair : summary.pairs) {
    if (pair.interval.kind != "t") continue;
    few = few || pair.n < kBootstrapSeeds;
    no_items = no_items || pair.n >= kBootstrapSeeds;
  }
  if (few)
    summary.notes.push_back(
        fmt::format("hierarchical intervals cover too little below {} seeds: differences of fewer have t-intervals "
                    "over the seeds",
                    kBootstrapSeeds));
  if (no_items)
    summary.notes.push_back(fmt::format("{} is not a mean over test items: its intervals are t-intervals over seeds",
                                        summary.pairs.front().metric));
}

void note_repetitions(const Plan& plan, const Results& results, Summary& summary) {
  std::set<int64_t> seeds;
  for (const auto& run : results.runs) seeds.insert(run.seed);
  if (seeds.size() == 1) summary.notes.emplace_back("1 seed: no interval tells what another seed would have given");
  if (const auto note = few_seeds_note(summary, plan.study.compare); !note.empty()) summary.notes.push_back(note);
  if (plan.study.compare.interval == IntervalKind::hierarchical) note_other_intervals(summary);
}

std::string cell_name(const Cell& cell) {
  return cell.scaling.empty() ? level_names(cell.levels) : level_names(cell.levels) + ", " + cell.scaling;
}

// Of the compared metric: what has no honest mean where it is compared, what was refused anywhere.
void note_cells(const Plan& plan, const OutcomeTable& table, Summary& summary) {
  for (const auto& cell : summary.cells) {
    if (cell.metric != plan.study.compare.metric) continue;
    const std::string where = fmt::format("{} {}", cell_name(cell), length_words(cell.length, cell.length == 0));
    const bool compared = cell.length == compared_length(plan.study, table, cell.levels);
    if (compared && cell.diverged > 0)
      summary.notes.push_back(
          fmt::format("{}: {} of {} runs diverged and count as unsolved", where, cell.diverged, cell.runs));
    else if (compared && cell.two_modes)
      summary.notes.push_back(
          fmt::format("{}: {}; {} of {} runs solved", where, two_groups_words(), cell.solved, cell.runs));
    else if (!cell.refused.empty() && cell.length > 0 && summary.missing.empty())
      summary.notes.push_back(fmt::format("{}: {}", where, cell.refused));
  }
}

void note_pairing(Summary& summary) {
  const PairingProof& proof = summary.pairing;
  if (proof.groups > 0 && proof.weights_equal == proof.groups)
    summary.notes.emplace_back("all runs of a seed began with the same weights, wherever their models share them");
  if (proof.orders > 0 && proof.order_equal == proof.orders)
    summary.notes.emplace_back("all runs of a seed saw the same batches in the same order");
  for (const auto& exception : proof.exceptions) summary.notes.push_back("not paired: " + exception);
}

}  // namespace

Summary summarise(const Plan& plan, const Results& results) {
  const OutcomeTable table(plan, results);
  Summary summary{.study = plan.study.name};
  take_failures(plan, results, summary);
  summary.cells = all_cells(plan, table);
  summary.pairs = compared_pairs(plan, table);
  summary.family = static_cast<int64_t>(summary.pairs.size());
  summary.claims = claim_verdicts(plan, table);
  summary.curves = length_curves(plan, summary.cells);
  summary.ranks = level_ranks(plan, table);
  summary.variance = source_shares(plan, table);
  summary.pairing = pairing_proof(plan, results.runs);
  summary.tune = judge_trials(plan, results);
  summary.references = plan.study.references;
  summary.left_out = plan.left_out;
  summary.cost = costs(table, results);

  summary.notes = plan.notes;
  note_repetitions(plan, results, summary);
  note_cells(plan, table, summary);
  note_pairing(summary);
  summary.headline = headline_of(plan, table, summary);
  return summary;
}

}  // namespace ordo
