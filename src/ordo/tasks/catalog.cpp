// SPDX-License-Identifier: Apache-2.0
// The list of all tasks.
#include "ordo/tasks/language_modeling.h"

namespace ordo {

const TaskCatalog& tasks() {
  static const TaskCatalog catalog("task", {entry<LanguageModeling, Task, TaskFacts>()});
  return catalog;
}
template <>
const Kinds& kinds_of<Task>() {
  return tasks().kinds();
}

}  // namespace ordo
