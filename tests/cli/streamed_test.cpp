// SPDX-License-Identifier: Apache-2.0
// Training on files that are streamed, as a user meets it.
#include "support/catch.h"

#include <fmt/core.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr std::string_view kStreamed = R"(name: streamed
device: cpu
task:
  kind: language_modeling
  tokenizer: byte
  sampling: streamed
  data: {train: ["a.txt", "b.txt.zst"], buffer: 1}
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 1}, position: none, feed_forward: {hidden: 8}}
train: {steps: 20, batch_size: 1024, length: 64, log_every: 1}
checkpoint: {every: 4, keep: 20}
)";

std::string numbered_lines(int count, std::string_view form) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format(fmt::runtime(form), i);
  return text;
}

// What a training wrote of each step: loss and tokens, whoever wrote it last.
std::map<int64_t, std::pair<double, int64_t>> losses_of(const fs::path& run) {
  std::map<int64_t, std::pair<double, int64_t>> losses;
  std::ifstream in(run / "metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const Json entry = parse_json(line, "metrics.jsonl");
    if (entry["kind"] == "train")
      losses[entry["step"].get<int64_t>()] = {entry["loss"].get<double>(), entry["tokens"].get<int64_t>()};
  }
  return losses;
}

Json last_state(const fs::path& run) {
  std::string name = read_file(run / "last");
  name.erase(name.find_last_not_of('\n') + 1);
  return parse_json(read_file(run / name / "state.json"), "state.json");
}

}  // namespace

TEST_CASE("a streamed training that is killed and started again is the one that never was", "[cli]") {
  const Scratch scratch;
  scratch.write("a.txt", numbered_lines(60'000, "{:07} and so on\n"));
  scratch.write("b.txt.zst", zstd_of(numbered_lines(30'000, "{:07}\n")));
  const auto config = scratch.write("streamed.yaml", std::string(kStreamed));
  const auto with_run = [&](const std::string& run) {
    return Arguments{"train", config.string(), "--run", (scratch / run).string()};
  };
  const Outcome whole = run_ordo(with_run("whole"));
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  CHECK(contains(whole.err, "train: 2 files, "));
  CHECK(contains(whole.err, " packed, streamed in blocks of 1 MiB"));
  for (const int step : {6, 18}) {
    Process running(ordo_program(), with_run("killed"), {});
    REQUIRE(running.wait_for(fmt::format("step {}/", step)));
    running.signal(SIGKILL);
    CHECK(running.finish().code == 128 + SIGKILL);
  }
  const Outcome finished = run_ordo(with_run("killed"));
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  CHECK(losses_of(scratch / "whole").size() == 20);
  CHECK(losses_of(scratch / "whole") == losses_of(scratch / "killed"));
  CHECK(last_state(scratch / "whole") == last_state(scratch / "killed"));
  CHECK(run_ordo({"replay", (scratch / "killed").string(), "--from", "16", "--steps", "1"}).code == 0);

  scratch.write("a.txt", numbered_lines(60'000, "{:07} and so on;"));
  Arguments more = with_run("killed");
  more.push_back("train.steps=24");
  const Outcome changed = run_ordo(more);
  CHECK(changed.code == 4);
  CHECK(contains(changed.err, "the training data is not what the checkpoint was trained on"));
}

TEST_CASE("streamed data that is wrong, or cannot be counted in epochs, ends a training in words", "[cli]") {
  const Scratch scratch;
  scratch.write("a.txt", numbered_lines(1'000, "{:07}\n") + "caf\xE9\n");
  const auto config = scratch.write("streamed.yaml", std::string(kStreamed));
  const auto train = [&](const std::string& setting) {
    return run_ordo({"train", config.string(), "--run", (scratch / "run").string(),
                     "task.data.train=" + (scratch / "a.txt").string(), setting});
  };
  const Outcome inside = train("train.steps=40");
  CHECK(inside.code == 3);
  CHECK(contains(inside.err, "a.txt: line 1001: byte 0xE9 (byte 8003 of the file) is not valid UTF-8"));
  const Outcome epochs = train("train.steps=2 epochs");
  CHECK(epochs.code == 2);
  CHECK(contains(epochs.err, "how many batches an epoch has is not known"));
}

}  // namespace ordo::test
