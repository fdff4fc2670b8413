// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/data_report.h"

#include <algorithm>

namespace ordo {

DataReport report_of_data(const Task& task, int64_t length) {
  DataReport made{.lines = task.summary(), .left_out = task.left_out(length)};
  const auto& left_out = made.left_out;
  std::erase_if(made.lines, [&](const std::string& line) {
    return std::find(left_out.begin(), left_out.end(), line) != left_out.end();
  });
  return made;
}

}  // namespace ordo
