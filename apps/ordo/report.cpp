// SPDX-License-Identifier: Apache-2.0
// ordo report RUN…|STUDY: the answer of a study, or of any runs, as a page and as tables.
#include "ordo/report/report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/study/session.h"

namespace ordo::cli {
namespace {

bool is_study(const std::string& subject) {
  std::error_code ignored;
  return fs::exists(fs::path(subject) / "plan.yaml", ignored);
}

StudyReport of_study(const std::string& folder) {
  StudyReport study{.plan = read_plan(folder)};
  settle_plan(folder, study.plan);
  study.results = read_results(folder, study.plan);
  return study;
}

StudyReport of_runs(const Words& subjects) {
  const std::vector<fs::path> folders(subjects.begin(), subjects.end());
  RunsInput input = results_of_runs(folders);
  return {.plan = std::move(input.plan), .results = std::move(input.results)};
}

// What one file holds, by its ending; nothing for what is a folder's name.
using Writer = std::string (*)(const StudyReport&);
Writer writer_of(const fs::path& output) {
  if (output.extension() == ".html") return report_html;
  if (output.extension() == ".md") return report_markdown;
  if (output.extension() == ".tex") return report_latex;
  return nullptr;
}

// Where runs are, as seen from the page: `base` is what their folders are given from.
std::string path_between(const fs::path& page, const fs::path& base) {
  const fs::path between =
      fs::absolute(base).lexically_normal().lexically_relative(fs::absolute(page).lexically_normal());
  std::string text = between.generic_string();
  while (text.ends_with('/')) text.pop_back();
  return text == "." ? "" : text;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  require(!failed, "cannot make the folder {}: {}; give another one with -o", folder.string(), failed.message());
}

}  // namespace

int report(const Words& words) {
  Words subjects;
  std::optional<std::string> output;
  bool json = false;
  Options options("report", "The answer of a study, or a comparison of any runs: one page that needs no network.");
  options.positionals("RUN…|STUDY", subjects, "run folders, or the folder of one study");
  options.text("-o,--output", output, "FILE|DIR",
               "one file, as its ending says (.html, .md, .tex), or a folder for report.html, table.md, table.tex, "
               "results.csv and summary.json (the study's own; of runs: report under the current folder)");
  options.flag("--json", json, "one JSON document: summary.json");
  options.footer(
      "A study's report is made anew from what its runs have given so far; nothing is trained. Of runs that were not "
      "planned together, what their configs differ in are the factors.");
  if (!options.parse(words)) return kDone;
  const bool study = is_study(subjects.front());
  for (const auto& subject : subjects)
    require<ConfigError>(subjects.size() == 1 || !is_study(subject), "{} is a study: give one study, or run folders",
                         subject);

  StudyReport made = study ? of_study(subjects.front()) : of_runs(subjects);
  made.summary = summarise(made.plan, made.results);
  const fs::path target = output ? fs::path(*output) : study ? fs::path(subjects.front()) : fs::path("report");
  const Writer writer = writer_of(target);
  const fs::path folder =
      writer != nullptr ? (target.has_parent_path() ? target.parent_path() : fs::path(".")) : target;
  make_folder(folder);
  made.runs_at = path_between(folder, study ? fs::path(subjects.front()) : fs::current_path());
  if (writer != nullptr)
    write_file(target, writer(made));
  else
    write_report(target, made);
  if (json)
    print_json(summary_json(made.summary));
  else
    print(fmt::format("{}\nreport: {}\n", made.summary.headline,
                      (writer != nullptr ? target : target / "report.html").string()));
  return kDone;
}

}  // namespace ordo::cli
