// SPDX-License-Identifier: Apache-2.0
// The lists of what a training run may choose from: optimisers, schedules, recompute policies.
#include "ordo/train/adafactor.h"
#include "ordo/train/adam.h"
#include "ordo/train/adamw.h"
#include "ordo/train/lion.h"
#include "ordo/train/muon.h"
#include "ordo/train/recompute_policy.h"
#include "ordo/train/schedules.h"
#include "ordo/train/sgd.h"

namespace ordo {

namespace {
template <class T>
auto optimizer_entry() {
  return entry<T, Optimizer, OptimizerFacts>();
}
template <class T>
auto schedule_entry() {
  return entry<T, Schedule, ScheduleFacts>();
}
template <class T>
auto recompute_entry() {
  return entry<T, Recompute, RecomputeFacts>();
}
}  // namespace

const OptimizerCatalog& optimizers() {
  static const OptimizerCatalog list(
      "optimizer", {optimizer_entry<AdamW>(), optimizer_entry<Adam>(), optimizer_entry<Sgd>(), optimizer_entry<Lion>(),
                    optimizer_entry<Muon>(), optimizer_entry<Adafactor>()});
  return list;
}
template <>
const Kinds& kinds_of<Optimizer>() {
  return optimizers().kinds();
}

const ScheduleCatalog& schedules() {
  static const ScheduleCatalog list("schedule", {schedule_entry<ConstantSchedule>(), schedule_entry<LinearSchedule>(),
                                                 schedule_entry<CosineSchedule>(),
                                                 schedule_entry<InverseSqrtSchedule>(), schedule_entry<WsdSchedule>()});
  return list;
}
template <>
const Kinds& kinds_of<Schedule>() {
  return schedules().kinds();
}

const RecomputeCatalog& recompute_policies() {
  static const RecomputeCatalog list("recompute policy",
                                     {recompute_entry<RecomputeNone>(), recompute_entry<RecomputeBlocks>(),
                                      recompute_entry<RecomputeEvery>(), recompute_entry<RecomputeBudget>()});
  return list;
}
template <>
const Kinds& kinds_of<Recompute>() {
  return recompute_policies().kinds();
}

}  // namespace ordo
