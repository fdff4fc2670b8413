// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/calendar.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <charconv>
#include <chrono>

#include "ordo/positions/table.h"

namespace ordo {

namespace {

using Feature = Calendar::Feature;
using Frequency = Calendar::Frequency;

constexpr NamedValue kCalendarFeatures[] = {{"second", static_cast<int>(Feature::second)},
                                            {"minute", static_cast<int>(Feature::minute)},
                                            {"hour", static_cast<int>(Feature::hour)},
                                            {"day_of_week", static_cast<int>(Feature::day_of_week)},
                                            {"day_of_month", static_cast<int>(Feature::day_of_month)},
                                            {"day_of_year", static_cast<int>(Feature::day_of_year)},
                                            {"week_of_year", static_cast<int>(Feature::week_of_year)},
                                            {"month", static_cast<int>(Feature::month)}};
constexpr NamedValue kCalendarFrequencies[] = {
    {"1s", static_cast<int>(Frequency::second)}, {"1min", static_cast<int>(Frequency::minute)},
    {"1h", static_cast<int>(Frequency::hour)},   {"1D", static_cast<int>(Frequency::day)},
    {"1W", static_cast<int>(Frequency::week)},   {"1M", static_cast<int>(Frequency::month)}};
constexpr double kMinute = 60.0, kHour = 3600.0, kDay = 86400.0;

std::vector<Feature> features_of(Frequency frequency) {
  if (frequency == Frequency::month) return {Feature::month};
  if (frequency == Frequency::week) return {Feature::day_of_month, Feature::week_of_year};
  std::vector<Feature> all{Feature::day_of_week, Feature::day_of_month, Feature::day_of_year};
  const auto finer = [&](Frequency than, Feature feature) {
    if (static_cast<int>(frequency) < static_cast<int>(than)) all.insert(all.begin(), feature);
  };
  finer(Frequency::day, Feature::hour);
  finer(Frequency::hour, Feature::minute);
  finer(Frequency::minute, Feature::second);
  return all;
}

double seconds_of(Frequency frequency) {
  switch (frequency) {
    case Frequency::second:
      return 1.0;
    case Frequency::minute:
      return kMinute;
    case Frequency::hour:
      return kHour;
    case Frequency::day:
      return kDay;
    case Frequency::week:
      return 7.0 * kDay;
    case Frequency::month:
      break;
  }
  throw ConfigError("calendar: months differ in length; give step in seconds, or frequency: 1D");
}

// "2016-07-01", "2016-07-01 13:00", "2016-07-01 13:00:30" -> seconds since 1970; nothing: no such moment.
std::optional<double> parse_moment(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  constexpr size_t kToDay = 10, kToMinute = 16, kToSecond = 19;
  if (text.size() != kToDay && text.size() != kToMinute && text.size() != kToSecond) return std::nullopt;
  for (size_t n = 0; n < text.size(); ++n) {
    const bool digit = text[n] >= '0' && text[n] <= '9';
    const bool as_due = kShape[n] == 'd' ? digit : text[n] == kShape[n] || (n == kToDay && text[n] == 'T');
    if (!as_due) return std::nullopt;
  }
  const auto part = [&](size_t from, size_t count) {
    int value = 0;
    if (from < text.size()) std::from_chars(text.data() + from, text.data() + from + count, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year{part(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(part(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(part(8, 2))}};
  const int hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!day.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(day).time_since_epoch().count()) * kDay + hour * kHour +
         minute * kMinute + second;
}

Tensor floored(const Tensor& a, int64_t b) { return a.div(b, "floor"); }

// Days since 1970 as a date of the Gregorian calendar (after H. Hinnant's civil_from_days: years that begin in March,
// in cycles of 400). All from 0.
struct CivilDate {
  Tensor month, day_of_month, day_of_year;
  explicit CivilDate(const Tensor& days) {
    const Tensor shifted = days + 719468, cycle = floored(shifted, 146097), in_cycle = shifted - cycle * 146097;
    const Tensor year =
        floored(in_cycle - floored(in_cycle, 1460) + floored(in_cycle, 36524) - floored(in_cycle, 146096), 365);
    const Tensor since_march = in_cycle - (year * 365 + floored(year, 4) - floored(year, 100));
    const Tensor from_march = floored(since_march * 5 + 2, 153);
    day_of_month = since_march - floored(from_march * 153 + 2, 5);
    month = at::remainder(from_march + 2, 12);
    const Tensor leap = (at::remainder(year, 4) == 0) & ((at::remainder(year, 100) != 0) | (year == 0));
    day_of_year = at::where(since_march >= 306, since_march - 306, since_march + 59 + leap.to(at::kLong));
  }
};

}  // namespace

void fields(Fields& f, Calendar::Config& c) {
  f("features", c.features, "what to tell of a time; empty: what suits the frequency", kCalendarFeatures);
  f("frequency", c.frequency, "how far two tokens are apart; absent: 1h", kCalendarFrequencies);
  f("start", c.start, "the moment (UTC) of token 0 when there are no time stamps",
    [](std::string_view text) -> std::optional<TextProblem> {
      if (parse_moment(text)) return std::nullopt;
      return TextProblem{0, text.size(), "no such moment", "write 2016-07-01, 2016-07-01 13:00 or 2016-07-01 13:00:30"};
    });
  f("step", c.step, "seconds between two tokens when there are no time stamps; 0: the frequency's", at_least(0.0));
}

Calendar::Calendar(const Config& config, const PositionFacts& facts)
    : features_(config.features.empty() ? features_of(config.frequency.value_or(Frequency::hour)) : config.features),
      start_(parse_moment(config.start).value_or(0.0)),
      step_(config.step > 0.0 ? config.step : seconds_of(config.frequency.value_or(Frequency::hour))) {
  require<ConfigError>(
      !config.frequency || config.features.empty() || config.step == 0.0,
      "calendar: features and step say all that frequency would choose; leave frequency out, or one of "
      "them");
  require<ConfigError>(parse_moment(config.start).has_value(), "calendar: start '{}' is no moment; write 2016-07-01",
                       config.start);
  project_ = register_module(
      "project", std::make_shared<Linear>(static_cast<int64_t>(features_.size()), facts.dim, Linear::Options{}));
}

Tensor Calendar::features(const Tensor& seconds) const {
  const Tensor whole = seconds.floor().to(at::kLong), days = floored(whole, 86400), clock = whole - days * 86400;
  const Tensor weekday = at::remainder(days + 3, 7);  // 1970 began on a Thursday; weeks begin on Monday
  const CivilDate date(days);
  const auto scaled = [](const Tensor& value, double largest) { return value.to(at::kDouble) / largest - 0.5; };
  std::vector<Tensor> columns;
  for (const Feature feature : features_) switch (feature) {
      case Feature::second:
        columns.push_back(scaled(at::remainder(clock, 60), 59.0));
        break;
      case Feature::minute:
        columns.push_back(scaled(at::remainder(floored(clock, 60), 60), 59.0));
        break;
      case Feature::hour:
        columns.push_back(scaled(floored(clock, 3600), 23.0));
        break;
      case Feature::day_of_week:
        columns.push_back(scaled(weekday, 6.0));
        break;
      case Feature::day_of_month:
        columns.push_back(scaled(date.day_of_month, 30.0));
        break;
      case Feature::day_of_year:
        columns.push_back(scaled(date.day_of_year, 365.0));
        break;
      case Feature::week_of_year:  // ISO 8601: a week belongs to the year of its Thursday
        columns.push_back(scaled(floored(CivilDate(days - weekday + 3).day_of_year, 7), 52.0));
        break;
      case Feature::month:
        columns.push_back(scaled(date.month, 11.0));
        break;
    }
  return at::stack(columns, -1);
}

Tensor Calendar::input(const Tensor& x, const Positions& at) {
  const Tensor times = real_positions(at), seconds = at.coords.defined() ? times : start_ + times * step_;
  const Tensor told = features(seconds).to(accumulate_type(x.scalar_type()));
  return (x + project_->forward(told)).to(x.scalar_type());
}

}  // namespace ordo
