// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// Calls again when a signal interrupted the call.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

template <class E = Error>
[[noreturn]] void system_error(std::string_view doing, const fs::path& path) {
  throw E(fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(errno)));
}

// A file descriptor with one owner.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

int open_file(const fs::path& path, int flags) {
  constexpr mode_t kReadWriteForAll = 0666;  // less what the umask takes away
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kReadWriteForAll); });
}

void write_all(int descriptor, const void* data, size_t size, const fs::path& path) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    constexpr size_t kMostAtOnce = size_t{1} << 30;  // Linux writes at most 2 GiB a call
    const ssize_t written = uninterrupted([&] { return ::write(descriptor, at, std::min(size, kMostAtOnce)); });
    if (written < 0) system_error("write", path);
    at += written;
    size -= static_cast<size_t>(written);
  }
}

void flush_to_disk(int descriptor, const fs::path& path) {
  // EINVAL and EROFS: pipes and devices have nothing to flush
  if (uninterrupted([&] { return ::fsync(descriptor); }) != 0 && errno != EINVAL && errno != EROFS)
    system_error("flush to disk", path);
}

void close_checked(int descriptor, const fs::path& path) {
  // After EINTR the descriptor is closed on Linux; network file systems report a full disk only here.
  if (::close(descriptor) != 0 && errno != EINTR) system_error("close", path);
}

void remove_regular(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) ::unlink(path.c_str());
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return folder_of(path) / fmt::format(".{}.tmp-{}-{}", path.filename().string(), ::getpid(), count++);
}

template <class E>
struct stat regular_file(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) system_error<E>("read", path);
  require<E>(!S_ISDIR(status.st_mode), "cannot read {}: it is a folder, a file is expected", path.string());
  return status;
}

// Pipes and devices cannot be replaced by a renamed file: they are written straight.
void write_in_place(const fs::path& path, std::string_view content) {
  Descriptor file(open_file(path, O_WRONLY));
  if (file.get() < 0) system_error("open for writing", path);
  write_all(file.get(), content.data(), content.size(), path);
  close_checked(file.release(), path);
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(open_file(path, O_RDONLY));
  if (file.get() < 0) system_error<DataError>("open", path);
  const auto status = regular_file<DataError>(file.get(), path);
  std::string content(static_cast<size_t>(std::max<off_t>(status.st_size, 0)) + 1, '\0');
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(2 * content.size());  // it grew, or (pipes, /proc) has no size
    const ssize_t got = uninterrupted([&] { return ::read(file.get(), content.data() + used, content.size() - used); });
    if (got < 0) system_error<DataError>("read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

void write_file(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  require(!fs::is_directory(status), "cannot write {}: it is a folder", path.string());
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_in_place(path, content);
  const fs::path target =
      fs::is_symlink(fs::symlink_status(path, ignored)) && fs::exists(status) ? fs::canonical(path, ignored) : path;
  const fs::path temporary = temporary_beside(target);
  FileWriter writer(temporary);  // removes the temporary file when anything below fails
  writer.write(content.data(), content.size());
  writer.finish();
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    system_error("rename a file to", path);
  }
  sync_folder(folder_of(target));
}

void append_line(const fs::path& path, std::string_view line) {
  Descriptor file(open_file(path, O_WRONLY | O_CREAT | O_APPEND));
  if (file.get() < 0) system_error("open for writing", path);
  const std::string whole = std::string(line) + "\n";
  write_all(file.get(), whole.data(), whole.size(), path);
  close_checked(file.release(), path);
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (descriptor.get() < 0) system_error("open", folder);
  flush_to_disk(descriptor.get(), folder);
}

FileWriter::FileWriter(fs::path path)
    : path_(std::move(path)), descriptor_(open_file(path_, O_WRONLY | O_CREAT | O_TRUNC)) {
  if (descriptor_ < 0) system_error("create", path_);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  remove_regular(path_);
}

void FileWriter::write(const void* data, size_t size) {
  ORDO_ASSERT(descriptor_ >= 0);
  write_all(descriptor_, data, size, path_);
}

void FileWriter::finish() {
  ORDO_ASSERT(descriptor_ >= 0);
  flush_to_disk(descriptor_, path_);
  try {
    close_checked(std::exchange(descriptor_, -1), path_);
  } catch (const Error&) {
    remove_regular(path_);
    throw;
  }
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file(open_file(path, O_RDONLY));
  if (file.get() < 0) system_error<DataError>("open", path);
  const auto status = regular_file<DataError>(file.get(), path);
  require<DataError>(S_ISREG(status.st_mode), "cannot map {}: it is no regular file", path.string());
  require<DataError>(status.st_size > 0, "cannot map {}: the file is empty", path.string());
  size_ = static_cast<size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) system_error<DataError>("map", path);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() { ::munmap(const_cast<std::byte*>(data_), size_); }

FolderLock::FolderLock(const fs::path& folder) {
  const fs::path path = folder / "lock";
  Descriptor file(open_file(path, O_RDWR | O_CREAT));
  if (file.get() < 0) system_error<CheckpointError>("create", path);
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) system_error<CheckpointError>("lock", path);
    char holder[256] = {};
    const ssize_t length = ::pread(file.get(), holder, sizeof(holder) - 1, 0);
    std::string who(holder, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    while (who.ends_with('\n')) who.pop_back();
    throw CheckpointError(fmt::format("{} is in use by {}: wait until it ends, or name another folder", folder.string(),
                                      who.empty() ? "another process" : who));
  }
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '?';
  const std::string who = fmt::format("process {} on {}\n", ::getpid(), host);
  if (::ftruncate(file.get(), 0) != 0) system_error<CheckpointError>("write", path);
  if (::pwrite(file.get(), who.data(), who.size(), 0) != static_cast<ssize_t>(who.size()))
    system_error<CheckpointError>("write", path);
  descriptor_ = file.release();
}

FolderLock::~FolderLock() {
  if (::ftruncate(descriptor_, 0) != 0) errno = 0;  // only the holder's name is lost: closing frees the lock
  ::close(descriptor_);
}

}  // namespace ordo
