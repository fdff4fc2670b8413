// SPDX-License-Identifier: Apache-2.0
// Training as a user runs it: stopped, started again, replayed, evaluated, sampled, on full disks and in folders that
// are taken.
#include "support/catch.h"

#include <fmt/core.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "support/program.h"
#include "support/signal_files.h"

namespace ordo::test {
namespace {

// Dropout, accumulation, averages, two epochs with a smaller last batch: all that a resume can get wrong. Steps take
// some tens of milliseconds.
constexpr std::string_view kHard = R"(name: hard
seed: 3
task:
  kind: language_modeling
  tokenizer: char
  sampling: packed
  data: {generate: {kind: chase, sentences: 30, held_out: 4}}
model:
  kind: decoder
  dim: 64
  layers: 3
  attention: {heads: 4, dropout: 0.1}
  position: rope
  dropout: 0.1
train:
  steps: 2 epochs
  batch_size: 3
  length: 32
  accumulate: 3
  ema: 0.9
  log_every: 1
  optimizer: {kind: adamw, lr: 3e-3}
  schedule: {kind: cosine, warmup: 2}
evaluate: {every: 4}
checkpoint: {every: 3, keep: 20}
)";

// Small and quick, and bytes in any language.
constexpr std::string_view kQuick = R"(name: quick
task:
  kind: language_modeling
  tokenizer: byte
  data: {generate: {kind: chase, sentences: 50, held_out: 5}}
model:
  kind: decoder
  dim: 32
  layers: 2
  attention: {heads: 2}
  position: learned
train:
  steps: 6
  batch_size: 4
  length: 32
  log_every: 1
  optimizer: {kind: adamw, lr: 3e-3}
  schedule: constant
checkpoint: {every: 2}
)";

// A single step takes seconds: time to act while it runs.
constexpr std::string_view kSlow = R"(name: slow
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 400, held_out: 5}}}
model: {kind: decoder, dim: 256, layers: 6, attention: {heads: 4}, position: rope}
train: {steps: 50, batch_size: 16, length: 256, accumulate: 64}   # a step outlasts the test
)";

Arguments train_words(const fs::path& config, const fs::path& run, const Arguments& more = {}) {
  Arguments words{"train", config.string(), "--run", run.string(), "device=cpu"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Setting threads(int count) { return {.environment = {"OMP_NUM_THREADS=" + std::to_string(count)}}; }

// Every file of a run's last checkpoint, but for the time in its manifest.
std::vector<std::pair<std::string, std::string>> last_checkpoint(const fs::path& run) {
  std::string name = read_file(run / "last");
  name.erase(name.find_last_not_of('\n') + 1);
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto* file : {"model.safetensors", "optimizer.safetensors", "ema.safetensors", "state.json"})
    if (fs::exists(run / name / file)) files.emplace_back(file, read_file(run / name / file));
  return files;
}

// metrics.jsonl without what depends on the clock.
std::vector<Json> metrics(const fs::path& run) {
  std::vector<Json> lines;
  std::ifstream in(run / "metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    Json entry = parse_json(line, "metrics.jsonl");
    for (const auto* timed : {"tokens_per_second", "seconds", "peak_memory"}) entry.erase(timed);
    lines.push_back(std::move(entry));
  }
  return lines;
}

void check_same_run(const fs::path& a, const fs::path& b) {
  const auto first = last_checkpoint(a), second = last_checkpoint(b);
  REQUIRE(first.size() == second.size());
  CHECK(first.size() == 4);
  for (size_t i = 0; i < first.size(); ++i) {
    INFO(first[i].first);
    CHECK((first[i].second == second[i].second));  // in brackets: a failure need not print megabytes
  }
  CHECK(metrics(a) == metrics(b));
}

}  // namespace

