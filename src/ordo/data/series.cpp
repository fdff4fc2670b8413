// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/series_values.h"
#include "ordo/data/table_file.h"
#include "ordo/data/text_file.h"
#include "ordo/data/time_stamps.h"

namespace ordo {

namespace {

constexpr NamedValue kMissingCells[] = {{"stop", static_cast<int>(MissingCells::stop)},
                                        {"interpolate", static_cast<int>(MissingCells::interpolate)},
                                        {"previous", static_cast<int>(MissingCells::previous)},
                                        {"mask", static_cast<int>(MissingCells::mask)}};
constexpr NamedValue kRepeatedStamps[] = {{"stop", static_cast<int>(RepeatedStamps::stop)},
                                          {"first", static_cast<int>(RepeatedStamps::first)}};
constexpr NamedValue kSeriesValues[] = {{"plain", static_cast<int>(SeriesValues::plain)},
                                        {"log", static_cast<int>(SeriesValues::log)},
                                        {"differences", static_cast<int>(SeriesValues::differences)},
                                        {"log_returns", static_cast<int>(SeriesValues::log_returns)}};

struct SeriesColumns {
  std::optional<size_t> date, group;
  std::vector<size_t> channels;
};

SeriesColumns columns_of(const TableFile& table, const SeriesSource& source) {
  SeriesColumns columns;
  if (!source.date.empty()) columns.date = table.column(source.date);
  if (!source.group.empty()) columns.group = table.column(source.group);
  require<DataError>(!columns.date || columns.date != columns.group,
                     "{}: column '{}' cannot be both task.data.date and task.data.group", table.file.string(),
                     shown(source.date));
  for (const auto& name : source.channels) {
    const size_t column = table.column(name);
    require<DataError>(columns.date != column && columns.group != column,
                       "{}: column '{}' is the date or the group, and no channel", table.file.string(), shown(name));
    require<DataError>(std::find(columns.channels.begin(), columns.channels.end(), column) == columns.channels.end(),
                       "{}: channel '{}' is named twice", table.file.string(), shown(name));
    columns.channels.push_back(column);
  }
  for (size_t column = 0; column < table.width() && source.channels.empty(); ++column)
    if (columns.date != column && columns.group != column) columns.channels.push_back(column);
  require<DataError>(!columns.channels.empty(), "{}: no column is left for a channel beside the date and the group",
                     table.file.string());
  return columns;
}

// Rows of a table as series, each group one.
class TableSeries {
 public:
  TableSeries(const SeriesSource& source, uint64_t seed)
      : source_(source),
        seed_(key_of(seed, "kept rows")),
        bad_(source.on_bad_line),
        table_(read_table(source.file, {.format = table_format(source.file)}, bad_)),
        columns_(columns_of(table_, source)) {
    set_.source = source.file.string();
    set_.dated = columns_.date.has_value();
    for (const size_t column : columns_.channels) set_.channels.push_back(table_.header[column]);
  }

  SeriesSet read() {
    for (size_t row = 0; row < table_.rows.size(); ++row)
      bad_.attempt([&] { add(row, series_of(columns_.group ? group(row) : "")); });
    set_.left_out = bad_.sentence();
    return std::move(set_);
  }

 private:
  void add(size_t row, Series& series) {
    const double time = columns_.date ? moment(row) : static_cast<double>(series.rows());
    std::vector<double> cells;
    for (const size_t column : columns_.channels) cells.push_back(cell(row, column));
    if (!follows(series, time, row)) return;
    if (source_.keep < 1.0 &&
        KeyedSequence(mix(seed_, static_cast<uint64_t>(table_.numbers[row]))).unit() >= source_.keep) {
      ++set_.thinned;
      return;
    }
    series.times.push_back(time);
    series.lines.push_back(static_cast<int64_t>(table_.lines[row]));
    series.values.insert(series.values.end(), cells.begin(), cells.end());
  }

  // NaN: it is missing, and something is to become of that.
  double cell(size_t row, size_t column) const {
    const auto value = table_.number_or_blank(row, column);
    if (!value && source_.missing == MissingCells::stop)
      table_.refuse(row, column,
                    "the cell is blank; fill it in, or say what becomes of missing cells (task.data.missing: "
                    "interpolate, previous or mask)");
    if (value && takes_logarithm(source_.values) && *value <= 0.0) table_.refuse(row, column, no_logarithm(*value));
    return value.value_or(std::numeric_limits<double>::quiet_NaN());
  }

