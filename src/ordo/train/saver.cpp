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

Saver::~Saver() { settled(); }

void Saver::save(int64_t step, CheckpointContent content, bool best) {
  if (auto before = settled()) written_ = std::move(before);
  pending_ = std::async(std::launch::async, [run = run_, step, content = std::move(content), best, keep = keep_] {
    return save_in_order(run, step, content, best, keep);
  });
}

std::optional<fs::path> Saver::written() {
  if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    if (auto done = settled()) written_ = std::move(done);
  return std::exchange(written_, std::nullopt);
}

std::optional<fs::path> Saver::finish() {
  if (pending_.valid()) written_ = pending_.get();
  return std::exchange(written_, std::nullopt);
}

// Waits for the save under way.
std::optional<fs::path> Saver::settled() {
  if (!pending_.valid()) return std::nullopt;
  try {
    return pending_.get();
  } catch (const std::exception& e) {
    log::warn("a checkpoint was not saved, training goes on: {}", e.what());
    return std::nullopt;
  }
}

}  // namespace ordo
