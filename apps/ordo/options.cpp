// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo::cli {

namespace {

// A minus sign, digits without a leading zero: what YAML 1.2 and people agree on.
bool plain_digits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool leading_zero = text.size() > 1 && text[0] == '0' && text[1] != '.' && text[1] != 'e' && text[1] != 'E';
  return !text.empty() && !leading_zero && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

std::string allowed_text(const Limits& limits) {
  std::string text = "a number";
  if (limits.low) text += fmt::format(" {} {}", limits.low_open ? "above" : "of at least", number_text(*limits.low));
  if (limits.high)
    text += fmt::format("{} {} {}", limits.low ? "," : "", limits.high_open ? "below" : "at most",
                        number_text(*limits.high));
  return text;
}

bool allowed(double value, const Limits& limits) {
  if (limits.low && (limits.low_open ? value <= *limits.low : value < *limits.low)) return false;
  return !(limits.high && (limits.high_open ? value >= *limits.high : value > *limits.high));
}

}  // namespace

int64_t read_integer(std::string_view text, std::string_view what, int64_t low, int64_t high) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = plain_digits(text) && error == std::errc() && stop == end;
  require<ConfigError>(whole && value >= low && value <= high, "{}: expected a whole number from {} to {}, found '{}'",
                       what, low, high, text);
  return value;
}

double read_number(std::string_view text, std::string_view what, const Limits& limits) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = plain_digits(text) && error == std::errc() && stop == end && std::isfinite(value);
  require<ConfigError>(whole && allowed(value, limits), "{}: expected {}, found '{}'", what, allowed_text(limits),
                       text);
  return value;
}

std::vector<int64_t> read_integers(std::string_view text, std::string_view what, int64_t low, int64_t high) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const int64_t value = read_integer(text.substr(begin, end - begin), what, low, high);
    require<ConfigError>(std::find(values.begin(), values.end(), value) == values.end(), "{} names {} twice", what,
                         value);
    values.push_back(value);
    begin = end + 1;
  }
  return values;
}

bool looks_like_override(std::string_view word) {
  const std::string_view path = word.substr(0, word.find('='));
  if (path.size() == word.size() || path.empty() || path.front() == '.' || path.back() == '.') return false;
  const auto name_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  return std::isalpha(static_cast<unsigned char>(path.front())) != 0 &&
         std::all_of(path.begin(), path.end(), name_letter);
}

struct Options::Inside {
  Inside(const std::string& summary, const std::string& command) : app(summary, "ordo " + command), name(command) {
    app.allow_extras();
    app.set_help_flag("-h,--help", "this text");
    auto form = std::make_shared<CLI::Formatter>();
    form->column_width(34);
    form->label("REQUIRED", "");
    form->label("TEXT", "");
    form->label("OPTIONS", "OPTIONS");
    app.formatter(form);
  }

  // Every option takes its value as text; `take` reads it. CLI11's own readings are too lenient.
  CLI::Option* option(const std::string& names, const std::string& value_name, const std::string& help,
                      std::function<void(const std::string&)> take) {
    auto* made = app.add_option_function<std::string>(names, std::move(take), help);
    made->type_name(value_name);
    const bool positional = names.front() != '-';
    if (!positional)
      for (const auto& spelling : CLI::detail::split_names(names)) takes_value.push_back(spelling);
    return made;
  }
  bool wants_value(const std::string& word) const {
    return std::find(takes_value.begin(), takes_value.end(), word) != takes_value.end();
  }

