// SPDX-License-Identifier: Apache-2.0
// ordo tokenizer train|encode|decode: vocabularies from texts, texts as ids, ids as texts.
#include "ordo/data/tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/core/text.h"
#include "ordo/data/text_file.h"
#include "ordo/data/word_tokenizer.h"
#include "ordo/tokenizers/sentencepiece_model.h"
#include "runs.h"

namespace ordo::cli {
namespace {

// A path, the kind `byte`, or a run with its saved tokenizer.
std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& name) {
  std::error_code ignored;
  const fs::path path = name;
  if (name == "byte" && !fs::exists(path, ignored)) return tokenizers().build(name, {});
  if (!fs::exists(path / "config.yaml", ignored)) return open_tokenizer(path);
  return open_tokenizer(Checkpoint(checkpoint_of(name, "")).tokenizer());
}

void require_option(const Options& options, const char* name) {
  require<ConfigError>(options.given(name), "{} is missing; --help tells what it is", name);
}

// The lines of a file, or of standard input where it is empty or "-".
class InputLines {
 public:
  explicit InputLines(const std::string& file) : name_(file.empty() || file == "-" ? "standard input" : file) {
    if (name_ != file) return;
    file_.open(file, std::ios::binary);
    require<DataError>(file_.is_open() && !fs::is_directory(file), "cannot read {}", file);
  }
  bool next(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(file_.is_open() ? file_ : std::cin, line)) && output_open();
  }
  // What went wrong, with its place.
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(fmt::format("{}: line {}: {}", name_, number_, why));
  }
  std::string place() const { return fmt::format("{}: line {}", name_, number_); }

 private:
  std::string name_;
  std::ifstream file_;
  int64_t number_ = 0;
};

// Every line through `work`; its errors are told with the line.
template <class Work>
void each_line(const std::string& file, const Work& work) {
  InputLines lines(file);
  std::string line;
  while (lines.next(line)) {
    try {
      work(line, lines.place());
    } catch (const Error& error) {
      const std::string why = error.what();
      if (why.starts_with(lines.place())) throw DataError(why);
      lines.refuse(why);
    }
  }
}

struct EncodeOptions {
  std::string tokenizer, file;
  bool jsonl = false, special = false;
};

void encode_line(const Tokenizer& tokenizer, const EncodeOptions& o, const std::string& text,
                 const std::optional<std::string>& pair) {
  Json result = Json::object();
  if (o.special) {
    const Encoded all = tokenizer.encode_special(text, pair);
    result["ids"] = all.ids;
    result["text"] = tokenizer.decode(all.ids);
    if (pair) result["types"] = all.types;
  } else {
    const auto ids = tokenizer.encode(text);
    result["ids"] = ids;
    result["text"] = tokenizer.decode(ids);
  }
  print(json_line(result) + "\n");
}

int encode(const Words& words) {
  EncodeOptions o;
  Options options(
      "tokenizer encode",
      "Texts as ids: each line of the input is a text, and gives one line {\"ids\": […], \"text\": what the "
      "ids decode to}.");
  options.positional("FILE", o.file, "the texts (standard input)", false);
  options.text("-t,--tokenizer", o.tokenizer, "FILE|RUN",
               "a tokenizer.json, a .model of SentencePiece, a .txt of words, a folder with one, a run; or byte");
  options.flag("--jsonl", o.jsonl, "each line is a JSON string; with --special also a pair of them: [\"a\", \"b\"]");
  options.flag("--special", o.special, "with the special tokens around a text; a pair also gives \"types\"");
  if (!options.parse(words)) return kDone;
  require_option(options, "--tokenizer");
  const auto tokenizer = tokenizer_of(o.tokenizer);
  each_line(o.file, [&](const std::string& line, const std::string& place) {
    if (!o.jsonl) return encode_line(*tokenizer, o, line, {});
    const Json value = parse_json(line, place);
    const bool is_pair =
        o.special && value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
    require<DataError>(value.is_string() || is_pair, "expected a JSON string{}", o.special ? " or a pair of them" : "");
    encode_line(*tokenizer, o, is_pair ? value[0].get<std::string>() : value.get<std::string>(),
                is_pair ? std::optional(value[1].get<std::string>()) : std::nullopt);
  });
  return kDone;
}

// [1, 2], {"ids": [1, 2]} as encode prints it, or 1 2.
std::vector<int64_t> read_ids(const std::string& line, const std::string& place) {
  std::vector<int64_t> ids;
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return ids;
  if (line[begin] != '[' && line[begin] != '{') {
    for (const std::string& word : split(line, ' '))
      if (!word.empty() && word != "\r") ids.push_back(read_integer(word, "a token id", 0, 1 << 30));
    return ids;
  }
  Json value = parse_json(line, place);
  const Json list = value.is_object() && value.contains("ids") ? value["ids"] : value;
  require<DataError>(list.is_array(), "expected ids: [1, 2], {{\"ids\": [1, 2]}} or 1 2");
  for (const Json& id : list) {
    require<DataError>(id.is_number_integer(), "expected whole numbers as ids, found {}", json_line(id));
    ids.push_back(id.get<int64_t>());
  }
  return ids;
}

