// SPDX-License-Identifier: Apache-2.0
// The report's tables as Markdown and LaTeX, and all its files.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/report/numbers.h"
#include "ordo/report/report.h"
#include "ordo/report/settings.h"
#include "ordo/report/tables.h"

namespace ordo {

namespace report {
namespace {

// The tables that go into a paper, in their order.
std::vector<ReportTable> paper_tables(const StudyReport& study) {
  const Arms arms(study);
  std::vector<ReportTable> tables{overview_table(study, arms)};
  for (const auto& metric : arms.metrics()) tables.push_back(cells_table(study, arms, metric));
  for (auto& table : {pairs_table(study, arms), curves_table(study, arms), ranks_table(study), cost_table(study, arms),
                      references_table(study), tuning_table(study), left_out_table(study)})
    tables.push_back(table);
  std::erase_if(tables, [](const ReportTable& table) { return table.rows.empty(); });
  return tables;
}

ReportTable claims_table(const StudyReport& study) {
  ReportTable table{.title = "Claims"};
  table.columns = {{"verdict"}, {"claim"}, {"statement"}, {"measured"}};
  for (const auto& claim : study.summary.claims)
    table.rows.push_back({{claim.verdict}, {claim.name}, {claim.text}, {claim.why}});
  return table;
}

}  // namespace
}  // namespace report

std::string report_markdown(const StudyReport& study) {
  std::string out = fmt::format("# {}\n\n{}\n", report::markdown_escaped(study.summary.study),
                                report::markdown_escaped(report::capitalised(study.summary.headline)));
  for (const auto& failure : study.summary.failed) out += "\n- " + report::markdown_escaped(failure);
  if (!study.summary.failed.empty()) out += "\n";
  if (const auto claims = report::claims_table(study); !claims.rows.empty()) out += "\n" + report::markdown_of(claims);
  for (const auto& table : report::paper_tables(study)) out += "\n" + report::markdown_of(table);
  out += "\n";
  for (const auto& note : study.summary.notes) out += "- " + report::markdown_escaped(note) + "\n";
  return out + "\n" + report::markdown_escaped(report::versions_text()) + "\n";
}

std::string report_latex(const StudyReport& study) {
  std::string out =
      fmt::format("% {}\n% {}\n% {}\n", report::latex_escaped(study.summary.study),
                  report::latex_escaped(study.summary.headline), report::latex_escaped(report::versions_text()));
  for (const auto& table : report::paper_tables(study)) out += "\n" + report::latex_of(table);
  return out;
}

void write_report(const fs::path& folder, const StudyReport& study) {
  write_file(folder / "results.csv", results_csv(study.plan, study.results));
  write_file(folder / "summary.json", json_text(summary_json(study.summary)));
  write_file(folder / "table.md", report_markdown(study));
  write_file(folder / "table.tex", report_latex(study));
  write_file(folder / "report.html", report_html(study));
}

}  // namespace ordo
