// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/series.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr double kHour = 3600.0;

SeriesSet series_of(const Scratch& scratch, const std::string& text, SeriesSource source = {}) {
  source.file = scratch.write("a.csv", text);
  return read_series(source, 1);
}

std::string series_refusal(const Scratch& scratch, const std::string& text, const SeriesSource& source) {
  return thrown<DataError>([&] { series_of(scratch, text, source); });
}

const std::string kHours =
    "date,x,y\n2016-07-01 00:00,1,10\n2016-07-01 01:00,2,\n2016-07-01 03:00,,40\n2016-07-01 04:00,6,50\n";

}  // namespace

TEST_CASE("series: a table's columns are channels, but for the date", "[unit]") {
  const Scratch scratch;
  const SeriesSet all = series_of(scratch, "x,when,y\n1,2016-07,2\n3,2016-08,4\n", {.date = "when"});
  REQUIRE(all.series.size() == 1);
  CHECK(all.channels == std::vector<std::string>{"x", "y"});
  CHECK(all.series[0].values == std::vector<double>{1, 2, 3, 4});
  CHECK(all.series[0].times[1] - all.series[0].times[0] == 31 * 24 * kHour);
  CHECK(all.series[0].lines == std::vector<int64_t>{2, 3});
  const SeriesSet chosen = series_of(scratch, "x,y,z\n1,2,3\n4,5,6\n", {.channels = {"z", "x"}});
  CHECK(chosen.series[0].values == std::vector<double>{3, 1, 6, 4});
  CHECK(chosen.series[0].times == std::vector<double>{0, 1});
  CHECK_FALSE(chosen.dated);
}

TEST_CASE("series: groups of a table are series of their own, however their rows lie", "[unit]") {
  const Scratch scratch;
  const SeriesSet all = series_of(scratch, "who,day,x\nb,2016-07-02,1\na,2016-07-01,2\nb,2016-07-03,3\n",
                                  {.date = "day", .group = "who"});
  REQUIRE(all.series.size() == 2);
  CHECK(all.series[0].name == "b");
  CHECK(all.series[0].values == std::vector<double>{1, 3});
  CHECK(all.series[1].values == std::vector<double>{2});
}

TEST_CASE("series: missing cells are filled as asked, and marked", "[unit]") {
  const Scratch scratch;
  const auto filled = [&](MissingCells how) {
    return series_of(scratch, kHours, {.date = "date", .missing = how}).series[0];
  };
  CHECK(filled(MissingCells::previous).values == std::vector<double>{1, 10, 2, 10, 2, 40, 6, 50});
  CHECK(filled(MissingCells::mask).values == filled(MissingCells::previous).values);
  // In time: an hour of the three, then two of the three.
  CHECK(filled(MissingCells::interpolate).values[3] == Approx(20.0));
  CHECK(filled(MissingCells::interpolate).values[4] == Approx(2.0 + 4.0 * 2.0 / 3.0));
  CHECK(filled(MissingCells::previous).missing ==
        std::vector<bool>{false, false, false, true, true, false, false, false});
  const auto edges = series_of(scratch, "x,y\n,1\n3,1\n,1\n", {.missing = MissingCells::interpolate}).series[0];
  CHECK(edges.values == std::vector<double>{3, 1, 3, 1, 3, 1});
}

TEST_CASE("series: changes take a row away, and are missing where one of two values is", "[unit]") {
  const Scratch scratch;
  const auto changes = series_of(scratch, "x\n1\n\"\"\n4\n6\n",
                                 {.missing = MissingCells::previous, .values = SeriesValues::differences});
  CHECK(changes.series[0].values == std::vector<double>{0, 3, 2});
  CHECK(changes.series[0].missing == std::vector<bool>{true, true, false});
  CHECK(changes.series[0].lines == std::vector<int64_t>{3, 4, 5});
  const auto returns = series_of(scratch, "x\n1\n10\n", {.values = SeriesValues::log_returns});
  CHECK(returns.series[0].values[0] == Approx(std::log(10.0)));
}

