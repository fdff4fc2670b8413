// SPDX-License-Identifier: Apache-2.0
// A study as a user runs it: made once, killed, stopped, changed, sabotaged, asked for less.
#include "support/catch.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

constexpr std::string_view kBase = R"(name: tiny
device: cpu
task:
  kind: language_modeling
  tokenizer: byte
  data: {generate: {kind: chase, sentences: 30, held_out: 5}}
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 2}, position: none}
train:
  steps: 5
  batch_size: 2
  length: 16
  log_every: 1
  optimizer: {kind: adamw, lr: 3e-3}
  schedule: constant
)";
constexpr std::string_view kStudy = R"(# Two encodings on a little text.
name: tiny
base: base.yaml
vary:
  encoding:
    none: {model.position: {kind: none}}
    rope: {model.position: {kind: rope}}
seeds: [1, 2]
evaluate: {lengths: [16, 32]}
compare: {metric: loss, length: 16, against: none}
)";

// A folder with a study in it; `more` is added to the study's file.
class StudyFolder {
 public:
  explicit StudyFolder(std::string_view more = "") {
    scratch_.write("base.yaml", std::string(kBase));
    scratch_.write("study.yaml", std::string(kStudy) + std::string(more));
  }
  fs::path operator/(const std::string& name) const { return scratch_ / name; }
  fs::path made(const std::string& name) const { return scratch_ / "studies/tiny" / name; }
  Setting setting() const { return {.folder = scratch_.path(), .environment = {"OMP_NUM_THREADS=1"}}; }
  Outcome ablate(const Arguments& more = {}) const { return run_ordo(words(more), setting()); }
  static Arguments words(const Arguments& more) {
    Arguments words{"ablate", "study.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

 private:
  Scratch scratch_;
};

Json read_json(const fs::path& file) { return parse_json(read_file(file), file.string()); }

// Without what depends on the clock and the machine.
std::string summary_of(const fs::path& study) {
  Json summary = read_json(study / "summary.json");
  for (auto& cost : summary.at("cost"))
    for (const auto* timed : {"seconds", "tokens_per_second", "peak_memory"}) cost.erase(timed);
  return json_text(summary);
}

// When each run ended.
std::map<std::string, int64_t> ends(const fs::path& study) {
  std::map<std::string, int64_t> times;
  for (const auto& run : fs::directory_iterator(study / "runs"))
    times[run.path().filename().string()] = fs::last_write_time(run.path() / "status.json").time_since_epoch().count();
  return times;
}

// Some file of this name in a run folder of the study.
std::vector<fs::path> runs_with(const fs::path& study, const std::string& file) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& run : fs::directory_iterator(study / "runs", ignored))
    if (fs::exists(run.path() / file)) found.push_back(run.path());
  return found;
}

template <class Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("a study is made once; what it made stays, is reported again, and answers its claims", "[cli]") {
  const StudyFolder folder(
      "claims:\n"
      "  - {name: sane, level: none, metric: loss, length: 16, at_most: 100, rule: every_run}\n"
      "  - {name: magic, level: rope, metric: loss, length: 16, at_most: 0.001, rule: every_run}\n");
  const fs::path study = folder.made("");
  const Outcome first = folder.ablate();
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  for (const auto* file : {"plan.yaml", "results.csv", "summary.json", "report.html", "table.md", "table.tex"})
    CHECK(fs::exists(study / file));
  const Json summary = read_json(study / "summary.json");
  CHECK(summary["complete"] == true);
  CHECK(summary["runs"] == 4);
  CHECK(summary["claims"][0]["verdict"] == "holds");
  CHECK(summary["claims"][1]["verdict"] == "fails");
  CHECK(first.out.find("rope") != std::string::npos);
  CHECK(first.out.find("report.html") != std::string::npos);
  const auto made = ends(study);
  REQUIRE(made.size() == 4);

  const std::string before = read_file(study / "summary.json");
  const Outcome again = folder.ablate({"--json", "--require-claims"});
  CHECK(again.code == 1);
  CHECK(ends(study) == made);
  CHECK(again.out == before);
  CHECK(read_file(study / "summary.json") == before);

  fs::remove(study / "report.html");
  CHECK(folder.ablate({"--report-only"}).code == 0);
  CHECK(fs::exists(study / "report.html"));
  CHECK(run_ordo({"ablate", study.string(), "--report-only", "--require-claims"}, folder.setting()).code == 1);

  const Json evaluation = read_json(study / "runs" / made.begin()->first / "evaluation.json");
  const Outcome by_hand = run_ordo({"eval", (study / "runs" / made.begin()->first).string(), "--lengths", "16,32",
                                    "--split", evaluation["results"][0]["split"].get<std::string>(), "--json"},
                                   folder.setting());
  const Json results = parse_json(by_hand.out, "stdout")["results"];
  for (const int i : {0, 1}) CHECK(results[i]["metrics"] == evaluation["results"][i]["metrics"]);
}

