// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/saver.h"

#include <chrono>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"

namespace ordo {

namespace {
fs::path save_in_order(const fs::path& run, int64_t step, const CheckpointContent& content, bool best, int64_t keep) {
  const fs::path folder = write_checkpoint(run, step, content);
  point(run, "last", step);
  if (best) point(run, "best", step);
  retain(run, keep);
  return folder;
}
}  // namespace

Saver::Saver(fs::path run, int64_t keep) : run_(std::move(run)), keep_(keep) {}

Saver::~Saver() { settle(); }

void Saver::save(int64_t step, CheckpointContent content, bool best) {
  settle();
  if (best)
    lost_best_.reset();
  else
    retry_lost_best();
  job_ = std::make_shared<const Job>(Job{step, std::move(content), best});
  pending_ = std::async(std::launch::async, [run = run_, job = job_, keep = keep_] {
    return save_in_order(run, job->step, job->content, job->best, keep);
  });
}

// `last` stays where it is: a later checkpoint may have been written in between.
void Saver::retry_lost_best() {
  if (!lost_best_) return;
  try {
    const fs::path folder = write_checkpoint(run_, lost_best_->step, lost_best_->content);
    point(run_, "best", lost_best_->step);
    written_.push_back(folder);
    lost_best_.reset();
  } catch (const std::exception& e) {
    log::warn("the best checkpoint was not saved, to be tried again with the next: {}", e.what());
  }
}

std::vector<fs::path> Saver::written() {
  if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) settle();
  return std::exchange(written_, {});
}

std::vector<fs::path> Saver::finish() {
  if (pending_.valid()) written_.push_back(pending_.get());
  return std::exchange(written_, {});
}

void Saver::settle() {
  if (!pending_.valid()) return;
  const auto job = std::exchange(job_, nullptr);
  try {
    written_.push_back(pending_.get());
  } catch (const std::exception& e) {
    if (job->best) lost_best_ = job;
    log::warn("a checkpoint was not saved, training goes on: {}", e.what());
  }
}

}  // namespace ordo
