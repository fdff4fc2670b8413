// SPDX-License-Identifier: Apache-2.0
// results.csv: for spreadsheets and other people's scripts.
#include <cmath>
#include <map>

#include "ordo/core/text.h"
#include "ordo/study/results.h"
#include "ordo/train/evaluate.h"

namespace ordo {

namespace {

constexpr const char* kLineEnd = "\r\n";  // RFC 4180

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (const auto& field : fields) quoted.push_back(csv_field(field));
  return join(quoted, ",") + kLineEnd;
}

// Empty: nobody measured it.
std::string csv_number(double value) { return std::isfinite(value) ? number_text(value) : ""; }
std::string csv_amount(double value) { return value > 0.0 ? number_text(value) : ""; }
std::string csv_count(int64_t count) { return count > 0 ? std::to_string(count) : ""; }

std::vector<std::string> csv_metrics(const Results& results) {
  Metrics all;
  for (const auto& row : results.rows) all.insert(row.metrics.begin(), row.metrics.end());
  return in_reading_order(all);
}

}  // namespace

std::string results_csv(const Plan& plan, const Results& results) {
  const auto metrics = csv_metrics(results);
  std::vector<std::string> header;
  for (const auto& factor : plan.study.vary) header.push_back(factor.name);
  for (const char* name : {"seed", "instance", "scaling", "split", "protocol", "length"}) header.emplace_back(name);
  header.insert(header.end(), metrics.begin(), metrics.end());
  for (const char* name : {"steps", "tokens", "seconds", "parameters", "flops", "status", "run"})
    header.emplace_back(name);

  std::map<std::string, const RunFacts*> facts_of;
  for (const auto& facts : results.runs) facts_of[facts.run] = &facts;
  std::string csv = csv_line(header);
  for (const auto& row : results.rows) {
    std::vector<std::string> fields;
    for (const auto& [factor, level] : row.levels) fields.push_back(level);
    fields.push_back(std::to_string(row.seed));
    fields.push_back(row.instance ? std::to_string(*row.instance) : "");
    for (const auto& text : {row.scaling, row.split, row.protocol}) fields.push_back(text);
    fields.push_back(std::to_string(row.length));
    for (const auto& metric : metrics)
      fields.push_back(row.metrics.contains(metric) ? csv_number(row.metrics.at(metric)) : "");
    static const RunFacts unknown;
    const auto found = facts_of.find(row.run);
    const RunFacts& facts = found == facts_of.end() ? unknown : *found->second;
    fields.push_back(csv_count(facts.steps));
    fields.push_back(csv_count(facts.tokens));
    fields.push_back(csv_amount(facts.seconds));
    fields.push_back(csv_count(facts.parameters));
    fields.push_back(csv_amount(facts.flops));
    fields.emplace_back(row.refused.empty() ? status_name(row.status) : "refused");
    fields.push_back(row.run);
    csv += csv_line(fields);
  }
  return csv;
}

}  // namespace ordo
