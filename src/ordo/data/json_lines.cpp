// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/json_lines.h"

#include <algorithm>

#include "ordo/data/text_file.h"

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

void read_json_lines(const fs::path& path, BadLines& bad, const VisitJson& visit) {
  const std::string whole = read_text(path);
  bool taken = false;
  std::string_view rest = whole;
  for (size_t line = 1; !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    taken |= bad.attempt([&] {
      const std::string place = fmt::format("{}: line {}", path.string(), line);
      const Json value = parsed_line(text, place);
      visit(JsonView(value, place), line);
    });
  }
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
