// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/labelled_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/mixture.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/pair_files.h"

namespace ordo {

namespace {

enum TextColumn : size_t { kText, kLabel, kPair };

// An example with what a rule may divide by.
struct ReadText {
  LabelledText example;
  int64_t number = 0;
  std::map<std::string, std::string> names = {};
};

struct TextsReader {
  const LabelledTextsConfig& config;
  const ReadLabels& labels;
  const SplitRule* rule;
  BadLines bad;
  LabelledTexts made = {};
  size_t several = 0;  // examples left out by only_single

  std::vector<std::string> labels_of(const Record& record) const {
    if (labels.several || labels.only_single) return record.list(kLabel);
    return {std::string(trimmed(record.label(kLabel)))};
  }

  void keep(std::vector<ReadText>& texts, ReadText read) {
    LabelledText& example = read.example;
    require<DataError>(!trimmed(example.text).empty(), "{}: the text is empty", example.where);
    require<DataError>(config.pair.empty() || !trimmed(example.pair).empty(),
                       "{}: the second text of the pair is empty", example.where);
    const bool blank = std::any_of(example.labels.begin(), example.labels.end(),
                                   [](const std::string& label) { return trimmed(label).empty(); });
    require<DataError>(!blank && (labels.several || !example.labels.empty()), "{}: the label is empty", example.where);
    if (!labels.several && example.labels.size() > 1)
      ++several;
    else
      texts.push_back(std::move(read));
  }

  // The examples of one file; as rules count by file.
  void add_file(Split split, const fs::path& path, std::vector<ReadText> texts) {
    std::vector<Split> to(texts.size(), split);
    if (rule != nullptr && split == Split::train) {
      std::vector<SplitKey> keys;
      for (const auto& read : texts)
        keys.push_back({.number = read.number, .text = read.example.text, .names = read.names});
      to = divided(*rule, keys, path.string());
    }
    for (size_t i = 0; i < texts.size(); ++i)
      made.splits[static_cast<size_t>(to[i])].push_back(std::move(texts[i].example));
  }

  void read_file(Split split, const EntryFile& file) {
    const fs::path& path = file.path;
    RecordOptions options{.format = config.format,
                          .header = config.header,
                          .columns = {{config.text, "1", "text"}, {config.label, "2", "label"}}};
    if (!config.pair.empty()) options.columns.push_back({config.pair, "", ""});
    std::vector<ReadText> texts;
    read_records(path, options, bad, [&](const Record& record) {
      ReadText read{.example = {.text = record.text(kText),
                                .pair = config.pair.empty() ? "" : record.text(kPair),
                                .labels = labels_of(record),
                                .where = record.where,
                                .first_row = record.first_row,
                                .entry = file.entry},
                    .number = record.number};
      if (rule != nullptr) read.names = record.names();
      keep(texts, std::move(read));
    });
    add_file(split, path, std::move(texts));
  }

  void read_class(const ClassFiles& of) {
    for (const auto& path : expand_paths(of.files)) {
      std::vector<ReadText> texts;
      const auto lines = read_lines(path);
      for (size_t i = 0; i < lines.size(); ++i)
        bad.attempt([&] {
          keep(texts, {.example = {.text = lines[i],
                                   .pair = {},
                                   .labels = {of.name},
                                   .where = fmt::format("{}: line {}", path.string(), i + 1)},
                       .number = static_cast<int64_t>(i)});
        });
      add_file(Split::train, path, std::move(texts));
    }
  }