TEST_CASE("a run stopped by signals at five steps ends with the bytes of the run that was never stopped", "[cli]") {
  for (const int count : {1, 2}) {
    const Scratch scratch;
    const auto config = scratch.write("hard.yaml", std::string(kHard));
    const Outcome whole = run_ordo(train_words(config, scratch / "whole"), threads(count));
    INFO(whole.err);
    REQUIRE(whole.code == 0);
    int step = 0;
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGHUP, SIGTERM}) {
      Process running(ordo_program(), train_words(config, scratch / "stopped"), threads(count));
      REQUIRE(running.wait_for("step " + std::to_string(step + 1) + "/"));
      running.signal(signal);
      const Outcome stopped = running.finish();
      INFO(stopped.err);
      REQUIRE(stopped.code == 75);
      CHECK(stopped.out.find("the same command goes on") != std::string::npos);
      step = static_cast<int>(metrics(scratch / "stopped").back()["step"]);
    }
    const Outcome finished = run_ordo(train_words(config, scratch / "stopped"), threads(count));
    INFO(finished.err);
    REQUIRE(finished.code == 0);
    check_same_run(scratch / "whole", scratch / "stopped");
    const Outcome replayed = run_ordo({"replay", (scratch / "stopped").string()}, threads(count));
    INFO(replayed.out << replayed.err);
    CHECK(replayed.code == 0);
    CHECK(replayed.out.find("replay: holds") != std::string::npos);
  }
}

TEST_CASE("replay says where a run does not hold", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const fs::path run = scratch / "run";
  REQUIRE(run_ordo(train_words(config, run), threads(1)).code == 0);
  const auto holds = [&](const Arguments& more) {
    Arguments words{"replay", run.string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_ordo(words, threads(1));
    INFO(outcome.out << outcome.err);
    const Json told = parse_json(outcome.out, "stdout");
    CHECK(outcome.code == (told["holds"] ? 0 : 1));
    return told["holds"].get<bool>();
  };
  CHECK(holds({}));
  CHECK(holds({"--from", "0"}));
  CHECK(holds({"--from", "2", "--steps", "1"}));
  CHECK(run_ordo({"replay", run.string(), "--from", "3"}).code == 2);

  std::string text = read_file(run / "metrics.jsonl");
  write_file(run / "metrics.jsonl", text + R"({"kind":"train","st)");  // a crash cut the last line
  CHECK(holds({}));
  const size_t loss = text.find("\"loss\":", text.find("\"step\":6"));
  text[text.find(',', loss) - 1] ^= 1;  // the last digit of the loss of step 6
  write_file(run / "metrics.jsonl", text);
  CHECK_FALSE(holds({}));
}

TEST_CASE("replay holds across a rise of train.steps, and under overrides", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const Arguments cosine{"train.schedule={kind: cosine, warmup: 1}"};
  REQUIRE(run_ordo(train_words(config, scratch / "run", cosine), threads(1)).code == 0);
  REQUIRE(run_ordo(train_words(config, scratch / "run", {cosine[0], "train.steps=8"}), threads(1)).code == 0);
  const Outcome outcome = run_ordo({"replay", (scratch / "run").string(), "device=cpu"}, threads(1));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("against step-00000008") != std::string::npos);
  CHECK(run_ordo({"replay", (scratch / "run").string(), "train.clip=0.01"}, threads(1)).code == 1);
}

TEST_CASE("a finished run is left as it is, and goes on when it is given more steps", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const fs::path run = scratch / "run";
  REQUIRE(run_ordo(train_words(config, run)).code == 0);
  const auto before = metrics(run);
  const Outcome again = run_ordo(train_words(config, run));
  CHECK(again.code == 0);
  CHECK(again.err.find("complete") != std::string::npos);
  CHECK(metrics(run) == before);
  CHECK(run_ordo(train_words(config, run, {"train.steps=8"})).code == 0);
  CHECK(metrics(run).back()["step"] == 8);
  CHECK(run_ordo(train_words(config, run, {"train.steps=3"})).code == 2);
}

