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
  pending_ = std::async(std::launch::async, [run = run_, step, content = std::move(content), best, keep = keep_] {
    return save_in_order(run, step, content, best, keep);
  });
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
  try {
    written_.push_back(pending_.get());
  } catch (const std::exception& e) {
    log::warn("a checkpoint was not saved, training goes on: {}", e.what());
  }
}

}  // namespace ordo
