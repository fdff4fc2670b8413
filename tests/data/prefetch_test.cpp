// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/full.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/data/batch.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

// Batches of one token, 0, 1, 2, …; ends after `size`, or fails there.
class CountingStream final : public BatchStream {
 public:
  struct Watch {
    std::atomic<int64_t> read = 0;
    std::atomic<bool> destroyed = false;
  };
  CountingStream(int64_t size, bool fails, std::shared_ptr<Watch> watch)
      : size_(size), fails_(fails), watch_(std::move(watch)) {}
  ~CountingStream() override { watch_->destroyed = true; }
  std::optional<Batch> next() override {
    if (at_ == size_ && fails_) throw DataError("the disk is gone");
    if (at_ == size_) return std::nullopt;
    ++watch_->read;
    return Batch{.ids = at::full({1, 1}, at_++, at::kLong)};
  }
  Json state() const override { return Json(at_); }
  void restore(const Json& state) override {
    require<CheckpointError>(state.is_number(), "no number");
    at_ = state.get<int64_t>();
  }
  int64_t epoch() const override { return at_ / 3; }
  double batches_per_epoch() const override { return 3.0; }

 private:
  int64_t at_ = 0, size_;
  bool fails_;
  std::shared_ptr<Watch> watch_;
};

struct Prefetched {
  std::shared_ptr<CountingStream::Watch> watch = std::make_shared<CountingStream::Watch>();
  std::unique_ptr<BatchStream> stream;
  Prefetched(int64_t size, bool fails, int64_t ahead)
      : stream(prefetched(std::make_unique<CountingStream>(size, fails, watch), ahead)) {}
  int64_t take() { return stream->next()->ids.item<int64_t>(); }
};

}  // namespace

TEST_CASE("prefetching: batches come in order, then the end, as often as one asks", "[unit]") {
  for (const int64_t ahead : {0, 1, 4, 100}) {
    Prefetched counted(10, false, ahead);
    for (int64_t i = 0; i < 10; ++i) CHECK(counted.take() == i);
    CHECK_FALSE(counted.stream->next());
    CHECK_FALSE(counted.stream->next());
  }
}

TEST_CASE("prefetching: state and epoch are those of the batches handed out, not of those read ahead", "[unit]") {
  Prefetched counted(10, false, 4);
  CHECK(counted.stream->state() == Json(0));
  CHECK(counted.stream->epoch() == 0);
  for (int64_t i = 0; i < 4; ++i) {
    counted.take();
    CHECK(counted.stream->state() == Json(i + 1));
    CHECK(counted.stream->epoch() == (i + 1) / 3);
  }
  CHECK(counted.stream->batches_per_epoch() == 3.0);
}

TEST_CASE("prefetching: a restored stream goes on from there, whatever was read ahead", "[unit]") {
  Prefetched counted(20, false, 4);
  counted.take();
  counted.stream->restore(Json(15));
  CHECK(counted.stream->state() == Json(15));
  CHECK(counted.take() == 15);
  counted.stream->restore(Json(2));
  CHECK(counted.take() == 2);
}

TEST_CASE("prefetching: after the end a restore starts again", "[unit]") {
  Prefetched counted(2, false, 4);
  while (counted.stream->next()) {
  }
  counted.stream->restore(Json(0));
  CHECK(counted.take() == 0);
}

TEST_CASE("prefetching: a failure arrives after the batches before it, each time one asks", "[unit]") {
  Prefetched counted(2, true, 4);
  CHECK(counted.take() == 0);
  CHECK(counted.take() == 1);
  for (int i = 0; i < 2; ++i) CHECK(contains(thrown<DataError>([&] { counted.take(); }), "the disk is gone"));
}

TEST_CASE("prefetching: a restore that fails says so and leaves a stream that answers", "[unit]") {
  Prefetched counted(20, false, 2);
  CHECK(contains(thrown<CheckpointError>([&] { counted.stream->restore(Json("x")); }), "no number"));
  counted.stream->restore(Json(7));
  CHECK(counted.take() == 7);
}

TEST_CASE("prefetching: no more is read ahead than was asked for", "[unit]") {
  const auto watch = std::make_shared<CountingStream::Watch>();
  {
    const auto stream = prefetched(std::make_unique<CountingStream>(1000, false, watch), 3);
    for (int i = 0; i < 5; ++i) stream->next();
  }
  CHECK(watch->read <= 5 + 3 + 1);  // one more is in hand while the queue is full
}

TEST_CASE("prefetching: destroyed while the queue is full, it ends at once and takes the inner stream along",
          "[unit]") {
  for (int i = 0; i < 50; ++i) {
    auto counted = std::make_unique<Prefetched>(1'000'000'000, false, 1 + i % 3);
    const auto watch = counted->watch;
    counted.reset();
    CHECK(watch->destroyed);
  }
}

}  // namespace ordo::test
