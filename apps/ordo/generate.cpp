// SPDX-License-Identifier: Apache-2.0
// ordo generate RUN: continues prompts; streams to the output as whole UTF-8 characters.
#include "ordo/generate/generate.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "options.h"
#include "ordo/core/files.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "runs.h"

namespace ordo::cli {
namespace {

struct GenerateOptions {
  std::string run, input, checkpoint;
  std::optional<std::string> file;
  Words prompts, overrides;
  GenerateConfig sampling;
  int64_t seed = 0;
  bool json = false;
};

std::string read_input() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

// A file or standard input is one prompt; the line break that ends it is the editor's, not the writer's.
std::string without_last_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Words prompts_of(const GenerateOptions& o) {
  Words prompts = o.prompts;
  require<ConfigError>(o.input.empty() || o.input == "-",
                       "unexpected argument '{}': a prompt is given with --prompt, --file, or - for standard input",
                       o.input);
  if (o.file) prompts.push_back(without_last_break(read_file(*o.file)));
  if (o.input == "-") prompts.push_back(without_last_break(read_input()));
  require<ConfigError>(!prompts.empty(),
                       "nothing to continue: give --prompt TEXT, --file FILE, or - for standard input");
  for (size_t i = 0; i < prompts.size(); ++i) {
    size_t bad = 0;
    require<ConfigError>(!prompts[i].empty(), "prompt {} is empty: a model continues a text of at least one token",
                         i + 1);
    require<DataError>(valid_utf8(prompts[i], &bad), "prompt {} is not valid UTF-8 at byte {}", i + 1, bad);
  }
  return prompts;
}

std::vector<std::vector<int64_t>> encode_all(const Tokenizer& tokenizer, const Words& prompts) {
  std::vector<std::vector<int64_t>> ids;
  for (const auto& prompt : prompts) ids.push_back(tokenizer.encode(prompt));
  return ids;
}

// One prompt: its text goes out as it comes, once the model has taken the request. A reader that has left ends it.
void stream_one(TrainedModel& trained, const Tokenizer& tokenizer, const GenerateConfig& sampling,
                const std::string& prompt) {
  Utf8Joiner joiner;
  std::string before = prompt;  // what stands before the next piece
  generate(*trained.parts.model, encode_all(tokenizer, {prompt}), sampling, [&](int64_t, int64_t id) {
    print(std::exchange(before, "") + joiner.add(tokenizer.piece(id)));
    return output_open();
  });
  print(before + joiner.finish() + "\n");
}

void print_all(const std::vector<std::string>& prompts, const std::vector<std::vector<int64_t>>& ids,
               const Tokenizer& tokenizer) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    Utf8Joiner joiner;
    std::string text = joiner.add(tokenizer.decode(ids[i]));
    text += joiner.finish();
    print(fmt::format("{}== {} of {}\n{}{}\n", i == 0 ? "" : "\n", i + 1, prompts.size(), prompts[i], text));
  }
}

Json as_json(const TrainedModel& trained, const Words& prompts, const std::vector<std::vector<int64_t>>& ids,
             const Tokenizer& tokenizer) {
  Json results = Json::array();
  for (size_t i = 0; i < prompts.size(); ++i) {
    Utf8Joiner joiner;
    std::string text = joiner.add(tokenizer.decode(ids[i]));
    text += joiner.finish();
    results.push_back({{"prompt", prompts[i]}, {"text", text}, {"tokens", ids[i]}});
  }
  return {{"run", trained.run},
          {"checkpoint", trained.checkpoint.folder().filename().string()},
          {"results", std::move(results)}};
}

// How many tokens to write when the user gave no number: fewer than usual where the encoding's table ends before.
int64_t tokens_that_fit(TrainedModel& trained, const std::vector<std::vector<int64_t>>& prompts, int64_t usual) {
  Model& model = *trained.parts.model;
  int64_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, static_cast<int64_t>(prompt.size()));
  const auto fits = [&](int64_t fresh) { return !model.position().refuses_length(longest + fresh - 1); };
  if (fits(usual)) return usual;
  const int64_t room = model.max_length() - longest + 1;      // the last token is never fed back
  if (room < 1 || room > usual || !fits(room)) return usual;  // generate() says why
  log::info("writing {} token(s), all that fit: the model's positions end at {}", room, model.max_length());
  return room;
}

void check_sampling(const Options& options, const GenerateConfig& sampling) {
  if (!sampling.greedy) return;
  for (const char* name : {"--temperature", "--top-k", "--top-p", "--min-p", "--seed"})
    require<ConfigError>(!options.given(name),
                         "{} and --greedy contradict: greedy takes the likeliest token and draws nothing", name);
}

}  // namespace

int generate_text(const Words& words) {
  GenerateOptions o;
  GenerateConfig& s = o.sampling;
  Options options("generate", "Continue a text with a trained model.");
  options.positional("RUN", o.run, "a run folder or a checkpoint");
  options.positional("INPUT", o.input, "a lone - reads a prompt from standard input", false);
  options.texts("-p,--prompt", o.prompts, "TEXT", "the text to continue; repeated: several, as one batch");
  options.text("--file", o.file, "FILE", "a file whose text is a prompt");
  options.text("--checkpoint", o.checkpoint, "best|last|STEP",
               "which checkpoint of a run folder (the best if there is one, else the last)");
  options.integer("-n,--max-new-tokens", s.max_new_tokens,
                  "how many tokens to write at most (200, or what the model's positions hold)", 1, 1 << 24);
  options.flag("--greedy", s.greedy, "always the likeliest token");
  options.number("--temperature", s.temperature, "below 1: safer, above 1: bolder (1)", above(0.0));
  options.integer("--top-k", s.top_k, "choose among the k likeliest tokens only (0: all)", 0, 1 << 24);
  options.number("--top-p", s.top_p, "… among the likeliest that together have this probability (1)",
                 {.low = 0.0, .high = 1.0, .low_open = true});
  options.number("--min-p", s.min_p, "… among those with this share of the likeliest one's probability (0)",
                 within(0.0, 1.0));
  options.number("--repetition-penalty", s.repetition_penalty,
                 "above 1: tokens that were there already become less likely (1)", above(0.0));
  options.integer("--seed", o.seed, "of the draws (0)", 0, std::numeric_limits<int64_t>::max());
  options.flag("--json", o.json, "one JSON document");
  options.overrides(o.overrides);
  if (!options.parse(words)) return kDone;
  check_sampling(options, s);
  s.seed = static_cast<uint64_t>(o.seed);

  const Words prompts = prompts_of(o);
  TrainedModel trained = open_model(o.run, o.checkpoint, o.overrides);
  const Tokenizer* tokenizer = trained.parts.task->tokenizer();
  require<ConfigError>(tokenizer != nullptr, "{}: its task '{}' has no tokenizer, so there is no text to continue",
                       o.run, trained.config.task.kind);
  s.vocab_size = tokenizer->vocab_size();
  const auto encoded = encode_all(*tokenizer, prompts);
  if (!options.given("--max-new-tokens")) s.max_new_tokens = tokens_that_fit(trained, encoded, s.max_new_tokens);
  if (prompts.size() == 1 && !o.json) {
    stream_one(trained, *tokenizer, s, prompts.front());
    return kDone;
  }
  const auto ids = generate(*trained.parts.model, encoded, s);
  if (o.json)
    print_json(as_json(trained, prompts, ids, *tokenizer));
  else
    print_all(prompts, ids, *tokenizer);
  return kDone;
}

}  // namespace ordo::cli
