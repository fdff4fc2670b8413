// SPDX-License-Identifier: Apache-2.0
// The words after a command: positional arguments, options, and config overrides (a.b.c=value). Numbers are read
// strictly: no nan, no 010, no 1e400.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "ordo/config/fields.h"

namespace ordo::cli {

// Whole numbers and numbers as the config reads them; throws ConfigError: "--top-k: expected a whole number from 0 to
// 1000, found '010'".
int64_t read_integer(std::string_view text, std::string_view what, int64_t low, int64_t high);
double read_number(std::string_view text, std::string_view what, const Limits& limits);
std::vector<int64_t> read_integers(std::string_view text, std::string_view what, int64_t low,
                                   int64_t high);  // 64,128,256

// Does a word have the form of an override: a path of names, then '='?
bool looks_like_override(std::string_view word);

class Options {
 public:
  Options(std::string command, std::string summary);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // Positional arguments, in the order of these calls. Not required: the value stays as it is when the word is missing.
  void positional(const std::string& name, std::string& value, const std::string& help, bool required = true);
  void positionals(const std::string& name, Words& values, const std::string& help, bool required = true);
  // Options; `names` as "--top-k" or "-q,--quiet". The value's name in the help is `value_name`.
  void flag(const std::string& names, bool& value, const std::string& help);
  void text(const std::string& names, std::string& value, const std::string& value_name, const std::string& help);
  void text(const std::string& names, std::optional<std::string>& value, const std::string& value_name,
            const std::string& help);
  void texts(const std::string& names, Words& values, const std::string& value_name,
             const std::string& help);  // may be repeated
  void one_of(const std::string& names, std::string& value, const Words& allowed, const std::string& help);
  void integer(const std::string& names, int64_t& value, const std::string& help, int64_t low, int64_t high);
  void number(const std::string& names, double& value, const std::string& help, const Limits& limits);
  void integers(const std::string& names, std::vector<int64_t>& values, const std::string& help, int64_t low,
                int64_t high);
  // From now on words of the form a.b.c=value, after the first positional argument, are put here.
  void overrides(Words& list);
  void footer(const std::string& text);  // shown at the end of the help

  // False: help was asked for, and was printed. Throws ConfigError in one line for anything that is not as declared.
  bool parse(const Words& words);
  bool given(const std::string& name) const;  // after parse: was this option there? ("--seed")
  std::string help() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace ordo::cli