TEST_CASE("the config of a run goes on in that run's folder, whatever the run is called", "[cli]") {
  const Scratch scratch;
  scratch.write("quick.yaml", std::string(kQuick));
  const Setting here{.folder = scratch.path()};
  REQUIRE(run_ordo({"train", "quick.yaml", "--run", "runs/b", "device=cpu", "train.steps=2", "checkpoint.keep=9"}, here)
              .code == 0);
  int steps = 2;
  for (const char* subject :
       {"runs/b/config.yaml", "runs/b", "runs/b/step-00000002", "runs/b/step-00000002/config.yaml"}) {
    const Outcome onward = run_ordo({"train", subject, fmt::format("train.steps={}", ++steps)}, here);
    INFO(subject << onward.err);
    CHECK(onward.code == 0);
    CHECK(onward.err.find("goes on from runs/b/step-") != std::string::npos);
    CHECK(metrics(scratch / "runs/b").back()["step"] == steps);
  }
  CHECK_FALSE(fs::exists(scratch / "runs/quick"));
  const Outcome refused = run_ordo({"train", "runs/b", "model.dim=64", "--quiet"}, here);
  CHECK(refused.code == 2);
  CHECK(refused.err.find("since runs/b/step-") != std::string::npos);
  const Outcome renamed = run_ordo({"train", "runs/b/config.yaml", "name=c", "train.steps=1"}, here);
  CHECK(renamed.code == 0);
  CHECK(renamed.err.find("into the run folder runs/c") != std::string::npos);
  scratch.write("plain/config.yaml", std::string(kQuick));
  CHECK(run_ordo({"train", "plain/config.yaml", "train.steps=1"}, here).err.find("runs/quick") != std::string::npos);
}

TEST_CASE("a changed model is refused on resume, key by key", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  REQUIRE(run_ordo(train_words(config, scratch / "run")).code == 0);
  const Outcome refused = run_ordo(train_words(config, scratch / "run", {"model.dim=64", "train.steps=9"}));
  INFO(refused.err);
  CHECK(refused.code == 2);
  CHECK(refused.err.find("model.dim") != std::string::npos);
  CHECK(refused.err.find("64") != std::string::npos);
}

TEST_CASE("--resume never and --resume PATH do not mix two runs in one folder", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  REQUIRE(run_ordo(train_words(config, scratch / "run")).code == 0);
  const Outcome never = run_ordo(train_words(config, scratch / "run", {"--resume", "never"}));
  CHECK(never.code == 2);
  CHECK(never.err.find("--run") != std::string::npos);
  CHECK(
      run_ordo(train_words(config, scratch / "run", {"--resume", (scratch / "run" / "step-00000002").string()})).code ==
      2);
  const Outcome branch =
      run_ordo(train_words(config, scratch / "branch", {"--resume", (scratch / "run" / "step-00000004").string()}));
  INFO(branch.err);
  REQUIRE(branch.code == 0);
  CHECK(metrics(scratch / "branch").front()["step"] == 5);
}

TEST_CASE("two trainings in one folder: the second is refused and told who has it", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("slow.yaml", std::string(kSlow));
  Process first(ordo_program(), train_words(config, scratch / "run"), {});
  REQUIRE(first.wait_for("training 'slow'"));
  const Outcome second = run_ordo(train_words(config, scratch / "run"));
  INFO(second.err);
  CHECK(second.code == 4);
  CHECK(second.err.find("is in use by process") != std::string::npos);
  // One interrupt would let the step end; the second ends it at once.
  first.signal(SIGINT);
  REQUIRE(first.wait_for("interrupt again"));
  first.signal(SIGINT);
  CHECK(first.finish().code == 130);
}

TEST_CASE("a full disk costs checkpoints and ends in a clear word, never in an abort", "[cli]") {
  const Scratch scratch;
  const fs::path small = scratch / "small";
  fs::create_directories(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=300k") != 0) {
    WARN("skipped: mounting a small disk takes root");
    return;
  }
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const Outcome outcome = run_ordo(train_words(config, small / "run"));
  umount(small.c_str());
  INFO(outcome.err);
  CHECK(outcome.code == 4);
  CHECK(outcome.err.find("No space left") != std::string::npos);
  CHECK(outcome.err.find("error: ") != std::string::npos);
}

