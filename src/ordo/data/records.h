// SPDX-License-Identifier: Apache-2.0
// Data files of one example a row: tables and JSON Lines, read alike.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/fields.h"
#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"

namespace ordo {

enum class RecordFormat { automatic, tsv, csv, jsonl };
extern const Names kRecordFormats;

// `given`, or what the name says. Throws DataError for a name that tells no format.
RecordFormat record_format(const fs::path& path, RecordFormat given);

// What is read of each record: a column of a table, by its name or counted from 1, or a key of a JSON object. Where
// nothing is given it is `table`, or `key`.
struct RecordColumn {
  std::string given;
  std::string_view table, key;
};

struct RecordOptions {
  RecordFormat format = RecordFormat::automatic;  // by the name, .gz or .zst behind it or not; .txt is one with tabs
  bool header = false;                            // the first row of a table names its columns
  std::vector<RecordColumn> columns;
};

class Record {
 public:
  virtual ~Record() = default;
  // Of the column options.columns[i]. Throws DataError for what is no text in JSON.
  virtual std::string text(size_t i) const = 0;
  // A text, or the digits of a whole number of JSON.
  virtual std::string label(size_t i) const = 0;
  // A cell taken apart at commas, of blanks alone: none; a JSON list, or a single value.
  virtual std::vector<std::string> list(size_t i) const = 0;
  // All that has a name: the columns of a table with a header; what is text or a whole number in a JSON object.
  virtual std::map<std::string, std::string> names() const = 0;
  int64_t number = 0;      // in its file, from 0; what is left out counts
  std::string where;       // "a.tsv: line 7"
  bool first_row = false;  // of a table that is read without a header
};

// Calls visit(record) in the order of the file; a DataError of it is left to `bad`. Throws DataError for what
// read_table and read_json_lines refuse, a name that tells no format, and a column that is not there.
void read_records(const fs::path& path, const RecordOptions& options, BadLines& bad,
                  const std::function<void(const Record&)>& visit);

// Without the blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace ordo
