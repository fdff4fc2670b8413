// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ordo/checkpoint/guard.h"
#include "ordo/checkpoint/manifest.h"

namespace ordo {

namespace {

constexpr std::string_view kModel = "model.safetensors", kOptimizer = "optimizer.safetensors", kEma = "ema.safetensors",
                           kMemory = "memory.safetensors", kState = "state.json", kConfig = "config.yaml",
                           kTokenizer = "tokenizer";
constexpr std::string_view kStepPrefix = "step-", kTemporaryMark = ".tmp-";

// ".step-00002000.tmp-4711": what process 4711 is writing or deleting.
fs::path temporary_folder(const fs::path& run, int64_t step) {
  return run / fmt::format(".{}{}{}", checkpoint_name(step), kTemporaryMark, ::getpid());
}

// The process that made a temporary file (".last.tmp-4711-0") or folder; nothing when it is none.
std::optional<pid_t> owner_of(std::string_view name) {
  const auto mark = name.rfind(kTemporaryMark);
  if (!name.starts_with('.') || mark == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(mark + kTemporaryMark.size());
  pid_t owner = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), owner);
  const bool whole = end == digits.data() + digits.size() || *end == '-';
  return problem == std::errc() && whole && owner > 0 ? std::optional(owner) : std::nullopt;
}

bool is_leftover(const fs::directory_entry& entry, int64_t step) {
  const auto owner = owner_of(entry.path().filename().string());
  if (!owner) return false;
  if (*owner != ::getpid()) return ::kill(*owner, 0) != 0 && errno == ESRCH;
  return entry.path().filename() == temporary_folder({}, step);  // of an earlier process of the same number
}

// What processes that died while writing left behind.
void remove_leftovers(const fs::path& run, int64_t step) {
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(run))
    if (is_leftover(entry, step)) leftovers.push_back(entry.path());
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover);
}

// A folder that vanishes with its contents.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) { fs::create_directory(path_); }
  ~TemporaryFolder() {
    std::error_code ignored;  // the next write tries again
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

FileRecord write_tensors(const fs::path& folder, std::string_view name, const NamedTensors& tensors) {
  return record_of(std::string(name), write_safetensors(folder / name, tensors, {{"format", "pt"}}));
}

FileRecord write_text(const fs::path& folder, std::string_view name, std::string_view content) {
  FileWriter writer(folder / name);
  writer.write(content.data(), content.size());
  writer.finish();
  return record_of(std::string(name), content);
}

// The tokenizer writes its files itself: they are read back, summed and written again through to the disk.
void write_tokenizer(const fs::path& folder, const CheckpointContent& content, Manifest& manifest) {
  const fs::path place = folder / kTokenizer;
  fs::create_directory(place);
  content.tokenizer(place);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_directory())
      sync_folder(entry.path());
    else
      names.push_back(entry.path().lexically_relative(folder).generic_string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) manifest.files.push_back(write_text(folder, name, read_file(folder / name)));
  sync_folder(place);
}

void write_files(const fs::path& folder, int64_t step, const CheckpointContent& content) {
  Manifest manifest{.step = step, .files = {}};
  manifest.files.push_back(write_tensors(folder, kModel, content.model));
  manifest.files.push_back(write_tensors(folder, kOptimizer, content.optimizer));
  if (!content.ema.empty()) manifest.files.push_back(write_tensors(folder, kEma, content.ema));
  if (!content.memory.empty()) manifest.files.push_back(write_tensors(folder, kMemory, content.memory));
  manifest.files.push_back(write_text(folder, kState, content.state));
  manifest.files.push_back(write_text(folder, kConfig, content.config));
  if (content.tokenizer) write_tokenizer(folder, content, manifest);
  write_text(folder, kManifestName, manifest.text());
  sync_folder(folder);
}

[[noreturn]] void rename_failed(const fs::path& from, const fs::path& to) {
  throw CheckpointError(
      fmt::format("cannot rename {} to {}: {}", from.string(), to.filename().string(), std::strerror(errno)));
}

