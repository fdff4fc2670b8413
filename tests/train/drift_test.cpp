// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <algorithm>

#include "ordo/train/drift.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
struct Change {
  std::string override, path;
  Drift drift;
};
}  // namespace

TEST_CASE("drift: every key of a config has a rule", "[unit]") {
  RunConfig config = sample_config();
  const auto paths = manual_paths(walk_of(config));
  REQUIRE(paths.size() > 80);
  for (const auto& path : paths) {
    if (path.empty() || path == "train" || path == "model") continue;  // groups whose keys have rules of their own
    CAPTURE(path);
    CHECK(drift_rule(path) != nullptr);
  }
}

TEST_CASE("drift: what changed is classed key by key", "[unit]") {
  const std::string before = resolved_yaml(sample_config());
  const std::vector<Change> table{
      {"train.optimizer.lr=1e-3", "train.optimizer.lr", Drift::allowed},
      {"train.steps=50", "train.steps", Drift::allowed},
      {"train.certify=true", "train.certify", Drift::allowed},
      {"train.log_every=5", "train.log_every", Drift::allowed},
      {"train.precision=bf16", "train.precision", Drift::allowed},
      {"model.dropout=0.2", "model.dropout", Drift::allowed},
      {"evaluate.lengths=[8]", "evaluate.lengths", Drift::allowed},
      {"checkpoint.keep=9", "checkpoint.keep", Drift::allowed},
      {"device=cpu", "device", Drift::allowed},
      {"seed=8", "seed", Drift::needs_force},
      {"task.sampling=random", "task.sampling", Drift::needs_force},
      {"train.batch_size=4", "train.batch_size", Drift::needs_force},
      {"train.length=8", "train.length", Drift::needs_force},
      {"task.data.generate.sentences=9", "task.data.generate.sentences", Drift::allowed},
      {"model.position.theta=500", "model.position", Drift::needs_force},
      {"model.feed_forward.activation=relu", "model.feed_forward.activation", Drift::needs_force},
      {"model.dim=32", "model.dim", Drift::refused},
      {"model.layers=3", "model.layers", Drift::refused},
      {"task.vocab_size=300", "task.vocab_size", Drift::refused},
      {"task.tokenizer=char", "task.tokenizer", Drift::refused},
      {"train.optimizer={kind: lion, lr: 1e-2}", "train.optimizer.kind", Drift::refused},
  };
  for (const auto& change : table) {
    CAPTURE(change.override);
    const auto found = drifted(before, sample_config({change.override}));
    REQUIRE_FALSE(found.empty());
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const Drifted& d) { return d.change.path.starts_with(change.path); });
    REQUIRE(at != found.end());
    CHECK(at->rule->drift == change.drift);
  }
}

TEST_CASE("drift: an unchanged config passes, and its own dump reads back to itself", "[unit]") {
  const RunConfig config = sample_config({"train.early_stop={patience: 2}", "evaluate.every=1"});
  CHECK(drifted(resolved_yaml(config), config).empty());
  CHECK_NOTHROW(check_drift(resolved_yaml(config), config, false, "run/step-4"));
}

TEST_CASE("drift: all refusals are listed together with both values, and force lets pass what it may", "[unit]") {
  const std::string before = resolved_yaml(sample_config());
  const RunConfig now = sample_config({"seed=8", "model.dim=32", "train.clip=2"});
  const std::string why = thrown<ConfigError>([&] { check_drift(before, now, false, "run/step-4"); });
  CHECK(why.starts_with("the config has changed since run/step-4, which it would go on from. Start a new run (--run"));
  CHECK(contains(why, "needs --force: seed: 7 -> 8"));
  CHECK(contains(why, "refused:       model.dim: 16 -> 32"));
  CHECK_FALSE(contains(why, "train.clip"));
  CHECK_FALSE(contains(thrown<ConfigError>([&] { check_drift(before, now, true, "run/step-4"); }), "seed"));
  CHECK_NOTHROW(check_drift(before, sample_config({"seed=8"}), true, "run/step-4"));
}

TEST_CASE("drift: the file of a tokenizer may move or go, but not become another tokenizer", "[unit]") {
  const TemporaryFolder folder("drift");
  const auto with = [&](const std::string& name) {
    return sample_config({"task.tokenizer={kind: word, file: " + (folder.path() / name).string() + "}"});
  };
  for (const char* name : {"a.txt", "moved.txt"}) write_file(folder.path() / name, "<unk>\nthe\ncat\n");
  write_file(folder.path() / "other.txt", "<unk>\ncat\nthe\n");
  const RunConfig before = with("a.txt");
  const auto task = make_task(before);
  for (const char* name : {"moved.txt", "gone.txt"}) {
    CHECK_NOTHROW(check_drift(resolved_yaml(before), with(name), false, "run/step-4"));
    CHECK_NOTHROW(check_tokenizer(with(name), task->tokenizer(), "run/step-4"));
  }
  const std::string why =
      thrown<ConfigError>([&] { check_tokenizer(with("other.txt"), task->tokenizer(), "run/step-4"); });
  CHECK(contains(why, "other.txt is another tokenizer than that of run/step-4"));
}

TEST_CASE("drift: a choice of another kind is one change, without the settings that came and went with it", "[unit]") {
  const auto why = [](const std::string& change) {
    return thrown<ConfigError>(
        [&] { check_drift(resolved_yaml(sample_config()), sample_config({change}), false, ""); });
  };
  const std::string other = why("model.position=learned");
  CHECK(contains(other, "refused:       model.position: rope -> learned"));
  CHECK(std::count(other.begin(), other.end(), '\n') == 1);
  const std::string more = why("model.position=[alibi, rope]");
  CHECK(contains(more, "refused:       model.position.0: rope -> alibi"));
  CHECK(contains(more, "refused:       model.position.1: absent -> rope"));
  CHECK(std::count(more.begin(), more.end(), '\n') == 2);
  const std::string scaled = why("model.position.scaling={kind: linear, factor: 2}");
  CHECK(contains(scaled, "needs --force: model.position.scaling: none -> linear"));
  CHECK(std::count(scaled.begin(), scaled.end(), '\n') == 1);
  CHECK(contains(why("model.position.theta=500"), "needs --force: model.position.theta: 10000 -> 500"));
}

}  // namespace ordo::test
