// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/report/charts.h"
#include "ordo/report/numbers.h"
#include "ordo/views/svg.h"
#include "report/fabricated_study.h"

namespace ordo::test {
namespace {

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

const std::string& fabricated_page() {
  static const std::string page = report_html(fabricated_study());
  return page;
}

}  // namespace

TEST_CASE("report: the answer stands before everything else", "[unit]") {
  const StudyReport study = fabricated_study();
  REQUIRE_FALSE(study.summary.headline.empty());
  const std::string& page = fabricated_page();
  const size_t main = page.find("<main>"),
               answer = page.find(escaped(report::capitalised(study.summary.headline)), main);
  REQUIRE(answer != std::string::npos);
  CHECK(answer < page.find("<table", main));
  CHECK(answer < page.find("<svg", main));
  CHECK(answer < page.find("<nav", main));
}

TEST_CASE("report: every claim stands with its verdict and its reason", "[unit]") {
  const StudyReport study = fabricated_study();
  REQUIRE(study.summary.claims.size() == 3);
  for (const auto& claim : study.summary.claims) {
    CHECK(has(fabricated_page(), escaped(claim.text)));
    CHECK(has(fabricated_page(), escaped(claim.why)));
  }
  CHECK(times(fabricated_page(), "class=\"verdict\"") == 3);
}

TEST_CASE("report: every value stands beside a link to its run, and as a dot", "[unit]") {
  const StudyReport study = fabricated_study();
  for (const auto& row : study.results.rows) {
    if (row.metrics.empty()) continue;
    const std::string value = report::value_text(row.metrics.at("accuracy"));
    CAPTURE(row.run, value);
    const std::string link = "<a href=\"" + row.run + "/\" title=\"seed " + std::to_string(row.seed) + ": ";
    size_t at = fabricated_page().find(link);
    bool found = false;
    for (; at != std::string::npos && !found; at = fabricated_page().find(link, at + 1)) {
      const size_t text = fabricated_page().find('>', at) + 1;
      found = fabricated_page().compare(text, value.size() + 4, value + "</a>") == 0;
    }
    CHECK(found);
  }
  size_t values = 0;
  for (const auto& cell : study.summary.cells) values += cell.values.size();
  CHECK(times(fabricated_page(), " title=\"seed ") == values);  // and no other run's beside it
  CHECK(has(fabricated_page(), "rope, seed 2: 0.8425, runs/rope-seed2"));
}

TEST_CASE("report: links to runs go from the page's folder to the study's", "[unit]") {
  StudyReport study = fabricated_study();
  study.runs_at = "../studies/one";
  CHECK(has(report_html(study), "<a href=\"../studies/one/runs/rope-seed2/\""));
}

TEST_CASE("report: names of any kind are text, never markup", "[unit]") {
  auto levels = fabricated_levels();
  levels[1].name = "<script>alert('x')</script>\"&\x01";
  StudyReport study = fabricated_study(levels);
  study.summary.headline = "a <b> & \"c\"";
  study.summary.notes.emplace_back("<img src=x onerror=alert(1)>");
  study.plan.study.expected = "</blockquote><script>";
  study.plan.study.references[0].source = "<a href=\"http://example.org\">";
  const std::string page = report_html(study);
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "<img"));
  CHECK_FALSE(has(page, "<b> & \"c\""));
  CHECK_FALSE(has(page, "\x01"));
  CHECK(has(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
  CHECK(has(page, "A &lt;b&gt; &amp; &quot;c&quot;"));
}

TEST_CASE("report: the page loads nothing and runs nothing", "[unit]") {
  for (const char* part : {"http:", "https:", "<script", "<link", "src=", "@import", "url(", "javascript:", "<iframe"})
    CHECK_FALSE(has(fabricated_page(), part));
  CHECK(has(fabricated_page(), "default-src 'none'"));
}

TEST_CASE("report: what has no number is never printed as one", "[unit]") {
  const StudyReport study = fabricated_study();
  for (const auto& text : {report_html(study), report_markdown(study), report_latex(study)})
    for (const char* part : {"nan", "inf ", "inf<", "-nan", "NaN"})
      for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        INFO(text.substr(at > 40 ? at - 40 : 0, 80));
        const bool inside_a_word = at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0;
        CHECK(inside_a_word);
      }
}

TEST_CASE("report: a diverged run and a refused length are told, with why", "[unit]") {
  CHECK(has(fabricated_page(), "the loss is not finite at step 120"));
  CHECK(has(fabricated_page(), "refused: the table holds 16 positions, the sequence has 32"));
  CHECK(has(fabricated_page(), "1 of 3 diverged"));
}

