// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "ordo/core/log.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr double kTellEvery = 0.25;    // seconds between looks at the progress
constexpr double kBusyAtMost = 120.0;  // after so long a process in a run's folder is no leftover of a killed study

class Runner {
 public:
  Runner(const fs::path& study, const StudyConfig& config, const RunnerOptions& options, std::string_view what)
      : study_(study), config_(config), options_(options), what_(what) {}

  RunnerReport run(std::span<const PlannedRun> planned) {
    for (const auto& one : planned) take(one);
    all_ = static_cast<int64_t>(planned.size());
    at_work_.resize(static_cast<size_t>(std::clamp<int64_t>(options_.processes, 1, std::max<int64_t>(1, all_))));
    while (!over() && unfinished()) {
      fill();
      wait_for_children();
      settle();
      tell();
    }
    if (unfinished()) interrupt();
    log::progress("");
    report_.left = static_cast<int64_t>(waiting_.size());
    return std::move(report_);
  }

 private:
  using Job = std::unique_ptr<RunJob>;

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  bool out_of_time() const { return options_.until > 0.0 && steady_seconds() >= options_.until; }
  bool over() const { return stopped() || out_of_time(); }
  int64_t working() const {
    return std::count_if(at_work_.begin(), at_work_.end(), [](const Job& job) { return job != nullptr; });
  }
  bool unfinished() const { return !waiting_.empty() || working() > 0; }
  int64_t finished() const { return report_.done + report_.diverged + static_cast<int64_t>(report_.failed.size()); }

  void take(const PlannedRun& planned) {
    auto job = std::make_unique<RunJob>(study_, config_, planned);
    const auto made = job->made();
    if (made == RunStatus::done)
      ++report_.done;
    else if (made == RunStatus::diverged)
      ++report_.diverged;
    else
      waiting_.push_back(std::move(job));
  }

  // The first waiting run whose folder is free; null when there is none.
  Job next_free() {
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if ((*it)->busy()) continue;
      Job job = std::move(*it);
      waiting_.erase(it);
      return job;
    }
    return nullptr;
  }

  void fill() {
    for (size_t place = 0; place < at_work_.size(); ++place)
      while (at_work_[place] == nullptr && !waiting_.empty()) {
        Job job = next_free();
        if (job == nullptr) return wait_for_folders();
        busy_since_ = 0.0;
        if (job->prepare() == RunJob::Then::finished)
          count(*job);
        else
          begin(std::move(job), place);
      }
  }

  void begin(Job job, size_t place) {
    job->start(child_environment(options_, place));
    at_work_[place] = std::move(job);
  }

  // All folders that are left belong to other processes.
  void wait_for_folders() {
    if (working() > 0) return;
    if (busy_since_ == 0.0) {
      busy_since_ = steady_seconds();
      log::info("another process works in {}: waiting for its end", waiting_.front()->planned().folder);
    }
    if (steady_seconds() - busy_since_ < kBusyAtMost) return;
    busy_since_ = 0.0;
    const std::string& folder = waiting_.front()->planned().folder;
    fail(folder, fmt::format("another process has worked in it for {}", duration_text(kBusyAtMost)));
    waiting_.pop_front();
  }

  void wait_for_children() const {
    std::vector<const Child*> children;
    for (const auto& job : at_work_)
      if (job != nullptr) children.push_back(job->child());
    const double left = options_.until > 0.0 ? options_.until - steady_seconds() : kTellEvery;
    wait_for_any(children, std::min(kTellEvery, left));
  }

  void settle() {
    for (size_t place = 0; place < at_work_.size(); ++place) {
      if (at_work_[place] == nullptr) continue;
      const auto end = at_work_[place]->child()->poll();
      if (end && !(stopped() && (end->code != 0 || end->signal != 0))) settle(std::move(at_work_[place]), *end, place);
    }
  }

  void settle(Job job, const ChildEnd& end, size_t place) {
    switch (job->after(end)) {
      case RunJob::Then::next:
        return begin(std::move(job), place);
      case RunJob::Then::again:
        log::warn("{}: {}; it is tried again", job->planned().folder, job->why());
        waiting_.push_back(std::move(job));
        return;
      case RunJob::Then::finished:
        return count(*job);
    }
  }

  void count(const RunJob& job) {
    const std::string& folder = job.planned().folder;
    spent_ += job.seconds();
    ++made_here_;
    if (job.status() == RunStatus::failed) return fail(folder, job.why());
    if (job.status() == RunStatus::diverged) {
      ++report_.diverged;
      return log::warn("{} diverged: {}", folder, job.why());
    }
    ++report_.done;
    log::debug("{} is done in {}", folder, duration_text(job.seconds()));
  }

  void fail(const std::string& folder, const std::string& why) {
    log::warn("{} failed: {}", folder, why);
    report_.failed.emplace_back(folder, why);
  }

  // All at once, then one after another: each ends in its own time.
  void interrupt() {
    report_.end = stopped() ? RunnerReport::End::stopped : RunnerReport::End::out_of_time;
    for (const auto& job : at_work_)
      if (job != nullptr) job->child()->stop();
    for (auto& job : at_work_) {
      if (job == nullptr) continue;
      job->interrupt();
      waiting_.push_front(std::move(job));
    }
  }

  // Of one run, from those made here and those under way; 0: nothing is known yet.
  double seconds_of_a_run() const {
    double seconds = spent_, runs = static_cast<double>(made_here_);
    for (const auto& job : at_work_) {
      if (job == nullptr) continue;
      const double share = job->share_done();
      constexpr double kEnoughToTell = 0.1;
      if (share < kEnoughToTell) continue;
      seconds += job->seconds();
      runs += share;
    }
    return runs > 0.0 ? seconds / runs : 0.0;
  }

  void tell() const {
    std::vector<std::string> under_way;
    double begun = 0.0;
    for (const auto& job : at_work_) {
      if (job == nullptr) continue;
      under_way.push_back(job->progress_text());
      begun += job->share_done();
    }
    const double left =
        seconds_of_a_run() * (static_cast<double>(all_ - finished()) - begun) / static_cast<double>(at_work_.size());
    const std::string time = left > 0.0 ? fmt::format(", {} left", duration_text(left)) : "";
    const std::string now = under_way.empty() ? "" : "; " + join(under_way, ", ");
    log::progress(fmt::format("{} of {} {}{}{}{}", finished(), all_, what_,
                              report_.failed.empty() ? "" : fmt::format(", {} failed", report_.failed.size()), time,
                              now));
  }

  const fs::path& study_;
  const StudyConfig& config_;
  const RunnerOptions& options_;
  std::string_view what_;
  std::vector<Job> at_work_;  // by place; null: free
  std::deque<Job> waiting_;
  int64_t all_ = 0, made_here_ = 0;
  double spent_ = 0.0, busy_since_ = 0.0;
  RunnerReport report_;
};

}  // namespace

std::vector<std::string> child_environment(const RunnerOptions& options, size_t place) {
  std::vector<std::string> environment{fmt::format("OMP_NUM_THREADS={}", options.threads), "OMP_WAIT_POLICY=passive"};
  if (!options.gpus.empty()) environment.push_back("CUDA_VISIBLE_DEVICES=" + options.gpus[place % options.gpus.size()]);
  return environment;
}

RunnerReport make_runs(const fs::path& study, const StudyConfig& config, std::span<const PlannedRun> planned,
                       const RunnerOptions& options, std::string_view what) {
  return Runner(study, config, options, what).run(planned);
}

}  // namespace ordo
