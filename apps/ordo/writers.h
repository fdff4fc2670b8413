// SPDX-License-Identifier: Apache-2.0
// The runs that write together, and what they are asked.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "ordo/generate/ensemble.h"
#include "ordo/tasks/text_writer.h"
#include "runs.h"

namespace ordo::cli {

// The models and the text side that all of them have.
struct Writers {
  std::vector<TrainedModel> trained;
  std::shared_ptr<const TextWriter> text;
  Ensemble ensemble() const;
  Json about() const;  // which runs they are: what a JSON document begins with
};
// `checkpoint` as in open_model. Throws ConfigError for a task that writes no text, and for different vocabularies.
Writers open_writers(const Words& runs, const std::string& checkpoint, const Words& overrides);

// What a model is asked, and where it stands ("prompt 2", "a.txt: line 7").
struct PromptText {
  std::string text, where;
};
struct PromptSources {
  Words prompts;                    // as options
  std::optional<std::string> file;  // one text, or one a line
  bool input = false;               // standard input, likewise
  bool lines = false;
};
// Throws ConfigError where there is none or one is empty, DataError for what is not UTF-8.
std::vector<PromptText> read_prompts(const PromptSources& sources);
// A file or a pipe, by the rules for training text: no byte order mark, LF for CRLF; a DataError with the line for what
// is not UTF-8. It may be empty.
std::string read_given(const std::string& file);
// The lines of such a text without their breaks.
std::vector<PromptText> lines_of(const std::string& text, const std::string& name);

// `make` of each text; its DataError names the text where there are several.
template <class Make>
auto encode_each(const std::vector<PromptText>& texts, const Make& make) {
  std::vector<decltype(make(std::string_view()))> all;
  for (const auto& one : texts) {
    try {
      all.push_back(make(one.text));
    } catch (const DataError& error) {
      if (texts.size() == 1) throw;
      throw DataError(one.where + ": " + error.what());
    }
  }
  return all;
}

}  // namespace ordo::cli