TEST_CASE("report: what was left out, figures of others and settings stand with their reasons and sources", "[unit]") {
  CHECK(has(fabricated_page(), "wants a causal stack"));
  CHECK(has(fabricated_page(), "A. Author 2020, table 3"));
  CHECK(has(fabricated_page(), "All arms share one learning rate."));
  CHECK(has(fabricated_page(), "model.position"));
  CHECK(has(fabricated_page(), std::string("Ordo ") + ORDO_VERSION));
}

TEST_CASE("report: every chart has a title, a description and an id of its own", "[unit]") {
  const size_t charts = times(fabricated_page(), "<svg class=\"chart\" role=\"img\"");
  CHECK(charts > 10);
  CHECK(times(fabricated_page(), "<title id=\"chart-") == charts);
  CHECK(times(fabricated_page(), "<desc id=\"chart-") == charts);
  for (size_t i = 1; i <= charts; ++i)
    CHECK(times(fabricated_page(), "<title id=\"chart-" + std::to_string(i) + "-title\"") == 1);
}

TEST_CASE("report: pairing is shown by checksums, and a pair that differs is named", "[unit]") {
  StudyReport study = fabricated_study();
  CHECK(times(report_html(study), "<td>yes</td>") == 3);
  for (auto& run : study.results.runs)
    if (run.run == "runs/rope-seed2") run.data_order = "otherorder00";
  const std::string page = report_html(study);
  CHECK(times(page, "<td>yes</td>") == 2);
  CHECK(has(page, "rope otherorder00"));
  CHECK(has(page, "weights only"));
}

TEST_CASE("report: a study without results is a page all the same", "[unit]") {
  StudyReport study = fabricated_study();
  study.results = {};
  study.summary = {.study = "empty", .headline = "Nothing was run.", .complete = false};
  const std::string page = report_html(study);
  CHECK(has(page, "Nothing was run."));
  CHECK(has(page, "This study is incomplete."));
  CHECK_FALSE(report_markdown(study).empty());
  CHECK_FALSE(report_latex(study).empty());
}

TEST_CASE("report: numbers have the digits that their error allows", "[unit]") {
  CHECK(report::estimate_text(1.93149, {.kind = "t", .low = 1.90249, .high = 1.96049}) == "1.931 ± 0.029");
  CHECK(report::estimate_text(0.5, {.kind = "exact", .low = 0.4712, .high = 0.5288}) == "0.500 [0.471, 0.529]");
  CHECK(report::estimate_text(0.5, {}) == "0.5000");
  CHECK(report::rounded_text(-0.00001, 0.1) == "0.00");
  CHECK(report::value_text(kNoNumber) == "–");
  CHECK(report::p_text(0.25) == "0.25");
}

TEST_CASE("report: an area is linked to its run only where a seed has a single one", "[unit]") {
  StudyReport study = fabricated_study();
  const auto runs_of_rope = [&] {
    const report::Arms arms(study);
    std::vector<std::string> runs;
    for (const auto& one : arms.traced(*arms.cell("rope", "", "accuracy", 0))) runs.push_back(one.run);
    return runs;
  };
  CHECK(runs_of_rope() == std::vector<std::string>{"runs/rope-seed1", "runs/rope-seed2", "runs/rope-seed3"});
  const auto once = study.results.runs;
  for (const char* instance : {"-instance2", "-instance3"})
    for (auto run : once) {
      run.run += instance;
      study.results.runs.push_back(run);
    }
  CHECK(runs_of_rope() == std::vector<std::string>(3));
}

TEST_CASE("report: places of a row are tokens, lengths are what train.length counts", "[unit]") {
  StudyReport study = fabricated_study();
  const RunConfig copying =
      load_run_config_text(
          "task: {kind: copy, symbols: 12}\nmodel: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, "
          "position: "
          "rope}\ntrain: {steps: 4, batch_size: 2, length: 8, optimizer: {kind: adamw, lr: 1e-3}}\n",
          "copying", {})
          .config;
  for (auto& run : study.plan.runs) run.config = copying;
  REQUIRE(row_length(copying) > 8);
  const report::Arms arms(study);
  const auto by_place = std::get<LinePlot>(report::position_loss_charts(study, arms).at(0));
  CHECK(by_place.mark_x == static_cast<double>(row_length(copying)));
  const auto by_length = std::get<LinePlot>(report::length_charts(study, arms).at(0));
  CHECK(by_length.mark_x == 8.0);
  CHECK(by_length.x_label == "length, as train.length counts it");
}

}  // namespace ordo::test
