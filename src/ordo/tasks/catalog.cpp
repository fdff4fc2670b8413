// SPDX-License-Identifier: Apache-2.0
// The list of all tasks.
#include "ordo/tasks/addition.h"
#include "ordo/tasks/associative_recall.h"
#include "ordo/tasks/audio_classification.h"
#include "ordo/tasks/chase.h"
#include "ordo/tasks/cogs.h"
#include "ordo/tasks/copy.h"
#include "ordo/tasks/counting.h"
#include "ordo/tasks/dialogue.h"
#include "ordo/tasks/dyck.h"
#include "ordo/tasks/forecasting.h"
#include "ordo/tasks/image_classification.h"
#include "ordo/tasks/lag.h"
#include "ordo/tasks/language_modeling.h"
#include "ordo/tasks/listops.h"
#include "ordo/tasks/majority.h"
#include "ordo/tasks/masked_language_modeling.h"
#include "ordo/tasks/modular_sum.h"
#include "ordo/tasks/needle.h"
#include "ordo/tasks/parity.h"
#include "ordo/tasks/pcfg_set.h"
#include "ordo/tasks/polynomial.h"
#include "ordo/tasks/reverse.h"
#include "ordo/tasks/scan.h"
#include "ordo/tasks/selective_copy.h"
#include "ordo/tasks/series_classification.h"
#include "ordo/tasks/sort.h"
#include "ordo/tasks/span_corruption.h"
#include "ordo/tasks/text_classification.h"
#include "ordo/tasks/token_classification.h"
#include "ordo/tasks/translation.h"
#include "ordo/tasks/up_down.h"

namespace ordo {

const TaskCatalog& tasks() {
  static const TaskCatalog catalog("task", {
                                               entry<LanguageModeling, Task, TaskFacts>(),
                                               entry<MaskedLanguageModeling, Task, TaskFacts>(),
                                               entry<SpanCorruption, Task, TaskFacts>(),
                                               entry<TextClassification, Task, TaskFacts>(),
                                               entry<TokenClassification, Task, TaskFacts>(),
                                               entry<Forecasting, Task, TaskFacts>(),
                                               entry<SeriesClassification, Task, TaskFacts>(),
                                               entry<ImageClassification, Task, TaskFacts>(),
                                               entry<AudioClassification, Task, TaskFacts>(),
                                               entry<Copy, Task, TaskFacts>(),
                                               entry<Reverse, Task, TaskFacts>(),
                                               entry<Sort, Task, TaskFacts>(),
                                               entry<Addition, Task, TaskFacts>(),
                                               entry<Parity, Task, TaskFacts>(),
                                               entry<ModularSum, Task, TaskFacts>(),
                                               entry<Majority, Task, TaskFacts>(),
                                               entry<Dyck, Task, TaskFacts>(),
                                               entry<AssociativeRecall, Task, TaskFacts>(),
                                               entry<Needle, Task, TaskFacts>(),
                                               entry<SelectiveCopy, Task, TaskFacts>(),
                                               entry<Counting, Task, TaskFacts>(),
                                               entry<Polynomial, Task, TaskFacts>(),
                                               entry<ListOps, Task, TaskFacts>(),
                                               entry<Lag, Task, TaskFacts>(),
                                               entry<Chase, Task, TaskFacts>(),
                                               entry<UpDown, Task, TaskFacts>(),
                                               entry<Scan, Task, TaskFacts>(),
                                               entry<Cogs, Task, TaskFacts>(),
                                               entry<PcfgSet, Task, TaskFacts>(),
                                               entry<Translation, Task, TaskFacts>(),
                                               entry<Dialogue, Task, TaskFacts>(),
                                           });
  return catalog;
}
template <>
const Kinds& kinds_of<Task>() {
  return tasks().kinds();
}

}  // namespace ordo
