// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/packed_file.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr size_t kUnpackedPiece = size_t{1} << 20;

[[noreturn]] void refuse_large(const fs::path& path, uint64_t most) {
  throw DataError(
      fmt::format("{} holds more than {}, which is the most that is read at start; split it, or write a corpus as a "
                  "token file (.bin)",
                  path.string(), bytes_text(static_cast<double>(most))));
}

void require_regular(const fs::path& path) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  require<DataError>(!failed || status.type() != fs::file_type::none, "cannot read {}: {}", path.string(),
                     failed.message());
  require<DataError>(fs::exists(status), "cannot read {}: there is no such file", path.string());
  require<DataError>(!fs::is_directory(status), "cannot read {}: it is a folder; name its files, for example {}/*.txt",
                     path.string(), path.string());
  require<DataError>(fs::is_regular_file(status),
                     "cannot read {}: it is no regular file, and a run must be able to read it again", path.string());
}

using OpenFile = std::unique_ptr<FILE, int (*)(FILE*)>;

OpenFile opened(const fs::path& path) {
  OpenFile file(std::fopen(path.c_str(), "rbe"), std::fclose);
  require<DataError>(file != nullptr, "cannot open {}: {}", path.string(), std::strerror(errno));
  return file;
}

size_t read_some(FILE* file, const fs::path& path, char* into, size_t size) {
  const size_t got = std::fread(into, 1, size, file);
  require<DataError>(std::ferror(file) == 0, "cannot read {}: {}", path.string(), std::strerror(errno));
  return got;
}

// Read, not mapped: a mapped file that shrinks ends the program with SIGBUS.
class PlainReader final : public PackedReader {
 public:
  PlainReader(const fs::path& path, uint64_t size) : PackedReader(path, size), file_(opened(path)) {}

  size_t read(char* into, size_t size) override {
    const size_t got = read_some(file_.get(), path_, into, size);
    at_ += got;
    require<DataError>(got == size ? at_ <= file_size_ : at_ == file_size_,
                       "{} changed while it was read: it had {} bytes, {} were found; let it be finished first",
                       path_.string(), file_size_, at_);
    return got;
  }
  bool skip(uint64_t count) override {
    if (count > file_size_ - at_) return false;
    at_ += count;
    require<DataError>(fseeko(file_.get(), static_cast<off_t>(at_), SEEK_SET) == 0, "cannot read {}: {}",
                       path_.string(), std::strerror(errno));
    return true;
  }

 private:
  OpenFile file_;
  uint64_t at_ = 0;
};

class GzipReader final : public PackedReader {
 public:
  GzipReader(const fs::path& path, uint64_t size)
      : PackedReader(path, size), file_(gzopen(path.c_str(), "rbe"), gzclose_r) {
    require<DataError>(file_ != nullptr, "cannot open {}: {}", path.string(), std::strerror(errno));
    gzbuffer(file_.get(), 1U << 20);
  }

  size_t read(char* into, size_t size) override {
    size_t done = 0;
    while (done < size) {
      const int got = gzread(file_.get(), into + done, static_cast<unsigned>(std::min(size - done, kUnpackedPiece)));
      int code = Z_OK;
      const char* reason = gzerror(file_.get(), &code);  // a file that was cut ends without a failed read
      require<DataError>(got >= 0 && code == Z_OK, "cannot unpack {}: {}; the file is damaged or cut off",
                         path_.string(), reason);
      require<DataError>(gzdirect(file_.get()) == 0 || got == 0, "{} is named .gz but is not gzip data",
                         path_.string());
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

void require_zstd(size_t result, const fs::path& path) {
  if (ZSTD_isError(result) == 0) return;
  require<DataError>(ZSTD_getErrorCode(result) != ZSTD_error_prefix_unknown,
                     "{} is named .zst but is not zstd data (or has something else behind it)", path.string());
  throw DataError(fmt::format("cannot unpack {}: {}; {}", path.string(), ZSTD_getErrorName(result),
                              ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                                  ? "pack it again without --long"
                                  : "the file is damaged"));
}

class ZstdReader final : public PackedReader {
 public:
  ZstdReader(const fs::path& path, uint64_t size)
      : PackedReader(path, size),
        file_(opened(path)),
        context_(ZSTD_createDCtx(), ZSTD_freeDCtx),
        packed_(ZSTD_DStreamInSize()) {
    require(context_ != nullptr, "no memory to unpack {}", path.string());
  }

  size_t read(char* into, size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos < size && more()) {
      wanted_ = ZSTD_decompressStream(context_.get(), &out, &in_);
      require_zstd(wanted_, path_);
      unflushed_ = out.pos == size;
    }
    require<DataError>(out.pos == size || wanted_ == 0,
                       "cannot unpack {}: its last frame is not whole; the file is damaged or cut off", path_.string());
    return out.pos;
  }

 private:
  // Is there something to unpack? What did not fit into the last piece waits in the context.
  bool more() {
    if (in_.pos < in_.size || (unflushed_ && wanted_ != 0)) return true;
    in_ = {packed_.data(), read_some(file_.get(), path_, packed_.data(), packed_.size()), 0};
    return in_.size > 0;
  }

  OpenFile file_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context_;
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  size_t wanted_ = 0;  // by the frame that is being read; 0: it is whole
  bool unflushed_ = false;
};

}  // namespace

std::unique_ptr<PackedReader> PackedReader::open(const fs::path& path) {
  require_regular(path);
  std::error_code failed;
  const uint64_t size = fs::file_size(path, failed);
  require<DataError>(!failed, "cannot read {}: {}", path.string(), failed.message());
  const auto extension = path.extension();
  if (extension == ".gz") return std::make_unique<GzipReader>(path, size);
  if (extension == ".zst") return std::make_unique<ZstdReader>(path, size);
  return std::make_unique<PlainReader>(path, size);
}

bool PackedReader::skip(uint64_t count) {
  std::vector<char> lost(std::min<uint64_t>(count, kUnpackedPiece));
  while (count > 0) {
    const size_t part = std::min<uint64_t>(count, lost.size());
    if (read(lost.data(), part) < part) return false;
    count -= part;
  }
  return true;
}

std::string read_packed(const fs::path& path, uint64_t most) {
  const auto reader = PackedReader::open(path);
  std::string bytes;
  if (!is_packed(path)) {
    if (reader->file_size() > most) refuse_large(path, most);
    bytes.reserve(reader->file_size() + kUnpackedPiece);
  }
  while (true) {
    const size_t used = bytes.size();
    bytes.resize(used + kUnpackedPiece);
    const size_t got = reader->read(bytes.data() + used, kUnpackedPiece);
    bytes.resize(used + got);
    if (bytes.size() > most) refuse_large(path, most);
    if (got < kUnpackedPiece) return bytes;
  }
}

bool is_packed(const fs::path& path) { return path.extension() == ".gz" || path.extension() == ".zst"; }

fs::path without_packing(const fs::path& path) { return is_packed(path) ? path.parent_path() / path.stem() : path; }

}  // namespace ordo
