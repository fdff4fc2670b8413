// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

#include "attention/kernel_case.h"

using ordo::test::KernelCase;
using ordo::test::run_case;

namespace {
// Sees every allocation of LibTorch on this thread.
class MemoryWatch : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
    now_ += size;
    peak_ = std::max(peak_, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t peak() const { return peak_; }

 private:
  int64_t now_ = 0, peak_ = 0;
};

int64_t peak_bytes(const std::string& kernel, const KernelCase& c) {
  const auto watch = std::make_shared<MemoryWatch>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, watch);
  run_case(kernel, c);
  return watch->peak();
}

KernelCase long_case(const std::string& encoding, int64_t L) {
  return {.encoding = encoding, .B = 1, .H = 2, .G = 2, .Lq = L, .Lk = L, .mask = {.causal = true}};
}
}  // namespace

TEST_CASE("tiled: forward and backward hold no matrix of queries and keys, whatever the bias", "[unit]") {
  constexpr int64_t kLength = 2048, kMatrix = 2 * kLength * kLength * 4;  // fp32 scores of two heads
  REQUIRE(peak_bytes("eager", long_case("none", kLength)) > kMatrix);
  for (const char* const encoding : {"none", "alibi", "offset_table", "content_table", "key_gate"}) {
    INFO(encoding);
    CHECK(peak_bytes("tiled", long_case(encoding, kLength)) < kMatrix / 2);
  }
}

TEST_CASE("tiled: on the general path long rows take thinner strips, so that no temporary grows with the heads",
          "[unit]") {
  constexpr int64_t kQueries = 64, kKeys = 16384, kHeads = 8, kStrip = kHeads * kQueries * kKeys * 4;  // bytes
  const KernelCase c{.encoding = "content_table",
                     .B = 1,
                     .H = kHeads,
                     .G = kHeads,
                     .Lq = kQueries,
                     .Lk = kKeys,
                     .mask = {.causal = true, .offset = kKeys - kQueries},
                     .consecutive = false};
  CHECK(peak_bytes("tiled", c) < 4 * kStrip);  // all rows at once would hold eight such and more
}

TEST_CASE("tiled: memory grows with the length, not with its square", "[unit]") {
  for (const char* const encoding : {"none", "offset_table", "key_gate", "content_table"}) {
    const double at_2k = static_cast<double>(peak_bytes("tiled", long_case(encoding, 2048)));
    const double at_8k = static_cast<double>(peak_bytes("tiled", long_case(encoding, 8192)));
    INFO(encoding);
    CHECK(at_8k < 4.5 * at_2k);
  }
}
