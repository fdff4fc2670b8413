// SPDX-License-Identifier: Apache-2.0
// Which checkpoints a run has, and which one is meant.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/checkpoint/guard.h"
#include "ordo/checkpoint/manifest.h"
#include "ordo/core/log.h"

namespace ordo {

namespace {

std::string names_of(const std::vector<int64_t>& steps) {
  std::vector<std::string> names;
  for (const int64_t step : steps) names.push_back(checkpoint_name(step));
  return names.empty() ? "no checkpoint" : fmt::format("{}", fmt::join(names, ", "));
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// "2000" and "step-00002000" are the same step.
std::optional<int64_t> step_of(std::string_view which) {
  if (const auto named = checkpoint_step(which)) return named;
  int64_t step = -1;
  const auto [end, problem] = std::from_chars(which.data(), which.data() + which.size(), step);
  return problem == std::errc() && end == which.data() + which.size() && step >= 0 ? std::optional(step) : std::nullopt;
}

int64_t step_meant(const fs::path& run, std::string_view which) {
  const std::vector<int64_t> steps = list_checkpoints(run);
  require<CheckpointError>(!steps.empty(), "{} has no checkpoint", run.string());
  if (which == "best" || which == "last") {
    const auto step = pointed(run, which);
    require<CheckpointError>(step.has_value(), "{} names no {} checkpoint; it has {}", run.string(), which,
                             names_of(steps));
    return *step;
  }
  if (which.empty()) {
    const auto best = pointed(run, "best");
    return best ? *best : pointed(run, "last").value_or(steps.back());
  }
  const auto step = step_of(which);
  require<CheckpointError>(step.has_value(), "'{}' names no checkpoint: expected best, last or a step; {} has {}",
                           which, run.string(), names_of(steps));
  return *step;
}

}  // namespace

std::vector<int64_t> list_checkpoints(const fs::path& run) {
  return with_checkpoint_errors([&] {
    std::vector<int64_t> steps;
    if (!is_folder(run)) return steps;
    for (const fs::directory_entry& entry : fs::directory_iterator(run)) {
      const auto step = checkpoint_step(entry.path().filename().string());
      std::error_code ignored;
      if (step && fs::exists(fs::symlink_status(entry.path() / kManifestName, ignored))) steps.push_back(*step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
  });
}

std::optional<Checkpoint> newest_valid(const fs::path& run) {
  std::vector<int64_t> steps = list_checkpoints(run);
  for (; !steps.empty(); steps.pop_back()) {
    try {
      return Checkpoint(run / checkpoint_name(steps.back()));
    } catch (const CheckpointError& error) {
      log::warn("{} is passed over: {}", checkpoint_name(steps.back()), error.what());
    }
  }
  return std::nullopt;
}

void point(const fs::path& run, std::string_view pointer, int64_t step) {
  with_checkpoint_errors([&] { write_file(run / pointer, checkpoint_name(step) + "\n"); });
}

std::optional<int64_t> pointed(const fs::path& run, std::string_view pointer) {
  const fs::path path = run / pointer;
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return std::nullopt;
  require_regular_file(path);
  std::string name = with_checkpoint_errors([&] { return read_file(path); });
  if (name.ends_with('\n')) name.pop_back();
  const auto step = checkpoint_step(name);
  require<CheckpointError>(step.has_value(), "{} is damaged: it should hold a checkpoint's name, such as {}",
                           path.string(), checkpoint_name(2000));
  return step;
}

fs::path resolve_checkpoint(const fs::path& run_or_checkpoint, std::string_view which) {
  // A trailing slash leaves an empty file name.
  const fs::path path = run_or_checkpoint.has_filename() ? run_or_checkpoint : run_or_checkpoint.parent_path();
  require<CheckpointError>(is_folder(path), "there is no folder {}", path.string());
  std::error_code ignored;
  if (checkpoint_step(path.filename().string()) || fs::exists(path / kManifestName, ignored)) {
    require<CheckpointError>(which.empty(), "{} is one checkpoint: give the run's folder to choose '{}'", path.string(),
                             which);
    return path;
  }
  const int64_t step = step_meant(path, which);
  const fs::path folder = path / checkpoint_name(step);
  require<CheckpointError>(is_folder(folder), "{} has no {}; it has {}", path.string(), checkpoint_name(step),
                           names_of(list_checkpoints(path)));
  return folder;
}

}  // namespace ordo
