// SPDX-License-Identifier: Apache-2.0
#include "support/devices.h"

#include "ordo/ops/device.h"
#include "support/catch.h"

namespace ordo::test {

namespace {
std::vector<c10::Device> open_devices() {
  std::vector<c10::Device> found{c10::kCPU};
  if (probe_driver().usable()) {
    const c10::Device best = open_device("auto");
    if (best.is_cuda()) found.push_back(best);
  }
  return found;
}
// Before main: once a case has run backward or set a seed, LibTorch's CUDA side cannot be opened any more.
const std::vector<c10::Device> kOpened = open_devices();
}  // namespace

const std::vector<c10::Device>& devices() { return kOpened; }

std::optional<c10::Device> require_gpu() {
  if (kOpened.size() > 1) return kOpened.back();
  WARN("no CUDA device: skipped");
  return std::nullopt;
}

}  // namespace ordo::test