TEST_CASE("a study that is killed at five moments ends with the summary of one that was not", "[cli]") {
  const StudyFolder whole, killed;
  REQUIRE(whole.ablate({"train.steps=60"}).code == 0);
  const fs::path study = killed.made("");
  const auto kill_when = [&](auto condition) {
    Process running(ordo_program(), StudyFolder::words({"train.steps=60"}), killed.setting());
    REQUIRE(comes_true(condition));
    running.signal(SIGKILL);
    CHECK(running.finish().code == 128 + SIGKILL);
  };
  kill_when([&] { return !runs_with(study, "planned.yaml").empty(); });
  kill_when([&] { return !runs_with(study, "metrics.jsonl").empty(); });
  kill_when([&] { return !runs_with(study, "evaluation.json").empty(); });
  kill_when([&] { return !runs_with(study, "status.json").empty(); });
  // As a kill between the last evaluation of a run and its status leaves it.
  fs::remove(runs_with(study, "status.json").front() / "status.json");
  const Outcome last = killed.ablate({"train.steps=60"});
  INFO(last.out << last.err);
  REQUIRE(last.code == 0);
  CHECK(summary_of(study) == summary_of(whole.made("")));
}

TEST_CASE("a study stopped by a signal leaves checkpoints, says how to go on, and does", "[cli]") {
  const StudyFolder folder;
  const fs::path study = folder.made("");
  Process running(ordo_program(), StudyFolder::words({"-j", "1", "train.steps=800", "evaluate.lengths=[16]"}),
                  folder.setting());
  REQUIRE(comes_true([&] { return !runs_with(study, "metrics.jsonl").empty(); }));
  const Outcome second = folder.ablate();
  CHECK(second.code == 4);
  CHECK(second.err.find("is in use by process") != std::string::npos);
  running.signal(SIGTERM);
  const Outcome stopped = running.finish();
  INFO(stopped.out << stopped.err);
  REQUIRE(stopped.code == 75);
  CHECK(stopped.out.find("ordo ablate study.yaml -j 1 train.steps=800 'evaluate.lengths=[16]'") != std::string::npos);
  const auto begun = runs_with(study, "last");  // a checkpoint's name
  REQUIRE(begun.size() == 1);
  CHECK(runs_with(study, "status.json").empty());

  Process document(ordo_program(),
                   StudyFolder::words({"--json", "-j", "1", "train.steps=800", "evaluate.lengths=[16]"}),
                   folder.setting());
  REQUIRE(document.wait_for("1 at a time"));
  document.signal(SIGTERM);
  const Outcome told = document.finish();
  INFO(told.out << told.err);
  CHECK(told.code == 75);
  CHECK(parse_json(told.out, "stdout")["complete"] == false);

  const Outcome onward = folder.ablate({"train.steps=800", "evaluate.lengths=[16]"});
  INFO(onward.out << onward.err);
  CHECK(onward.code == 0);
  CHECK(read_file(begun[0] / "log.txt").find("goes on from") != std::string::npos);
  CHECK(read_json(study / "summary.json")["complete"] == true);
}

