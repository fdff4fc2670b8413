// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/core/text.h"
#include "ordo/data/json_lines.h"
#include "ordo/data/table_file.h"

namespace ordo {

namespace {

constexpr NamedValue kFormatNames[] = {{"automatic", static_cast<int>(RecordFormat::automatic)},
                                       {"tsv", static_cast<int>(RecordFormat::tsv)},
                                       {"csv", static_cast<int>(RecordFormat::csv)},
                                       {"jsonl", static_cast<int>(RecordFormat::jsonl)}};

RecordFormat format_told(const fs::path& path) {
  fs::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  if (name.extension() == ".jsonl") return RecordFormat::jsonl;
  if (name.extension() == ".csv") return RecordFormat::csv;
  require<DataError>(name.extension() == ".tsv" || name.extension() == ".txt",
                     "{}: what it is cannot be told by its name; give task.data.format: tsv, csv or jsonl",
                     path.string());
  return RecordFormat::tsv;
}

class TableRecord final : public Record {
 public:
  TableRecord(const TableFile& table, std::vector<size_t> columns) : table_(table), columns_(std::move(columns)) {}
  void move_to(size_t row) {
    row_ = row;
    number = table_.numbers[row];
    first_row = row == 0 && table_.header.empty();
    where = fmt::format("{}: line {}", table_.file.string(), table_.lines[row]);
  }
  std::string text(size_t i) const override { return cell(columns_[i]); }
  std::string label(size_t i) const override { return cell(columns_[i]); }
  std::vector<std::string> list(size_t i) const override {
    std::vector<std::string> items;
    if (trimmed(cell(columns_[i])).empty()) return items;
    for (const auto& item : split(cell(columns_[i]), ',')) items.emplace_back(trimmed(item));
    return items;
  }
  std::map<std::string, std::string> names() const override {
    std::map<std::string, std::string> all;
    for (size_t k = 0; k < table_.header.size(); ++k) all.emplace(table_.header[k], cell(k));
    return all;
  }

 private:
  const std::string& cell(size_t column) const { return table_.rows[row_][column]; }
  const TableFile& table_;
  std::vector<size_t> columns_;
  size_t row_ = 0;
};

bool is_word(const JsonView& value) { return value.is_string() || value.raw().is_number_integer(); }

std::string word_of(const JsonView& value) {
  return value.raw().is_number_integer() ? value.raw().dump() : value.text();
}

class JsonRecord final : public Record {
 public:
  JsonRecord(const JsonView& value, const std::vector<std::string>& keys, const fs::path& path, size_t line)
      : value_(value), keys_(keys) {
    number = static_cast<int64_t>(line) - 1;
    where = fmt::format("{}: line {}", path.string(), line);
  }
  std::string text(size_t i) const override { return value_.at(keys_[i]).text(); }
  std::string label(size_t i) const override { return word_of(value_.at(keys_[i])); }
  std::vector<std::string> list(size_t i) const override {
    const JsonView found = value_.at(keys_[i]);
    if (!found.is_array()) return {word_of(found)};
    std::vector<std::string> items;
    for (const auto& item : found.items()) items.push_back(word_of(item));
    return items;
  }
  std::map<std::string, std::string> names() const override {
    std::map<std::string, std::string> all;
    for (const auto& [key, member] : value_.members())
      if (is_word(member)) all.emplace(key, word_of(member));
    return all;
  }

 private:
  const JsonView& value_;
  const std::vector<std::string>& keys_;
};

}  // namespace

constinit const Names kRecordFormats(kFormatNames);

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t from = text.find_first_not_of(kBlanks);
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

RecordFormat record_format(const fs::path& path, RecordFormat given) {
  return given == RecordFormat::automatic ? format_told(path) : given;
}

void read_records(const fs::path& path, const RecordOptions& options, BadLines& bad,
                  const std::function<void(const Record&)>& visit) {
  const RecordFormat format = record_format(path, options.format);
  if (format == RecordFormat::jsonl) {
    std::vector<std::string> keys;
    for (const auto& column : options.columns)
      keys.push_back(column.given.empty() ? std::string(column.key) : column.given);
    return read_json_lines(path, bad,
                           [&](const JsonView& value, size_t line) { visit(JsonRecord(value, keys, path, line)); });
  }
  const TableFormat kind = format == RecordFormat::csv ? TableFormat::csv : TableFormat::tsv;
  const TableFile table = read_table(path, {.format = kind, .header = options.header}, bad);
  std::vector<size_t> columns;
  for (const auto& column : options.columns)
    columns.push_back(table.column(column.given.empty() ? column.table : std::string_view(column.given)));
  TableRecord record(table, std::move(columns));
  for (size_t row = 0; row < table.rows.size(); ++row) {
    record.move_to(row);
    bad.attempt([&] { visit(record); });
  }
}

}  // namespace ordo
