// SPDX-License-Identifier: Apache-2.0
#include "ablate_outcome.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ordo/core/text.h"

namespace ordo::cli {
namespace {

using Columns = std::vector<std::string>;

// "0.9980 ± 0.0040"; "0.5000 [0.4561, 0.5439]" for an interval that is not even on both sides.
std::string value_text(const Cell& cell) {
  if (cell.values.empty()) return cell.diverged > 0 ? "diverged" : "no value";  // a note says why
  std::string text = decimal_text(cell.mean);
  if (cell.two_modes)
    text += fmt::format(" (solved {}/{})", cell.solved, cell.runs);
  else if (cell.interval.kind == "exact")
    text += fmt::format(" [{}, {}]", decimal_text(cell.interval.low), decimal_text(cell.interval.high));
  else if (!cell.interval.kind.empty())
    text += fmt::format(" ± {}", decimal_text((cell.interval.high - cell.interval.low) / 2));
  if (cell.diverged > 0) text += fmt::format(", {} diverged", cell.diverged);
  return text;
}

std::string length_text(int64_t length) { return length == 0 ? "area" : fmt::format("at {}", length); }

// A row of the table: a combination under a scaling.
struct OutcomeRow {
  Combination levels;
  std::string scaling;
  int64_t n = 0;
  std::vector<const Cell*> cells;
};

std::vector<OutcomeRow> outcome_rows(const std::vector<const Cell*>& cells) {
  std::vector<OutcomeRow> rows;
  for (const Cell* cell : cells) {
    auto found = std::find_if(rows.begin(), rows.end(), [&](const OutcomeRow& row) {
      return row.levels == cell->levels && row.scaling == cell->scaling;
    });
    if (found == rows.end()) found = rows.insert(rows.end(), {cell->levels, cell->scaling});
    found->n = std::max(found->n, cell->n);
    found->cells.push_back(cell);
  }
  return rows;
}

std::string outcome_table(const StudyConfig& study, const Summary& summary) {
  std::vector<const Cell*> cells;
  std::set<int64_t> lengths;
  bool scaled = false;
  for (const auto& cell : summary.cells) {
    if (cell.metric != study.compare.metric || (cell.length == 0 && !study.compare.area)) continue;
    cells.push_back(&cell);
    lengths.insert(cell.length);
    scaled = scaled || !cell.scaling.empty();
  }
  if (cells.empty()) return "";
  Columns header;
  for (const auto& factor : study.vary) header.push_back(factor.name);
  if (scaled) header.emplace_back("scaling");
  header.emplace_back("n");
  for (const int64_t length : lengths) header.push_back(study.compare.metric + " " + length_text(length));
  Table table(header);
  for (const auto& row : outcome_rows(cells)) {
    Columns line;
    for (const auto& factor : study.vary) line.push_back(level_of(row.levels, factor.name));
    if (scaled) line.push_back(row.scaling.empty() ? std::string(kUnscaled) : row.scaling);
    line.push_back(std::to_string(row.n));
    for (const int64_t length : lengths) {
      const auto cell =
          std::find_if(row.cells.begin(), row.cells.end(), [&](const Cell* one) { return one->length == length; });
      line.push_back(cell == row.cells.end() ? "-" : value_text(**cell));
    }
    table.row(line);
  }
  return "\n" + table.text();
}

std::string claims_text(const Summary& summary) {
  if (summary.claims.empty()) return "";
  Table table({"claim", "verdict", "measured"});
  for (const auto& claim : summary.claims) table.row({claim.name, claim.verdict, claim.why});
  return "\n" + table.text();
}

std::string list_text(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += fmt::format("\n{} {}", title, line);
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string outcome_text(const StudyConfig& study, const Summary& summary) {
  return summary.headline + "\n" + outcome_table(study, summary) + claims_text(summary) +
         list_text("failed:", summary.failed) + list_text("note:", summary.notes);
}

}  // namespace ordo::cli
