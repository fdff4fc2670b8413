// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/text_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/json_lines.h"
#include "ordo/data/table_file.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/pair_files.h"

namespace ordo {

namespace {

constexpr NamedValue kPairFormats[] = {{"automatic", static_cast<int>(PairFormat::automatic)},
                                       {"tsv", static_cast<int>(PairFormat::tsv)},
                                       {"csv", static_cast<int>(PairFormat::csv)},
                                       {"jsonl", static_cast<int>(PairFormat::jsonl)}};
constexpr Split kTextSplits[] = {Split::train, Split::validation, Split::test};

// By the name behind .gz and .zst; a .txt is taken for a table with tabs.
PairFormat format_of(const TextPairsConfig& config, const fs::path& path) {
  if (config.format != PairFormat::automatic) return config.format;
  fs::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  if (name.extension() == ".jsonl") return PairFormat::jsonl;
  if (name.extension() == ".csv") return PairFormat::csv;
  require<DataError>(name.extension() == ".tsv" || name.extension() == ".txt",
                     "{}: what it is cannot be told by its name; give task.data.format: tsv, csv or jsonl",
                     path.string());
  return PairFormat::tsv;
}

void keep_pair(std::vector<TextPair>& pairs, std::string source, std::string target, std::string where) {
  for (const auto& [side, name] : {std::pair{&source, "source"}, std::pair{&target, "target"}})
    require<DataError>(side->find_first_not_of(" \t\r\n") != std::string::npos, "{}: the {} is empty", where, name);
  pairs.push_back({std::move(source), std::move(target), std::move(where)});
}

void read_table_pairs(const fs::path& path, PairFormat format, const TextPairsConfig& c, BadLines& bad,
                      std::vector<TextPair>& pairs) {
  const TableFile table = read_table(
      path, {.format = format == PairFormat::csv ? TableFormat::csv : TableFormat::tsv, .header = c.header}, bad);
  const size_t source = table.column(c.source.empty() ? "1" : c.source);
  const size_t target = table.column(c.target.empty() ? "2" : c.target);
  for (size_t i = 0; i < table.rows.size(); ++i)
    bad.attempt([&] {
      keep_pair(pairs, table.rows[i][source], table.rows[i][target],
                fmt::format("{}: line {}", path.string(), table.lines[i]));
    });
}

void read_json_pairs(const fs::path& path, const TextPairsConfig& c, BadLines& bad, std::vector<TextPair>& pairs) {
  read_json_lines(path, bad, [&](const JsonView& value, size_t line) {
    keep_pair(pairs, value.at(c.source.empty() ? "source" : c.source).text(),
              value.at(c.target.empty() ? "target" : c.target).text(), fmt::format("{}: line {}", path.string(), line));
  });
}

void read_side_by_side(const fs::path& sources, const fs::path& targets, BadLines& bad, std::vector<TextPair>& pairs) {
  const auto source = read_lines(sources), target = read_lines(targets);
  require<DataError>(source.size() == target.size(),
                     "{} has {} lines, {} has {}: line n of one must be the translation of line n of the other",
                     sources.string(), source.size(), targets.string(), target.size());
  for (size_t i = 0; i < source.size(); ++i)
    bad.attempt([&] {
      keep_pair(pairs, source[i], target[i],
                fmt::format("{} and {}: line {}", sources.string(), targets.string(), i + 1));
    });
}

std::string paths_text(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.string());
  return names.empty() ? "none" : join(names, ", ");
}

// All pairs of a split's files, one list a file, as rules count examples by file.
std::vector<std::vector<TextPair>> read_paths(const PairPaths& paths, const TextPairsConfig& c, BadLines& bad) {
  std::vector<std::vector<TextPair>> all;
  for (const auto& path : expand_paths(paths.files)) {
    auto& pairs = all.emplace_back();
    const PairFormat format = format_of(c, path);
    if (format == PairFormat::jsonl)
      read_json_pairs(path, c, bad, pairs);
    else
      read_table_pairs(path, format, c, bad, pairs);
  }
  const auto sources = expand_paths(paths.source), targets = expand_paths(paths.target);
  require<DataError>(sources.size() == targets.size(),
                     "{} files of sources ({}) stand beside {} of targets ({}): each needs the other", sources.size(),
                     paths_text(sources), targets.size(), paths_text(targets));
  for (size_t i = 0; i < sources.size(); ++i) read_side_by_side(sources[i], targets[i], bad, all.emplace_back());
  return all;
}

const PairPaths& paths_of(const TextPairsConfig& config, Split split) {
  if (split == Split::train) return config.train;
  return split == Split::validation ? config.validation : config.test;
}

void divide(std::vector<TextPair>&& file, const SplitRule& rule, TextPairs& made) {
  std::vector<SplitKey> keys;
  for (size_t i = 0; i < file.size(); ++i) keys.push_back({.number = static_cast<int64_t>(i), .text = file[i].source});
  const auto split = rule.divide(keys);
  for (size_t i = 0; i < file.size(); ++i) made.pairs[static_cast<size_t>(split[i])].push_back(std::move(file[i]));
}

}  // namespace

void fields(Fields& f, PairPaths& c) {
  f("files", c.files, "files of pairs: .tsv or .txt with tabs, .csv, .jsonl, .gz or .zst behind it or not");
  f("source", c.source, "files of sources, a line each");
  f("target", c.target, "files of their targets, line by line");
}

void fields(Fields& f, TextPairsConfig& c) {
  f("train", c.train, "what is trained on; with task.split it is divided", required());
  f("validation", c.validation, "of the validation split");
  f("test", c.test, "of the test split");
  f("format", c.format, "of files of pairs; automatic: by the name", kPairFormats);
  f("source", c.source, "column, by its name or counted from 1, or JSON key of the source; absent: 1, or \"source\"");
  f("target", c.target, "column or JSON key of the target; absent: 2, or \"target\"");
  f("header", c.header, "the first row of a table names its columns");
  f("on_bad_line", c.on_bad_line, "a line that cannot be read ends the run, or is left out and counted", kOnBadLine);
}

TextPairs read_text_pairs(const TextPairsConfig& config, const SplitRule* rule) {
  BadLines bad(config.on_bad_line);
  TextPairs made;
  for (const Split split : kTextSplits)
    for (auto& file : read_paths(paths_of(config, split), config, bad)) {
      if (split == Split::train && rule != nullptr) {
        divide(std::move(file), *rule, made);
      } else {
        auto& pairs = made.pairs[static_cast<size_t>(split)];
        std::move(file.begin(), file.end(), std::back_inserter(pairs));
      }
    }
  made.left_out = bad.sentence();
  for (const Split split : kTextSplits) {
    const bool due = paths_of(config, split).given() || (rule != nullptr && rule->gives(split));
    require<DataError>(!due || !made.pairs[static_cast<size_t>(split)].empty(), "no pair is left for the {} split{}",
                       split_name(split), made.left_out.empty() ? "" : "; " + made.left_out);
  }
  return made;
}

}  // namespace ordo
