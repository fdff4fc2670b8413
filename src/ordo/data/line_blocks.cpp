// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/line_blocks.h"

#include <algorithm>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

constexpr uint64_t kFilled = uint64_t{1} << 16;

// The end of the last blank line in the second half of a text; 0: there is none.
size_t blank_line_end(std::string_view text) {
  for (size_t end = text.rfind('\n'); end != std::string_view::npos && end >= text.size() / 2 && end > 0;
       end = text.rfind('\n', end - 1)) {
    const size_t before = text[end - 1] == '\r' && end > 1 ? end - 2 : end - 1;
    if (text[before] == '\n') return end + 1;
  }
  return 0;
}

}  // namespace

LineBlocks::LineBlocks(fs::path path, const FilePlace& from, uint64_t longest)
    : path_(std::move(path)), longest_(longest), reader_(PackedReader::open(path_)), place_(from) {
  require<DataError>(reader_->skip(from.offset),
                     "{} ends before byte {} of its text, where reading is to go on: the file has changed",
                     path_.string(), from.offset);
}

// So that at least `size` bytes are pending, unless the file ends.
void LineBlocks::fill(uint64_t size) {
  if (ended_ || pending_.size() >= size) return;
  const size_t before = pending_.size();
  pending_.resize(size);
  const size_t got = reader_->read(pending_.data() + before, size - before);
  ended_ = got < size - before;
  pending_.resize(before + got);
}

void LineBlocks::begin() {
  fill(kTextHead);
  require_no_utf16(path_, pending_);
  const bool marked = pending_.starts_with(kByteOrderMark);
  if (marked) {
    pending_.erase(0, kByteOrderMark.size());
    place_.offset = kByteOrderMark.size();
  }
  require<DataError>(!pending_.empty() || !ended_, "{} is empty", path_.string());
}

// Where a line is cut that is too long: between two characters, and not within a CRLF.
uint64_t LineBlocks::cut_end() const {
  const uint64_t end = character_start(pending_, longest_);
  const bool sound = longest_ - end < 4 && end > 1;  // else it is no UTF-8, which shows later
  const uint64_t kept = sound ? end : longest_;
  return kept > 1 && pending_[kept - 1] == '\r' ? kept - 1 : kept;
}

// The end of the lines that fit into `size` bytes, or of the first one; 0: that is too long.
uint64_t LineBlocks::line_end(uint64_t size) {
  if (ended_ && pending_.size() <= size) return pending_.size();
  const std::string_view near = std::string_view(pending_).substr(0, size);
  if (const size_t end = blank_line_end(near); end > 0) return end;
  if (const size_t line = near.rfind('\n'); line != std::string_view::npos) return line + 1;
  for (uint64_t seen = near.size(); seen < longest_;) {
    fill(std::min(longest_ + 1, std::max<uint64_t>(seen + kFilled, 2 * seen)));
    const size_t line = pending_.find('\n', seen);
    if (line < longest_) return line + 1;
    if (ended_ && line == std::string::npos && pending_.size() <= longest_) return pending_.size();
    seen = pending_.size();
  }
  return 0;
}

uint64_t LineBlocks::with_blank_lines(uint64_t end) {
  while (end < longest_) {
    fill(end + 2);
    const std::string_view behind = std::string_view(pending_).substr(end, 2);
    if (!behind.starts_with('\n') && behind != "\r\n") break;
    end += behind.starts_with('\n') ? 1 : 2;
  }
  return end;
}

bool LineBlocks::next(uint64_t size, LineBlock& block) {
  if (place_.offset == 0) begin();
  size = std::min(std::max<uint64_t>(size, 1), longest_);
  fill(size + 1);  // one more shows whether the file ends there
  if (pending_.empty()) return false;
  block.begin = place_;
  const uint64_t line = line_end(size), end = line > 0 ? with_blank_lines(line) : cut_end();
  block.cut = line == 0;
  block.bytes.assign(pending_, 0, end);
  pending_.erase(0, end);
  place_.offset += end;
  place_.line += std::count(block.bytes.begin(), block.bytes.end(), '\n');
  return true;
}

}  // namespace ordo
