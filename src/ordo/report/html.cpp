// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/report/charts.h"
#include "ordo/report/numbers.h"
#include "ordo/report/pictures.h"
#include "ordo/report/report.h"
#include "ordo/report/settings.h"
#include "ordo/report/style.h"
#include "ordo/report/tables.h"

namespace ordo {

namespace report {
namespace {

struct Section {
  std::string id, title, body;
};

// Charts with numbers of the page's own, so that each has an id.
class PageBuilder {
 public:
  explicit PageBuilder(const StudyReport& study) : study_(study), arms_(study) {}
  std::string page();

 private:
  std::string charts(const std::vector<Panel>& panels, const std::string& note = "", const char* kind = "charts");
  std::string answer() const;
  std::string claims() const;
  std::string encodings();
  std::string settings() const;
  std::string reading() const;
  std::vector<Section> sections();
  std::string values();

  const StudyReport& study_;
  Arms arms_;
  int charts_ = 0;
};

constexpr const char* kDotsNote =
    "One mark for each run; the tall stroke is their mean, the bar its 95 % interval. A hollow diamond is a figure of "
    "others.";
constexpr const char* kDifferenceNote = "One mark for each seed; the bar is the 95 % interval of the mean difference.";
constexpr const char* kLengthNote =
    "Means with their 95 % intervals, moved sideways a little where they would cover each other.";
constexpr const char* kBandNote =
    "Lines: means over the seeds. Bands: 95 % t-intervals of the mean, from three seeds on.";

std::string table_or_nothing(const ReportTable& table) { return table.rows.empty() ? "" : html_of(table); }

std::string paragraph(const std::string& text, const char* kind = "") {
  return text.empty() ? "" : fmt::format("<p{}>{}</p>\n", kind, escaped(text));
}

std::string list_of(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<ul>\n";
  for (const auto& line : lines) out += fmt::format("<li>{}</li>\n", escaped(line));
  return out + "</ul>\n";
}

std::string folded(const std::string& summary, const std::string& body) {
  return body.empty() ? "" : fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), body);
}

std::string PageBuilder::charts(const std::vector<Panel>& panels, const std::string& note, const char* kind) {
  if (panels.empty()) return "";
  std::string out = fmt::format("<div class=\"{}\">\n", kind);
  for (const auto& panel : panels)
    out += fmt::format("<figure>{}</figure>\n", svg_chart(panel, fmt::format("chart-{}", ++charts_)));
  return out + "</div>\n" + paragraph(note, " class=\"note\"");
}

// The sentence, how far the study is, and what went wrong.
std::string PageBuilder::answer() const {
  const Summary& summary = study_.summary;
  const auto& runs = study_.results.runs;
  const auto done = std::count_if(runs.begin(), runs.end(), [](const RunFacts& run) {
    return run.status == RunStatus::done || run.status == RunStatus::diverged;
  });
  std::string out = paragraph(capitalised(summary.headline), " class=\"headline\"");
  out += fmt::format(
      "<ul class=\"facts\"><li><b>{}</b> of {} runs</li><li>seeds <b>{}</b></li><li>compared by "
      "<b>{}</b>{}</li></ul>\n",
      done, runs.size(), fmt::join(study_.plan.study.seeds, ", "), escaped(arms_.metric()),
      arms_.length() > 0 ? fmt::format(" at length <b>{}</b>", arms_.length()) : "");
  std::string wrong = list_of(summary.failed);
  if (!summary.missing.empty()) wrong += paragraph(fmt::format("Missing: {}", join(summary.missing, ", ")));
  if (!summary.complete || !wrong.empty())
    out += fmt::format("<div class=\"warning\"><p><b>{}</b></p>{}</div>\n",
                       summary.complete ? "Runs without a result" : "This study is incomplete.", wrong);
  return out;
}

std::string PageBuilder::claims() const {
  if (study_.summary.claims.empty()) return "";
  std::string out = "<ul class=\"claims\">\n";
  for (const auto& claim : study_.summary.claims) {
    const std::string kind = claim.verdict == "holds" || claim.verdict == "fails" ? claim.verdict : "undecided";
    const char* sign = kind == "holds" ? "✓" : kind == "fails" ? "✗" : "?";
    out += fmt::format(
        "<li class=\"{}\"><p><span class=\"verdict\">{} {}</span><span class=\"name\">{}</span></p><p>{}</p>"
        "<p class=\"note\">{}</p></li>\n",
        kind, sign, escaped(claim.verdict), escaped(claim.name), escaped(claim.text), escaped(claim.why));
  }
  return out + "</ul>\n";
}

std::string PageBuilder::values() {
  std::vector<Panel> panels;
  for (const int64_t length : arms_.lengths(arms_.metric()))
    for (auto& chart : value_charts(study_, arms_, length)) panels.push_back(std::move(chart));
  std::string out = table_or_nothing(overview_table(study_, arms_)) + charts(panels, kDotsNote);
  for (const auto& metric : arms_.metrics()) out += table_or_nothing(cells_table(study_, arms_, metric));
  std::string others;
  std::vector<std::string> told = arms_.metrics();
  for (const auto& cell : study_.summary.cells)
    if (std::find(told.begin(), told.end(), cell.metric) == told.end()) {
      told.push_back(cell.metric);
      others += table_or_nothing(cells_table(study_, arms_, cell.metric));
    }
  return out + folded("Other metrics", others);
}

std::string PageBuilder::encodings() {
  const AllPictures pictures = encoding_pictures(study_, arms_);
  std::string out =
      paragraph("Drawn from the settings of the runs with first weights, before any training.", " class=\"note\"") +
      charts(pictures.together, "", "charts small");
  for (const auto& one : pictures.encodings) {
    std::string body;
    for (const auto& note : one.notes) body += paragraph(note, " class=\"note\"");
    const std::string title = one.title.empty() || one.title == one.name ? one.name
                              : one.title.starts_with(one.name + ",")    ? one.title
                                                                         : fmt::format("{}: {}", one.name, one.title);
    out += fmt::format("<h3>{}</h3>\n{}{}", escaped(title), body, charts(one.panels, "", "charts small"));
  }
  return out;
}

std::string PageBuilder::settings() const {
  std::string out = table_or_nothing(differing_table(study_, arms_));
  const ReportTable common = common_table(study_);
  out += folded(fmt::format("Settings that all runs share ({})", common.rows.size()), table_or_nothing(common));
  if (!out.empty()) out = "<div class=\"long\">" + out + "</div>\n";
  return out + table_or_nothing(tuning_table(study_)) + table_or_nothing(left_out_table(study_));
}

std::string PageBuilder::reading() const {
  std::vector<std::string> lines = study_.summary.notes;
  for (const auto& note : study_.plan.notes)
    if (std::find(lines.begin(), lines.end(), note) == lines.end()) lines.push_back(note);
  lines.emplace_back(
      "The unit of repetition is the seed: an interval covers what another seed would have given, not other data, "
      "sizes or lengths than those that were run.");
  lines.emplace_back(
      "better, worse: the corrected p is below 0.05 and the interval of the paired difference lies beyond the smallest "
      "difference that matters. separated: every seed of one is above every seed of the other, with too few seeds for "
      "a test. not told apart: everything else.");
  std::string out = list_of(lines);
  if (!study_.plan.study.expected.empty())
    out = "<h3>What the study's file expected</h3>\n<blockquote>" + escaped(study_.plan.study.expected) +
          "</blockquote>\n" + out;
  return out;
}

std::vector<Section> PageBuilder::sections() {
  std::vector<Section> all{
      {"claims", "Claims", claims()},
      {"values", "Values", values()},
      {"pairs", "Pairs",
       (study_.summary.pairs.empty() ? ""
                                     : charts(difference_charts(study_, arms_), kDifferenceNote) +
                                           table_or_nothing(pairs_table(study_, arms_))) +
           table_or_nothing(ranks_table(study_)) + table_or_nothing(variance_table(study_, arms_))},
      {"lengths", "Lengths",
       charts(length_charts(study_, arms_), kLengthNote) + table_or_nothing(curves_table(study_, arms_)) +
           charts(position_loss_charts(study_, arms_), kBandNote)},
      {"training", "Training", charts(learning_charts(study_, arms_), kBandNote)},
      {"cost", "Cost", charts(cost_charts(study_, arms_)) + table_or_nothing(cost_table(study_, arms_))},
      {"references", "Figures of others", table_or_nothing(references_table(study_))},
      {"encodings", "Position encodings", encodings()},
      {"settings", "Settings", settings()},
      {"pairing", "Pairing", table_or_nothing(pairing_table(study_, arms_))},
      {"runs", "Runs", table_or_nothing(runs_table(study_, arms_))},
      {"reading", "How to read this", reading()}};
  std::erase_if(all, [](const Section& section) { return section.body.empty(); });
  return all;
}

constexpr const char* kSchemeSwitch =
    "<fieldset class=\"scheme\"><legend>Colours</legend>"
    "<input type=\"radio\" name=\"scheme\" id=\"scheme-auto\" checked><label for=\"scheme-auto\">auto</label>"
    "<input type=\"radio\" name=\"scheme\" id=\"scheme-light\"><label for=\"scheme-light\">light</label>"
    "<input type=\"radio\" name=\"scheme\" id=\"scheme-dark\"><label for=\"scheme-dark\">dark</label></fieldset>";

std::string PageBuilder::page() {
  const std::vector<Section> all = sections();
  std::string links, body;
  for (const auto& section : all) {
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
    body += fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", section.id, section.title, section.body);
  }
  const std::string name = escaped(study_.summary.study.empty() ? study_.plan.study.name : study_.summary.study);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"Ordo\">\n<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1>{2}</header>\n<main>\n{3}<nav aria-label=\"Contents\"><ul>{4}</ul></nav>\n{5}</main>\n"
      "<footer>{6}. Values with their runs: results.csv; all numbers: summary.json; tables for papers: table.md, "
      "table.tex.</footer>\n</body>\n</html>\n",
      name, style_sheet(), kSchemeSwitch, answer(), links, body, escaped(versions_text()));
}

}  // namespace
}  // namespace report

std::string report_html(const StudyReport& study) { return report::PageBuilder(study).page(); }

}  // namespace ordo