  void make(Split split, const MadeSentencesConfig& generate, uint64_t seed) {
    const int64_t count = split == Split::train ? generate.sentences : generate.held_out;
    for (int64_t i = 0; i < count; ++i) {
      const MadeSentence sentence = made_sentence(seed, split, static_cast<uint64_t>(i));
      made.splits[static_cast<size_t>(split)].push_back(
          {.text = join(sentence.words, " "),
           .pair = {},
           .labels = {sentence.did},
           .where = fmt::format("generated {} sentence {}", split_name(split), i)});
    }
  }
};

const std::vector<fs::path>& labelled_paths(const LabelledTextsConfig& c, Split split) {
  return split == Split::train ? c.train : split == Split::validation ? c.validation : c.test;
}

}  // namespace

void fields(Fields& f, ClassFiles& c) {
  f("class", c.name, "its name", required());
  f("files", c.files, "its texts, a line each", required());
}

void fields(Fields& f, LabelledTextsConfig& c) {
  f("train", c.train, "files of texts and labels: .tsv or .txt with tabs, .csv, .jsonl, .gz or .zst behind it or not");
  f("weights", c.weights, kWeightsHelp, above(0.0));
  f("validation", c.validation, "of the validation split");
  f("test", c.test, "of the test split");
  f("by_class", c.by_class, "in place of train: files of one class each, a text a line");
  f("generate", c.generate, "in place of files: sentences that are made, of who did something, a person or an animal");
  f("text", c.text, R"(column, by its name or counted from 1, or JSON key of the text; absent: 1, or "text")");
  f("label", c.label, R"(column or JSON key of the label; absent: 2, or "label")");
  f("pair", c.pair, "column or JSON key of a second text: the two are classified together; absent: there is none");
  f("format", c.format, "of the files; automatic: by the name", kRecordFormats);
  f("header", c.header, "the first row of a table names its columns");
  f("on_bad_line", c.on_bad_line, "a line that cannot be read ends the run, or is left out and counted", kOnBadLine);
}

bool LabelledTextsConfig::has(Split split) const {
  return generate || !labelled_paths(*this, split).empty() || (split == Split::train && !by_class.empty());
}

std::vector<std::string> contradictions(const LabelledTextsConfig& c) {
  std::vector<std::string> found;
  const int sources = (c.train.empty() ? 0 : 1) + (c.by_class.empty() ? 0 : 1) + (c.generate ? 1 : 0);
  if (sources != 1)
    found.push_back(
        fmt::format("give exactly one of task.data.train (files of texts and labels), task.data.by_class "
                    "(files of one class each) and task.data.generate (found: {})",
                    sources));
  if (auto wrong = wrong_weights(c.weights, c.train.size(), "task.data"); !wrong.empty())
    found.push_back(std::move(wrong));
  const bool columns =
      !c.text.empty() || !c.label.empty() || !c.pair.empty() || c.header || c.format != RecordFormat::automatic;
  const bool read_alike = !c.train.empty() || !c.validation.empty() || !c.test.empty();
  if (columns && !read_alike)
    found.push_back(
        "task.data.text, label, pair, header and format say how files of texts and labels are read, and "
        "there are none: leave them out");
  if (c.generate && (!c.validation.empty() || !c.test.empty()))
    found.push_back("task.data.generate makes validation and test sentences of its own: leave their files out");
  if (c.header && c.format == RecordFormat::jsonl)
    found.push_back("task.data.header is of tables, and task.data.format is jsonl: leave one out");
  return found;
}

LabelledTexts read_labelled_texts(const LabelledTextsConfig& config, const ReadLabels& labels, const SplitRule* rule,
                                  uint64_t seed) {
  TextsReader reader{config, labels, rule, BadLines(config.on_bad_line)};
  for (const Split split : kSplits) {
    for (const auto& file : expand_entries(labelled_paths(config, split))) reader.read_file(split, file);
    if (config.generate) reader.make(split, *config.generate, seed);
  }
  for (const auto& of : config.by_class) reader.read_class(of);
  if (const auto sentence = reader.bad.sentence(); !sentence.empty()) reader.made.told.push_back(sentence);
  if (reader.several > 0)
    reader.made.told.push_back(
        fmt::format("{} examples with several labels left out (task.only_single)", reader.several));
  for (const Split split : kSplits) {
    const bool due = config.has(split) || (rule != nullptr && rule->gives(split));
    require<DataError>(!due || !reader.made.splits[static_cast<size_t>(split)].empty(),
                       "no example is left for the {} split{}{}", split_name(split),
                       reader.made.told.empty() ? "" : ": ", join(reader.made.told, "; "));
  }
  return std::move(reader.made);
}

}  // namespace ordo
