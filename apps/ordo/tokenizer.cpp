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
#include "ordo/tasks/side_tokenizers.h"
#include "ordo/tokenizers/bpe_training.h"
#include "ordo/tokenizers/sentencepiece_model.h"
#include "runs.h"

namespace ordo::cli {
namespace {

// Which tokenizer is meant.
struct TokenizerOptions {
  std::string name, side;
};

void tokenizer_options(Options& options, TokenizerOptions& o) {
  options.text("-t,--tokenizer", o.name, "FILE|RUN",
               "a tokenizer.json, a .model of SentencePiece, a .txt of words, a folder with one, a run; or byte");
  options.one_of("--side", o.side, {"source", "target"},
                 "of a run whose sources and targets have a tokenizer each: which of them");
}

std::shared_ptr<const Tokenizer> run_tokenizer(const TokenizerOptions& o) {
  const fs::path saved = Checkpoint(checkpoint_of(o.name, "")).tokenizer();
  const bool each_its_own = SideTokenizers::saved_in(saved);
  require<ConfigError>(!each_its_own || !o.side.empty(),
                       "{} has one tokenizer of its sources and one of its targets: say which is meant, --side source "
                       "or --side target",
                       o.name);
  require<ConfigError>(each_its_own || o.side.empty(), "{} has one tokenizer for all its texts: leave --side out",
                       o.name);
  if (!each_its_own) return open_tokenizer(saved);
  return open_tokenizer(o.side == "source" ? SideTokenizers::source_folder(saved)
                                           : SideTokenizers::target_folder(saved));
}

// A path, the kind `byte`, or a run with its saved tokenizers.
std::shared_ptr<const Tokenizer> tokenizer_of(const TokenizerOptions& o) {
  std::error_code ignored;
  const fs::path path = o.name;
  if (fs::exists(path / "config.yaml", ignored)) return run_tokenizer(o);
  require<ConfigError>(o.side.empty(), "--side is of runs, and {} is none: leave it out", o.name);
  return o.name == "byte" && !fs::exists(path, ignored) ? tokenizers().build(o.name, {}) : open_tokenizer(path);
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
  std::string place() const { return fmt::format("{}: line {}", name_, number_); }

 private:
  std::string name_;
  std::ifstream file_;
  int64_t number_ = 0;
};

// Every line through `work`; its errors are told with their place.
template <class Work>
void each_line(const std::string& file, const Work& work) {
  InputLines lines(file);
  std::string line;
  while (lines.next(line)) {
    try {
      work(line);
    } catch (const Error& error) {
      throw DataError(fmt::format("{}: {}", lines.place(), error.what()));
    }
  }
}

struct EncodeOptions {
  TokenizerOptions tokenizer;
  std::string file;
  bool jsonl = false, special = false;
};

void encode_line(const Tokenizer& tokenizer, const EncodeOptions& o, const std::string& text,
                 const std::optional<std::string>& pair) {
  const Encoded all = o.special ? tokenizer.encode_special(text, pair) : Encoded{.ids = tokenizer.encode(text)};
  Json result{{"ids", all.ids}, {"text", tokenizer.decode(all.ids)}};
  if (pair) result["types"] = all.types;
  print(json_line(result) + "\n");
}

int encode(const Words& words) {
  EncodeOptions o;
  Options options(
      "tokenizer encode",
      "Texts as ids: each line of the input is a text, and gives one line {\"ids\": […], \"text\": what the "
      "ids decode to}.");
  options.positional("FILE", o.file, "the texts (standard input)", false);
  tokenizer_options(options, o.tokenizer);
  options.flag("--jsonl", o.jsonl, "each line is a JSON string; with --special also a pair of them: [\"a\", \"b\"]");
  options.flag("--special", o.special, "with the special tokens around a text; a pair also gives \"types\"");
  if (!options.parse(words)) return kDone;
  require_option(options, "--tokenizer");
  const auto tokenizer = tokenizer_of(o.tokenizer);
  each_line(o.file, [&](const std::string& line) {
    if (!o.jsonl) return encode_line(*tokenizer, o, line, {});
    const Json value = parse_json(line, "its text");
    const bool is_pair =
        o.special && value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
    require<DataError>(value.is_string() || is_pair, "expected a JSON string{}", o.special ? " or a pair of them" : "");
    const Json& text = is_pair ? value[0] : value;
    encode_line(*tokenizer, o, text.get<std::string>(),
                is_pair ? std::optional(value[1].get<std::string>()) : std::nullopt);
  });
  return kDone;
}

// [1, 2], {"ids": [1, 2]} as encode prints it, or 1 2.
std::vector<int64_t> read_ids(const std::string& line) {
  std::vector<int64_t> ids;
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return ids;
  if (line[begin] != '[' && line[begin] != '{') {
    for (const std::string& word : split(line, ' '))
      if (!word.empty() && word != "\r") ids.push_back(read_integer(word, "a token id", 0, kMostTokens - 1));
    return ids;
  }
  Json value = parse_json(line, "its ids");
  const Json list = value.is_object() && value.contains("ids") ? value["ids"] : value;
  require<DataError>(list.is_array(), "expected ids: [1, 2], {{\"ids\": [1, 2]}} or 1 2");
  for (const Json& id : list) {
    require<DataError>(id.is_number_integer(), "expected whole numbers as ids, found {}", json_line(id));
    ids.push_back(id.get<int64_t>());
  }
  return ids;
}

int decode(const Words& words) {
  TokenizerOptions which;
  std::string file;
  bool jsonl = false, skips = false;
  Options options("tokenizer decode", "Ids as texts: each line of the input has the ids of one text.");
  options.positional("FILE", file, "lines of [1, 2], {\"ids\": [1, 2]} or 1 2 (standard input)", false);
  tokenizer_options(options, which);
  options.flag("--jsonl", jsonl, "texts as JSON strings, one a line");
  options.flag("--skip-special", skips, "without special tokens");
  if (!options.parse(words)) return kDone;
  require_option(options, "--tokenizer");
  const auto tokenizer = tokenizer_of(which);
  each_line(file, [&](const std::string& line) {
    auto ids = read_ids(line);
    if (skips) std::erase_if(ids, [&](int64_t id) { return tokenizer->is_special(id); });
    const std::string text = tokenizer->decode(ids);
    print((jsonl ? json_line(Json(text)) : text) + "\n");
  });
  return kDone;
}

struct VocabularyOptions {
  Words files, symbols;
  std::string output, kind = "sentencepiece";
  SentencepieceTraining pieces;
  int64_t vocab_size = 0, at_least = 1;
};
using TrainingTexts = std::vector<std::string>;

// What is written to the output, for each kind that can be trained.
std::string trained_words(const VocabularyOptions& o, const TrainingTexts& texts) {
  const WordTokenizer made({.size = o.vocab_size, .at_least = o.at_least}, {.text = [&] { return join(texts, "\n"); }});
  return made.file_text();
}

std::string trained_pieces(const VocabularyOptions& o, const TrainingTexts& texts) {
  SentencepieceTraining settings = o.pieces;
  settings.symbols = o.symbols;
  if (o.vocab_size > 0) settings.vocab_size = o.vocab_size;
  TrainingTexts lines;
  for (const auto& text : texts)
    for (std::string& line : split(text, '\n'))
      if (!line.empty()) lines.push_back(std::move(line));
  size_t next = 0;
  return train_sentencepiece(settings, [&] { return next < lines.size() ? &lines[next++] : nullptr; });
}

std::string trained_bytes(const VocabularyOptions& o, const TrainingTexts& texts) {
  BpeTraining settings{.at_least = o.at_least, .symbols = o.symbols};
  if (o.vocab_size > 0) settings.vocab_size = o.vocab_size;
  return train_byte_bpe(settings, texts);
}

struct TrainedKind {
  std::string_view kind, ending;
  std::string (*train)(const VocabularyOptions& o, const TrainingTexts& texts);
  std::vector<std::string_view> lacks;  // options of others
};
const std::vector<TrainedKind>& trained_kinds() {
  static const std::vector<TrainedKind> kinds{
      {"sentencepiece", ".model", trained_pieces, {"--at-least"}},
      {"word",
       ".txt",
       trained_words,
       {"--algorithm", "--coverage", "--byte-fallback", "--split-digits", "--normalization", "--symbol"}},
      {"hf",
       ".json",
       trained_bytes,
       {"--algorithm", "--coverage", "--byte-fallback", "--split-digits", "--normalization"}}};
  return kinds;
}

const TrainedKind& kind_of(const Options& options, const VocabularyOptions& o) {
  const auto& kinds = trained_kinds();
  const auto& kind = *std::find_if(kinds.begin(), kinds.end(), [&](const TrainedKind& k) { return k.kind == o.kind; });
  for (const auto name : kind.lacks)
    require<ConfigError>(!options.given(std::string(name)), "{} is of another kind; --kind {} does not have it", name,
                         o.kind);
  require<ConfigError>(fs::path(o.output).extension() == kind.ending,
                       "-o {}: the name must end in {}, by which a tokenizer of --kind {} is known", o.output,
                       kind.ending, o.kind);
  return kind;
}

int train_tokenizer(const Words& words) {
  VocabularyOptions o;
  SentencepieceTraining& s = o.pieces;
  Options options("tokenizer train",
                  "A vocabulary from texts: pieces of words by SentencePiece (.model), byte-level byte pairs as a "
                  "tokenizer.json (--kind hf), or whole words (.txt).");
  options.positionals("FILE", o.files, "text files (.txt, .txt.gz); patterns with * are expanded");
  options.text("-o,--output", o.output, "FILE", "where it goes: .model, .json or .txt, as the kind is");
  Words kinds;
  for (const auto& kind : trained_kinds()) kinds.emplace_back(kind.kind);
  options.one_of("--kind", o.kind, kinds, "what is trained (sentencepiece)");
  options.integer("--vocab-size", o.vocab_size, "how many tokens (8000; of words: all)", 1, kMostTokens - 1);
  options.texts("--symbol", o.symbols, "PIECE", "a token that is never cut or joined, not of words; may be repeated");
  options.integer("--at-least", o.at_least, "of words and hf: words, or pairs to join, that are there so often (1)", 1,
                  1 << 30);
  options.one_of("--algorithm", s.algorithm, {"unigram", "bpe"}, "of SentencePiece (unigram)");
  options.number("--coverage", s.coverage,
                 "of SentencePiece: share of the text's characters that get pieces of their own; the rest are unknown "
                 "(0.9995)",
                 within(0.98, 1.0));
  options.flag("--byte-fallback", s.byte_fallback, "of SentencePiece: unknown characters become their bytes");
  options.flag("--split-digits", s.split_digits, "of SentencePiece: each digit is a piece");
  options.one_of("--normalization", s.normalization, {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"},
                 "of SentencePiece: what is done to a text before all else (nmt_nfkc; _cf: also lower case)");
  if (!options.parse(words)) return kDone;
  require_option(options, "--output");
  const TrainedKind& kind = kind_of(options, o);
  TrainingTexts texts;
  for (const auto& path : expand_paths({o.files.begin(), o.files.end()})) texts.push_back(read_text(path));
  write_file(o.output, kind.train(o, texts));
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
