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

bool is_token_file(const fs::path& path) { return path.extension() == ".bin"; }

// The texts of one column, one below the other with a blank line between; a number is a column of a table without a
// header.
std::string column_text(const fs::path& path, const DataConfig& config) {
  const std::string& column = config.column;
  BadLines none;
  std::string text;
  const bool counted = column.find_first_not_of("0123456789") == column.npos;
  read_records(path, {.format = config.format, .header = !counted, .columns = {{column, "", ""}}}, none,
               [&](const Record& record) { text += record.text(0) + "\n\n"; });
  return text;
}

}  // namespace

void fields(Fields& f, DataConfig& c) {
  f("train", c.train,
    "training files: text (.txt, .txt.gz, .txt.zst) or token ids (.bin); patterns with * are expanded");
  f("validation", c.validation, "validation files");
  f("test", c.test, "test files");
  f("validation_fraction", c.validation_fraction, "in place of validation files: this last part of the training tokens",
    below_one());
  f("column", c.column,
    "of .csv, .tsv, .txt and .jsonl files: the column with the text, by its name in the first row or, without such a "
    "row, by "
    "its number from 1; a blank line goes behind each text");
  f("format", c.format, "of files with a column; automatic: by the name", kRecordFormats);
  f("documents", c.documents, "what separates the documents of a text file: nothing (each file is one), or blank lines",
    kDocuments);
  f("token_type", c.token_type, "what the ids of a .bin file without a header are", kTokenTypes);
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
  both(c.generate && !c.column.empty(), "generate", "column", "made text has no columns");
  both(c.generate && c.validation_fraction > 0.0, "generate", "validation_fraction",
       "a generator makes a validation text of its own");
  both(!c.validation.empty() && c.validation_fraction > 0.0, "validation", "validation_fraction",
       "validation is either files of its own or a part of the training files");
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

std::vector<Corpus::File> Corpus::read(Split split) const {
  std::vector<File> found;
  if (config_.generate) {
    const auto source = text_sources().build(*config_.generate, {.seed = seed_});
    found.push_back({fmt::format("generated {} text ({})", split_name(split), source->kind()), source->text(split)});
    return found;
  }
  const std::string& column = config_.column;
  for (const auto& path : expand_paths(files(split))) {
    const bool ids = is_token_file(path);
    require<ConfigError>(!ids || column.empty(),
                         "{} holds token ids and has no column '{}': leave task.data.column out", path.string(),
                         column);
    found.push_back(ids ? File{.path = path, .is_ids = true}
                        : File{.path = path, .text = column.empty() ? read_text(path) : column_text(path, config_)});
  }
  return found;
}

std::string Corpus::training_text() {
  if (training_files_.empty()) training_files_ = read(Split::train);
  std::string all;
  for (const auto& file : training_files_) all += file.text;
  return all;
}

TokenSequence Corpus::encode(Split split, const Tokenizer* tokenizer, int64_t vocab_size) {
  TokenSequence sequence;
  const std::vector<File> files_here =
      split == Split::train && !training_files_.empty() ? std::move(training_files_) : read(split);
  training_files_.clear();
  for (const auto& file : files_here) {
    if (file.is_ids) {
      sequence.add(read_token_file(file.path, config_.token_type, vocab_size, tokenizer));
      continue;
    }
    require<ConfigError>(tokenizer != nullptr, "{} is text, and no tokenizer is given: set `task.tokenizer` ({})",
                         file.path.string(), join(names_of(tokenizers().kinds()), ", "));
    try {
      add_text(sequence, file.path.filename().string(), file.text, config_.documents, *tokenizer);
    } catch (const DataError& error) {
      throw DataError(file.path.string() + ": " + error.what());
    }
  }
  return sequence;
}

// The cut is that of nanoGPT: training = the first floor((1 - fraction) x n) tokens, validation = the rest.
void Corpus::cut_validation(const TokenSequence& all) {
  const auto kept =
      static_cast<int64_t>(std::floor((1.0 - config_.validation_fraction) * static_cast<double>(all.size())));
  auto [train, validation] = all.cut(kept);
  tokens_[static_cast<size_t>(Split::train)] = std::make_shared<const TokenSequence>(std::move(train));
  tokens_[static_cast<size_t>(Split::validation)] = std::make_shared<const TokenSequence>(std::move(validation));
}

std::shared_ptr<const TokenSequence> Corpus::tokens(Split split, const Tokenizer* tokenizer, int64_t vocab_size) {
  auto& found = tokens_[static_cast<size_t>(split)];
  if (found) return found;
  require<ConfigError>(has(split), "there is no {} data: give task.data.{}{}", split_name(split), split_name(split),
                       split == Split::validation ? " or task.data.validation_fraction" : "");
  const bool whole = config_.validation_fraction <= 0.0 || split == Split::test;
  auto sequence = encode(whole ? split : Split::train, tokenizer, vocab_size);
  if (whole)
    found = std::make_shared<const TokenSequence>(std::move(sequence));
  else
    cut_validation(sequence);
  return found;
}

}  // namespace ordo