TEST_CASE("eval gives the numbers of the training to the last digit, and refuses a length without failing", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const fs::path run = scratch / "run";
  REQUIRE(run_ordo(train_words(config, run), threads(1)).code == 0);
  const Outcome outcome =
      run_ordo({"eval", run.string(), "--checkpoint", "last", "--lengths", "32,16,64", "--json"}, threads(1));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const Json results = parse_json(outcome.out, "stdout")["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["metrics"] == metrics(run).back()["metrics"]);
  CHECK(results[0]["checkpoint"] == "step-00000006");
  CHECK(results[0]["tokens"].is_number_integer());
  CHECK(results[0]["protocol"] == "non_overlapping");
  CHECK(results[2]["metrics"].is_null());
  CHECK(results[2]["refused"].get<std::string>().find("32") != std::string::npos);
  const Outcome table = run_ordo({"eval", run.string(), run.string()});
  CHECK(table.code == 0);
  CHECK(table.out.find("perplexity") != std::string::npos);
  CHECK(run_ordo({"eval", run.string(), "--checkpoint", "5"}).code == 4);
  CHECK(run_ordo({"eval", (scratch / "nothing").string()}).code == 4);
  const Outcome untrained = run_ordo({"eval", run.string(), config.string()});
  CHECK(untrained.code == 2);
  CHECK(untrained.out.empty());
  CHECK(untrained.err.find("is a config, not a run: train it first") != std::string::npos);
  const Outcome two_words = run_ordo({"eval", run.string(), "--lengths", "16", "32"});
  CHECK(two_words.code == 2);
  CHECK(two_words.err.find("--lengths 64,32") == std::string::npos);
  CHECK(two_words.err.find("--lengths 16,32") != std::string::npos);
  const Outcome few = run_ordo({"eval", run.string(), "--lengths", "100000", "model.position=rope"});
  CHECK(few.out.find("at length 100000: no window is that long: the longest has ") != std::string::npos);
}

TEST_CASE("generate continues prompts in any script, one or several, the same for the same seed", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const std::string run = (scratch / "run").string();
  REQUIRE(run_ordo(train_words(config, run)).code == 0);
  const Arguments words{"generate", run, "--prompt", "Ünïcødé 猫 ", "-n", "12", "--seed", "5"};
  const Outcome one = run_ordo(words);
  INFO(one.out << one.err);
  CHECK(one.code == 0);
  CHECK(one.out.starts_with("Ünïcødé 猫 "));
  CHECK(valid_utf8(one.out));
  CHECK(run_ordo(words).out == one.out);
  CHECK(run_ordo({"generate", run, "-", "-n", "4"}, {.input = "the cat\n"}).out.starts_with("the cat"));
  CHECK(run_ordo({"generate", run, "--prompt", "a=b", "-n", "4"}).out.starts_with("a=b"));
  const Outcome several =
      run_ordo({"generate", run, "--prompt", "the cat", "--prompt", "anna", "-n", "6", "--greedy", "--json"});
  const Json results = parse_json(several.out, "stdout")["results"];
  REQUIRE(results.size() == 2);
  CHECK(results[1]["tokens"].size() == 6);
  CHECK(run_ordo({"generate", run, "--prompt", "\xff\xfe"}).code == 3);
  const Outcome too_long = run_ordo({"generate", run, "--prompt", "the cat", "-n", "100"});
  CHECK(too_long.code == 2);  // the learned table has 32 places
  CHECK(too_long.out.empty());
  const Outcome all_that_fit = run_ordo({"generate", run, "--prompt", "the cat", "--json"});
  CHECK(all_that_fit.code == 0);
  CHECK(all_that_fit.err.find("26 token(s), all that fit") != std::string::npos);
  CHECK(parse_json(all_that_fit.out, "stdout")["results"][0]["tokens"].size() == 26);
}

TEST_CASE("a model with room to spare writes only ids that its tokenizer has", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const std::string run = (scratch / "run").string();
  const Arguments roomy{"task.tokenizer=char", "task.vocab_size=500", "train.steps=1", "model.position=rope"};
  REQUIRE(run_ordo(train_words(config, run, roomy)).code == 0);
  const Outcome outcome = run_ordo({"generate", run, "--prompt", "the", "--temperature", "100"});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("a character that the model never saw is named", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  REQUIRE(run_ordo(train_words(config, scratch / "run", {"task.tokenizer=char", "train.steps=1"})).code == 0);
  const Outcome outcome = run_ordo({"generate", (scratch / "run").string(), "--prompt", "the 猫"});
  INFO(outcome.err);
  CHECK(outcome.code == 3);
  CHECK(outcome.err.find("猫") != std::string::npos);
}

TEST_CASE("bench speaks the lockstep protocol and prints one JSON line a block", "[cli]") {
  const Scratch scratch;
  const auto config = scratch.write("quick.yaml", std::string(kQuick));
  const Outcome outcome = run_ordo({"bench", config.string(), "--warmup", "1", "--steps", "2"},
                                   {.input = "go\ngo\nstop\n", .environment = {"ORDO_BENCH_LOCKSTEP=1"}});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  std::vector<Json> lines;
  for (size_t begin = 0; begin < outcome.out.size();) {
    const size_t end = outcome.out.find('\n', begin);
    lines.push_back(parse_json(outcome.out.substr(begin, end - begin), "a line"));
    begin = end + 1;
  }
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["ready"] == true);
  for (const auto* field : {"tokens", "sec", "cpu_s", "peak_rss_mb", "loss_at", "peak_gflops"})
    CHECK(lines[1].contains(field));
  CHECK(lines[1]["tokens"] == 2 * 4 * 32);
  CHECK(lines[1]["share"].get<double>() > 0.0);
  CHECK(lines[2]["loss_at"].contains("5"));
}

// Small files in place of the data that a shipped config asks the user for.
class SampleData {
 public:
  explicit SampleData(const Scratch& scratch) {
    std::string lines, commands, sentences, source, target;
    for (int i = 0; i < 400; ++i) {
      lines += "To be, or not to be, that is the question: line " + std::to_string(i) + "\n";
      commands += i % 2 == 0 ? "IN: jump twice OUT: I_JUMP I_JUMP\n" : "IN: walk OUT: I_WALK\n";
      sentences += i % 2 == 0 ? "A cat ran .\tcat ( x ) AND ran ( x )\tin_distribution\n" : "A dog .\tdog\tprimitive\n";
      source += "reverse A B\n";
      target += "B A\n";
    }
    text_ = scratch.write("input.txt", lines);
    scan_ = scratch.write("scan.txt", commands);
    cogs_ = scratch.write("cogs.tsv", sentences);
    pcfg_ = scratch.write("pcfg.src", source);
    scratch.write("pcfg.tgt", target);
    std::string dialogues;
    for (int i = 0; i < 20; ++i)
      dialogues +=
          "{\"turns\": [{\"role\": \"user\", \"text\": \"where to?\"}, {\"role\": \"system\", \"text\": \"home\"}]}\n";
    dialogues_ = scratch.write("dialogues.jsonl", dialogues);
    std::string pairs;
    for (int i = 0; i < 400; ++i) pairs += fmt::format("sentence {} of many\tphrase {} de beaucoup\n", i, i);
    pairs_ = scratch.write("pairs.tsv", pairs);
    write_labelled(scratch);
    write_signals(scratch);
  }
  Arguments overrides(const std::string& config) const {
    const auto holds = [&](const char* part) { return config.find(part) != std::string::npos; };
    if (holds("train: input.txt,")) return {"task.data.train=" + text_.string()};
    if (holds("digits.csv")) return {"task.data.train=" + digits_.string()};
    if (holds("t10k-images"))
      return {"task.data.train=" + images_.string(), "task.data.train_labels=" + marks_.string()};
    if (holds("recordings/*.wav")) return {"task.data.train=" + sounds_.string()};
    if (holds("kind: scan")) return {"task.train=" + scan_.string()};
    if (holds("kind: cogs")) return {"task.train=" + cogs_.string(), "task.validation=" + cogs_.string()};
    if (holds("kind: pcfg_set")) return {"task.train=" + pcfg_.string(), "task.validation=" + pcfg_.string()};
    if (holds("name: sentence_polarity"))
      return {"task.data.by_class.0.files=" + against_.string(), "task.data.by_class.1.files=" + for_.string()};
    if (holds("train.tsv")) return splits(moods_, {"task.classes_file=" + moods_names_.string()});
    if (holds("reviewbody")) return splits(stars_, {});
    if (holds("sgd_train.json"))
      return {"task.data.train=" + dialogues_.string(), "task.data.test=" + dialogues_.string()};
    if (holds("crosswoz.json")) return {"task.data.train=" + dialogues_.string()};
    if (holds("cmn.txt.gz")) return {"task.data.train.files=" + pairs_.string(), "task.tokenizer.vocab_size=48"};
    if (holds("tang.tsv")) return {"task.data.train=" + pairs_.string(), "task.data.column=1"};
    if (holds("valid.txt.gz")) return {"task.data.train=" + text_.string(), "task.data.test=" + text_.string()};
    return {};
  }

 private:
  static Arguments splits(const fs::path& file, Arguments words) {
    for (const char* split : {"train", "validation", "test"})
      words.push_back(fmt::format("task.data.{}={}", split, file.string()));
    return words;
  }
  void write_signals(const Scratch& scratch) {
    std::string pixels, marks;
    for (int i = 0; i < 200; ++i) {
      for (int p = 0; p < 28 * 28; ++p) pixels += static_cast<char>((i * p) % 256);
      marks += static_cast<char>(i % 7);
    }
    write_spoken_digits([&](const std::string& name, const std::string& sound) { scratch.write(name, sound); });
    digits_ = scratch.write("digits.csv", digits_table(600));
    images_ = scratch.write("images", idx_file({200, 28, 28}, pixels));
    marks_ = scratch.write("marks", idx_file({200}, marks));
    sounds_ = scratch / "*.wav";
  }
  void write_labelled(const Scratch& scratch) {
    std::string against, in_favour, moods, stars = "reviewbody,star\n";
    for (int i = 0; i < 40; ++i) {
      against += "a dull film\n";
      in_favour += "a fine film\n";
      moods += fmt::format("I think so .\t{}\tid{}\n", i % 10 == 0 ? "1,2" : std::to_string(i % 4), i);
      stars += fmt::format("\"好吃, 很好\",{}.0\n", 1 + i % 5);
    }
    against_ = scratch.write("neg", against);
    for_ = scratch.write("pos", in_favour);
    moods_ = scratch.write("moods.tsv", moods);
    moods_names_ = scratch.write("labels.txt", "ambiguous\nnegative\nneutral\npositive\n");
    stars_ = scratch.write("stars.csv", stars);
  }
  fs::path text_, scan_, cogs_, pcfg_, against_, for_, moods_, moods_names_, stars_, dialogues_, pairs_;
  fs::path digits_, images_, marks_, sounds_;
};

// Recipes over files of series, which series_test.cpp steps.
bool reads_series(const fs::path& config) {
  const std::set<std::string> names{"airline",           "commits", "etth1", "etth1_decoder",
                                    "etth1_differences", "glucose", "stocks"};
  return names.contains(config.stem().string());
}

TEST_CASE("every shipped config is read, assembled and stepped once", "[cli]") {
  const Scratch scratch;
  const SampleData data(scratch);
  size_t tried = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ORDO_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml" || reads_series(entry.path())) continue;
    const std::string config = read_file(entry.path());
    if (config.find("\nvary:") != std::string::npos) continue;  // a study
    Arguments words{"check", entry.path().string(), "--step", "--json"};
    for (const auto& word : data.overrides(config)) words.push_back(word);
    const Outcome outcome = run_ordo(words);
    INFO(entry.path() << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(parse_json(outcome.out, "stdout")["step"]["loss"].get<double>() > 0.0);
    ++tried;
  }
  CHECK(tried >= 60);
}

}  // namespace ordo::test
