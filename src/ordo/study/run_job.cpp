// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/run_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/study/run_reader.h"
#include "ordo/train/jsonl.h"

namespace ordo {

namespace {

constexpr std::string_view kPlannedFile = "planned.yaml", kConsoleFile = "console.txt", kEarlier = "earlier";
// Exit codes of a child.
constexpr int kConfigFault = 2, kCheckpointFault = 4, kNumericFault = 5;

struct PlannedText {
  std::string head, config;
};
PlannedText planned_text(const PlannedRun& run) {
  return {fmt::format("# {}, planned by ordo ablate\n", run.hash), resolved_yaml(run.config)};
}
PlannedText read_planned(const fs::path& folder) {
  if (!fs::exists(folder / kPlannedFile)) return {};
  const std::string text = read_file(folder / kPlannedFile);
  const size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
  return {text.substr(0, line), text.substr(line)};
}

bool holds_something(const fs::path& folder) {
  if (!fs::exists(folder)) return false;
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const auto& entry) { return entry.path().filename() != "lock"; });
}

// A name under `earlier` that nothing has yet: "runs-rope-seed1-0123abcd", then with -2, -3, …
fs::path earlier_name(const fs::path& study, const std::string& folder, const std::string& head) {
  std::string name = folder;
  std::replace(name.begin(), name.end(), '/', '-');
  if (const size_t hash = head.find(':'); hash != head.npos) name += "-" + head.substr(hash + 1, 8);
  fs::path chosen = study / kEarlier / name;
  for (int count = 2; fs::exists(chosen); ++count) chosen = study / kEarlier / fmt::format("{}-{}", name, count);
  return chosen;
}

void move_aside(const fs::path& study, const PlannedRun& run, const std::string& head) {
  const fs::path aside = earlier_name(study, run.folder, head);
  fs::create_directories(aside.parent_path());
  fs::rename(study / run.folder, aside);
  log::info("{} was made with other settings: it is kept as {}, and the run is made anew", run.folder,
            aside.lexically_relative(study).string());
}

void forget_evaluations(const fs::path& folder) {
  fs::remove(folder / kStatusFile);  // first: from here on the run counts as unfinished
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("evaluation") && name.ends_with(".json")) fs::remove(entry.path());
  }
}

// Null for one that was cut short.
Json metrics_line(const std::string& line) {
  Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return entry.is_object() ? entry : Json();
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t last_step(const fs::path& run) {
  constexpr std::streamoff kEnough = 4096;  // some lines
  std::ifstream in(run / kMetricsFile, std::ios::binary | std::ios::ate);
  if (!in) return 0;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kEnough));
  int64_t step = 0;
  for (std::string line; std::getline(in, line);)
    if (const Json entry = metrics_line(line); !entry.is_null()) step = entry.value("step", step);
  return step;
}

double trained_seconds(const fs::path& run) {
  std::ifstream in(run / kMetricsFile);
  double earlier = 0.0, last = 0.0;
  for (std::string line; std::getline(in, line);) {
    const Json entry = metrics_line(line);
    if (!entry.contains("seconds")) continue;
    const double seconds = entry["seconds"].get<double>();
    if (seconds < last) earlier += last;  // a process of its own begins at zero
    last = seconds;
  }
  return earlier + last;
}

std::string scaling_key(RunConfig config) {
  const Json position = dump_json(walk_of(config)).at("model").value("position", Json::array());
  if (!position.is_array()) return position.contains("scaling") ? "model.position.scaling" : "";
  for (size_t i = 0; i < position.size(); ++i)
    if (position.at(i).contains("scaling"))
      return position.size() == 1 ? "model.position.scaling" : fmt::format("model.position.{}.scaling", i);
  return "";
}