  // Moves overrides out of the words: those after the first positional argument that are no option's value.
  Words without_overrides(const Words& words) {
    Words rest;
    bool seen_positional = false;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "--") {
        rest.insert(rest.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
        break;
      }
      const bool is_option = word.size() > 1 && word[0] == '-';
      if (overrides && seen_positional && !is_option && looks_like_override(word)) {
        overrides->push_back(word);
        continue;
      }
      rest.push_back(word);
      if (is_option && wants_value(word) && i + 1 < words.size())
        rest.push_back(words[++i]);
      else
        seen_positional = seen_positional || !is_option;
    }
    return rest;
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw ConfigError(fmt::format("{}; see ordo {} --help", text, name));
  }

  void refuse_extras() const {
    const Words extra = app.remaining();
    if (extra.empty()) return;
    const std::string& word = extra.front();
    if (!word.starts_with('-')) refuse(fmt::format("unexpected argument '{}'", word));
    Words known;
    for (const auto* option : app.get_options())
      for (const auto& spelling : option->get_lnames()) known.push_back("--" + spelling);
    const std::string near = nearest(word.substr(0, word.find('=')), known);
    refuse(fmt::format("unknown option '{}'{}", word, near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
  }

  CLI::App app;
  std::string name;
  Words takes_value;
  Words* overrides = nullptr;
};

Options::Options(std::string command, std::string summary) : inside_(std::make_unique<Inside>(summary, command)) {}
Options::~Options() = default;

void Options::positional(const std::string& name, std::string& value, const std::string& help, bool required) {
  inside_->option(name, "", help, [&value](const std::string& text) { value = text; })->required(required);
}

void Options::positionals(const std::string& name, Words& values, const std::string& help, bool required) {
  inside_->app.add_option(name, values, help)->type_name("")->required(required);
}

void Options::flag(const std::string& names, bool& value, const std::string& help) {
  inside_->app.add_flag(names, value, help)->disable_flag_override();
}

void Options::text(const std::string& names, std::string& value, const std::string& value_name,
                   const std::string& help) {
  inside_->option(names, value_name, help, [&value](const std::string& text) { value = text; });
}

void Options::text(const std::string& names, std::optional<std::string>& value, const std::string& value_name,
                   const std::string& help) {
  inside_->option(names, value_name, help, [&value](const std::string& text) { value = text; });
}

void Options::texts(const std::string& names, Words& values, const std::string& value_name, const std::string& help) {
  for (const auto& spelling : CLI::detail::split_names(names)) inside_->takes_value.push_back(spelling);
  inside_->app.add_option(names, values, help)->type_name(value_name)->type_size(1)->allow_extra_args(false);
}

void Options::one_of(const std::string& names, std::string& value, const Words& allowed, const std::string& help) {
  inside_->option(names, join(allowed, "|"), help, [&value, allowed, names](const std::string& text) {
    const bool known = std::find(allowed.begin(), allowed.end(), text) != allowed.end();
    const std::string near = nearest(text, allowed);
    require<ConfigError>(known, "{}: expected {}, found '{}'{}", names, join(allowed, ", "), text,
                         near.empty() ? "" : fmt::format(": did you mean '{}'?", near));
    value = text;
  });
}

void Options::integer(const std::string& names, int64_t& value, const std::string& help, int64_t low, int64_t high) {
  inside_->option(names, "N", help, [&value, names, low, high](const std::string& text) {
    value = read_integer(text, names, low, high);
  });
}

void Options::number(const std::string& names, double& value, const std::string& help, const Limits& limits) {
  inside_->option(names, "X", help,
                  [&value, names, limits](const std::string& text) { value = read_number(text, names, limits); });
}

void Options::integers(const std::string& names, std::vector<int64_t>& values, const std::string& help, int64_t low,
                       int64_t high) {
  inside_->option(names, "N,N", help, [&values, names, low, high](const std::string& text) {
    values = read_integers(text, names, low, high);
  });
}

void Options::overrides(Words& list) {
  inside_->overrides = &list;
  footer(
      "Words of the form a.b.c=value after the arguments change the config: model.position.kind=alibi "
      "train.optimizer.lr=3e-4");
}

void Options::footer(const std::string& text) { inside_->app.footer(text); }

bool Options::parse(const Words& words) {
  Words reversed = inside_->without_overrides(words);  // CLI11 wants the last word first
  std::reverse(reversed.begin(), reversed.end());
  try {
    inside_->app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    print(help());
    return false;
  } catch (const CLI::ParseError& error) {
    inside_->refuse(error.what());
  }
  inside_->refuse_extras();
  return true;
}

bool Options::given(const std::string& name) const { return inside_->app.count(name) > 0; }

std::string Options::help() const {
  std::string text = inside_->app.help();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace ordo::cli
