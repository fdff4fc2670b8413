// SPDX-License-Identifier: Apache-2.0
#include "writers.h"

#include <iostream>
#include <iterator>

#include "ordo/core/files.h"
#include "ordo/core/text.h"
#include "ordo/data/text_checks.h"

namespace ordo::cli {
namespace {

// Without what an editor puts around a text: the mark at its start, a carriage return before each line break.
std::string plain(std::string text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  unify_line_breaks(text);
  return text;
}

std::string read_input() { return plain({std::istreambuf_iterator<char>(std::cin), {}}); }

// The line break that ends a text is the editor's, not the writer's.
std::string without_last_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void require_prompt(const PromptText& prompt) {
  size_t bad = 0;
  require<ConfigError>(!prompt.text.empty(), "{} is empty: a model continues a text of at least one token",
                       prompt.where);
  require<DataError>(valid_utf8(prompt.text, &bad), "{} is not valid UTF-8 at byte {}", prompt.where, bad);
}

}  // namespace

Ensemble Writers::ensemble() const {
  std::vector<Model*> models;
  for (const auto& one : trained) models.push_back(one.parts.model.get());
  return Ensemble(std::move(models));
}

Json Writers::about() const {
  const auto named = [](const TrainedModel& one) {
    return Json{{"run", one.run}, {"checkpoint", one.checkpoint.folder().filename().string()}};
  };
  Json document = named(trained.front());
  for (size_t i = 1; i < trained.size(); ++i) document["with"].push_back(named(trained[i]));
  return document;
}

Writers open_writers(const Words& runs, const std::string& checkpoint, const Words& overrides) {
  Writers writers;
  for (const auto& run : runs) {
    const auto& one = writers.trained.emplace_back(open_model(run, checkpoint, overrides));
    const auto text = one.parts.task->writer();
    require<ConfigError>(text != nullptr, "{}: its task '{}' writes no text", run, one.config.task.kind);
    if (writers.text == nullptr) writers.text = text;
    require<ConfigError>(text->fingerprint() == writers.text->fingerprint(),
                         "{} and {} have different vocabularies: models can only write together token by token",
                         runs.front(), run);
  }
  return writers;
}

std::string read_given(const std::string& file) {
  if (file == "-") return read_input();
  std::string text = read_file(file);
  require_no_utf16(file, text);
  require_utf8(file, text, {});
  return plain(std::move(text));
}

std::vector<PromptText> lines_of(const std::string& text, const std::string& name) {
  std::vector<PromptText> lines;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back({text.substr(from, end - from), fmt::format("{}: line {}", name, lines.size() + 1)});
    from = end + 1;
  }
  return lines;
}

std::vector<PromptText> read_prompts(const PromptSources& sources) {
  std::vector<PromptText> prompts;
  const auto add = [&](std::string text) {
    prompts.push_back({std::move(text), fmt::format("prompt {}", prompts.size() + 1)});
  };
  const auto add_text = [&](const std::string& text, const std::string& name) {
    if (!sources.lines) return add(without_last_break(text));
    for (auto& line : lines_of(text, name)) prompts.push_back(std::move(line));
  };
  for (const auto& prompt : sources.prompts) add(prompt);
  if (sources.file) add_text(read_given(*sources.file), *sources.file);
  if (sources.input) add_text(read_input(), "standard input");
  require<ConfigError>(!prompts.empty(), "{}",
                       sources.file || sources.input
                           ? "there is no line to answer: the text given with --lines is empty"
                           : "nothing to continue: give --prompt TEXT, --file FILE, or - for standard input");
  for (const auto& prompt : prompts) require_prompt(prompt);
  return prompts;
}

}  // namespace ordo::cli