  Series& series_of(const std::string& name) {
    if (!set_.series.empty() && set_.series[last_].name == name) return set_.series[last_];
    const auto found =
        std::find_if(set_.series.begin(), set_.series.end(), [&](const auto& s) { return s.name == name; });
    last_ = static_cast<size_t>(found - set_.series.begin());
    if (found == set_.series.end()) set_.series.push_back({.name = name});
    return set_.series[last_];
  }

  const std::string& group(size_t row) const {
    const std::string& name = table_.rows[row][*columns_.group];
    if (trimmed(name).empty()) table_.refuse(row, *columns_.group, "the cell is blank: of which series is the row?");
    return name;
  }

  double moment(size_t row) const {
    const std::string& cell = table_.rows[row][*columns_.date];
    const auto time = parse_moment(cell);
    if (!time)
      table_.refuse(row, *columns_.date,
                    fmt::format("expected a date, as in 2016-07-01 or 2016-07-01 13:00:30, found '{}'", shown(cell)));
    return *time;
  }

  // Does the row come after the one before it? One of the same moment may be left out.
  bool follows(const Series& series, double time, size_t row) {
    if (series.times.empty() || time > series.times.back()) return true;
    const std::string former = fmt::format("line {} ({})", series.lines.back(), moment_text(series.times.back()));
    if (time < series.times.back())
      table_.refuse(row, *columns_.date,
                    fmt::format("{} is before {}: rows must stand in the order of time; sort the file",
                                moment_text(time), former));
    if (source_.repeated == RepeatedStamps::stop)
      table_.refuse(
          row, *columns_.date,
          fmt::format("this is the moment of {} too; task.data.repeated: first leaves later rows out", former));
    ++set_.repeated;
    return false;
  }

