// SPDX-License-Identifier: Apache-2.0
// What is compared, as tables and charts of a report name it. An arm is a level of the compared factor, and where
// several scalings were evaluated one of those; its place is the rest of the combination ("task copy").
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/report/report.h"

namespace ordo::report {

std::string scaling_text(const std::string& scaling);  // "{kind: yarn, factor: 4}" -> "yarn, factor 4"

// One value of a cell with the run that gave it.
struct Traced {
  double value = 0.0;
  int64_t seed = 0;
  std::optional<int64_t> instance = {};
  std::string run;           // folder, below the study's; empty: several
  std::string text() const;  // "seed 1: 0.99825"
};

class Arms {
 public:
  explicit Arms(const StudyReport& study);
  const std::vector<std::string>& names() const { return names_; }    // in the order of the plan
  const std::vector<std::string>& places() const { return places_; }  // one that is empty where nothing else varies
  std::string name(const Combination& levels, const std::string& scaling = "") const;
  std::string level(const std::string& level) const;  // the arm of a pair's level
  std::string place(const Combination& levels) const;
  int number(const std::string& arm) const;  // colour, dash and shape in all charts
  std::string text(const Combination& levels, const std::string& scaling = "") const;  // arm and place

  // Metrics that were asked about: the compared one, then those of claims and references.
  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::string& metric() const { return metrics_.front(); }
  int64_t length() const { return length_; }  // that is compared; 0: the area
  // Cells of one metric in the order of the page: the compared length first, then the others ascending; places, arms.
  std::vector<const Cell*> cells(const std::string& metric) const;
  const Cell* cell(const std::string& arm, const std::string& place, const std::string& metric, int64_t length) const;
  std::vector<int64_t> lengths(const std::string& metric) const;  // in that order
  std::vector<Traced> traced(const Cell& cell) const;
  // What the table of pairs says of an arm against the compared level: empty without such a pair.
  std::string verdict(const Cell& cell) const;

 private:
  const StudyReport& study_;
  std::string factor_;                  // empty: all levels together are the arm
  std::vector<std::string> elsewhere_;  // the other factors with more than one level among the runs
  std::vector<std::string> names_, places_, metrics_;
  int64_t length_ = 0;
};

}  // namespace ordo::report
