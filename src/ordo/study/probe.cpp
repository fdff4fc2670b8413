// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/train/jsonl.h"

namespace ordo {

namespace {

constexpr int64_t kProbeSteps = 20;
constexpr double kProbeSeconds = 3.0, kProbeAtMost = 60.0;  // of stepping; in all, for steps that are slow
constexpr double kLookEvery = 0.02;
constexpr int kStoppedBySignal = 75;

// Removed at the end.
class ProbeFolder {
 public:
  ProbeFolder() {
    std::string pattern = (fs::temp_directory_path() / "ordo-probe-XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "cannot make the temporary folder {}: {}", pattern,
            std::strerror(errno));
    path_ = pattern;
  }
  ~ProbeFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ProbeFolder(const ProbeFolder&) = delete;
  ProbeFolder& operator=(const ProbeFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// First and last training line of metrics.jsonl.
struct ProbeLines {
  int64_t first = 0, last = 0;  // steps; 0: there is none
  double first_at = 0.0, last_at = 0.0;
  bool tell_enough() const { return last - first >= kProbeSteps || (last > first + 1 && last_at > kProbeSeconds); }
};
ProbeLines probe_lines(const fs::path& run) {
  ProbeLines lines;
  std::ifstream in(run / kMetricsFile);
  for (std::string line; std::getline(in, line);) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object() || entry.value("kind", "") != "train") continue;
    lines.last = entry.value("step", int64_t{0});
    lines.last_at = entry.value("seconds", 0.0);
    if (lines.first == 0) std::tie(lines.first, lines.first_at) = std::tie(lines.last, lines.last_at);
  }
  return lines;
}

// Some probes at the same time, as the study will have them.
class ProbeBatch {
 public:
  ProbeBatch(const fs::path& folder, const StudyConfig& config, const RunnerOptions& options)
      : folder_(folder), config_(config), options_(options) {}

  std::vector<RunProbe> make(std::span<const PlannedRun* const> runs) {
    for (const PlannedRun* run : runs) {
      Candidate& candidate = candidates_.emplace_back(Candidate{.probe = {.run = run}, .planned = *run});
      candidate.planned.folder = fs::path(run->folder).filename().string();
      candidate.planned.config.train.log_every = 1;
      write_planned(folder_, candidate.planned);
    }
    train();
    evaluate();
    std::vector<RunProbe> probes;
    for (auto& candidate : candidates_) probes.push_back(std::move(candidate.probe));
    return probes;
  }

 private:
  struct Candidate {
    RunProbe probe;
    PlannedRun planned;
    std::unique_ptr<Child> child = {};
    double began = 0.0;
    bool measured = false, ended = false;
  };

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void start(Candidate& candidate, std::vector<std::string> words) {
    const auto place = static_cast<size_t>(&candidate - candidates_.data());
    candidate.began = steady_seconds();
    candidate.measured = candidate.ended = false;
    candidate.child = std::make_unique<Child>(ChildSetting{.words = std::move(words),
                                                           .folder = folder_,
                                                           .environment = child_environment(options_, place),
                                                           .log = console(candidate)});
  }
  fs::path console(const Candidate& candidate) const { return folder_ / (candidate.planned.folder + ".txt"); }
  std::string told(const Candidate& candidate, std::string_view what, const ChildEnd& end) const {
    return fmt::format("{} {}: {}", what, end.text(), last_error(console(candidate), 0));
  }

  // Until all have ended or a stop is asked for; the children that still run are ended with this object.
  template <class Look>
  void watch(Look look) {
    while (!stopped()) {
      std::vector<const Child*> running;
      for (auto& candidate : candidates_) {
        if (candidate.child == nullptr || candidate.ended) continue;
        look(candidate);
        if (!candidate.ended) running.push_back(candidate.child.get());
      }
      if (running.empty()) return;
      wait_for_any(running, kLookEvery);
    }
  }

