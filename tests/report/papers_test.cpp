// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/report/numbers.h"
#include "ordo/report/table.h"
#include "report/fabricated_study.h"

namespace ordo::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

report::ReportTable table_of(const std::string& cell) {
  return {.title = "t", .columns = {{"name"}, {"value", true}}, .rows = {{{cell}, {"1.5 ± 0.2"}}}};
}

}  // namespace

TEST_CASE("report: Markdown has the answer first, then claims and tables with as many cells in every row", "[unit]") {
  const StudyReport study = fabricated_study();
  const std::string text = report_markdown(study);
  CHECK(text.find("solved: runs whose accuracy reaches 0.95") != std::string::npos);
  CHECK(text.find("first failing length: the shortest at which the mean accuracy is below 0.95") != std::string::npos);
  CHECK(text.find(report::markdown_escaped(report::capitalised(study.summary.headline))) < text.find("| "));
  size_t bars = 0;
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with("|")) {
      bars = 0;
      continue;
    }
    size_t own = 0;
    for (size_t i = 0; i < line.size(); ++i) own += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    INFO(line);
    if (bars > 0) CHECK(own == bars);
    bars = own;
  }
  CHECK(contains(text, "0.8425"));
}

TEST_CASE("report: Markdown's own signs in a name are text", "[unit]") {
  const std::string row = report::markdown_of(table_of("a|b_c*<i>"));
  CHECK(contains(row, "a\\|b\\_c\\*&lt;i>"));
}

TEST_CASE("report: LaTeX's own signs in a name are text", "[unit]") {
  CHECK(report::latex_escaped("a_b & 5 % of $x^2$ {#1} ~ \\n") ==
        "a\\_b \\& 5 \\% of \\$x\\textasciicircum{}2\\$ \\{\\#1\\} \\textasciitilde{} \\textbackslash{}n");
  CHECK(report::latex_escaped("1 ± 2, −3") == "1 $\\pm$ 2, $-$3");
  CHECK(report::latex_escaped("猫") == "\\texttt{U+732B}");
  CHECK(contains(report::latex_of(table_of("[0.1]")), "\n{}[0.1] & "));
}

TEST_CASE("report: LaTeX is ASCII, its environments close, and rows have as many cells as columns", "[unit]") {
  const std::string text = report_latex(fabricated_study());
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  size_t columns = 0, open = 0;
  for (const auto& line : split(text, '\n')) {
    if (line.starts_with("\\begin{tabular}{")) {
      columns = 0;
      for (size_t i = std::string("\\begin{tabular}{").size(); i + 1 < line.size(); ++i) {
        ++columns;
        if (line[i] == 'p') i = line.find('}', i);
      }
      ++open;
    }
    if (line == "\\end{tabular}") --open;
    if (!line.ends_with(" \\\\")) continue;
    size_t cells = 1;
    for (size_t i = 1; i < line.size(); ++i) cells += line[i] == '&' && line[i - 1] != '\\' ? 1 : 0;
    INFO(line);
    CHECK(cells == columns);
  }
  CHECK(open == 0);
  CHECK(columns > 0);
}

}  // namespace ordo::test
