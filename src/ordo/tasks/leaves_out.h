// SPDX-License-Identifier: Apache-2.0
// What a task does not take of the data that it was given.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ordo {

class Task;

class LeavesOut {
 public:
  virtual ~LeavesOut() = default;
  // At this train.length, in sentences: lines that cannot be read, pairs that are too long.
  virtual std::vector<std::string> left_out(int64_t length) const = 0;
};

// What a training tells of any task's data: its summary, but for what is left out, of which it warns.
struct DataReport {
  std::vector<std::string> lines, left_out;
};
DataReport report_of_data(const Task& task, int64_t length);

}  // namespace ordo