TEST_CASE("--only makes a part, --dry-run nothing, and changed settings a run of their own", "[cli]") {
  const StudyFolder folder("skip: [{encoding: nothing}]\n");
  const Outcome wrong = folder.ablate();
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("nothing") != std::string::npos);

  const StudyFolder tiny;
  const Outcome planned = tiny.ablate({"--dry-run"});
  INFO(planned.out << planned.err);
  CHECK(planned.code == 0);
  CHECK(planned.out.find("4 runs") != std::string::npos);
  CHECK(planned.out.find("FLOPs") != std::string::npos);
  CHECK(planned.out.find("seeds 1, 2; evaluated on the test split at lengths 16, 32") != std::string::npos);
  CHECK(planned.out.find("compared: loss at length 16, each encoding against none") != std::string::npos);
  CHECK(planned.out.find("about ") != std::string::npos);
  CHECK_FALSE(fs::exists(tiny / "studies"));

  const Outcome part = tiny.ablate({"--only", "encoding=rope"});
  INFO(part.out << part.err);
  CHECK(part.code == 0);
  const fs::path study = tiny.made("");
  CHECK(runs_with(study, "status.json").size() == 2);
  CHECK(read_json(study / "summary.json")["complete"] == false);
  CHECK(tiny.ablate({"--report-only"}).code == 0);
  CHECK(tiny.ablate({"--report-only", "--require-claims"}).code == 1);  // it has no claims, and is not complete
  CHECK(tiny.ablate({"--report-only", "--only", "encoding=rope"}).code == 2);
  CHECK(tiny.ablate({"--dry-run", "--require-claims"}).code == 2);

  const auto old_run = runs_with(study, "status.json").front();
  const std::string old_metrics = read_file(old_run / "metrics.jsonl");
  const Outcome changed = tiny.ablate({"--only", "encoding=rope", "train.steps=6"});
  CHECK(changed.code == 0);
  CHECK(read_file(old_run / "metrics.jsonl") != old_metrics);
  std::vector<std::string> kept;
  for (const auto& entry : fs::directory_iterator(study / "earlier"))
    kept.push_back(read_file(entry.path() / "metrics.jsonl"));
  CHECK(kept.size() == 2);
  CHECK(std::find(kept.begin(), kept.end(), old_metrics) != kept.end());
  CHECK(run_ordo({"ablate", "study.yaml", "--dry-run", "--report-only"}, tiny.setting()).code == 2);
  const Outcome no_study = run_ordo({"ablate", "."}, tiny.setting());
  CHECK(no_study.code == 2);
  CHECK(no_study.err.find("is no study") != std::string::npos);
}

TEST_CASE("a run that cannot be made is tried again, told first, and never left out in silence", "[cli]") {
  const StudyFolder folder;
  const fs::path study = folder.made("");
  REQUIRE(folder.ablate().code == 0);
  const auto runs = runs_with(study, "status.json");
  const auto sabotage = [&](const fs::path& run) {
    fs::remove(run / "status.json");
    fs::remove(run / "evaluation.json");
  };
  sabotage(runs[0]);  // its log is a folder: an error that a second try might mend
  fs::remove(runs[0] / "log.txt");
  fs::create_directories(runs[0] / "log.txt");
  sabotage(runs[1]);  // its checkpoints are cut short: no second try helps
  for (const auto& entry : fs::directory_iterator(runs[1]))
    if (entry.is_directory()) fs::resize_file(entry.path() / "model.safetensors", 10);

  const Outcome outcome = folder.ablate();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 1);
  const std::string first_line = outcome.out.substr(0, outcome.out.find('\n'));
  CHECK(first_line.find("2 of 4 runs failed") != std::string::npos);
  const Json again = read_json(runs[0] / "status.json"), wrong = read_json(runs[1] / "status.json");
  CHECK(again["status"] == "failed");
  CHECK(again["attempts"] == 2);
  CHECK(wrong["status"] == "failed");
  CHECK(wrong["attempts"] == 1);
  CHECK(wrong["why"].get<std::string>().find("exit 4") != std::string::npos);
  CHECK(outcome.out.find(wrong["why"].get<std::string>()) != std::string::npos);
  CHECK(read_json(study / "summary.json")["complete"] == false);

  fs::remove(runs[0] / "log.txt");
  fs::remove_all(runs[1]);
  const Outcome mended = folder.ablate();
  INFO(mended.out << mended.err);
  CHECK(mended.code == 0);
  CHECK(read_json(study / "summary.json")["complete"] == true);
}

