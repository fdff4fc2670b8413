// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "ordo/core/errors.h"
#include "ordo/core/utf8.h"

namespace ordo::log {

namespace {

using LogClock = std::chrono::steady_clock;
constexpr auto kRedrawEvery = std::chrono::milliseconds(50);  // on a terminal
constexpr auto kPrintEvery = std::chrono::seconds(5);         // elsewhere

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void put_on_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Standard error: lines scroll, the progress line stays below them.
class Console final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  void progress(std::string_view text) {
    const auto now = LogClock::now();
    if (text.empty()) {
      if (drawn_) put_on_stderr(std::string(kClearLine));
      drawn_ = false;
      progress_.clear();
      shown_at_ = {};
      return;
    }
    progress_ = text;
    const bool terminal = on_terminal();
    const LogClock::duration pause = terminal ? LogClock::duration(kRedrawEvery) : LogClock::duration(kPrintEvery);
    if (!terminal && shown_at_ == LogClock::time_point{}) shown_at_ = now;  // what is over soon needs no line
    if (shown_at_ != LogClock::time_point{} && now - shown_at_ < pause) return;
    shown_at_ = now;
    if (!terminal) return put_on_stderr(progress_ + "\n");
    drawn_ = true;
    put_on_stderr(progress_line());
  }

 private:
  static constexpr std::string_view kClearLine = "\r\x1b[K";

  std::string progress_line() const {
    return std::string(kClearLine) + std::string(fitting(progress_, terminal_columns() - 1));
  }

  std::string prefix(spdlog::level::level_enum level) const {
    const auto coloured = [](const char* colour, const char* word) {
      return on_terminal() ? fmt::format("\x1b[{}m{}:\x1b[0m ", colour, word) : fmt::format("{}: ", word);
    };
    if (level >= spdlog::level::err) return coloured("31", "error");
    if (level == spdlog::level::warn) return coloured("33", "warning");
    return level == spdlog::level::debug ? coloured("2", "debug") : "";
  }

  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string text = drawn_ ? std::string(kClearLine) : "";
    text += prefix(message.level);
    text.append(message.payload.data(), message.payload.size());
    text += '\n';
    if (drawn_) text += progress_line();
    put_on_stderr(text);
    if (!on_terminal()) shown_at_ = LogClock::now();  // a line tells that things go on as well as progress does
  }
  void flush_() override {}

  std::string progress_;
  bool drawn_ = false;
  LogClock::time_point shown_at_{};
};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// All of it under one mutex, so that lines, progress and changes of the file never meet half-way.
struct Log {
  std::mutex mutex;
  std::shared_ptr<Console> console = std::make_shared<Console>();
  spdlog::logger logger{"ordo", console};
  bool file_failed = false;

  Log() {
    logger.set_level(spdlog::level::debug);
    logger.flush_on(spdlog::level::debug);
    console->set_level(spdlog::level::info);
    // A full disk must not stop the program for the log's sake; it is said once.
    logger.set_error_handler([this](const std::string& why) {
      if (!file_failed) put_on_stderr("warning: the log file cannot be written: " + why + "\n");
      file_failed = true;
    });
  }
  void use_file(std::shared_ptr<spdlog::sinks::sink> file) {
    logger.sinks().resize(1);
    file_failed = false;
    if (file) logger.sinks().push_back(std::move(file));
  }
};

Log& the_log() {
  static Log log;
  return log;
}

}  // namespace

void set_level(Level least) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.console->set_level(spdlog_level(least));
}

void to_file(const std::filesystem::path& path) {
  std::shared_ptr<spdlog::sinks::sink> file;
  if (!path.empty()) {
    try {
      file = std::make_shared<spdlog::sinks::basic_file_sink_st>(path.string());
    } catch (const spdlog::spdlog_ex& error) {
      throw Error(fmt::format("cannot write the log {}: {}", path.string(), error.what()));
    }
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
  }
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.use_file(std::move(file));
}

void write(Level level, std::string_view message) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.logger.log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

void progress(std::string_view text) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  if (log.console->should_log(spdlog::level::info)) log.console->progress(text);
}

bool on_terminal() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !dumb && !set_and_not_empty("NO_COLOR") && isatty(STDERR_FILENO) == 1;
}

}  // namespace ordo::log
