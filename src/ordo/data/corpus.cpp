// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/corpus.h"

#include <cmath>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/data/text_file.h"
#include "ordo/data/token_file.h"

namespace ordo {

namespace {

constexpr NamedValue kTokenTypes[] = {{"uint16", static_cast<int>(TokenType::uint16)},
                                      {"uint32", static_cast<int>(TokenType::uint32)}};

// The texts of one column, one below the other with a blank line between; a number is a column of a table without a
// header.
std::string column_text(const fs::path& path, const DataConfig& config, BadLines& bad) {
  const std::string& column = config.column;
  std::string text;
  const bool counted = column.find_first_not_of("0123456789") == column.npos;
  read_records(path, {.format = config.format, .header = !counted, .columns = {{column, "", ""}}}, bad,
               [&](const Record& record) { text.append(record.text(0)).append(kBehindRecord); });
  return text;
}

}  // namespace

void fields(Fields& f, DataConfig& c) {
  f("train", c.train,
    "training files: text (.txt, .txt.gz, .txt.zst) or token ids (.bin); patterns with * are expanded");
  f("weights", c.weights, kWeightsHelp, above(0.0));
  f("validation", c.validation, "validation files");
  f("test", c.test, "test files");
  f("validation_fraction", c.validation_fraction,
    "in place of validation files: this last part of the training tokens, with weights of each part's", below_one());
  f("column", c.column,
    "of .csv, .tsv, .txt and .jsonl files: the column with the text, by its name in the first row or, without such a "
    "row, by "
    "its number from 1; a blank line goes behind each text");
  f("format", c.format, "of files with a column; automatic: by the name", kRecordFormats);
  f("documents", c.documents, "what separates the documents of a text file: nothing (each file is one), or blank lines",
    kDocuments);
  f("token_type", c.token_type, "what the ids of a .bin file without a header are", kTokenTypes);
  f("buffer", c.buffer, "of a training text that is streamed: MiB of it that are shuffled together; absent: 16",
    within(1, 4096));
  f("on_bad_line", c.on_bad_line,
    "a line that is not UTF-8, not a record with the column, or has a character that the tokenizer does not know, ends "
    "the run, or is left out and counted",
    kOnBadLine);
  f("generate", c.generate, "in place of files: text that is made");
}

std::vector<std::string> contradictions(const DataConfig& c, const std::string& path) {
  std::vector<std::string> found;
  const auto both = [&](bool clash, std::string_view a, std::string_view b, std::string_view why) {
    if (clash) found.push_back(fmt::format("{0}.{1} and {0}.{2} cannot be given together: {3}", path, a, b, why));
  };
  if (c.train.empty() && !c.generate)
    found.push_back(fmt::format("{}.train is missing: files of text or of token ids", path));
  if (c.column.empty() && c.format != RecordFormat::automatic)
    found.push_back(
        fmt::format("{0}.format is of tables and JSON Lines: give {0}.column, where the text is, or leave it "
                    "out",
                    path));
  constexpr std::string_view kMade = "the text is either made or read";
  both(c.generate && !c.train.empty(), "generate", "train", kMade);
  both(c.generate && !c.validation.empty(), "generate", "validation", kMade);
  both(c.generate && !c.test.empty(), "generate", "test", kMade);
  if (auto wrong = wrong_weights(c.weights, c.train.size(), path); !wrong.empty()) found.push_back(std::move(wrong));
  both(c.generate && !c.column.empty(), "generate", "column", "made text has no columns");
  both(c.generate && c.validation_fraction > 0.0, "generate", "validation_fraction",
       "a generator makes a validation text of its own");
  both(!c.validation.empty() && c.validation_fraction > 0.0, "validation", "validation_fraction",
       "validation is either files of its own or a part of the training files");
  return found;
}

std::vector<std::string> streamed_contradictions(const DataConfig& c, const std::string& path) {
  std::vector<std::string> found;
  const auto refuse = [&](bool given, std::string_view key, std::string_view why) {
    if (given)
      found.push_back(fmt::format("{}.{} and task.sampling: streamed cannot be given together: {}", path, key, why));
  };
  refuse(c.generate.has_value(), "generate", "made text is no file; use sampling: packed");
  refuse(c.validation_fraction > 0.0, "validation_fraction",
         "where a part of the training text begins is not known before all is read; give validation files");
  refuse(!c.weights.empty(), "weights", "files are read one after another, each once an epoch");
  return found;
}

const std::vector<fs::path>& Corpus::files(Split split) const {
  return split == Split::train ? config_.train : split == Split::validation ? config_.validation : config_.test;
}

bool Corpus::has(Split split) const {
  return config_.generate || !files(split).empty() || (split == Split::validation && config_.validation_fraction > 0.0);
}

bool Corpus::has_text() const {
  if (config_.generate) return true;
  for (const auto& path : config_.train)
    if (!is_token_file(path)) return true;
  return false;
}

std::vector<Corpus::File> Corpus::read(Split split) {
  std::vector<File> found;
  if (config_.generate) {
    const auto source = text_sources().build(*config_.generate, {.seed = seed_});
    found.push_back({fmt::format("generated {} text ({})", split_name(split), source->kind()), source->text(split)});
    return found;
  }
  const std::string& column = config_.column;
  BadLines& bad = bad_[static_cast<size_t>(split)] = BadLines(config_.on_bad_line);
  for (const auto& [path, entry] : expand_entries(files(split))) {
    const bool ids = is_token_file(path);
    require<ConfigError>(!ids || column.empty(),
                         "{} holds token ids and has no column '{}': leave task.data.column out", path.string(),
                         column);
    File file{.path = path, .text = {}, .is_ids = ids, .entry = entry};
    if (!ids) file.text = column.empty() ? read_text(path, bad) : column_text(path, config_, bad);
    found.push_back(std::move(file));
  }
  return found;
}

std::string Corpus::training_text() {
  if (training_files_.empty()) training_files_ = read(Split::train);
  std::string all;
  for (const auto& file : training_files_) all += file.text;
  return all;
}

void Corpus::encode(const File& file, const Tokenizer* tokenizer, int64_t vocab_size, BadLines& bad,
                    TokenSequence& into) const {
  if (file.is_ids) return into.add(read_token_file(file.path, config_.token_type, vocab_size, tokenizer));
  require<ConfigError>(tokenizer != nullptr, "{} is text, and no tokenizer is given: set `task.tokenizer` ({})",
                       file.path.string(), join(names_of(tokenizers().kinds()), ", "));
  add_text(into, {.path = file.path, .text = file.text, .line = config_.column.empty() ? 1 : 0}, config_.documents,
           *tokenizer, bad);
}

std::vector<TokenSequence> Corpus::encoded(Split split, const Tokenizer* tokenizer, int64_t vocab_size) {
  const bool weighted = split == Split::train && !config_.weights.empty();
  std::vector<TokenSequence> parts(weighted ? config_.train.size() : 1);
  const std::vector<File> files_here =
      split == Split::train && !training_files_.empty() ? std::move(training_files_) : read(split);
  training_files_.clear();
  BadLines& bad = bad_[static_cast<size_t>(split)];
  for (const auto& file : files_here) encode(file, tokenizer, vocab_size, bad, parts[weighted ? file.entry : 0]);
  return parts;
}

void Corpus::keep(Split split, std::vector<TokenSequence> parts) {
  if (split == Split::train && !config_.weights.empty())
    for (size_t i = 0; i < parts.size(); ++i)
      parts_.push_back({.name = config_.train[i].string(), .weight = config_.weights[i], .count = parts[i].size()});
  TokenSequence all = std::move(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) all.add(parts[i]);
  tokens_[static_cast<size_t>(split)] = std::make_shared<const TokenSequence>(std::move(all));
}

// The cut is that of nanoGPT: training = the first floor((1 - fraction) x n) tokens, validation = the rest.
void Corpus::keep_cut(const std::vector<TokenSequence>& parts) {
  std::vector<TokenSequence> training, validation;
  for (const auto& part : parts) {
    const auto kept =
        static_cast<int64_t>(std::floor((1.0 - config_.validation_fraction) * static_cast<double>(part.size())));
    auto [first, rest] = part.cut(kept);
    training.push_back(std::move(first));
    validation.push_back(std::move(rest));
  }
  keep(Split::train, std::move(training));
  keep(Split::validation, std::move(validation));
}

std::shared_ptr<const TokenSequence> Corpus::tokens(Split split, const Tokenizer* tokenizer, int64_t vocab_size) {
  const auto& found = tokens_[static_cast<size_t>(split)];
  if (found) return found;
  require<ConfigError>(has(split), "there is no {} data: give task.data.{}{}", split_name(split), split_name(split),
                       split == Split::validation ? " or task.data.validation_fraction" : "");
  const bool whole = config_.validation_fraction <= 0.0 || split == Split::test;
  auto parts = encoded(whole ? split : Split::train, tokenizer, vocab_size);
  if (whole)
    keep(split, std::move(parts));
  else
    keep_cut(parts);
  return found;
}

}  // namespace ordo