TEST_CASE("a run that diverges is a result, unless the study says otherwise", "[cli]") {
  constexpr std::string_view kWild =
      "set: [{when: {encoding: rope}, train.optimizer: {kind: adamw, lr: 1e30}, train.clip: 0}]\n";
  const StudyFolder folder(kWild);
  const Outcome outcome = folder.ablate();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  int64_t diverged = 0;
  for (const auto& run : runs_with(folder.made(""), "status.json"))
    diverged += read_json(run / "status.json")["status"] == "diverged" ? 1 : 0;
  CHECK(diverged == 2);

  std::ofstream(folder / "study.yaml", std::ios::app) << "failures: {diverged: fail}\n";
  CHECK(folder.ablate().code == 1);
}

TEST_CASE("tuning tries every value on seeds of its own and goes on with the best", "[cli]") {
  const StudyFolder folder(
      "tune: {keys: {train.optimizer.lr: [1e-9, 1e-2]}, per: [encoding], by: {split: validation, metric: loss}, "
      "seeds: [101]}\n");
  const Outcome outcome = folder.ablate();
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const Json chosen = read_json(folder.made("tune/chosen.json"));
  REQUIRE(chosen.size() == 2);
  for (const auto& arm : chosen) CHECK(arm["chosen"].get<std::string>().find("1e-2") != std::string::npos);
  for (const auto& run : runs_with(folder.made(""), "planned.yaml"))
    CHECK(read_file(run / "planned.yaml").find("lr: 0.01") != std::string::npos);
  const auto made = ends(folder.made(""));
  CHECK(folder.ablate().code == 0);
  CHECK(ends(folder.made("")) == made);
}

TEST_CASE("a tuned study of which a part is made is reported with that part", "[cli]") {
  const StudyFolder folder(
      "tune: {keys: {train.optimizer.lr: [1e-9, 1e-2]}, per: [encoding], by: {split: validation, metric: loss}, "
      "seeds: [101]}\n");
  const Outcome part = folder.ablate({"--only", "encoding=rope", "--only", "seed=1"});
  INFO(part.out << part.err);
  REQUIRE(part.code == 0);
  const auto missing = [&] { return read_json(folder.made("summary.json"))["missing"]; };
  const Json left = Json::array({"runs/none-seed1", "runs/none-seed2", "runs/rope-seed2"});
  CHECK(missing() == left);
  CHECK(part.out.find("not tuned yet, so planned with the values of the base: encoding none") != std::string::npos);
  const std::string before = summary_of(folder.made(""));
  const Outcome report = run_ordo({"report", folder.made("").string()}, folder.setting());
  INFO(report.out << report.err);
  CHECK(report.code == 0);
  CHECK(missing() == left);
  CHECK(summary_of(folder.made("")) == before);

  const auto made = ends(folder.made(""));
  CHECK(folder.ablate().code == 0);
  CHECK(missing().empty());
  CHECK(ends(folder.made("")).at("rope-seed1") == made.at("rope-seed1"));
  CHECK(read_json(folder.made("tune/chosen.json")).size() == 2);
}

TEST_CASE("a part of a study of equal seconds has the steps that it has in the whole", "[cli]") {
  const StudyFolder folder("control: {equal: seconds}\n");
  const Outcome part = folder.ablate({"--only", "encoding=rope"});
  INFO(part.out << part.err);
  REQUIRE(part.code == 0);
  const std::string measured = read_file(folder.made("measured.json"));
  CHECK(parse_json(measured, "measured.json").size() == 2);  // what it is made equal to, too
  const auto made = ends(folder.made(""));
  REQUIRE(made.size() == 2);
  REQUIRE(folder.ablate().code == 0);
  CHECK(read_file(folder.made("measured.json")) == measured);
  for (const auto& [run, end] : made) CHECK(ends(folder.made("")).at(run) == end);
}

