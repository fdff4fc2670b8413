// SPDX-License-Identifier: Apache-2.0
// The log: progress and warnings for people, on stderr and (when a run has one) in log.txt. Results never go here.
#pragma once
#include <fmt/core.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace ordo::log {

enum class Level { debug, info, warning, error };

void set_level(Level least);  // least level shown on stderr; default info
void to_file(const std::filesystem::path&
                 path);  // also append everything from debug up, with time stamps, to this file; empty: stop doing so
void write(Level level, std::string_view message);

// The line under the log that is redrawn in place on a terminal ("step 120/2000 …"). Off a terminal, with NO_COLOR's
// friends (TERM=dumb) or when stderr is a file, it is an ordinary line every few seconds,
// the first of them after as long. Empty text removes it.
void progress(std::string_view text);
bool on_terminal();  // stderr is a terminal that takes control characters

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ordo::log
