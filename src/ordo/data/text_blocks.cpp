// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/text_blocks.h"

#include <algorithm>

#include "ordo/core/hash.h"

namespace ordo {

void TextBlocks::move_to(const BlockPlace& place) {
  place_ = place;
  open_.reset();
}

const fs::path& TextBlocks::path() const {
  const uint64_t key = mix(key_of(seed_, "order of files"), static_cast<uint64_t>(place_.epoch));
  return files_.paths[KeyedPermutation(key, files_.paths.size())(static_cast<uint64_t>(place_.file))];
}

void TextBlocks::end_file() {
  open_.reset();
  ++place_.file;
  place_.at = {};
}

void TextBlocks::add_records(const LineBlock& lines, std::string& text, BadLines& bad) {
  records_->read(lines, bad, [&](const JsonView& value, size_t) {
    text += value.at(files_.column).text();
    text += kBehindRecord;
  });
}

// The next lines of the file, about `size` bytes; false: it has ended.
bool TextBlocks::add_lines(uint64_t size, std::string& text, BadLines& bad) {
  constexpr uint64_t kAtOnce = uint64_t{1} << 20;
  LineBlock lines;
  if (!open_->next(std::min(size, kAtOnce), lines)) return false;
  place_.at = open_->place();
  if (records_) {
    add_records(lines, text, bad);
    return true;
  }
  keep_utf8(path(), lines.bytes, lines.begin, bad);
  unify_line_breaks(lines.bytes);
  text += lines.bytes;
  return true;
}

// Of one file about `size` bytes, or what is left of it. The rest of a record that is left out goes with it: a block
// begins with a line.
std::string TextBlocks::part(uint64_t size, BadLines& bad) {
  if (!open_) {
    open_.emplace(path(), place_.at, files_.block);
    records_.reset();
    if (!files_.column.empty()) records_.emplace(path());
  }
  std::string text;
  while (text.size() < size || (records_ && records_->within_long()))
    if (!add_lines(text.size() < size ? size - text.size() : files_.block, text, bad)) {
      end_file();
      break;
    }
  return text;
}

TextBlock TextBlocks::next() {
  TextBlock block{.begin = place_};
  BadLines bad(files_.on_bad_line);
  uint64_t size = 0;
  while (size < files_.block && place_.file < std::ssize(files_.paths)) {
    const fs::path& file = path();
    const int64_t line = place_.at.line;
    const std::string text = part(files_.block - size, bad);
    size += text.size();
    add_text(block.tokens, {.path = file, .text = text, .line = files_.column.empty() ? line : 0}, files_.documents,
             tokenizer_, bad);
  }
  if (place_.file == std::ssize(files_.paths)) move_to({.epoch = place_.epoch + 1});
  block.end = place_;
  block.left_out = bad.sentence();
  return block;
}

}  // namespace ordo
