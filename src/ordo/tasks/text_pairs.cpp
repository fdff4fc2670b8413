// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/text_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/mixture.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/pair_files.h"

namespace ordo {

namespace {

void keep_pair(std::vector<TextPair>& pairs, TextPair pair) {
  for (const auto& [side, name] : {std::pair{&pair.source, "source"}, std::pair{&pair.target, "target"}})
    require<DataError>(!trimmed(*side).empty(), "{}: the {} is empty", pair.where, name);
  pairs.push_back(std::move(pair));
}

void read_file(const fs::path& path, const TextPairsConfig& c, BadLines& bad, std::vector<TextPair>& pairs) {
  const RecordOptions options{
      .format = c.format, .header = c.header, .columns = {{c.source, "1", "source"}, {c.target, "2", "target"}}};
  read_records(path, options, bad, [&](const Record& record) {
    keep_pair(pairs, {record.text(0), record.text(1), record.where, record.number});
  });
}

void read_side_by_side(const fs::path& sources, const fs::path& targets, BadLines& bad, std::vector<TextPair>& pairs) {
  const auto source = read_lines(sources), target = read_lines(targets);
  require<DataError>(source.size() == target.size(),
                     "{} has {} lines, {} has {}: line n of one must be the translation of line n of the other",
                     sources.string(), source.size(), targets.string(), target.size());
  for (size_t i = 0; i < source.size(); ++i)
    bad.attempt([&] {
      keep_pair(pairs,
                {source[i], target[i], fmt::format("{} and {}: line {}", sources.string(), targets.string(), i + 1),
                 static_cast<int64_t>(i)});
    });
}

std::string paths_text(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.string());
  return names.empty() ? "none" : join(names, ", ");
}

// The pairs of one file, or of two side by side: rules count examples by file.
struct FilePairs {
  std::string name;
  size_t entry = 0;
  std::vector<TextPair> pairs = {};
};
std::vector<FilePairs> read_paths(const PairPaths& paths, const TextPairsConfig& c, BadLines& bad) {
  std::vector<FilePairs> all;
  for (const auto& [path, entry] : expand_entries(paths.files))
    read_file(path, c, bad, all.emplace_back(FilePairs{path.string(), entry}).pairs);
  const auto sources = expand_entries(paths.source);
  const auto targets = expand_paths(paths.target);
  require<DataError>(sources.size() == targets.size(),
                     "{} files of sources ({}) stand beside {} of targets ({}): each needs the other", sources.size(),
                     paths_text(expand_paths(paths.source)), targets.size(), paths_text(targets));
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& [path, entry] = sources[i];
    FilePairs& file = all.emplace_back(FilePairs{path.string(), paths.files.size() + entry});
    read_side_by_side(path, targets[i], bad, file.pairs);
  }
  for (auto& file : all)
    for (auto& pair : file.pairs) pair.entry = file.entry;
  return all;
}

const PairPaths& paths_of(const TextPairsConfig& config, Split split) {
  if (split == Split::train) return config.train;
  return split == Split::validation ? config.validation : config.test;
}

std::vector<Split> divided_pairs(const FilePairs& file, const SplitRule& rule) {
  std::vector<SplitKey> keys;
  for (const auto& pair : file.pairs) keys.push_back({.number = pair.number, .text = pair.source});
  return divided(rule, keys, file.name);
}

}  // namespace

std::vector<fs::path> PairPaths::entries() const {
  std::vector<fs::path> all = files;
  all.insert(all.end(), source.begin(), source.end());
  return all;
}

void fields(Fields& f, PairPaths& c) {
  f("files", c.files, "files of pairs: .tsv or .txt with tabs, .csv, .jsonl, .gz or .zst behind it or not");
  f("source", c.source, "files of sources, a line each");
  f("target", c.target, "files of their targets, line by line");
}

void fields(Fields& f, TextPairsConfig& c) {
  f("train", c.train, "what is trained on; with task.split it is divided", required());
  f("weights", c.weights, kWeightsHelp, above(0.0));
  f("validation", c.validation, "of the validation split");
  f("test", c.test, "of the test split");
  f("format", c.format, "of files of pairs; automatic: by the name", kRecordFormats);
  f("source", c.source, "column, by its name or counted from 1, or JSON key of the source; absent: 1, or \"source\"");
  f("target", c.target, "column or JSON key of the target; absent: 2, or \"target\"");
  f("header", c.header, "the first row of a table names its columns");
  f("on_bad_line", c.on_bad_line, "a line that cannot be read ends the run, or is left out and counted", kOnBadLine);
}

TextPairs read_text_pairs(const TextPairsConfig& config, const SplitRule* rule) {
  BadLines bad(config.on_bad_line);
  TextPairs made;
  for (const Split split : kSplits)
    for (auto& file : read_paths(paths_of(config, split), config, bad)) {
      const bool divides = split == Split::train && rule != nullptr;
      const auto to = divides ? divided_pairs(file, *rule) : std::vector<Split>(file.pairs.size(), split);
      move_apart(std::move(file.pairs), to, made.pairs);
    }
  made.left_out = bad.sentence();
  for (const Split split : kSplits) {
    const bool due = paths_of(config, split).given() || (rule != nullptr && rule->gives(split));
    require<DataError>(!due || !made.pairs[static_cast<size_t>(split)].empty(), "no pair is left for the {} split{}",
                       split_name(split), made.left_out.empty() ? "" : "; " + made.left_out);
  }
  return made;
}

}  // namespace ordo
