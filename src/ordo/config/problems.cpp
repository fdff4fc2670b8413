// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <utility>

#include "ordo/config/config.h"
#include "ordo/config/excerpt.h"
#include "ordo/config/node.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

constexpr size_t kMostShown = 50;  // problems in one report

bool is_space(std::string_view character) { return character == " " || character == "\t" || character == "\n"; }

// A scalar as it is written, character by character: white space differs from the text that was read (folded lines,
// indented blocks), so all of it is passed over.
class WrittenText {
 public:
  WrittenText(const std::vector<std::string>& lines, const Source& start)
      : lines_(lines),
        file_(start.file),
        line_(static_cast<size_t>(start.line)),
        at_(static_cast<size_t>(std::max(start.column, 1)) - 1) {
    open_line();
    while (here() == "&" || here() == "!") {  // anchor, tag
      while (!here().empty() && here() != " ") ++at_;
      skip_space();
    }
    if (here() == "|" || here() == ">") next_line();
    if (here() == "'" || here() == "\"") quote_ = here(), ++at_;
  }
  // Goes behind the next character, which must be this one.
  bool pass(std::string_view character) {
    skip_space();
    if (quote_ == "\"" && here() == "\\") ++at_;
    if (here() != character) return false;
    at_ += quote_ == "'" && character == "'" ? 2 : 1;
    return true;
  }
  // Of the next character; at the end of the text, behind the last one.
  Source place(bool end) {
    if (!end) skip_space();
    return {file_, static_cast<int>(line_), static_cast<int>(at_) + 1};
  }

 private:
  std::string_view here() const { return at_ < characters_.size() ? characters_[at_] : std::string_view(); }
  void open_line() {
    characters_.clear();
    if (line_ >= 1 && line_ <= lines_.size()) characters_ = characters_of(lines_[line_ - 1]);
  }
  void next_line() { ++line_, at_ = 0, open_line(); }
  void skip_space() {
    while (line_ <= lines_.size()) {
      while (is_space(here())) ++at_;
      if (at_ < characters_.size()) return;
      next_line();
    }
  }

  const std::vector<std::string>& lines_;
  std::string file_;
  size_t line_, at_;
  std::vector<std::string_view> characters_;
  std::string_view quote_;
};

}  // namespace

struct Problems::Places {
  struct Text {
    size_t rank;  // in the order the files were read
    std::vector<std::string> lines;
  };
  std::map<std::string, Source, std::less<>> at;
  std::map<std::string, Text, std::less<>> texts;

  const std::string* line(const Source& source) const {
    const auto text = texts.find(source.file);
    const int number = source.line == 0 ? source.column : source.line;  // overrides are numbered by column
    if (text == texts.end() || number < 1 || static_cast<size_t>(number) > text->second.lines.size()) return nullptr;
    return &text->second.lines[static_cast<size_t>(number) - 1];
  }
  // Files in the order they were read (the command line is last), then lines and columns.
  std::tuple<size_t, int, int> order(const Source& source) const {
    const auto text = texts.find(source.file);
    return {text == texts.end() ? texts.size() : text->second.rank, source.line, source.column};
  }
};

Problems::Problems() : places_(std::make_unique<Places>()) {}
Problems::~Problems() = default;

void Problems::place(std::string_view path, const Source& at) { places_->at[std::string(path)] = at; }

void Problems::source_text(const std::string& file, std::string text) {
  Places::Text kept{places_->texts.size(), {}};
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    kept.lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  places_->texts[file] = std::move(kept);
}

void Problems::know_texts_of(const Problems& other) {
  std::vector<decltype(places_->texts)::const_iterator> fresh;
  for (auto text = other.places_->texts.begin(); text != other.places_->texts.end(); ++text)
    if (!places_->texts.contains(text->first)) fresh.push_back(text);
  std::sort(fresh.begin(), fresh.end(), [](auto a, auto b) { return a->second.rank < b->second.rank; });
  for (const auto& text : fresh) places_->texts[text->first] = {places_->texts.size(), text->second.lines};
}

void Problems::adopt(const Problems& other) {
  know_texts_of(other);
  for (const auto& problem : other.problems_) {
    const auto told = [&](const Problem& p) { return p.at == problem.at && p.text == problem.text; };
    if (std::none_of(problems_.begin(), problems_.end(), told)) problems_.push_back(problem);
  }
}

const Source* Problems::find(std::string_view path) const {
  const auto found = places_->at.find(path);
  return found == places_->at.end() ? nullptr : &found->second;
}

void Problems::add_text(std::string_view path, std::string text, std::string hint) {
  const Source* at = find(path);
  while (at == nullptr && !path.empty()) {
    const size_t dot = path.rfind('.');
    path = dot == std::string_view::npos ? "" : path.substr(0, dot);
    at = find(path);
  }
  add_at(at == nullptr ? Source{} : *at, std::move(text), std::move(hint));
}

void Problems::add_at(Source at, std::string text, std::string hint, size_t width) {
  problems_.push_back({std::move(at), std::move(text), std::move(hint), width});
}

Source Problems::inside(const Source& start, std::string_view text, size_t offset) const {
  const auto written = places_->texts.find(start.file);
  if (start.line <= 0 || written == places_->texts.end()) return start;
  WrittenText cursor(written->second.lines, start);
  offset = std::min(offset, text.size());
  for (size_t i = 0; i < offset;) {
    const size_t bytes = std::max<size_t>(code_point_at(text, i).bytes, 1);
    const std::string_view c = text.substr(i, bytes);
    if (!is_space(c) && !cursor.pass(c)) return start;
    i += bytes;
  }
  return cursor.place(/*end=*/offset == text.size());
}

std::string Problems::report() const {
  std::vector<const Problem*> sorted;
  for (const auto& problem : problems_) sorted.push_back(&problem);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](auto* a, auto* b) { return places_->order(a->at) < places_->order(b->at); });
  std::string out;
  for (size_t i = 0; i < std::min(sorted.size(), kMostShown); ++i) {
    const auto& [at, text, hint, width] = *sorted[i];
    const std::string* line = places_->line(at);
    if (at.line > 0) {
      out += fmt::format("{}: {}\n", at.text(), text);
      if (line != nullptr) {
        out += excerpt(fmt::format("{:5} | ", at.line), *line, at.column, width, hint);
        continue;
      }
    } else {
      out += fmt::format("{}{}{}{}{}\n", at.file, at.file.empty() ? "" : ": ", line == nullptr ? "" : *line,
                         line == nullptr ? "" : ": ", text);
    }
    if (!hint.empty()) out += fmt::format("        {}\n", hint);
  }
  if (sorted.size() > kMostShown) out += fmt::format("and {} more problems\n", sorted.size() - kMostShown);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

void Problems::throw_if_any() const {
  if (!empty()) throw ConfigError(report());
}

}  // namespace ordo