TEST_CASE("series: events in any order become gaps", "[unit]") {
  const Scratch scratch;
  const auto log =
      scratch.write("log.txt", "Mon, 2 Jan 2017 10:00:00 -0500\n2017-01-02 14:00:00\n2017-01-02 15:00:00\n");
  const SeriesSet all = read_series({.events = log}, 1);
  REQUIRE(all.series[0].rows() == 2);
  CHECK(all.channels == std::vector<std::string>{"gap"});
  CHECK(all.series[0].values[0] == Approx(std::log1p(kHour)));
  CHECK(all.series[0].values[1] == 0.0);
  CHECK(contains(
      thrown<DataError>([&] { read_series({.events = scratch.write("bad.txt", "2017-01-02\n\n2017-01-03\n")}, 1); }),
      "bad.txt: line 2: expected a moment"));
  CHECK(contains(thrown<DataError>([&] { read_series({.events = scratch.write("one.txt", "2017-01-02\n")}, 1); }),
                 "one.txt: 1 moment, and the values are gaps between two"));
}

TEST_CASE("series: rows can be thinned out, the same ones for a seed", "[unit]") {
  const Scratch scratch;
  std::string text = "date,x\n";
  for (int day = 1; day <= 28; ++day) text += fmt::format("2016-01-{:02},{}\n", day, day);
  const SeriesSource half{.date = "date", .keep = 0.5};
  const auto kept = series_of(scratch, text, half);
  CHECK(kept.series[0].rows() + kept.thinned == 28);
  CHECK(kept.series[0].rows() > 5);
  CHECK(kept.thinned > 5);
  CHECK(kept.series[0].times == series_of(scratch, text, half).series[0].times);
}

TEST_CASE("series: what cannot be read is told with file and line", "[unit]") {
  struct Case {
    std::string text, told;
    SeriesSource source;
  };
  const SeriesSource dated{.date = "date"};
  const Scratch scratch;
  for (const auto& [text, told, source] : std::vector<Case>{
           {"date,x\n2016-07-01,1\nsoon,2\n", "a.csv: line 3: column 1 ('date'): expected a date", dated},
           {"date,x\n2016-07-02,1\n2016-07-01,2\n", "line 3: column 1 ('date'): 2016-07-01 00:00:00 is before line 2",
            dated},
           {"date,x\n2016-07-02,1\n2016-07-02,2\n", "line 3: column 1 ('date'): this is the moment of line 2", dated},
           {"date,x\n2016-07-01,one\n", "line 2: column 2 ('x'): expected a finite number, found 'one'", dated},
           {"date,x\n2016-07-01,NaN\n", "line 2: column 2 ('x'): expected a finite number, found 'NaN'", dated},
           {"date,x\n2016-07-01,1\n2016-07-02,\n", "line 3: column 2 ('x'): the cell is blank", dated},
           {"date,x\n2016-07-01,\n2016-07-02,\n",
            "channel 'x' has no value at all",
            {.date = "date", .missing = MissingCells::previous}},
           {"date,x\n2016-07-01,1\n", "there is no column 'dat'; did you mean 'date'?", {.date = "dat"}},
           {"date,temp\n2016-07-01,1\n", "did you mean 'temp'?", {.date = "date", .channels = {"tmp"}}},
           {"date,x\n2016-07-01,1\n",
            "is the date or the group, and no channel",
            {.date = "date", .channels = {"date"}}},
           {"date,x\n2016-07-01,1\n", "channel 'x' is named twice", {.date = "date", .channels = {"x", "x"}}},
           {"date\n2016-07-01\n", "no column is left for a channel", dated},
           {"date,who,x\n2016-07-01,ann,1\n2016-07-01, ,1\n",
            "line 3: column 2 ('who'): the cell is blank: of which series is the row?",
            {.date = "date", .group = "who"}},
           {"x\n1\n0\n", "line 3: column 1 ('x'): 0 has no logarithm", {.values = SeriesValues::log}}}) {
    const std::string refusal = series_refusal(scratch, text, source);
    INFO(refusal << "\n" << told);
    CHECK(contains(refusal, told));
  }
  const SeriesSource first{.date = "date", .repeated = RepeatedStamps::first};
  const auto kept = series_of(scratch, "date,x\n2016-07-02,1\n2016-07-02,2\n2016-07-03,3\n", first);
  CHECK(kept.series[0].values == std::vector<double>{1, 3});
  CHECK(kept.repeated == 1);
}