// Puts `from` in the place of `to`. If there is one already, the two are exchanged, so that at no moment there is none.
void move_into_place(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(to, ignored))) {
    if (::rename(from.c_str(), to.c_str()) != 0) rename_failed(from, to);
    return;
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) rename_failed(from, to);
  const TemporaryFolder aside(from.string() + "0");  // a file system that cannot exchange: for a moment there is none
  if (::rename(to.c_str(), aside.path().c_str()) != 0) rename_failed(to, aside.path());
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int reason = errno;
    fs::rename(aside.path(), to, ignored);
    errno = reason;
    rename_failed(from, to);
  }
}

// Deleting takes time: a checkpoint vanishes by its name first, so that no half of one is ever seen.
void delete_checkpoint(const fs::path& run, int64_t step) {
  const fs::path folder = run / checkpoint_name(step), vanishing = temporary_folder(run, step);
  fs::remove_all(vanishing);
  if (::rename(folder.c_str(), vanishing.c_str()) != 0) rename_failed(folder, vanishing);
  fs::remove_all(vanishing);
}

std::string checked_text(const fs::path& path) {
  require_regular_file(path);
  return with_checkpoint_errors([&] { return read_file(path); });
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  ORDO_ASSERT(step >= 0);
  return fmt::format("{}{:08}", kStepPrefix, step);
}

std::optional<int64_t> checkpoint_step(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kStepPrefix.size());
  int64_t step = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (problem != std::errc() || end != digits.data() + digits.size() || step < 0 || checkpoint_name(step) != name)
    return std::nullopt;
  return step;
}

fs::path write_checkpoint(const fs::path& run, int64_t step, const CheckpointContent& content) {
  return with_checkpoint_errors([&] {
    fs::create_directories(run);
    remove_leftovers(run, step);
    const fs::path folder = run / checkpoint_name(step);
    const TemporaryFolder temporary(temporary_folder(run, step));
    write_files(temporary.path(), step, content);
    move_into_place(temporary.path(), folder);
    sync_folder(run);
    return folder;
  });
}

Checkpoint::Checkpoint(const fs::path& folder, Verify verify) : folder_(folder) {
  std::error_code ignored;
  require<CheckpointError>(fs::is_directory(folder, ignored), "there is no checkpoint {}", folder.string());
  const Manifest manifest = read_manifest(folder);
  step_ = manifest.step;
  const auto named = checkpoint_step(folder.filename().string());
  require<CheckpointError>(!named || *named == step_, "{} is the checkpoint of step {}: it was renamed",
                           folder.string(), step_);
  for (const std::string_view name : {kModel, kOptimizer, kState, kConfig})
    require<CheckpointError>(manifest.find(name) != nullptr, "{} lists no {}", (folder / kManifestName).string(), name);
  verify_folder(folder, manifest, verify == Verify::checksums);
}

NamedTensors Checkpoint::model() const { return all_tensors(folder_ / kModel); }
NamedTensors Checkpoint::optimizer() const { return all_tensors(folder_ / kOptimizer); }
NamedTensors Checkpoint::ema() const {
  return fs::exists(folder_ / kEma) ? all_tensors(folder_ / kEma) : NamedTensors();
}
NamedTensors Checkpoint::memory() const {
  return fs::exists(folder_ / kMemory) ? all_tensors(folder_ / kMemory) : NamedTensors();
}
std::string Checkpoint::state() const { return checked_text(folder_ / kState); }
std::string Checkpoint::config() const { return checked_text(folder_ / kConfig); }

void retain(const fs::path& run, int64_t keep) {
  with_checkpoint_errors([&] {
    const auto best = pointed(run, "best"), last = pointed(run, "last");
    std::vector<int64_t> steps = list_checkpoints(run);
    // What is newer than `last` was left by a run that went further before this one was resumed: it neither counts nor
    // goes.
    if (last) std::erase_if(steps, [&](int64_t step) { return step > *last; });
    const auto newest = static_cast<size_t>(std::clamp<int64_t>(keep, 0, static_cast<int64_t>(steps.size())));
    for (size_t i = 0; i + newest < steps.size(); ++i)
      if (steps[i] != best && steps[i] != last) delete_checkpoint(run, steps[i]);
    sync_folder(run);
  });
}

}  // namespace ordo
