// SPDX-License-Identifier: Apache-2.0
// What tests/cuda runs in processes of its own: a process opens CUDA once.
//   probe            what the driver says
//   open WANTED      the device that opens, or the error; exits with the error's code
//   open-late        after LibTorch was asked for its CUDA hooks
//   load             opens LibTorch's CUDA side and libordo_cuda.so with functions bound late, then uses both without a
//   GPU seed             something that takes the hooks
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ordo/core/errors.h"
#include "ordo/cuda/backend.h"
#include "ordo/ops/device.h"

namespace {

void say(const std::string& line) { std::puts(line.c_str()); }

void probe() {
  const auto driver = ordo::probe_driver();
  say(fmt::format("present {} devices {} version {} why_not '{}'", driver.present, driver.devices, driver.version,
                  driver.why_not));
}

void load() {
  ordo::cuda::Backend& backend = ordo::open_cuda_libraries(ordo::Binding::at_first_call);
  say(fmt::format("interface {} devices {} hooks {}", ordo::cuda::kAbi, backend.devices(),
                  at::detail::getCUDAHooks().hasCUDART()));
  try {
    say(backend.describe(0));
  } catch (const c10::Error& error) {
    say(fmt::format("describe refuses: {}", error.what_without_backtrace()));
  }
  const at::Tensor x = at::ones({3}).requires_grad_(true);
  (x * x).sum().backward();
  say(fmt::format("gradient on the CPU {}", x.grad().sum().item<double>()));
}

void run(const std::string& what, const std::string& wanted) {
  ordo::prepare_process();
  if (what == "probe") return probe();
  if (what == "open") return say(fmt::format("opened {}", ordo::open_device(wanted).str()));
  if (what == "load") return load();
  at::manual_seed(1);
  if (what == "open-late") return load();
}

}  // namespace

int main(int argc, char** argv) {
  int code = 0;
  try {
    run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "auto");
  } catch (const ordo::Error& error) {
    say(error.what());
    code = error.exit_code();
  }
  std::fflush(nullptr);
  std::_Exit(code);  // what libtorch_cuda.so does at exit would call into the stand-ins
}