  const SeriesSource& source_;
  uint64_t seed_;
  BadLines bad_;
  TableFile table_;
  SeriesColumns columns_;
  SeriesSet set_;
  size_t last_ = 0;
};

SeriesSet read_events(const fs::path& file, OnBadLine on_bad_line) {
  std::vector<std::string> lines = split(read_text(file), '\n');
  if (lines.back().empty()) lines.pop_back();  // behind the last line break
  BadLines bad(on_bad_line);
  std::vector<std::pair<double, int64_t>> events;
  for (size_t i = 0; i < lines.size(); ++i)
    if (const auto time = parse_moment(lines[i]))
      events.emplace_back(*time, static_cast<int64_t>(i) + 1);
    else
      bad.leave_out(
          fmt::format("{}: line {}: expected a moment, as in 'Sat, 22 Apr 2017 15:11:58 -0500' or '2017-04-22 "
                      "15:11:58', found '{}'",
                      file.string(), i + 1, shown(lines[i])));
  require<DataError>(events.size() > 1, "{}: {} moment{}, and the values are gaps between two: give more{}{}",
                     file.string(), events.size(), events.size() == 1 ? "" : "s", bad.sentence().empty() ? "" : "; ",
                     bad.sentence());
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Series series;
  for (size_t i = 1; i < events.size(); ++i) {
    series.times.push_back(events[i].first);
    series.lines.push_back(events[i].second);
    series.values.push_back(std::log1p(events[i].first - events[i - 1].first));
  }
  return {.source = file.string(),
          .channels = {"gap"},
          .series = {std::move(series)},
          .dated = true,
          .left_out = bad.sentence()};
}

SeriesSet generated_series(const GeneratedSeries& how, uint64_t seed) {
  constexpr double kTurn = 2.0 * std::numbers::pi, kDaily = 24.0, kWeekly = 7.0, kHourly = 3600.0;
  KeyedSequence draw(key_of(seed, "generated series"));
  const auto normal = [&] {  // Box and Muller 1958
    const double radius = std::sqrt(-2.0 * std::log1p(-draw.unit()));
    return radius * std::cos(kTurn * draw.unit());
  };
  std::vector<std::pair<double, double>> phases;
  SeriesSet set{.source = "generated", .dated = true};
  for (int64_t c = 0; c < how.channels; ++c) {
    const double daily = kTurn * draw.unit();
    phases.emplace_back(daily, kTurn * draw.unit());
    set.channels.push_back(fmt::format("sines{}", c + 1));
  }
  Series series;
  double hour = 0.0;
  for (int64_t row = 0; row < how.rows; ++row) {
    series.times.push_back(hour * kHourly);
    series.lines.push_back(row + 1);
    for (const auto& [daily, weekly] : phases)
      series.values.push_back(std::sin(kTurn * hour / kDaily + daily) +
                              0.5 * std::sin(kTurn * hour / kWeekly + weekly) + how.noise * normal());
    hour += how.irregular ? 0.2 + 1.6 * draw.unit() : 1.0;
  }
  set.series.push_back(std::move(series));
  return set;
}

}  // namespace

void fields(Fields& f, GeneratedSeries& c) {
  f("rows", c.rows, "how many, an hour apart", within(2, 1e7));
  f("channels", c.channels, "each of two sines, of 24 and of 7 hours, at phases of its own", within(1, 1000));
  f("noise", c.noise, "standard deviation of what is added to the sines", at_least(0.0));
  f("irregular", c.irregular, "rows are 0.2 to 1.8 hours apart, at random");
}

void fields(Fields& f, SeriesSource& c) {
  f("file", c.file, "table (.csv, .tsv; .gz or .zst) whose rows stand in the order of time");
  f("events", c.events,
    "in place of a table: a moment a line, in any order; the values are ln(1 + seconds between two)");
  f("generate", c.generate, "in place of a file: noisy sums of two sines");
  f("date", c.date, "column of the time stamps; none: rows are equally far apart");
  f("group", c.group, "column that tells several series of one table apart");
  f("channels", c.channels, "columns of values; none: all but the date and the group");
  f("missing", c.missing,
    "blank cells: an error, filled by a straight line (which looks ahead) or by the value before, or that and hidden "
    "from the model",
    kMissingCells);
  f("repeated", c.repeated, "rows of one moment: an error, or the first is taken", kRepeatedStamps);
  f("values", c.values, "what is read and predicted: the values, their logarithms, or changes from row to row",
    kSeriesValues);
  f("on_bad_line", c.on_bad_line,
    "a row that cannot be read ends the run, or is left out and counted: those behind it move up", kOnBadLine);
  f("keep", c.keep, "share of the rows that is kept, drawn at random: irregular stamps from regular ones",
    {.low = 0.0, .high = 1.0, .low_open = true});
}

std::vector<std::string> contradictions(const SeriesSource& c, const std::string& path) {
  std::vector<std::string> problems;
  const int sources = (c.file.empty() ? 0 : 1) + (c.events.empty() ? 0 : 1) + (c.generate ? 1 : 0);
  if (sources != 1)
    problems.push_back(fmt::format("{0}: give one of {0}.file, {0}.events and {0}.generate, found {1}", path, sources));
  const bool columns = !c.date.empty() || !c.group.empty() || !c.channels.empty();
  if (c.file.empty() && (columns || c.missing != MissingCells::stop || c.repeated != RepeatedStamps::stop))
    problems.push_back(
        fmt::format("{0}.date, group, channels, missing and repeated are of a table ({0}.file): leave them out", path));
  for (auto name = c.channels.begin(); name != c.channels.end(); ++name)
    if (std::find(c.channels.begin(), name, *name) != name)
      problems.push_back(fmt::format("{}.channels names {} twice", path, shown(*name)));
  if (c.generate && c.on_bad_line != OnBadLine::stop)
    problems.push_back(fmt::format("{}.on_bad_line is of files, and the series are made: leave it out", path));
  if (!c.events.empty() && c.values != SeriesValues::plain)
    problems.push_back(fmt::format("{0}.values: the values of {0}.events are logarithms of gaps already", path));
  if (c.keep < 1.0 && (c.file.empty() || c.date.empty()))
    problems.push_back(fmt::format("{0}.keep leaves out rows of a table with time stamps: it needs {0}.date", path));
  return problems;
}

SeriesSet read_series(const SeriesSource& source, uint64_t seed) {
  SeriesSet set = !source.events.empty() ? read_events(source.events, source.on_bad_line)
                  : source.generate      ? generated_series(*source.generate, seed)
                                         : TableSeries(source, seed).read();
  set.hides = source.missing == MissingCells::mask;
  require<DataError>(!set.series.empty(), "{}: no row is left: {}", set.source, set.left_out);
  for (auto& series : set.series) {
    require<DataError>(series.rows() > 0 || set.left_out.empty(), "{}: no row{} is left: {}", set.source,
                       series.name.empty() ? "" : fmt::format(" of the series '{}'", shown(series.name)), set.left_out);
    fill_missing(series, set.channels, source.missing, set.source);
    set.missing += std::count(series.missing.begin(), series.missing.end(), true);
    transform_values(series, set.channels, source.values, set.source);
  }
  return set;
}

}  // namespace ordo