TEST_CASE("series: rows that cannot be read are left out and told where that is asked for", "[unit]") {
  const Scratch scratch;
  const SeriesSource skip{.date = "date", .values = SeriesValues::log, .on_bad_line = OnBadLine::skip};
  const auto kept = series_of(scratch,
                              "date,x\n2016-07-01,1\nsoon,2\n2016-07-02,one\n2016-07-03,3,4\n2016-07-04,\n"
                              "2016-07-05,0\n2016-07-01,7\n2016-06-01,8\n2016-07-06,9\n",
                              skip);
  CHECK(kept.series[0].lines == std::vector<int64_t>{2, 10});
  CHECK(kept.series[0].values[1] == Approx(std::log(9.0)));
  CHECK(contains(kept.left_out, "7 lines left out: "));
  CHECK(contains(series_refusal(scratch, "date,who,x\n2016-07-01,ann,1\n2016-07-02,ben,one\n",
                                {.date = "date", .group = "who", .on_bad_line = OnBadLine::skip}),
                 "a.csv: no row of the series 'ben' is left: 1 line left out: "));
  CHECK(contains(series_refusal(scratch, "date,who,x\n2016-07-01,,1\n",
                                {.date = "date", .group = "who", .on_bad_line = OnBadLine::skip}),
                 "a.csv: no row is left: 1 line left out: "));
  const auto log = scratch.write("log.txt", "2017-01-02 14:00:00\nnoon\n2017-01-02 15:00:00\n");
  const SeriesSet events = read_series({.events = log, .on_bad_line = OnBadLine::skip}, 1);
  CHECK(events.series[0].values == std::vector<double>{std::log1p(kHour)});
  CHECK(contains(events.left_out, "1 line left out: " + log.string() + ": line 2: expected a moment"));
}

TEST_CASE("series: a row that is left out does not change which rows are drawn to be kept", "[unit]") {
  const Scratch scratch;
  const auto kept = [&](const std::string& second_day) {
    std::string text = "date,x\n";
    for (int day = 1; day <= 28; ++day)
      text += fmt::format("2016-01-{:02},{}\n", day, day == 2 ? second_day : std::to_string(day));
    auto lines =
        series_of(scratch, text, {.date = "date", .keep = 0.5, .on_bad_line = OnBadLine::skip}).series[0].lines;
    std::erase(lines, 3);
    return lines;
  };
  CHECK(kept("two") == kept("2"));
}

TEST_CASE("series: settings that cannot hold together are named", "[unit]") {
  const auto told = [](const SeriesSource& source) {
    const auto problems = contradictions(source, "task.data");
    return problems.empty() ? std::string() : problems.front();
  };
  CHECK(told({.file = "a.csv"}).empty());
  CHECK(contains(told({}), "give one of task.data.file, task.data.events and task.data.generate, found 0"));
  CHECK(contains(told({.file = "a.csv", .events = "b"}), "found 2"));
  CHECK(contains(told({.events = "b", .date = "x"}), "leave them out"));
  CHECK(contains(told({.events = "b", .values = SeriesValues::log}), "task.data.values"));
  CHECK(contains(told({.file = "a.csv", .keep = 0.5}), "it needs task.data.date"));
  CHECK(told({.file = "a.csv", .channels = {"x", "y", "x"}}) == "task.data.channels names x twice");
  CHECK(contains(told({.generate = GeneratedSeries{}, .on_bad_line = OnBadLine::skip}), "task.data.on_bad_line"));
}

TEST_CASE("series: generated ones follow from the seed, regular or not", "[unit]") {
  const GeneratedSeries how{.rows = 50, .channels = 2};
  const auto made = [](const GeneratedSeries& g, uint64_t seed) {
    return read_series({.generate = g}, seed).series[0];
  };
  CHECK(made(how, 3).values == made(how, 3).values);
  CHECK(made(how, 3).values != made(how, 4).values);
  CHECK(made(how, 3).times[49] == 49 * kHour);
  GeneratedSeries odd = how;
  odd.irregular = true;
  for (int64_t row = 1; row < 50; ++row) {
    const auto& times = made(odd, 3).times;
    const double gap = times[static_cast<size_t>(row)] - times[static_cast<size_t>(row - 1)];
    CHECK((gap >= 0.2 * kHour && gap <= 1.8 * kHour));
  }
}

}  // namespace ordo::test
