// SPDX-License-Identifier: Apache-2.0
// The classes of a task: their names and numbers.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

class ClassNames {
 public:
  // In the order of their numbers. Throws ConfigError when there are fewer than two, one is empty, or one is there
  // twice.
  explicit ClassNames(std::vector<std::string> names);
  // A file of one name a line. Throws DataError as read_text does, ConfigError as above.
  static ClassNames of_file(const fs::path& path);
  // Labels as they were met: those that are all whole numbers in the order of these, others in that of their bytes.
  static ClassNames of_labels(const std::set<std::string>& labels);

  const std::vector<std::string>& all() const { return names_; }
  // Of a name; of classes that were given, and none of them by a whole number, also of a number, counted from 0.
  std::optional<int64_t> find(std::string_view label) const;
  // find() or DataError: "there is no class 'postive'; did you mean 'positive'? …".
  int64_t number(std::string_view label) const;
  // Throws number()'s DataError, `where` before it, for a label of what is judged. Such an example is never a bad line
  // to be left out: a wrong answer would leave the score with it.
  void require_judged(std::span<const std::string> labels, const std::string& where) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, int64_t, std::less<>> numbers_;
  bool counted_;  // numbers stand for names too
};

// "cat, dog, …" and "cat 12, dog 7, …", for people: names fit to be shown, the first 20 of them.
std::string class_list(const std::vector<std::string>& names);
std::string counted_classes(const std::vector<std::string>& names, std::span<const int64_t> counts);

}  // namespace ordo
