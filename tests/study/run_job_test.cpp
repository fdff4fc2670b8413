// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/core/json.h"
#include "ordo/study/probe.h"
#include "ordo/study/run_job.h"
#include "support/program.h"

#include <nlohmann/json.hpp>

namespace ordo::test {
namespace {

PlannedRun planned(const std::string& hash, const std::string& position = "rope", int steps = 3) {
  const std::string text = fmt::format(
      "name: tiny\ntask: {{kind: language_modeling, tokenizer: byte, data: {{generate: {{kind: chase}}}}}}\n"
      "model: {{kind: decoder, dim: 8, layers: 1, attention: {{heads: 2}}, position: {}}}\n"
      "train: {{steps: {}, batch_size: 2, length: 16}}\n",
      position, steps);
  return {.folder = "runs/rope-seed1",
          .hash = "xxh3:" + hash,
          .config = load_run_config_text(text, "tiny.yaml", {}).config,
          .split = "validation",
          .lengths = {16, 32}};
}

void write_status(const fs::path& run, const std::string& hash, const std::string& status) {
  write_file(run / "status.json", json_text({{"hash", "xxh3:" + hash}, {"status", status}, {"why", ""}}));
}

}  // namespace

TEST_CASE("a run counts as made under its own hash alone, and with its evaluations", "[unit]") {
  const Scratch scratch;
  const StudyConfig study;
  const PlannedRun run = planned("0123456789abcdef");
  RunJob job(scratch.path(), study, run);
  CHECK_FALSE(job.made());
  job.prepare();
  const fs::path folder = scratch / run.folder;
  write_status(folder, "0123456789abcdef", "done");
  CHECK_FALSE(job.made());
  write_file(folder / "evaluation.json", "{}");
  CHECK(job.made() == RunStatus::done);
  const PlannedRun other = planned("fedcba9876543210");
  CHECK_FALSE(RunJob(scratch.path(), study, other).made());
  write_status(folder, "0123456789abcdef", "failed");
  CHECK_FALSE(job.made());
  write_status(folder, "0123456789abcdef", "diverged");
  CHECK(job.made() == RunStatus::diverged);
  StudyConfig strict;
  strict.failures.diverged = Diverged::fail;
  CHECK_FALSE(RunJob(scratch.path(), strict, run).made());
}

TEST_CASE("a run that was cut off between its last evaluation and its status is finished as it stands", "[unit]") {
  const Scratch scratch;
  const StudyConfig study;
  const PlannedRun run = planned("0123456789abcdef");
  const fs::path folder = scratch / run.folder;
  CHECK(RunJob(scratch.path(), study, run).prepare() == RunJob::Then::next);
  write_file(folder / "metrics.jsonl", "{\"kind\":\"train\",\"step\":3,\"seconds\":1.5}\n");
  write_file(folder / "evaluation.json", "{}");
  RunJob again(scratch.path(), study, run);
  CHECK_FALSE(again.made());
  CHECK(again.prepare() == RunJob::Then::finished);
  CHECK(again.status() == RunStatus::done);
  CHECK(again.made() == RunStatus::done);
  const Json status = parse_json(read_file(folder / "status.json"), "status.json");
  CHECK(status["hash"] == run.hash);
  CHECK(status["seconds"] == 1.5);
}

TEST_CASE("other settings make a run of their own and keep the old one; other evaluations keep the training",
          "[unit]") {
  const Scratch scratch;
  const StudyConfig study;
  const PlannedRun first = planned("aaaaaaaaaaaaaaaa");
  const fs::path folder = scratch / first.folder;
  RunJob(scratch.path(), study, first).prepare();
  const auto train = [&] {
    write_file(folder / "metrics.jsonl", "{\"kind\":\"train\",\"step\":3,\"seconds\":1.5}\n");
    write_file(folder / "evaluation.json", "{}");
    write_file(folder / "evaluation-1.json", "{}");
    write_status(folder, "aaaaaaaaaaaaaaaa", "done");
  };
  train();
  const PlannedRun evaluated_anew = planned("bbbbbbbbbbbbbbbb");
  RunJob again(scratch.path(), study, evaluated_anew);
  again.prepare();
  CHECK(fs::exists(folder / "metrics.jsonl"));
  CHECK_FALSE(fs::exists(folder / "evaluation.json"));
  CHECK_FALSE(fs::exists(folder / "evaluation-1.json"));
  CHECK_FALSE(fs::exists(folder / "status.json"));
  CHECK(again.seconds() == 1.5);

  train();
  const PlannedRun changed = planned("cccccccccccccccc", "rope", 4);
  RunJob(scratch.path(), study, changed).prepare();
  CHECK_FALSE(fs::exists(folder / "metrics.jsonl"));
  CHECK(read_file(folder / "planned.yaml").find("steps: 4") != std::string::npos);
  CHECK(fs::exists(scratch / "earlier/runs-rope-seed1-bbbbbbbb/metrics.jsonl"));
}

TEST_CASE("steps and seconds of a run come from its metrics, whoever trained it", "[unit]") {
  const Scratch scratch;
  CHECK(last_step(scratch.path()) == 0);
  CHECK(trained_seconds(scratch.path()) == 0.0);
  scratch.write("metrics.jsonl",
                "{\"kind\":\"train\",\"step\":1,\"seconds\":1.0}\n{\"kind\":\"train\",\"step\":2,\"seconds\":2.5}\n"
                "{\"kind\":\"eval\",\"step\":2}\n{\"kind\":\"train\",\"step\":3,\"seconds\":0.5}\n{\"kind\":\"tra");
  CHECK(last_step(scratch.path()) == 3);
  CHECK(trained_seconds(scratch.path()) == 3.0);
}

TEST_CASE("a scaling is laid on the entry of a list that takes one", "[unit]") {
  CHECK(scaling_key(planned("0", "rope").config) == "model.position.scaling");
  CHECK(scaling_key(planned("0", "[rope]").config) == "model.position.scaling");
  CHECK(scaling_key(planned("0", "[learned, rope]").config) == "model.position.1.scaling");
  CHECK(scaling_key(planned("0", "alibi").config).empty());
}

TEST_CASE("of very many levels some are probed, from the first to the last", "[unit]") {
  std::vector<PlannedRun> runs;
  for (int i = 0; i < 200; ++i) runs.push_back({.levels = {{"width", std::to_string(i)}}});
  const auto chosen = runs_to_probe(runs);
  REQUIRE(chosen.size() == kMostProbes);
  CHECK(chosen.front() == &runs.front());
  CHECK(chosen.back() == &runs.back());
}

TEST_CASE("every level is probed once, in as few runs as the plan's order allows", "[unit]") {
  std::vector<PlannedRun> runs;
  for (const auto* encoding : {"none", "rope", "alibi"})
    for (const auto* task : {"copy", "sort"})
      for (const int64_t seed : {1, 2})
        runs.push_back({.levels = {{"encoding", encoding}, {"task", task}}, .seed = seed});
  const auto chosen = runs_to_probe(runs);
  REQUIRE(chosen.size() == 4);  // none + copy, none + sort, rope, alibi
  CHECK(chosen[1]->levels == Combination{{"encoding", "none"}, {"task", "sort"}});

  const std::vector<RunProbe> probes{
      {.run = chosen[0]}, {.run = chosen[1]}, {.run = chosen[2], .why = "it failed"}, {.run = chosen[3]}};
  CHECK(nearest_probe(probes, {{"encoding", "alibi"}, {"task", "sort"}}) == &probes[1]);
  CHECK(nearest_probe(probes, {{"encoding", "rope"}, {"task", "copy"}}) == &probes[0]);
  CHECK(nearest_probe({}, {}) == nullptr);
}

}  // namespace ordo::test