std::string last_error(const fs::path& console, uintmax_t from) {
  constexpr std::string_view kMark = "error: ";
  const std::string text = read_file(console);
  const size_t found = text.rfind(kMark);
  if (found == text.npos || found < from) return "";
  const size_t begin = found + kMark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

void write_planned(const fs::path& study, const PlannedRun& run) {
  const PlannedText text = planned_text(run);
  fs::create_directories(study / run.folder);
  write_file(study / run.folder / kPlannedFile, text.head + text.config);
}

std::vector<std::string> training_words(const PlannedRun& run) {
  return {"train", (fs::path(run.folder) / kPlannedFile).string(), "--run", run.folder, "--quiet"};
}

std::vector<std::string> evaluation_words(const StudyConfig& config, const PlannedRun& run, size_t scaling) {
  std::vector<std::string> words{"eval",    run.folder, "--json",    "--details",
                                 "--split", run.split,  "--lengths", fmt::format("{}", fmt::join(run.lengths, ","))};
  if (scaling > 0)
    words.push_back(fmt::format("{}={}", scaling_key(run.config), config.evaluate.scalings.at(scaling - 1)));
  return words;
}

RunJob::RunJob(const fs::path& study, const StudyConfig& config, const PlannedRun& planned)
    : study_(study), config_(config), planned_(planned), folder_(study / planned.folder) {}

std::optional<RunStatus> RunJob::made() const {
  RunFacts facts;
  read_status(folder_, planned_.hash, facts);
  if (facts.status == RunStatus::done && missing_evaluations().empty()) return RunStatus::done;
  const bool result = facts.status == RunStatus::diverged && config_.failures.diverged == Diverged::result;
  return result ? std::optional(RunStatus::diverged) : std::nullopt;
}

std::vector<size_t> RunJob::missing_evaluations() const {
  std::vector<size_t> numbers{0};
  numbers.insert(numbers.end(), planned_.scalings.begin(), planned_.scalings.end());
  std::erase_if(numbers, [&](size_t number) { return fs::exists(folder_ / evaluation_file(number)); });
  return numbers;
}

bool RunJob::busy() const {
  if (!fs::exists(folder_)) return false;
  try {
    const FolderLock lock(folder_);
    return false;
  } catch (const CheckpointError&) {
    return true;
  }
}

RunJob::Then RunJob::prepare() {
  const PlannedText planned = planned_text(planned_), there = read_planned(folder_);
  if (holds_something(folder_) && there.head != planned.head) {
    if (there.config == planned.config)
      forget_evaluations(folder_);
    else
      move_aside(study_, planned_, there.head);
  }
  if (there.head != planned.head || there.config != planned.config) write_planned(study_, planned_);
  fs::remove(folder_ / kStatusFile);  // of a failure that is tried again

  seconds_ = std::max(seconds_, trained_seconds(folder_));
  trained_ = fs::exists(folder_ / evaluation_file(0));  // evaluations are written whole, and after the training
  evaluations_ = missing_evaluations();
  return evaluations_.empty() ? finish(RunStatus::done, "") : Then::next;
}

void RunJob::start(const std::vector<std::string>& environment) {
  const fs::path console = folder_ / kConsoleFile;
  console_from_ = fs::exists(console) ? fs::file_size(console) : 0;
  began_ = steady_seconds();
  child_ = std::make_unique<Child>(ChildSetting{
      .words = trained_ ? evaluation_words(config_, planned_, evaluations_.front()) : training_words(planned_),
      .folder = study_,
      .environment = environment,
      .log = console,
      .captured = trained_});
}

void RunJob::interrupt() {
  if (!child_) return;
  child_->stop();
  child_->wait();
  seconds_ = seconds();
  child_.reset();
}

double RunJob::seconds() const { return seconds_ + (child_ ? steady_seconds() - began_ : 0.0); }

RunJob::Then RunJob::finish(RunStatus status, std::string why) {
  status_ = status;
  why_ = std::move(why);
  write_file(folder_ / kStatusFile, json_text({{"hash", planned_.hash},
                                               {"status", status_name(status)},
                                               {"why", why_},
                                               {"attempts", attempts_},
                                               {"seconds", seconds_}}));
  return Then::finished;
}

RunJob::Then RunJob::after(const ChildEnd& end) {
  seconds_ = seconds();
  if (end.code == 0 && end.signal == 0) {
    if (trained_) {
      write_file(folder_ / evaluation_file(evaluations_.front()), child_->output());
      evaluations_.erase(evaluations_.begin());
    }
    trained_ = true;
    child_.reset();
    return evaluations_.empty() ? finish(RunStatus::done, "") : Then::next;
  }
  child_.reset();
  const std::string told = last_error(folder_ / kConsoleFile, console_from_),
                    doing = trained_ ? "evaluation" : "training";
  why_ = fmt::format("{} {}{}", doing, end.text(), told.empty() ? "" : ": " + told);
  if (end.code == kNumericFault)
    return finish(config_.failures.diverged == Diverged::result ? RunStatus::diverged : RunStatus::failed, why_);
  const bool wrong = end.code >= kConfigFault && end.code <= kCheckpointFault;
  if (wrong || attempts_ > config_.failures.retry) return finish(RunStatus::failed, why_);
  ++attempts_;
  return Then::again;
}

double RunJob::share_done() const {
  const Quantity& steps = planned_.config.train.steps;
  if (trained_) return 1.0;
  return steps.unit == "steps" && steps.value > 0 ? static_cast<double>(last_step(folder_)) / steps.value : 0.0;
}

std::string RunJob::progress_text() const {
  const std::string name = fs::path(planned_.folder).filename().string();
  if (trained_) return name + " in evaluation";
  const Quantity& steps = planned_.config.train.steps;
  const int64_t step = last_step(folder_);
  if (steps.unit != "steps") return fmt::format("{} at step {}", name, step);
  return fmt::format("{} at step {}/{:.0f}", name, step, steps.value);
}

}  // namespace ordo
