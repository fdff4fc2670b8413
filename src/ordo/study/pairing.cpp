// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/pairing.h"

#include <algorithm>
#include <functional>

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/study/outcomes.h"

namespace ordo {

namespace {

struct PairedGroup {
  int64_t seed = 0;
  std::optional<int64_t> instance = {};
  Combination where;
  std::vector<size_t> runs;
};

// Groups of two runs or more, in the order of the plan; runs for which `tells` is false are left out.
std::vector<PairedGroup> paired_groups(const Plan& plan, const std::vector<RunFacts>& runs,
                                       const std::function<bool(size_t)>& tells) {
  std::vector<PairedGroup> groups;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!tells(i)) continue;
    const Combination where = without(runs[i].levels, plan.study.compare.factor);
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const PairedGroup& g) {
      return g.seed == runs[i].seed && g.instance == runs[i].instance && g.where == where;
    });
    if (found == groups.end())
      groups.push_back({runs[i].seed, runs[i].instance, where, {i}});
    else
      found->runs.push_back(i);
  }
  std::erase_if(groups, [](const PairedGroup& g) { return g.runs.size() < 2; });
  return groups;
}

int64_t size_of(const FirstWeight& weight) {
  int64_t size = 1;
  for (const int64_t side : weight.shape) size *= side;
  return size;
}

bool shared_by_all(const std::string& name, const FirstWeight& weight, const PairedGroup& group,
                   const std::vector<FirstWeights>& weights) {
  return std::all_of(group.runs.begin(), group.runs.end(), [&](size_t run) {
    const auto found = weights[run].find(name);
    return found != weights[run].end() && found->second.shape == weight.shape;
  });
}

std::string group_words(const PairedGroup& group) {
  std::string words = fmt::format("seed {}", group.seed);
  if (group.instance) words += fmt::format(", instance {}", *group.instance);
  if (!group.where.empty()) words += ", " + level_names(group.where);
  return words;
}

// How many groups agree in what `value` gives; those that do not are told.
int64_t count_equal(const std::vector<PairedGroup>& groups, const std::vector<RunFacts>& runs,
                    std::string RunFacts::*value, std::string_view what, std::vector<std::string>& exceptions) {
  int64_t equal = 0;
  for (const auto& group : groups) {
    std::vector<std::string> others;
    const RunFacts& first = runs[group.runs.front()];
    for (const size_t run : group.runs)
      if (runs[run].*value != first.*value) others.push_back(runs[run].run);
    if (others.empty())
      ++equal;
    else
      exceptions.push_back(
          fmt::format("{}: {} of {} differs from that of {}", group_words(group), what, join(others, ", "), first.run));
  }
  return equal;
}

}  // namespace

void pair_first_weights(const Plan& plan, const std::vector<FirstWeights>& weights, std::vector<RunFacts>& runs) {
  for (const auto& group : paired_groups(plan, runs, [&](size_t run) { return !weights[run].empty(); })) {
    for (const size_t run : group.runs) {
      std::string shared;
      for (const auto& [name, weight] : weights[run]) {
        if (shared_by_all(name, weight, group, weights))
          shared += fmt::format("{} {}\n", name, weight.hash);
        else
          runs[run].unpaired_parameters += size_of(weight);
      }
      runs[run].first_weights = hash_text(hash_bytes(shared.data(), shared.size()));
    }
  }
}

PairingProof pairing_proof(const Plan& plan, const std::vector<RunFacts>& runs) {
  PairingProof proof;
  const auto of_weights = paired_groups(plan, runs, [&](size_t run) { return !runs[run].first_weights.empty(); });
  const auto of_order = paired_groups(plan, runs, [&](size_t run) { return !runs[run].data_order.empty(); });
  proof.groups = static_cast<int64_t>(of_weights.size());
  proof.orders = static_cast<int64_t>(of_order.size());
  proof.weights_equal = count_equal(of_weights, runs, &RunFacts::first_weights, "the first weights", proof.exceptions);
  proof.order_equal = count_equal(of_order, runs, &RunFacts::data_order, "the order of the data", proof.exceptions);

  std::vector<std::pair<std::string, int64_t>>& unpaired = proof.unpaired;
  for (const auto& run : runs) {
    if (run.unpaired_parameters == 0) continue;
    const std::string level = level_names(run.levels);
    const auto found = std::find_if(unpaired.begin(), unpaired.end(), [&](const auto& u) { return u.first == level; });
    if (found == unpaired.end())
      unpaired.emplace_back(level, run.unpaired_parameters);
    else
      found->second = std::max(found->second, run.unpaired_parameters);
  }
  return proof;
}

}  // namespace ordo
