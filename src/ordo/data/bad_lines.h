// SPDX-License-Identifier: Apache-2.0
// What becomes of a line of a data file that cannot be read: it ends the run, or it is left out, counted and told.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/fields.h"
#include "ordo/core/errors.h"

namespace ordo {

enum class OnBadLine { stop, skip };
inline constexpr NamedValue kOnBadLine[] = {{"stop", static_cast<int>(OnBadLine::stop)},
                                            {"skip", static_cast<int>(OnBadLine::skip)}};

// What becomes of an example that is longer than train.length.
enum class TooLong { stop, cut };
inline constexpr NamedValue kTooLong[] = {{"stop", static_cast<int>(TooLong::stop)},
                                          {"cut", static_cast<int>(TooLong::cut)}};

// Readers hand it each line that they cannot take; one may serve several files. A row of several lines counts once.
class BadLines {
 public:
  // `one`: what is counted, where that is not a line: "example".
  explicit BadLines(OnBadLine policy = OnBadLine::stop, std::string_view one = "line") : policy_(policy), one_(one) {}

  // `problem` names file and line: "a.tsv: line 7: expected 2 cells, found 3". stop: throws it as DataError. skip:
  // counts it, keeps the first three, returns.
  void leave_out(const std::string& problem);

  // True when `read` returns; a DataError of it is left out, then false. `read` keeps nothing before it has all it
  // needs, else half a line stays.
  template <class Read>
  bool attempt(const Read& read) {
    try {
      read();
      return true;
    } catch (const DataError& error) {
      leave_out(error.what());
      return false;
    }
  }

  bool leaves_out() const { return policy_ == OnBadLine::skip; }
  size_t count() const { return count_; }
  // "3 lines left out: a.tsv: line 7: expected 2 cells, found 3; …", for the log; "" without any.
  std::string sentence() const;

 private:
  OnBadLine policy_;
  std::string_view one_;
  size_t count_ = 0;
  std::vector<std::string> first_;
};

}  // namespace ordo
