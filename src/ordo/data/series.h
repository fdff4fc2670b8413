// SPDX-License-Identifier: Apache-2.0
// Time series: numbers in rows, each row with a time stamp or not, from tables, logs of events, or a generator.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ordo/config/fields.h"
#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"

namespace ordo {

// Blank cells: an error; a straight line in time between the values around them, which looks ahead of the moment; the
// value before; or that, and the step is hidden from the model. None of them is ever a target.
enum class MissingCells { stop, interpolate, previous, mask };
enum class RepeatedStamps { stop, first };  // first: later rows of the same moment are left out
// What a model reads of a channel: its values, their logarithms, or the change of either since the row before.
enum class SeriesValues { plain, log, differences, log_returns };

// Each channel two sines, of 24 and of 7 rows, at phases of its own, and noise; one row an hour.
struct GeneratedSeries {
  int64_t rows = 400, channels = 1;
  double noise = 0.1;
  bool irregular = false;  // gaps between rows are drawn from 0.2 to 1.8 hours
};
void fields(Fields& f, GeneratedSeries& c);

// In YAML under task.data: a file, a log of events, or a generator.
struct SeriesSource {
  fs::path file = {}, events = {};
  std::optional<GeneratedSeries> generate = {};
  std::string date = {}, group = {};       // columns
  std::vector<std::string> channels = {};  // columns; empty: all others
  MissingCells missing = MissingCells::stop;
  RepeatedStamps repeated = RepeatedStamps::stop;
  SeriesValues values = SeriesValues::plain;
  double keep = 1.0;
  OnBadLine on_bad_line = OnBadLine::stop;
};
void fields(Fields& f, SeriesSource& c);
std::vector<std::string> contradictions(const SeriesSource& source, const std::string& path);

struct Series {
  std::string name = {};            // of its group; empty: there is one series
  std::vector<double> times = {};   // seconds since 1970, growing; without stamps the number of the row
  std::vector<double> values = {};  // [rows, channels], finite: missing cells are filled
  std::vector<bool> missing = {};   // [rows, channels]; empty: none is
  std::vector<int64_t> lines = {};  // of each row in its file, from 1; of generated ones their number
  int64_t rows() const { return static_cast<int64_t>(times.size()); }
};
struct SeriesSet {
  std::string source = {};  // the file, or what was generated
  std::vector<std::string> channels = {};
  std::vector<Series> series = {};  // in the order of their first rows
  bool dated = false;
  bool hides = false;                              // missing steps are to be hidden
  int64_t missing = 0, repeated = 0, thinned = 0;  // cells; rows left out for their stamps, or by `keep`
  std::string left_out = {};                       // BadLines::sentence()
};
// `seed`: of what is drawn. A bad line is one whose stamp is none, goes back in time or (in a table) repeats, or with a
// cell that is no number, is missing unless something is to become of it, or has no logarithm where that is asked for.
// Throws DataError when no row of a series is left.
//
// A log of events has a moment a line, in any order. Its one channel is `gap`: ln(1 + seconds since the event before).
SeriesSet read_series(const SeriesSource& source, uint64_t seed);

}  // namespace ordo
