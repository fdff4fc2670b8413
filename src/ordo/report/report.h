// SPDX-License-Identifier: Apache-2.0
// The report of a study or of any runs: one self-contained page, and its tables as Markdown and LaTeX.
#pragma once
#include <string>
#include <vector>

#include "ordo/study/summary.h"

namespace ordo {

struct StudyReport {
  Plan plan;
  Results results;
  Summary summary;
  std::string runs_at = {};  // from the page's folder to that of the study ("../positions-quick"); empty: the same
};
std::string report_html(const StudyReport& report);  // opens from disk: no network, no script from elsewhere
std::string report_markdown(const StudyReport& report);
std::string report_latex(const StudyReport& report);
// results.csv, summary.json, table.md, table.tex and report.html in a folder, each whole or not at all.
void write_report(const fs::path& folder, const StudyReport& report);

}  // namespace ordo
