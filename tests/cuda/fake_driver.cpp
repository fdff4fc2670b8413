// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's libcuda.so.1: it answers a probe as the environment tells it to.
#include <cstdlib>

namespace {
int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}
}  // namespace

extern "C" {
int cuInit(unsigned) { return number("FAKE_CUDA_INIT", 0); }
int cuDriverGetVersion(int* version) { return *version = number("FAKE_CUDA_VERSION", 13000), 0; }
int cuDeviceGetCount(int* count) { return *count = number("FAKE_CUDA_DEVICES", 1), 0; }
int cuGetErrorString(int, const char** text) { return *text = "a planted fault", 0; }
}
