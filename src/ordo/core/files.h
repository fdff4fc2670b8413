// SPDX-License-Identifier: Apache-2.0
// Files that are whole or not there at all, and memory-mapped reading. Every failure is an Error (of class E where
// given) that names the path and the reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ordo {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path);                      // throws DataError: missing, a folder, unreadable
void write_file(const fs::path& path, std::string_view content);  // written beside, flushed to disk, renamed into place
void append_line(const fs::path& path, std::string_view line);    // adds "line\n" with one write call; creates the file
void sync_folder(const fs::path& folder);                         // makes renames in it durable

// A file being written: chunks go to disk as they come; finish() flushes and closes. Destroyed without finish(), it
// removes what it wrote.
class FileWriter {
 public:
  explicit FileWriter(fs::path path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(const void* data, size_t size);
  void finish();  // fsync and close

 private:
  fs::path path_;
  int descriptor_ = -1;
};

// A whole file, read-only, mapped. Throws when it is missing, empty, not a regular file.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Holds <folder>/lock while it lives (flock: a dead process never keeps it). Throws CheckpointError that names the
// holder's pid and host.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace ordo
