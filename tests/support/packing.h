// SPDX-License-Identifier: Apache-2.0
// Bytes as gzip and zstd pack them.
#pragma once
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "ordo/core/files.h"
#include "support/program.h"

namespace ordo::test {

inline std::string gzip_of(const std::string& bytes) {
  const Scratch scratch;
  const auto path = scratch / "x.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return read_file(path);
}

// One frame with a checksum; 10 to 31: with a window of 2 to that power, as `zstd --long=N` makes it.
inline std::string zstd_of(const std::string& bytes, int window_log = 0) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // In two calls: the size of the text is not known at first, so the frame says its window in place of it.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

}  // namespace ordo::test
