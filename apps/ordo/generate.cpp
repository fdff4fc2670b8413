// SPDX-License-Identifier: Apache-2.0
// ordo generate RUN: continues or answers prompts; streams to the output as whole UTF-8 characters.
#include "ordo/generate/generate.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "chat.h"
#include "options.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/generate/prompts.h"
#include "score.h"
#include "writers.h"

namespace ordo::cli {
namespace {

struct GenerateOptions {
  std::string run, input, checkpoint;
  std::optional<std::string> file;
  std::string prefix;
  Words with, prompts, stop, score, overrides;
  std::optional<std::string> score_file;
  GenerateConfig decoding;
  std::string early_stopping = "best";
  int64_t seed = 0, batch = 32;
  bool json = false, chat = false, lines = false, length_given = false;
  bool scores() const { return !score.empty() || score_file; }
};

// What ends an answer by itself, and what the user wants to end it: tokens as the vocabulary writes them ("</s>"), or
// as the text of one token.
std::vector<int64_t> stop_ids(const TextWriter& writer, const Words& stops) {
  std::vector<int64_t> ids = writer.ends();
  for (const auto& stop : stops) {
    const auto id = writer.token(stop);
    require<ConfigError>(id.has_value(), "--stop '{}' is not one token of the model: an answer ends at a single one",
                         stop);
    ids.push_back(*id);
  }
  return ids;
}

std::string text_of(const TextWriter& writer, const std::vector<int64_t>& ids) {
  Utf8Joiner joiner;
  std::string text = joiner.add(writer.text(ids));
  return text + joiner.finish();
}

// One prompt: its text goes out as it comes, once the model has taken the request. A reader that has left ends it.
void stream_one(const Writers& writers, const GenerateConfig& decoding, const std::string& text,
                const std::vector<Prompt>& prompts) {
  Utf8Joiner joiner;
  std::string before = writers.text->continues() ? text : "";  // what stands before the next piece
  bool first = true;
  generate(writers.ensemble(), prompts, decoding, [&](int64_t, int64_t id) {
    print(std::exchange(before, "") + joiner.add(writers.text->piece(id, std::exchange(first, false))));
    return output_open();
  });
  print(before + joiner.finish() + "\n");
}

// "== 1 of 2, answer 3 of 5, score -1.2345": as much of it as tells texts apart.
std::string heading(size_t prompt, size_t prompts, size_t answer, const std::vector<Answer>& answers) {
  Words parts;
  if (prompts > 1) parts.push_back(fmt::format("{} of {}", prompt + 1, prompts));
  if (answers.size() > 1)
    parts.push_back(
        fmt::format("answer {} of {}, score {}", answer + 1, answers.size(), decimal_text(answers[answer].score)));
  return parts.empty() ? "" : fmt::format("== {}\n", join(parts, ", "));
}

void print_texts(const std::vector<PromptText>& prompts, const Answers& answers, size_t before, size_t count,
                 const TextWriter& writer) {
  for (size_t i = 0; i < prompts.size(); ++i)
    for (size_t j = 0; j < answers[i].size(); ++j)
      print(fmt::format("{}{}{}{}\n", before + i + j == 0 ? "" : "\n", heading(before + i, count, j, answers[i]),
                        writer.continues() ? prompts[i].text : "", text_of(writer, answers[i][j].ids)));
}

// So that line n of what was asked belongs to line n of what is printed.
void print_lines(const std::vector<PromptText>& prompts, const Answers& answers, const TextWriter& writer) {
  for (size_t i = 0; i < prompts.size(); ++i)
    for (const Answer& answer : answers[i]) {
      std::string line = (writer.continues() ? prompts[i].text : "") + text_of(writer, answer.ids);
      std::replace_if(
          line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
      print(line + "\n");
    }
}

Json answer_json(const Answer& answer, const TextWriter& writer) {
  return {{"text", text_of(writer, answer.ids)},
          {"tokens", answer.ids},
          {"score", answer.score},
          {"log_probability", answer.log_probability},
          {"ended", answer.ended}};
}

// Of several answers the first stands in the result itself, all of them in `hypotheses`.
Json result_json(const std::string& prompt, const std::vector<Answer>& answers, const TextWriter& writer) {
  Json result = answer_json(answers.front(), writer);
  result["prompt"] = prompt;
  if (answers.size() == 1) return result;
  result["hypotheses"] = Json::array();
  for (const Answer& answer : answers) result["hypotheses"].push_back(answer_json(answer, writer));
  return result;
}

// How many tokens to write when the user gave no number: fewer than usual where the encoding's table ends before.
int64_t tokens_that_fit(const Ensemble& models, const std::vector<Prompt>& prompts, int64_t usual) {
  int64_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, static_cast<int64_t>(prompt.ids.size()));
  const auto fits = [&](int64_t fresh) { return !models.refuses_length(longest + fresh - 1); };
  if (fits(usual)) return usual;
  const int64_t room = models.max_length() - longest + 1;     // the last token is never fed back
  if (room < 1 || room > usual || !fits(room)) return usual;  // generate() says why
  log::info("writing {} token(s), all that fit: the model's positions end at {}", room, models.max_length());
  return room;
}

// Options that belong to another way of choosing are refused by their names.
void check_company(const Options& options) {
  const auto against = [&](const char* way, std::initializer_list<const char*> others, const char* why) {
    if (!options.given(way)) return;
    for (const char* name : others)
      require<ConfigError>(!options.given(name), "{} and {} contradict: {}", name, way, why);
  };
  against("--greedy", {"--temperature", "--top-k", "--top-p", "--min-p", "--seed", "--samples"},
          "greedy takes the likeliest token and draws nothing");
  against("--chat", {"--prompt"}, "a chat reads its turns line by line, from standard input or from --file");
  against("--chat", {"--beam", "--samples", "--n-best"}, "a chat goes on from one answer to each turn");
  for (const char* way : {"--score", "--score-file"})
    against(way,
            {"--greedy", "--temperature", "--top-k", "--top-p", "--min-p", "--repetition-penalty", "--seed",
             "--samples", "--beam", "--n-best", "--no-repeat-ngram", "--min-new-tokens", "--max-new-tokens", "--stop",
             "--prefix", "--chat"},
            "a given answer is scored, nothing is written");
  against("--score", {"--score-file"}, "both give the answers");
  against("--chat", {"--lines", "--prefix", "--batch"}, "a chat answers turn by turn");
  against("--beam", {"--greedy"}, "one follows the likeliest token, the other several answers");
  against("--beam", {"--temperature", "--top-k", "--top-p", "--min-p", "--seed", "--samples"},
          "a beam search draws nothing");
  against("--beam", {"--repetition-penalty"}, "its scores are log-probabilities; --no-repeat-ngram forbids repetition");
  for (const char* name : {"--length-penalty", "--coverage-penalty", "--early-stopping"})
    require<ConfigError>(!options.given(name) || options.given("--beam"), "{} is of a beam search: give --beam N too",
                         name);
  require<ConfigError>(!options.given("--n-best") || options.given("--beam") || options.given("--samples"),
                       "--n-best chooses among several answers: give --beam N or --samples N too");
}

void check_input(const GenerateOptions& o) {
  require<ConfigError>(o.input.empty() || o.input == "-",
                       "unexpected argument '{}': a prompt is given with --prompt, --file, or - for standard input",
                       o.input);
  require<ConfigError>(!o.lines || o.file || o.input == "-",
                       "--lines is of a file or of standard input: give --file FILE or - too");
  require<ConfigError>(!o.lines || o.json || (o.decoding.samples <= 1 && o.decoding.n_best <= 1),
                       "--lines prints an answer a line: with several of each prompt (--samples, --n-best) add --json");
}

int chat_with(const GenerateOptions& o, const Writers& writers) {
  const TextWriter& writer = *writers.text;
  const DialogueLayout* const layout = writer.dialogue();
  require<ConfigError>(layout != nullptr,
                       "--chat: {} was not trained on dialogues, its task is '{}'; train one on task.kind: dialogue",
                       o.run, writers.trained.front().config.task.kind);
  ChatCall call{.models = writers.ensemble(),
                .writer = writer,
                .config = {.length = std::numeric_limits<int64_t>::max(), .decoding = o.decoding},
                .file = o.file,
                .json = o.json,
                .about = writers.about()};
  if (!o.length_given) call.config.decoding.max_new_tokens = layout->answer_tokens() - 1;
  for (const auto& one : writers.trained) call.config.length = std::min(call.config.length, one.config.train.length);
  return chat(call);
}

Stopping stopping_of(const std::string& name) {
  if (name == "first") return Stopping::first;
  return name == "estimate" ? Stopping::estimate : Stopping::best;
}

void declare_choice(Options& options, GenerateOptions& o) {
  GenerateConfig& d = o.decoding;
  options.flag("--greedy", d.greedy, "always the likeliest token");
  options.number("--temperature", d.temperature, "below 1: safer, above 1: bolder (1)", above(0.0));
  options.integer("--top-k", d.top_k, "choose among the k likeliest tokens only (0: all)", 0, 1 << 24);
  options.number("--top-p", d.top_p, "… among the likeliest that together have this probability (1)",
                 {.low = 0.0, .high = 1.0, .low_open = true});
  options.number("--min-p", d.min_p, "… among those with this share of the likeliest one's probability (0)",
                 within(0.0, 1.0));
  options.number("--repetition-penalty", d.repetition_penalty,
                 "above 1: tokens that were there already become less likely (1)", above(0.0));
  options.integer("--samples", d.samples, "answers drawn for each prompt (1)", 1, 1 << 16);
  options.integer("--seed", o.seed, "of the draws (0)", 0, std::numeric_limits<int64_t>::max());
}

void declare_beams(Options& options, GenerateOptions& o) {
  GenerateConfig& d = o.decoding;
  options.integer("--beam", d.beam.width, "beam search of this width, in place of draws", 1, 1 << 16);
  options.number("--length-penalty", d.beam.length_penalty,
                 "of a beam search: scores are log-probability / length^X; 0: none, above 0: longer answers (1)", {});
  options.number("--coverage-penalty", d.beam.coverage_penalty,
                 "of a beam search by an encoder_decoder: how much it costs to leave out parts of the source (0)",
                 at_least(0.0));
  options.one_of(
      "--early-stopping", o.early_stopping, {"first", "estimate", "best"},
      "once N beams have ended: at once, when no open one is ahead as it stands, or when none can come to be "
      "(best)");
  options.integer("--n-best", d.n_best, "how many of the beams, or of the samples, to show, best first", 1, 1 << 16);
  options.integer("--no-repeat-ngram", d.no_repeat_ngram,
                  "no run of N tokens stands twice in prompt and answer (0: it may)", 0, 1 << 24);
  options.integer("--min-new-tokens", d.min_new_tokens, "no end before so many tokens (0)", 0, 1 << 24);
  options.texts("--stop", o.stop, "TOKEN", "a token that ends an answer, and is left out; repeated: any of them");
}

void declare(Options& options, GenerateOptions& o) {
  options.positional("RUN", o.run, "a run folder or a checkpoint");
  options.positional("INPUT", o.input, "a lone - reads from standard input", false);
  options.texts("-p,--prompt", o.prompts, "TEXT", "the text to continue; repeated: several, as one batch");
  options.text("--file", o.file, "FILE", "a file whose text is a prompt; of a chat the user's turns, a line each");
  options.flag("--lines", o.lines,
               "each line of the file, or of standard input, is a prompt of its own, and each answer a line (breaks in "
               "it become blanks)");
  options.text("--prefix", o.prefix, "START", "what every answer begins with");
  options.texts("--score", o.score, "ANSWER",
                "write nothing: how likely is this answer, its end included? Repeated: one for each prompt");
  options.text("--score-file", o.score_file, "FILE", "… the answers of a file, a line for each prompt");
  options.flag("--chat", o.chat,
               "a dialogue: the user's turns are read line by line (standard input, --file), each is answered");
  options.integer("-n,--max-new-tokens", o.decoding.max_new_tokens,
                  "how many tokens to write at most (200, or what the model's positions hold; of a chat an answer's "
                  "room)",
                  1, 1 << 24);
  declare_choice(options, o);
  declare_beams(options, o);
  options.texts("--with", o.with, "RUN", "another run of the same vocabulary, to write together with the first");
  options.integer("--batch", o.batch, "prompts at a time; changes no answer (32)", 1, 1 << 16);
  options.text("--checkpoint", o.checkpoint, "best|last|STEP",
               "which checkpoint of a run folder (the best if there is one, else the last)");
  options.flag("--json", o.json, "one JSON document");
  options.overrides(o.overrides);
}

// Batch by batch, so that the first answers to a long file are there while the others are written.
int write_answers(const GenerateOptions& o, const Writers& writers, const std::vector<PromptText>& texts) {
  const TextWriter& writer = *writers.text;
  auto prompts = encode_each(texts, [&](std::string_view text) { return writer.prompt(text); });
  if (!o.prefix.empty())
    for (auto& prompt : prompts) prompt.prefix = writer.answer(o.prefix);
  GenerateConfig decoding = o.decoding;
  if (!o.length_given) decoding.max_new_tokens = tokens_that_fit(writers.ensemble(), prompts, decoding.max_new_tokens);
  if (texts.size() == 1 && decoding.samples == 1 && decoding.beam.width == 0 && !o.json && !o.lines) {
    stream_one(writers, decoding, texts.front().text, prompts);
    return kDone;
  }
  require_prompts(writers.ensemble(), prompts, decoding);  // all of them before the first is answered
  require_sources(writers.ensemble(), sources_of(prompts));
  Json document = writers.about();
  document["results"] = Json::array();
  const auto batch = static_cast<size_t>(o.batch);
  for (size_t from = 0; from < texts.size() && output_open(); from += batch) {
    const auto begin = static_cast<std::ptrdiff_t>(from),
               end = static_cast<std::ptrdiff_t>(std::min(texts.size(), from + batch));
    const std::vector<PromptText> asked(texts.begin() + begin, texts.begin() + end);
    decoding.first_prompt = begin;
    const Answers answers = generate(writers.ensemble(), {prompts.begin() + begin, prompts.begin() + end}, decoding);
    if (o.json)
      for (size_t i = 0; i < asked.size(); ++i)
        document["results"].push_back(result_json(asked[i].text, answers[i], writer));
    else if (o.lines)
      print_lines(asked, answers, writer);
    else
      print_texts(asked, answers, from, texts.size(), writer);
  }
  if (o.json) print_json(document);
  return kDone;
}

}  // namespace

int generate_text(const Words& words) {
  GenerateOptions o;
  GenerateConfig& d = o.decoding;
  Options options("generate", "Continue a text, or answer one, with a trained model.");
  declare(options, o);
  if (!options.parse(words)) return kDone;
  check_company(options);
  check_input(o);
  o.length_given = options.given("--max-new-tokens");
  d.seed = static_cast<uint64_t>(o.seed);
  d.beam.stopping = stopping_of(o.early_stopping);

  const auto texts = o.chat ? std::vector<PromptText>{} : read_prompts({o.prompts, o.file, o.input == "-", o.lines});
  Words runs{o.run};
  runs.insert(runs.end(), o.with.begin(), o.with.end());
  const Writers writers = open_writers(runs, o.checkpoint, o.overrides);
  if (o.scores()) return score_answers({writers, texts, o.score, o.score_file, o.batch, o.json});
  d.vocab_size = writers.text->vocab_size();
  d.stop = stop_ids(*writers.text, o.stop);
  require<ConfigError>(!options.given("--min-new-tokens") || !d.stop.empty(),
                       "--min-new-tokens holds back what ends an answer: give --stop TOKEN too");
  return o.chat ? chat_with(o, writers) : write_answers(o, writers, texts);
}

}  // namespace ordo::cli