int decode(const Words& words) {
  std::string name, file;
  bool jsonl = false, skips = false;
  Options options("tokenizer decode", "Ids as texts: each line of the input has the ids of one text.");
  options.positional("FILE", file, "lines of [1, 2], {\"ids\": [1, 2]} or 1 2 (standard input)", false);
  options.text("-t,--tokenizer", name, "FILE|RUN", "as of ordo tokenizer encode");
  options.flag("--jsonl", jsonl, "texts as JSON strings, one a line");
  options.flag("--skip-special", skips, "without special tokens");
  if (!options.parse(words)) return kDone;
  require_option(options, "--tokenizer");
  const auto tokenizer = tokenizer_of(name);
  each_line(file, [&](const std::string& line, const std::string& place) {
    auto ids = read_ids(line, place);
    if (skips) std::erase_if(ids, [&](int64_t id) { return tokenizer->is_special(id); });
    const std::string text = tokenizer->decode(ids);
    print((jsonl ? json_line(Json(text)) : text) + "\n");
  });
  return kDone;
}

struct TrainOptions {
  Words files;
  std::string output, kind = "sentencepiece";
  SentencepieceTraining settings;
  int64_t vocab_size = 0, at_least = 1;
};

std::string train_words(const TrainOptions& o, const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all.append(text).append("\n");
  const WordTokenizer made({.size = o.vocab_size, .at_least = o.at_least}, {.text = [&] { return all; }});
  return made.file_text();
}

std::string train_pieces(TrainOptions& o, const std::vector<std::string>& texts) {
  if (o.vocab_size > 0) o.settings.vocab_size = o.vocab_size;
  std::vector<std::string> lines;
  for (const auto& text : texts)
    for (std::string& line : split(text, '\n'))
      if (!line.empty()) lines.push_back(std::move(line));
  size_t next = 0;
  return train_sentencepiece(o.settings, [&] { return next < lines.size() ? &lines[next++] : nullptr; });
}

void check_training(const Options& options, const TrainOptions& o) {
  const bool words = o.kind == "word";
  for (const char* name :
       {"--algorithm", "--coverage", "--byte-fallback", "--split-digits", "--normalization", "--symbol"})
    require<ConfigError>(!words || !options.given(name), "{} is of SentencePiece; --kind word does not have it", name);
  require<ConfigError>(words || !options.given("--at-least"),
                       "--at-least is of --kind word; SentencePiece has no such");
  const std::string_view ending = words ? ".txt" : ".model";
  require<ConfigError>(fs::path(o.output).extension() == ending,
                       "-o {}: the name must end in {}, by which such a tokenizer is known", o.output, ending);
}

int train_tokenizer(const Words& words) {
  TrainOptions o;
  Options options("tokenizer train", "A vocabulary from texts: pieces of words by SentencePiece, or whole words.");
  options.positionals("FILE", o.files, "text files (.txt, .txt.gz); patterns with * are expanded");
  options.text("-o,--output", o.output, "FILE", "where it goes: a .model of SentencePiece, a .txt of words");
  options.one_of("--kind", o.kind, {"sentencepiece", "word"}, "what is trained (sentencepiece)");
  options.integer("--vocab-size", o.vocab_size, "how many tokens (8000; of words: 0, which is all)", 0,
                  kMostTokens - 1);
  options.one_of("--algorithm", o.settings.algorithm, {"unigram", "bpe"}, "of SentencePiece (unigram)");
  options.number("--coverage", o.settings.coverage,
                 "share of the text's characters that get pieces of their own; the rest are unknown (0.9995)",
                 within(0.98, 1.0));
  options.flag("--byte-fallback", o.settings.byte_fallback, "unknown characters become their bytes");
  options.flag("--split-digits", o.settings.split_digits, "each digit is a piece");
  options.one_of("--normalization", o.settings.normalization,
                 {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"},
                 "of the text, before all else (nmt_nfkc; _cf: also lower case)");
  options.texts("--symbol", o.settings.symbols, "PIECE", "a piece that is never cut or joined; may be repeated");
  options.integer("--at-least", o.at_least, "of words: only those that are there so often (1)", 1, 1 << 30);
  if (!options.parse(words)) return kDone;
  require_option(options, "--output");
  check_training(options, o);
  std::vector<std::string> texts;
  for (const auto& path : expand_paths({o.files.begin(), o.files.end()})) texts.push_back(read_text(path));
  write_file(o.output, o.kind == "word" ? train_words(o, texts) : train_pieces(o, texts));
  print(fmt::format("{}: {} tokens\n", o.output, open_tokenizer(o.output)->vocab_size()));
  return kDone;
}

}  // namespace

int tokenizer(const Words& words) {
  static constexpr Command kParts[] = {
      {"train", "FILE… -o FILE", "a vocabulary from texts", train_tokenizer},
      {"encode", "-t FILE [FILE]", "texts as ids, a JSON object a line", encode},
      {"decode", "-t FILE [FILE]", "ids as texts", decode},
  };
  return run_part("tokenizer", "Texts as tokens.", kParts, words);
}

}  // namespace ordo::cli