  void train() {
    for (auto& candidate : candidates_) start(candidate, training_words(candidate.planned));
    watch([&](Candidate& candidate) {
      const auto end = candidate.child->poll();
      const ProbeLines lines = probe_lines(folder_ / candidate.planned.folder);
      const double seconds = steady_seconds() - candidate.began;
      if (!candidate.measured && (end || lines.tell_enough() || seconds > kProbeAtMost)) {
        measure(candidate, lines, seconds);
        candidate.child->stop();
      }
      if (!end) return;
      candidate.ended = true;
      if (end->signal != 0 || (end->code != 0 && end->code != kStoppedBySignal))
        candidate.probe.why = told(candidate, "training", *end);
    });
  }

  static void measure(Candidate& candidate, const ProbeLines& lines, double seconds) {
    RunProbe& probe = candidate.probe;
    candidate.measured = true;
    if (lines.last <= lines.first) {
      probe.why = fmt::format("it made {} step(s) in {:.0f} s", lines.last, seconds);
      return;
    }
    probe.steps = lines.last;
    probe.step = (lines.last_at - lines.first_at) / static_cast<double>(lines.last - lines.first);
    probe.start = std::max(0.0, seconds - lines.last_at);
  }

  void evaluate() {
    for (auto& candidate : candidates_)
      if (candidate.probe.why.empty() && !stopped()) start(candidate, evaluation_words(config_, candidate.planned, 0));
    watch([&](Candidate& candidate) {
      const auto end = candidate.child->poll();
      if (!end) return;
      candidate.ended = true;
      candidate.probe.evaluation = steady_seconds() - candidate.began;
      if (end->code != 0 || end->signal != 0) candidate.probe.why = told(candidate, "evaluation", *end);
    });
  }

  const fs::path& folder_;
  const StudyConfig& config_;
  const RunnerOptions& options_;
  std::vector<Candidate> candidates_;
};

}  // namespace

int64_t planned_steps(const RunConfig& config) {
  const Quantity& steps = config.train.steps;
  HorizonFacts facts{.tokens_per_step = static_cast<double>(rows_of(config.train) * row_length(config)) *
                                        static_cast<double>(config.train.accumulate)};
  if (steps.unit == "epochs")
    facts.steps_per_epoch =
        make_task(config)
            ->open({.batch_size = rows_of(config.train), .length = config.train.length, .seed = config.seed()})
            ->batches_per_epoch() /
        static_cast<double>(config.train.accumulate);
  return horizon_steps(steps, facts);
}

std::vector<const PlannedRun*> runs_to_probe(std::span<const PlannedRun> planned) {
  std::vector<const PlannedRun*> chosen;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& run : planned) {
    const size_t before = seen.size();
    seen.insert(run.levels.begin(), run.levels.end());
    if (seen.size() > before || chosen.empty()) chosen.push_back(&run);
  }
  if (chosen.size() <= kMostProbes) return chosen;
  std::vector<const PlannedRun*> spread;
  for (size_t i = 0; i < kMostProbes; ++i) spread.push_back(chosen[i * (chosen.size() - 1) / (kMostProbes - 1)]);
  return spread;
}

std::vector<RunProbe> probe(const StudyConfig& config, std::span<const PlannedRun* const> runs,
                            const RunnerOptions& options) {
  const ProbeFolder folder;
  std::vector<RunProbe> probes;
  const auto at_once = static_cast<size_t>(std::max<int64_t>(1, options.processes));
  for (size_t begin = 0; begin < runs.size(); begin += at_once) {
    if (options.stop != nullptr && options.stop->load()) break;
    log::progress(fmt::format("probing {} of {}: some steps each", begin + 1, runs.size()));
    ProbeBatch batch(folder.path(), config, options);
    for (auto& one : batch.make(runs.subspan(begin, std::min(at_once, runs.size() - begin))))
      probes.push_back(std::move(one));
  }
  log::progress("");
  return probes;
}

const RunProbe* nearest_probe(std::span<const RunProbe> probes, const Combination& levels) {
  const RunProbe* nearest = nullptr;
  std::ptrdiff_t most = -1;
  for (const auto& one : probes) {
    const auto common = std::count_if(levels.begin(), levels.end(), [&](const auto& level) {
      return std::find(one.run->levels.begin(), one.run->levels.end(), level) != one.run->levels.end();
    });
    if (!one.why.empty() || common <= most) continue;
    nearest = &one;
    most = common;
  }
  return nearest;
}

}  // namespace ordo
