// SPDX-License-Identifier: Apache-2.0
// Tasks whose training rows may go on from batch to batch.
#pragma once

namespace ordo {

// What a model that keeps the segments before (model.memory) asks of a task, which is one of these or has no such rows.
class GoesOn {
 public:
  virtual ~GoesOn() = default;
  // Does each row of a training batch go on where it ended in the batch before, wherever Batch::continues says so?
  virtual bool rows_go_on() const = 0;
};

}  // namespace ordo
