// SPDX-License-Identifier: Apache-2.0
// ordo data tokenize CONFIG -o FILE: the text of a config's split as a token file.
#include <fmt/core.h>

#include "options.h"
#include "ordo/data/token_file.h"
#include "ordo/tasks/corpus_task.h"
#include "runs.h"

namespace ordo::cli {
namespace {

int tokenize(const Words& words) {
  std::string path, output, split = "train";
  Words overrides;
  Options options("data tokenize",
                  "The text of a config's task as a file of token ids (.bin), which trainings map instead of reading "
                  "and encoding text. FILE.json beside it says where documents end and which tokenizer made the ids.");
  options.positional("CONFIG", path, "of a task over texts: language_modeling and its kin");
  options.text("-o,--output", output, "FILE", "where it goes: a name that ends in .bin");
  options.one_of("--split", split, {"train", "validation", "test"}, "which part of the data (train)");
  options.overrides(overrides);
  if (!options.parse(words)) return kDone;
  require<ConfigError>(options.given("--output"), "--output is missing; --help tells what it is");
  require<ConfigError>(fs::path(output).extension() == ".bin",
                       "-o {}: the name must end in .bin, by which task.data knows a file of token ids", output);
  const RunConfig config = load_subject(path, overrides).config;
  const auto task = make_task(config);
  const auto* const corpus = dynamic_cast<const CorpusTask*>(task.get());
  require<ConfigError>(corpus != nullptr, "{} is of task {}, which has examples in place of one running text", path,
                       config.task.kind);
  require<ConfigError>(corpus->tokenizer() != nullptr, "{} reads token files already: there is no text to encode",
                       path);
  const auto tokens = corpus->tokens(split_of(split));
  write_token_file(output, *tokens, *corpus->tokenizer());
  print(fmt::format("{}: {} tokens in {} document{}\n", output, tokens->size(), tokens->documents(),
                    tokens->documents() == 1 ? "" : "s"));
  return kDone;
}

}  // namespace

int data(const Words& words) {
  static constexpr Command kParts[] = {{"tokenize", "CONFIG -o FILE", "text as a file of token ids", tokenize}};
  return run_part("data", "Data of trainings.", kParts, words);
}

}  // namespace ordo::cli
