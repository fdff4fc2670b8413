// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/tasks/pair_files.h"

namespace ordo {

namespace {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

constexpr size_t kShownNames = 20;

}  // namespace

std::string class_list(const std::vector<std::string>& names) {
  std::vector<std::string> first;
  for (const auto& name : std::span(names).first(std::min(kShownNames, names.size()))) first.push_back(shown(name));
  return join(first, ", ") + (names.size() > kShownNames ? ", …" : "");
}

ClassNames::ClassNames(std::vector<std::string> names) : names_(std::move(names)) {
  require<ConfigError>(names_.size() >= 2, "a classification needs two classes or more, found {}{}", names_.size(),
                       names_.empty() ? "" : fmt::format(": '{}'", shown(names_.front())));
  for (const auto& name : names_) {
    require<ConfigError>(!name.empty(), "the name of class {} is empty", numbers_.size());
    require<ConfigError>(numbers_.emplace(name, std::ssize(numbers_)).second, "there are two classes '{}'",
                         shown(name));
  }
  counted_ = std::none_of(names_.begin(), names_.end(), [](const auto& name) { return whole_number(name); });
}

ClassNames ClassNames::of_file(const fs::path& path) {
  try {
    return ClassNames(read_lines(path));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

ClassNames ClassNames::of_labels(const std::set<std::string>& labels) {
  std::vector<std::string> names(labels.begin(), labels.end());
  if (std::all_of(names.begin(), names.end(), [](const auto& name) { return whole_number(name); }))
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
      return std::pair(*whole_number(a), a) < std::pair(*whole_number(b), b);  // "7" and "07" are two
    });
  ClassNames made(std::move(names));
  made.counted_ = false;  // nobody gave them an order that a number could mean
  return made;
}

std::optional<int64_t> ClassNames::find(std::string_view label) const {
  if (const auto found = numbers_.find(label); found != numbers_.end()) return found->second;
  const auto number = counted_ ? whole_number(label) : std::nullopt;
  return number && *number >= 0 && *number < std::ssize(names_) ? number : std::nullopt;
}

int64_t ClassNames::number(std::string_view label) const {
  if (const auto found = find(label)) return *found;
  require<DataError>(!label.empty(), "the label is empty; there are the classes {}", class_list(names_));
  const std::string hint = did_you_mean(label, names_);
  throw DataError(fmt::format("there is no class '{}'{}; there are {}{}", shown(label), hint.empty() ? "" : "; " + hint,
                              class_list(names_), counted_ ? fmt::format(" (or 0 to {})", names_.size() - 1) : ""));
}

void ClassNames::require_judged(std::span<const std::string> labels, const std::string& where) const {
  try {
    for (const auto& label : labels) number(label);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", where, error.what()));
  }
}

std::string counted_classes(const std::vector<std::string>& names, std::span<const int64_t> counts) {
  std::vector<std::string> told;
  for (size_t k = 0; k < std::min(kShownNames, names.size()); ++k)
    told.push_back(fmt::format("{} {}", shown(names[k]), counts[k]));
  return join(told, ", ") + (names.size() > kShownNames ? ", …" : "");
}

}  // namespace ordo
