// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/tagged_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/json_lines.h"
#include "ordo/data/mixture.h"
#include "ordo/data/records.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/pair_files.h"

namespace ordo {

namespace {

constexpr NamedValue kTagFormats[] = {{"automatic", static_cast<int>(TagFormat::automatic)},
                                      {"columns", static_cast<int>(TagFormat::columns)},
                                      {"jsonl", static_cast<int>(TagFormat::jsonl)}};
constexpr std::string_view kDocumentMark = "-DOCSTART-";

const std::vector<fs::path>& tagged_paths(const TaggedTextsConfig& c, Split split) {
  return split == Split::train ? c.train : split == Split::validation ? c.validation : c.test;
}

// Lines of a file of columns, sentence by sentence.
class ColumnSentences {
 public:
  ColumnSentences(const fs::path& path, const TaggedTextsConfig& config)
      : path_(path), config_(config), lines_(read_lines(path)) {
    tabs_ = std::any_of(lines_.begin(), lines_.end(),
                        [](const auto& line) { return line.find('\t') != std::string::npos; });
  }

  void read(BadLines& bad, std::vector<TaggedText>& into) const {
    for (size_t begin = 0; begin < lines_.size();) {
      size_t end = begin;
      while (end < lines_.size() && !trimmed(lines_[end]).empty()) ++end;
      if (end > begin)
        bad.attempt([&] {
          TaggedText made = sentence(begin, end);
          if (made.words.size() > 1 || made.words.front() != kDocumentMark) into.push_back(std::move(made));
        });
      begin = end + 1;
    }
  }

 private:
  std::vector<std::string> cells(const std::string& line) const {
    return tabs_ ? split(line, '\t') : blank_apart(line);
  }

  TaggedText sentence(size_t begin, size_t end) const {
    TaggedText made{.words = {}, .tags = {}, .where = fmt::format("{}: line {}", path_.string(), begin + 1)};
    for (size_t i = begin; i < end; ++i) {
      const auto found = cells(lines_[i]);
      const auto count = std::ssize(found);
      const int64_t tag = config_.tag == 0 ? count : config_.tag;
      require<DataError>(count >= 2 && config_.word <= count && tag <= count,
                         "{}: line {}: expected a word in column {} and a tag in column {}, found {} column{} apart by "
                         "{}",
                         path_.string(), i + 1, config_.word, config_.tag == 0 ? "2 or later" : std::to_string(tag),
                         count, count == 1 ? "" : "s", tabs_ ? "tabs" : "blanks");
      made.words.emplace_back(trimmed(found[static_cast<size_t>(config_.word - 1)]));
      made.tags.emplace_back(trimmed(found[static_cast<size_t>(tag - 1)]));
      require<DataError>(!made.words.back().empty() && !made.tags.back().empty(), "{}: line {}: the {} is empty",
                         path_.string(), i + 1, made.words.back().empty() ? "word" : "tag");
    }
    return made;
  }

