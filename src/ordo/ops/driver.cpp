// SPDX-License-Identifier: Apache-2.0
// The NVIDIA driver, asked without LibTorch and without any CUDA header.
#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

#include "ordo/ops/device.h"

namespace ordo {

namespace {

constexpr int kLeastDriver = 13000;  // LibTorch's wheel is built for CUDA 13.0
// Values of the driver interface's CUresult.
constexpr int kSuccess = 0, kStubLibrary = 34, kNoDevice = 100;

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// The driver's entry points that a probe needs; the library stays open, since LibTorch opens it again.
class DriverLibrary {
 public:
  // By its soname alone: the toolkit's stub is called libcuda.so and must not be taken for a driver.
  DriverLibrary() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}
  bool there() const { return library_ != nullptr; }
  // The result of a call, or no value when the library lacks the function.
  template <class... Args>
  std::optional<int> call(const char* name, Args... args) const {
    const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library_, name));
    return function != nullptr ? std::optional<int>(function(args...)) : std::nullopt;
  }
  std::string error_text(int code) const {
    const char* text = nullptr;
    const auto result = call("cuGetErrorString", code, &text);
    return result == kSuccess && text != nullptr ? fmt::format("error {}, {}", code, text)
                                                 : fmt::format("error {}", code);
  }

 private:
  void* library_;
};

// CUDA_VISIBLE_DEVICES hides devices; when it is set, it is the first thing to look at.
std::string hidden_by() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible != nullptr ? fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", visible) : "";
}

std::string why_it_does_not_start(const DriverLibrary& driver, int code) {
  if (code == kStubLibrary) return "no NVIDIA driver found (libcuda.so.1 is the toolkit's stub, not a driver)";
  if (code == kNoDevice) return "the NVIDIA driver sees no GPU" + hidden_by();
  return fmt::format("the NVIDIA driver does not start ({})", driver.error_text(code));
}

}  // namespace

DriverProbe probe_driver() {
  const DriverLibrary driver;
  if (!driver.there()) return {.why_not = "no NVIDIA driver found (libcuda.so.1 is not there)"};
  DriverProbe probe{.present = true};
  const auto version = driver.call("cuDriverGetVersion", &probe.version);
  const auto started = driver.call("cuInit", 0U);
  if (!version || !started) {
    probe.why_not = "no NVIDIA driver found (the libcuda.so.1 that is there lacks cuInit or cuDriverGetVersion)";
  } else if (*started != kSuccess) {
    probe.why_not = why_it_does_not_start(driver, *started);
  } else if (probe.version < kLeastDriver) {
    probe.why_not = fmt::format(
        "the NVIDIA driver is too old: it is for CUDA {}, LibTorch needs one for {} or newer (branch 580); update the "
        "driver",
        cuda_version_text(probe.version), cuda_version_text(kLeastDriver));
  } else if (driver.call("cuDeviceGetCount", &probe.devices).value_or(kNoDevice) != kSuccess || probe.devices == 0) {
    probe.devices = 0;
    probe.why_not = "the NVIDIA driver sees no GPU" + hidden_by();
  }
  return probe;
}

}  // namespace ordo