TEST_CASE("a trial that failed is told, in the JSON document too", "[cli]") {
  const StudyFolder folder(
      "tune: {keys: {train.optimizer.lr: [1e-9, 1e-2]}, per: [encoding], by: {split: validation, metric: loss}, "
      "seeds: [101]}\n");
  REQUIRE(folder.ablate({"seeds=[1]"}).code == 0);
  const fs::path trial = folder.made("tune/none-lr1e-9-seed101");
  fs::remove(trial / "status.json");
  fs::remove(trial / "evaluation.json");
  fs::remove(trial / "log.txt");
  fs::create_directories(trial / "log.txt");
  const Outcome outcome = folder.ablate({"seeds=[1]", "--json"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 1);
  const Json notes = parse_json(outcome.out, "stdout")["notes"];
  CHECK(std::any_of(notes.begin(), notes.end(), [](const Json& note) {
    return note.get<std::string>().starts_with("a trial failed: tune/none-lr1e-9-seed101: ");
  }));
}

TEST_CASE("a scaling is evaluated as ordo eval does it by hand", "[cli]") {
  const StudyFolder folder;
  const std::string scaling = "{kind: linear, factor: 2}";
  const Outcome outcome =
      folder.ablate({"--only", "encoding=rope", "seeds=[1]", "evaluate.scalings=[" + scaling + "]"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const fs::path run = folder.made("runs/rope-seed1");
  const Json plain = read_json(run / "evaluation.json")["results"],
             scaled = read_json(run / "evaluation-1.json")["results"];
  const Outcome by_hand =
      run_ordo({"eval", run.string(), "--lengths", "16,32", "--split", plain[0]["split"].get<std::string>(), "--json",
                "model.position.scaling=" + scaling},
               folder.setting());
  INFO(by_hand.err);
  const Json results = parse_json(by_hand.out, "stdout")["results"];
  for (const int i : {0, 1}) CHECK(results[i]["metrics"] == scaled[i]["metrics"]);
  CHECK(scaled[1]["metrics"] != plain[1]["metrics"]);
}

TEST_CASE("seconds of a run are measured once, and become steps", "[cli]") {
  const StudyFolder folder("budget: {run: 0.2 s}\n");
  const Outcome outcome = folder.ablate({"seeds=[1]"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string measured = read_file(folder.made("measured.json"));
  for (const auto& one : parse_json(measured, "measured.json")) {
    const auto steps = std::llround(0.2 / one["step_seconds"].get<double>());
    const std::string run =
        read_file(folder.made("runs") / (one["levels"]["encoding"].get<std::string>() + "-seed1") / "planned.yaml");
    CHECK(run.find(fmt::format("steps: {}", std::max(1LL, steps))) != std::string::npos);
  }
  const auto made = ends(folder.made(""));
  CHECK(folder.ablate({"seeds=[1]"}).code == 0);
  CHECK(read_file(folder.made("measured.json")) == measured);
  CHECK(ends(folder.made("")) == made);
}

TEST_CASE("steps that turn out fewer than the warm-up are refused before the first run", "[cli]") {
  const StudyFolder folder("budget: {run: 0.05 s}\n");
  std::string base(kBase);
  base.replace(base.find("steps: 5"), 8, "steps: 1000000");
  base.replace(base.find("constant"), 8, "{kind: cosine, warmup: 900000}");
  write_file(folder / "base.yaml", base);
  const Outcome outcome = folder.ablate({"seeds=[1]"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.err.find("train.schedule.warmup (900000 steps) is longer than the run") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.made("runs")));
}

TEST_CASE("a study whose time is over stops resumable and is reported as incomplete", "[cli]") {
  const StudyFolder folder("budget: {study: 1 s}\n");
  const Outcome outcome = folder.ablate({"-j", "1", "train.steps=100000"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 75);
  CHECK(outcome.out.find("goes on from there") != std::string::npos);
  CHECK(read_json(folder.made("summary.json"))["complete"] == false);
}

}  // namespace ordo::test
