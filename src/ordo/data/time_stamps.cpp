// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/time_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace ordo {

namespace {

constexpr double kMomentMinute = 60.0, kMomentHour = 3600.0, kMomentDay = 86400.0;
constexpr std::array<std::string_view, 12> kMonthNames{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDayNames{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

// Takes a text apart from its front; each function says whether it was there.
class MomentReader {
 public:
  explicit MomentReader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool next(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool digits(size_t least, size_t most, int& value) {
    size_t count = 0;
    while (count < most && count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') ++count;
    if (count < least) return false;
    std::from_chars(rest_.data(), rest_.data() + count, value);
    rest_.remove_prefix(count);
    return true;
  }
  template <size_t N>
  bool name(const std::array<std::string_view, N>& names, int& number) {
    const auto found = std::find_if(names.begin(), names.end(), [&](auto one) { return rest_.starts_with(one); });
    if (found == names.end()) return false;
    number = static_cast<int>(found - names.begin());
    return next(*found);
  }
  // "13:00", "13:00:30", "13:00:30.5", in seconds.
  bool clock(double& seconds) {
    int hour = 0, minute = 0, second = 0;
    if (!digits(1, 2, hour) || !next(":") || !digits(2, 2, minute)) return false;
    if (next(":") && !digits(2, 2, second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    seconds = hour * kMomentHour + minute * kMomentMinute + second;
    return fraction(seconds);
  }
  // What is to be added to local time: "Z", "GMT", "+02:00", "-0500".
  bool zone(double& seconds) {
    if (next("Z") || next("GMT") || next("UT")) return true;
    const bool east = next("+");
    if (!east && !next("-")) return false;
    int hour = 0, minute = 0;
    if (!digits(2, 2, hour)) return false;
    next(":");
    if (!digits(2, 2, minute) || hour > 23 || minute > 59) return false;
    seconds = (east ? -1.0 : 1.0) * (hour * kMomentHour + minute * kMomentMinute);
    return true;
  }

 private:
  bool fraction(double& seconds) {
    if (!next(".")) return true;
    const size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    double part = 0.0;
    for (size_t i = end; i > 0; --i) part = (part + (rest_[i - 1] - '0')) / 10.0;
    rest_.remove_prefix(end);
    seconds += part;
    return end > 0;
  }
  std::string_view rest_;
};

std::optional<double> start_of_day(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) * kMomentDay;
}

std::optional<double> parse_iso_moment(MomentReader read) {
  int year = 0, month = 0, day = 1;
  if (!read.digits(4, 4, year) || !read.next("-") || !read.digits(2, 2, month)) return std::nullopt;
  const bool dated = read.next("-");
  if (dated && !read.digits(2, 2, day)) return std::nullopt;
  double clock = 0.0, zone = 0.0;
  const bool timed = dated && (read.next(" ") || read.next("T"));
  if (timed && !read.clock(clock)) return std::nullopt;
  if (timed && !read.done()) {
    read.next(" ");
    if (!read.zone(zone)) return std::nullopt;
  }
  const auto start = start_of_day(year, month, day);
  if (!start || !read.done()) return std::nullopt;
  return *start + clock + zone;
}

std::optional<double> parse_mail_moment(MomentReader read) {
  int weekday = 0, day = 0, month = 0, year = 0;
  double clock = 0.0, zone = 0.0;
  if (read.name(kDayNames, weekday) && !read.next(", ")) return std::nullopt;
  if (!read.digits(1, 2, day) || !read.next(" ") || !read.name(kMonthNames, month) || !read.next(" ") ||
      !read.digits(4, 4, year) || !read.next(" ") || !read.clock(clock) || !read.next(" ") || !read.zone(zone))
    return std::nullopt;
  const auto start = start_of_day(year, month + 1, day);
  if (!start || !read.done()) return std::nullopt;
  return *start + clock + zone;
}

}  // namespace

std::optional<double> parse_moment(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == text.npos) return std::nullopt;
  const MomentReader read(text.substr(from, text.find_last_not_of(" \t") - from + 1));
  const auto iso = parse_iso_moment(read);
  return iso ? iso : parse_mail_moment(read);
}

std::string moment_text(double seconds) {
  const double days = std::floor(seconds / kMomentDay);
  const auto rest = static_cast<int64_t>(seconds - days * kMomentDay);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(static_cast<int64_t>(days)))};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600,
                     rest / 60 % 60, rest % 60);
}

double months_later(double seconds, int64_t months) {
  using namespace std::chrono;
  const auto day_number = static_cast<int>(std::floor(seconds / kMomentDay));
  const year_month_day from{sys_days{days{day_number}}};
  year_month_day to = from + std::chrono::months{static_cast<int>(months)};
  if (!to.ok()) to = to.year() / to.month() / last;
  const double hour = seconds - kMomentDay * day_number;
  return kMomentDay * static_cast<double>(sys_days{to}.time_since_epoch().count()) + hour;
}

int64_t months_in(double step) {
  const double days = step / kMomentDay;
  const auto within = [&](double low, double high) { return days >= low && days <= high; };
  if (within(28.0, 31.0)) return 1;
  if (within(89.0, 92.0)) return 3;
  return within(365.0, 366.0) ? 12 : 0;
}

}  // namespace ordo
