// SPDX-License-Identifier: Apache-2.0
// What a training tells of its task's data: the summary, but for what is left out, of which it warns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ordo/tasks/task.h"

namespace ordo {

struct DataReport {
  std::vector<std::string> lines, left_out;
};
DataReport report_of_data(const Task& task, int64_t length);

}  // namespace ordo