  const fs::path& path_;
  const TaggedTextsConfig& config_;
  std::vector<std::string> lines_;
  bool tabs_;
};

void read_tagged_json(const fs::path& path, const TaggedTextsConfig& c, BadLines& bad, std::vector<TaggedText>& into) {
  const std::string tokens = c.tokens_key.empty() ? "tokens" : c.tokens_key;
  const std::string tags = c.tags_key.empty() ? "tags" : c.tags_key;
  read_json_lines(path, bad, [&](const JsonView& value, size_t line) {
    TaggedText made{
        .words = texts_of(value.at(tokens)), .tags = {}, .where = fmt::format("{}: line {}", path.string(), line)};
    for (const auto& tag : value.at(tags).items())
      made.tags.push_back(tag.raw().is_number_integer() ? tag.raw().dump() : tag.text());
    require<DataError>(made.words.size() == made.tags.size(), "{}: {} words have {} tags", made.where,
                       made.words.size(), made.tags.size());
    require<DataError>(!made.words.empty(), "{}: the sentence is empty", made.where);
    const auto blank = [](const std::string& text) { return trimmed(text).empty(); };
    require<DataError>(std::none_of(made.words.begin(), made.words.end(), blank), "{}: a word is empty", made.where);
    require<DataError>(std::none_of(made.tags.begin(), made.tags.end(), blank), "{}: a tag is empty", made.where);
    into.push_back(std::move(made));
  });
}

bool is_json(const TaggedTextsConfig& config, fs::path name) {
  if (config.format != TagFormat::automatic) return config.format == TagFormat::jsonl;
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return name.extension() == ".jsonl";
}

void divide_sentences(std::vector<TaggedText> file, const SplitRule& rule, const fs::path& path, TaggedTexts& made) {
  std::vector<std::string> texts;
  for (const auto& sentence : file) texts.push_back(join(sentence.words, " "));
  std::vector<SplitKey> keys;
  for (size_t i = 0; i < file.size(); ++i) keys.push_back({.number = static_cast<int64_t>(i), .text = texts[i]});
  const auto to = divided(rule, keys, path.string());
  move_apart(std::move(file), to, made.splits);
}

std::vector<TaggedText> made_texts(Split split, const MadeSentencesConfig& generate, uint64_t seed) {
  std::vector<TaggedText> all;
  const int64_t count = split == Split::train ? generate.sentences : generate.held_out;
  for (int64_t i = 0; i < count; ++i) {
    MadeSentence made = made_sentence(seed, split, static_cast<uint64_t>(i));
    all.push_back({.words = std::move(made.words),
                   .tags = std::move(made.tags),
                   .where = fmt::format("generated {} sentence {}", split_name(split), i)});
  }
  return all;
}

}  // namespace

void fields(Fields& f, TaggedTextsConfig& c) {
  f("train", c.train, "files of sentences: a word and its tag a line, a blank line between sentences; or .jsonl");
  f("weights", c.weights, kWeightsHelp, above(0.0));
  f("validation", c.validation, "of the validation split");
  f("test", c.test, "of the test split");
  f("generate", c.generate, "in place of files: sentences that are made, of persons, animals and places");
  f("format", c.format, "of the files; automatic: JSON Lines if their name ends so, else columns", kTagFormats);
  f("word", c.word, "column of the word, counted from 1", at_least(1));
  f("tag", c.tag, "column of the tag; 0: the last", at_least(0));
  f("tokens_key", c.tokens_key, R"(JSON key of the list of words; absent: "tokens")");
  f("tags_key", c.tags_key, R"(JSON key of the list of tags; absent: "tags")");
  f("on_bad_line", c.on_bad_line, "a sentence that cannot be read ends the run, or is left out and counted",
    kOnBadLine);
}

bool TaggedTextsConfig::has(Split split) const { return generate || !tagged_paths(*this, split).empty(); }

std::vector<std::string> contradictions(const TaggedTextsConfig& c) {
  std::vector<std::string> found;
  if (c.generate ? !c.train.empty() : c.train.empty())
    found.push_back(fmt::format("give one of task.data.train (files) and task.data.generate (found: {})",
                                c.generate ? "both" : "none"));
  if (auto wrong = wrong_weights(c.weights, c.train.size(), "task.data"); !wrong.empty())
    found.push_back(std::move(wrong));
  if (c.generate && (!c.validation.empty() || !c.test.empty()))
    found.push_back("task.data.generate makes validation and test sentences of its own: leave their files out");
  const bool columns = c.word != 1 || c.tag != 0, keys = !c.tokens_key.empty() || !c.tags_key.empty();
  if (columns && (c.format == TagFormat::jsonl || c.generate))
    found.push_back("task.data.word and task.data.tag are columns, which only files of columns have: leave them out");
  if (keys && (c.format == TagFormat::columns || c.generate))
    found.push_back("task.data.tokens_key and task.data.tags_key are of JSON Lines alone: leave them out");
  if (c.word == c.tag) found.push_back("task.data.word and task.data.tag are one column: give two");
  return found;
}

TaggedTexts read_tagged_texts(const TaggedTextsConfig& config, const SplitRule* rule, uint64_t seed) {
  TaggedTexts made;
  BadLines bad(config.on_bad_line);
  for (const Split split : kSplits) {
    auto& into = made.splits[static_cast<size_t>(split)];
    for (const auto& [path, entry] : expand_entries(tagged_paths(config, split))) {
      std::vector<TaggedText> file;
      if (is_json(config, path.filename()))
        read_tagged_json(path, config, bad, file);
      else
        ColumnSentences(path, config).read(bad, file);
      for (auto& sentence : file) sentence.entry = entry;
      if (rule != nullptr && split == Split::train)
        divide_sentences(std::move(file), *rule, path, made);
      else
        std::move(file.begin(), file.end(), std::back_inserter(into));
    }
    if (config.generate) into = made_texts(split, *config.generate, seed);
  }
  made.left_out = bad.sentence();
  for (const Split split : kSplits) {
    const bool due = config.has(split) || (rule != nullptr && rule->gives(split));
    require<DataError>(!due || !made.splits[static_cast<size_t>(split)].empty(),
                       "no sentence is left for the {} split{}", split_name(split),
                       made.left_out.empty() ? "" : ": " + made.left_out);
  }
  return made;
}

}  // namespace ordo
