// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "ordo/core/errors.h"
#include "ordo/data/batch.h"

namespace ordo {

namespace {

class PrefetchedStream final : public BatchStream {
 public:
  PrefetchedStream(std::unique_ptr<BatchStream> inner, int64_t ahead)
      : inner_(std::move(inner)), ahead_(static_cast<size_t>(ahead)), batches_per_epoch_(inner_->batches_per_epoch()) {
    start();
  }
  ~PrefetchedStream() override { stop(); }

  std::optional<Batch> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty(); });
    Item& item = queue_.front();
    if (item.failure) std::rethrow_exception(item.failure);
    if (!item.batch) return std::nullopt;  // the end stays in the queue, as a failure does
    std::optional<Batch> batch = std::move(item.batch);
    state_ = std::move(item.state);
    epoch_ = item.epoch;
    queue_.pop_front();
    changed_.notify_all();
    return batch;
  }
  Json state() const override { return state_; }
  void restore(const Json& state) override {
    stop();
    queue_.clear();
    try {
      inner_->restore(state);
    } catch (...) {
      start();
      throw;
    }
    start();
  }
  int64_t epoch() const override { return epoch_; }
  double batches_per_epoch() const override { return batches_per_epoch_; }

 private:
  // A batch with the state of the inner stream after it; or a failure; or, with neither, the end.
  struct Item {
    std::optional<Batch> batch;
    Json state;
    int64_t epoch = 0;
    std::exception_ptr failure;
  };

  void start() {
    state_ = inner_->state();
    epoch_ = inner_->epoch();
    reader_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
  }
  void stop() {
    reader_.request_stop();
    changed_.notify_all();
    if (reader_.joinable()) reader_.join();
  }
  Item read_one() {
    Item item;
    try {
      item.batch = inner_->next();
      item.state = inner_->state();
      item.epoch = inner_->epoch();
    } catch (...) {
      item.failure = std::current_exception();
    }
    return item;
  }
  void read(const std::stop_token& stop) {
    for (bool more = true; more;) {
      Item item = read_one();
      more = item.batch.has_value();
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return queue_.size() < ahead_; })) return;
      queue_.push_back(std::move(item));
      changed_.notify_all();
    }
  }

  std::unique_ptr<BatchStream> inner_;  // the reader's alone while it runs
  size_t ahead_;
  double batches_per_epoch_;
  Json state_;
  int64_t epoch_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Item> queue_;
  std::jthread reader_;
};

}  // namespace

std::unique_ptr<BatchStream> prefetched(std::unique_ptr<BatchStream> inner, int64_t ahead) {
  if (ahead <= 0) return inner;
  return std::make_unique<PrefetchedStream>(std::move(inner), ahead);
}

}  // namespace ordo
