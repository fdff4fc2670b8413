// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/packed_file.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

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

std::string gunzip(const fs::path& path, uint64_t most) {
  constexpr unsigned kChunk = 1U << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  require<DataError>(file != nullptr, "cannot open {}: {}", path.string(), std::strerror(errno));
  gzbuffer(file.get(), kChunk);
  std::string bytes;
  while (true) {
    const size_t used = bytes.size();
    bytes.resize(used + kChunk);
    const int got = gzread(file.get(), bytes.data() + used, kChunk);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);  // a file that was cut ends without a failed read
    require<DataError>(got >= 0 && code == Z_OK, "cannot unpack {}: {}; the file is damaged or cut off", path.string(),
                       reason);
    require<DataError>(gzdirect(file.get()) == 0 || got == 0, "{} is named .gz but is not gzip data", path.string());
    bytes.resize(used + static_cast<size_t>(got));
    if (bytes.size() > most) refuse_large(path, most);
    if (got == 0) return bytes;
  }
}

void require_zstd(size_t result, const fs::path& path) {
  if (ZSTD_isError(result) == 0) return;
  require<DataError>(ZSTD_getErrorCode(result) != ZSTD_error_prefix_unknown,
                     "{} is named .zst but is not zstd data (or has something else behind it)", path.string());
  throw DataError(fmt::format("cannot unpack {}: {}; {}", path.string(), ZSTD_getErrorName(result),
                              ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                                  ? "pack it again without --long"
                                  : "the file is damaged"));
}

std::string unzstd(const fs::path& path, uint64_t most) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  require<DataError>(file != nullptr, "cannot open {}: {}", path.string(), std::strerror(errno));
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  require(context != nullptr, "no memory to unpack {}", path.string());
  std::vector<char> packed(ZSTD_DStreamInSize());
  const size_t chunk = ZSTD_DStreamOutSize();
  std::string bytes;
  size_t wanted = 0;  // by the frame that is being read; 0: it is whole
  while (const size_t got = std::fread(packed.data(), 1, packed.size(), file.get())) {
    ZSTD_inBuffer in{packed.data(), got, 0};
    while (in.pos < in.size) {
      const size_t used = bytes.size();
      bytes.resize(used + chunk);
      ZSTD_outBuffer out{bytes.data() + used, chunk, 0};
      wanted = ZSTD_decompressStream(context.get(), &out, &in);
      require_zstd(wanted, path);
      bytes.resize(used + out.pos);
      if (bytes.size() > most) refuse_large(path, most);
    }
  }
  require<DataError>(std::ferror(file.get()) == 0, "cannot read {}: {}", path.string(), std::strerror(errno));
  require<DataError>(wanted == 0, "cannot unpack {}: its last frame is not whole; the file is damaged or cut off",
                     path.string());
  return bytes;
}

// Read, not mapped: a mapped file that shrinks ends the program with SIGBUS.
std::string read_plain(const fs::path& path, uint64_t most) {
  std::error_code failed;
  const uint64_t expected = fs::file_size(path, failed);
  require<DataError>(!failed, "cannot read {}: {}", path.string(), failed.message());
  if (expected > most) refuse_large(path, most);
  std::string bytes = read_file(path);
  require<DataError>(bytes.size() == expected,
                     "{} changed while it was read: it had {} bytes, {} were found; let it be finished first",
                     path.string(), expected, bytes.size());
  return bytes;
}

}  // namespace

std::string read_packed(const fs::path& path, uint64_t most) {
  require_regular(path);
  const auto extension = path.extension();
  if (extension == ".gz") return gunzip(path, most);
  if (extension == ".zst") return unzstd(path, most);
  return read_plain(path, most);
}

fs::path without_packing(const fs::path& path) {
  const auto extension = path.extension();
  return extension == ".gz" || extension == ".zst" ? path.parent_path() / path.stem() : path;
}

}  // namespace ordo
