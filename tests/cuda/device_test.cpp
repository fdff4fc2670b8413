// SPDX-License-Identifier: Apache-2.0
// The order in which CUDA is opened, and what is said when it cannot be: each case runs device_child in a process of
// its own.
#include "support/catch.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "ordo/core/errors.h"
#include "ordo/ops/device.h"

namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const std::string kParts = std::string(ORDO_BINARY_DIR) + "/cuda_parts";
const std::string kFakeDriver = "LD_LIBRARY_PATH=" + kParts + "/driver";
const std::string kStandIns = "LD_LIBRARY_PATH=" + kParts + "/stand_ins";
const std::string kSpy = "LD_PRELOAD=" + kParts + "/libordo_hooks_spy.so";

struct Outcome {
  int code;
  std::string text;  // stdout and stderr
};
// Runs a program of the build folder under `env SETTINGS`.
Outcome run(const std::string& settings, const std::string& command) {
  FILE* pipe =
      popen(("env -u CUDA_VISIBLE_DEVICES " + settings + " " + ORDO_BINARY_DIR + "/" + command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}
Outcome child(const std::string& settings, const std::string& arguments) {
  return run(settings, "ordo_device_child " + arguments);
}

bool one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }
bool has_driver() { return ordo::probe_driver().present; }

}  // namespace

TEST_CASE("device: a driver that answers is found without LibTorch", "[unit]") {
  const auto [code, text] = child(kFakeDriver + " FAKE_CUDA_DEVICES=2", "probe");
  CHECK(text == "present true devices 2 version 13000 why_not ''\n");
  CHECK(code == 0);
}

TEST_CASE("device: each way in which a driver can fail has its own sentence", "[unit]") {
  if (!has_driver())
    CHECK_THAT(child("", "probe").text, Contains("'no NVIDIA driver found (libcuda.so.1 is not there)'"));
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_INIT=34", "probe").text, Contains("the toolkit's stub, not a driver"));
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_INIT=100", "probe").text, Contains("the NVIDIA driver sees no GPU'"));
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_INIT=999", "probe").text,
             Contains("does not start (error 999, a planted fault)"));
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_VERSION=12040", "probe").text,
             Contains("it is for CUDA 12.4, LibTorch needs one for 13.0"));
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=", "probe").text,
             Contains("sees no GPU (CUDA_VISIBLE_DEVICES is '')"));
}

TEST_CASE("device: a driver that sees no GPU reports none", "[unit]") {
  CHECK_THAT(child(kFakeDriver + " FAKE_CUDA_DEVICES=0", "probe").text, StartsWith("present true devices 0"));
}

TEST_CASE("device: cuda without a driver ends in one sentence and exit 6", "[unit]") {
  const auto [code, text] = child(kFakeDriver + " FAKE_CUDA_INIT=34", "open cuda");
  CHECK(code == 6);
  CHECK(one_line(text));
  CHECK_THAT(text, StartsWith("device: cuda was asked for, but no NVIDIA driver found") &&
                       Contains("set device: cpu or auto"));
}

TEST_CASE("device: cuda that the driver promises and LibTorch cannot start ends in one sentence and exit 6", "[unit]") {
  const auto [code, text] = child(kFakeDriver, "open cuda");
  INFO(text);
  CHECK(code == 6);
  CHECK(one_line(text));
  CHECK_THAT(text, Contains("set device: cpu"));
  CHECK_THAT(text, Contains("does not load (lib") ||
                       Contains("does not start on device 0 ("));  // as NVIDIA's libraries are there or not
}

TEST_CASE("device: auto falls to the CPU and says why in one line", "[unit]") {
  const auto without_driver = child(kFakeDriver + " FAKE_CUDA_VERSION=12040", "open auto");
  CHECK(without_driver.code == 0);
  CHECK_THAT(without_driver.text, StartsWith("device: cpu; the NVIDIA driver is too old") && Contains("opened cpu"));
  const auto without_libraries = child(kFakeDriver, "open auto");
  CHECK(without_libraries.code == 0);
  CHECK_THAT(without_libraries.text, StartsWith("device: cpu; ") && Contains("opened cpu"));
}

TEST_CASE("device: the CPU is taken without a word and without asking the driver", "[unit]") {
  CHECK(child(kFakeDriver, "open cpu").text == "opened cpu\n");
}

TEST_CASE("device: libordo_cuda.so and LibTorch's CUDA side load and serve without a GPU", "[unit]") {
  if (!std::filesystem::exists(std::string(ORDO_BINARY_DIR) + "/libordo_cuda.so")) {
    WARN("libordo_cuda.so was left out of this build (its configuration says why): skipped");
    return;
  }
  const auto [code, text] = child(kStandIns + " CUDA_VISIBLE_DEVICES=", "load");
  INFO(text);
  CHECK(code == 0);
  CHECK_THAT(text, StartsWith("interface 1 devices 0 hooks true\ndescribe refuses: "));
  CHECK_THAT(text, Contains("gradient on the CPU 6"));
}

TEST_CASE("device: a CUDA side that is opened after LibTorch has settled is refused", "[unit]") {
  const auto [code, text] = child(kStandIns, "open-late");
  INFO(text);
  CHECK(code == 6);
  CHECK_THAT(text, StartsWith("CUDA was opened too late"));
}

TEST_CASE("device: nothing takes LibTorch's CUDA hooks before CUDA is opened", "[unit]") {
  CHECK_THAT(child(kSpy, "seed").text, Contains("SPY: the CUDA hooks were taken"));  // the spy sees them when they are
  CHECK_THAT(child(kSpy + " " + kFakeDriver + " FAKE_CUDA_INIT=34", "open auto").text, !Contains("SPY"));
}

TEST_CASE("device: ordo train reaches the device without having taken LibTorch's CUDA hooks", "[cli]") {
  const auto [code, text] = run(kSpy + " " + kFakeDriver + " FAKE_CUDA_INIT=34",
                                std::string("ordo train ") + ORDO_SOURCE_DIR +
                                    "/configs/sentences.yaml device=cuda --run " + kParts + "/never-made");
  INFO(text);
  CHECK(code == 6);
  CHECK_THAT(text, Contains("device: cuda was asked for, but no NVIDIA driver found") && !Contains("SPY"));
}

TEST_CASE("device: a name is auto, cpu, cuda or cuda:N", "[unit]") {
  CHECK(ordo::read_device("cuda:12").index == 12);
  for (const std::string wrong :
       {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cuda:99999999999", "cpu:0"})
    CHECK_THROWS_AS(ordo::read_device(wrong), ordo::ConfigError);
}

TEST_CASE("device: a GPU beyond those that are there is refused with their number", "[unit]") {
  const ordo::DriverProbe two{.present = true, .devices = 2, .version = 13000};
  CHECK(ordo::choose_device(ordo::read_device("cuda:1"), two) == 1);
  CHECK(ordo::choose_device(ordo::read_device("auto"), two) == 0);
  CHECK_THROWS_WITH(ordo::choose_device(ordo::read_device("cuda:2"), two), Contains("shows 2 GPUs (cuda:0 to cuda:1)"));
}
