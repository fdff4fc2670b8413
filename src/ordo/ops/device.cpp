// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <torch/headeronly/version.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/cuda/backend.h"

namespace ordo {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "libordo_cuda.so";

// What is open in this process; libraries cannot be closed again.
struct CudaSide {
  cuda::Backend* backend = nullptr;
  bool told_why_not = false;
};
CudaSide& cuda_side() {
  static CudaSide side;
  return side;
}

fs::path folder_of_libtorch() {
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    throw DeviceError("CUDA cannot be used: the folder of libtorch_cpu.so is not known");
  const fs::path path = map->l_name;
  dlclose(library);
  return path.parent_path();
}

fs::path plugin_path() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return program.parent_path() / kPlugin;
}

// Opens a library or throws a sentence with the loader's reason in the place of {}.
void* open_library(const fs::path& path, int mode, fmt::format_string<std::string> why) {
  void* library = dlopen(path.c_str(), mode);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  throw DeviceError(fmt::format(why, std::string(reason != nullptr ? reason : "unknown reason")));
}

void open_libtorch_cuda(int mode) {
  const fs::path path = folder_of_libtorch() / "libtorch_cuda.so";
  require<DeviceError>(
      fs::exists(path),
      "this LibTorch has no CUDA side ({} is not there): install torch 2.11.0 with CUDA 13, or set device: cpu",
      path.string());
  open_library(path, mode | RTLD_GLOBAL,
               "LibTorch's CUDA side does not load ({}): install NVIDIA's libraries with `pip install -r "
               "scripts/requirements-cuda.txt`, or set device: cpu");
}

template <class Function>
Function* plugin_function(void* plugin, const char* name) {
  const auto function = reinterpret_cast<Function*>(dlsym(plugin, name));
  require<DeviceError>(function != nullptr, "{} is not of this program (it lacks {}): build both again", kPlugin, name);
  return function;
}

cuda::Backend& open_plugin(int mode) {
  require<DeviceError>(fs::exists(plugin_path()), "{}", plugin_state());
  void* plugin =
      open_library(plugin_path(), mode | RTLD_LOCAL,
                   "libordo_cuda.so does not load ({}): build it again against this LibTorch, or set device: cpu");
  const int abi = plugin_function<decltype(ordo_cuda_abi)>(plugin, "ordo_cuda_abi")();
  require<DeviceError>(abi == cuda::kAbi, "{} has interface {}, this program needs {}: build both again", kPlugin, abi,
                       cuda::kAbi);
  const std::string_view torch = plugin_function<decltype(ordo_cuda_torch)>(plugin, "ordo_cuda_torch")();
  require<DeviceError>(torch == TORCH_VERSION, "{} was built for LibTorch {}, this program for {}: build both again",
                       kPlugin, torch, TORCH_VERSION);
  return *plugin_function<decltype(ordo_cuda_backend)>(plugin, "ordo_cuda_backend")();
}

// The first line of what LibTorch says, without its stack trace.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

c10::Device start(cuda::Backend& backend, int index) {
  try {
    at::globalContext().lazyInitDevice(c10::kCUDA);
    backend.use(index);
    // cuDNN's attention gives NaN gradients under a mask for some lengths (LibTorch 2.11): LibTorch chooses among its
    // other kernels.
    at::globalContext().setSDPUseCuDNN(false);
  } catch (const c10::Error& error) {
    throw DeviceError(fmt::format("CUDA does not start on device {} ({}); set device: cpu to go on without it", index,
                                  first_line(error.what_without_backtrace())));
  }
  cuda_side().backend = &backend;
  log::info("device: cuda:{} ({})", index, backend.describe(index));
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

c10::Device on_the_cpu(const std::string& why) {
  if (!cuda_side().told_why_not) log::info("device: cpu; {}", why);
  cuda_side().told_why_not = true;
  return c10::kCPU;
}

}  // namespace

DeviceRequest read_device(const std::string& text) {
  using Kind = DeviceRequest::Kind;
  if (text == "auto") return {Kind::any};
  if (text == "cpu") return {Kind::cpu};
  if (text == "cuda") return {Kind::cuda};
  constexpr std::string_view kNumbered = "cuda:";
  if (std::string_view(text).starts_with(kNumbered)) {
    int index = -1;
    const char* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data() + kNumbered.size(), end, index);
    if (failed == std::errc() && stop == end && index >= 0) return {Kind::cuda, index};
  }
  throw ConfigError(fmt::format("device is '{}'; it takes auto, cpu, cuda or cuda:N (N = 0, 1, …)", text));
}

std::optional<int> choose_device(const DeviceRequest& request, const DriverProbe& driver) {
  const bool wants_cuda = request.kind == DeviceRequest::Kind::cuda;
  if (request.kind == DeviceRequest::Kind::cpu || (!wants_cuda && !driver.usable())) return std::nullopt;
  require<DeviceError>(driver.usable(), "device: cuda was asked for, but {}; set device: cpu or auto", driver.why_not);
  const int index = request.index.value_or(0);
  require<DeviceError>(index < driver.devices,
                       "device: cuda:{} was asked for, but the NVIDIA driver shows {} GPU{} (cuda:0{})", index,
                       driver.devices, driver.devices == 1 ? "" : "s",
                       driver.devices == 1 ? "" : fmt::format(" to cuda:{}", driver.devices - 1));
  return index;
}

cuda::Backend& open_cuda_libraries(Binding binding) {
  // cuBLAS reads this when it starts: with it, equal runs are equal to the bit.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const int mode = binding == Binding::now ? RTLD_NOW : RTLD_LAZY;
  open_libtorch_cuda(mode);
  cuda::Backend& backend = open_plugin(mode);
  require<DeviceError>(at::detail::getCUDAHooks().hasCUDART(),
                       "CUDA was opened too late: LibTorch had already settled on the CPU in this process; this is a "
                       "bug in Ordo (a tensor came before the device)");
  return backend;
}

c10::Device open_device(const std::string& wanted) {
  const DeviceRequest request = read_device(wanted);
  if (request.kind == DeviceRequest::Kind::cpu) return c10::kCPU;
  const DriverProbe driver = probe_driver();
  const auto index = choose_device(request, driver);
  if (!index) return on_the_cpu(driver.why_not);
  try {
    return start(cuda_side().backend != nullptr ? *cuda_side().backend : open_cuda_libraries(), *index);
  } catch (const DeviceError& error) {
    if (request.kind == DeviceRequest::Kind::cuda) throw;
    return on_the_cpu(error.what());
  }
}

cuda::Backend* cuda_backend() { return cuda_side().backend; }

std::string plugin_state() {
  const fs::path path = plugin_path();
  if (fs::exists(path)) return fmt::format("{} is there ({})", kPlugin, path.string());
  return fmt::format(
      "{} is not there (looked for {}): build the target ordo_cuda; its headers come with `pip install --no-deps -r "
      "scripts/requirements-cpu.txt`",
      kPlugin, path.string());
}

}  // namespace ordo
