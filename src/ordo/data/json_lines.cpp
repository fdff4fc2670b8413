// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/json_lines.h"

#include <algorithm>
#include <utility>

namespace ordo {

namespace {

// The parser counts lines in what it is given, which here is one line: its "line 1, " would contradict the file's.
Json parsed_line(std::string_view text, const std::string& place) {
  require<DataError>(text.find_first_not_of(" \t\r") != std::string_view::npos,
                     "{}: expected a JSON value, found a blank line", place);
  try {
    return parse_json(text, place);
  } catch (const Error& error) {
    std::string message = error.what();
    constexpr std::string_view kInside = "at line 1, ";
    if (const size_t found = message.find(kInside, place.size()); found != std::string::npos)
      message.replace(found, kInside.size(), "at ");
    throw DataError(message);
  }
}

}  // namespace

bool JsonLineReader::read(const LineBlock& block, BadLines& bad, const VisitJson& visit) {
  bool taken = false;
  FilePlace at = block.begin;
  std::string_view rest = block.bytes;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const bool begun = std::exchange(within_long_, block.cut && rest.empty());
    if (!begun && within_long_)
      bad.leave_out(
          fmt::format("{}: line {} is longer than {} bytes, the most that is read at once (of a text that is "
                      "streamed: task.data.buffer)",
                      path_.string(), at.line, text.size()));
    if (!begun && !within_long_) taken |= bad.attempt([&] { read_line(text, at, visit); });
    at.offset += text.size() + 1;
    ++at.line;
  }
  return taken;
}

void JsonLineReader::read_line(std::string_view text, const FilePlace& at, const VisitJson& visit) const {
  require_utf8(path_, text, at);
  const std::string place = fmt::format("{}: line {}", path_.string(), at.line);
  const Json value = parsed_line(text, place);
  visit(JsonView(value, place), static_cast<size_t>(at.line));
}

void read_json_lines(const fs::path& path, BadLines& bad, const VisitJson& visit) {
  constexpr uint64_t kBlock = uint64_t{1} << 20, kLongest = uint64_t{1} << 30;
  LineBlocks blocks(path, {}, kLongest);
  JsonLineReader reader(path);
  bool taken = false;
  for (LineBlock block; blocks.next(kBlock, block);) taken |= reader.read(block, bad, visit);
  require<DataError>(taken, "{}: no line is left: {}", path.string(), bad.sentence());
}

std::vector<std::string> texts_of(const JsonView& list) {
  std::vector<std::string> texts;
  for (const auto& item : list.items()) texts.push_back(item.text());
  return texts;
}

std::vector<double> numbers_of(const JsonView& list) {
  std::vector<double> numbers;
  for (const auto& item : list.items()) numbers.push_back(item.number());
  return numbers;
}

}  // namespace ordo
