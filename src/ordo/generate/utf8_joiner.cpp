// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ordo/core/utf8.h"
#include "ordo/generate/generate.h"

namespace ordo {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// How many bytes at the start may still become one character (Unicode, table 3-7: the second byte has narrower limits
// after some first ones).
size_t hopeful_bytes(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  const size_t whole = lead >= 0xC2 && lead <= 0xDF   ? 2
                       : lead >= 0xE0 && lead <= 0xEF ? 3
                       : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                      : 0;
  if (whole == 0) return 0;
  size_t length = 1;
  for (; length < std::min(whole, bytes.size()); ++length) {
    const unsigned least = length > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned most = length > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at(length) < least || at(length) > most) break;
  }
  return length;
}

}  // namespace

std::string Utf8Joiner::add(std::string_view bytes) {
  pending_ += bytes;
  std::string whole;
  size_t done = 0;
  while (done < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(done);
    if (const size_t length = code_point_at(rest, 0).bytes; length > 0) {
      whole += rest.substr(0, length);
      done += length;
      continue;
    }
    const size_t hopeful = hopeful_bytes(rest);
    if (hopeful == rest.size()) break;
    whole += kReplacement;  // one for the longest start of a character that stands there, as Unicode recommends
    done += std::max<size_t>(hopeful, 1);
  }
  pending_.erase(0, done);
  return whole;
}

std::string Utf8Joiner::finish() {
  if (pending_.empty()) return "";
  pending_.clear();
  return std::string(kReplacement);
}

}  // namespace ordo
