// SPDX-License-Identifier: Apache-2.0
#include "ordo/certify/certificate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr size_t kWhyColumns = 76;

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::not_applicable:
      return "not applicable";
  }
  return "";
}

std::string measure_text(double value) { return value == 0.0 ? "0" : fmt::format("{:.2g}", value); }

// "3.1e-07 <= 0.0001": what was measured beside what was allowed.
std::string measured_text(const Property& p) {
  if (!p.measured) return "-";
  const std::string found = measure_text(*p.measured);
  if (!p.limit || p.verdict == Verdict::not_applicable) return found;
  const bool above = *p.measured > *p.limit;
  return fmt::format("{} {} {}", found, above ? ">" : "<=", measure_text(*p.limit));
}

// Lines of at most `columns` columns, broken between words.
std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const bool fits = display_width(lines.back()) + 1 + display_width(word) <= columns;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<std::string> Certificate::failed() const {
  std::vector<std::string> names;
  for (const Property& p : properties)
    if (p.verdict == Verdict::fail) names.push_back(p.name);
  return names;
}

std::string Certificate::text() const {
  Table table({"property", "expected", "verdict", "measured", "why"});
  size_t passed = 0;
  for (const Property& p : properties) {
    passed += p.verdict == Verdict::pass ? 1 : 0;
    const auto lines = wrapped(p.why, kWhyColumns);
    table.row({p.name, p.verdict == Verdict::not_applicable ? "-" : (p.expected ? "holds" : "fails"),
               std::string(verdict_text(p.verdict)), measured_text(p), lines[0]});
    for (size_t i = 1; i < lines.size(); ++i) table.row({"", "", "", "", lines[i]});
  }
  std::string all = fmt::format("certificate of {}\n", subject);
  for (const auto& line : scaled) all += fmt::format("  {}\n", line);
  all += "\n" + table.text() + "\n";
  const auto wrong = failed();
  if (wrong.empty())
    return all + fmt::format("holds: {} properties, {} not applicable\n", passed, properties.size() - passed);
  return all + fmt::format("DOES NOT HOLD: {}\n", join(wrong, ", "));
}

Json as_json(const Certificate& certificate) {
  Json properties = Json::array();
  for (const Property& p : certificate.properties) {
    Json one{{"name", p.name}, {"expected", p.expected ? "holds" : "fails"}, {"measured", nullptr}, {"limit", nullptr}};
    if (p.measured) one["measured"] = *p.measured;
    if (p.limit) {
      one["limit"] = *p.limit;
      one["bound"] = p.more_than ? "more than" : "at most";
    }
    one["verdict"] = verdict_text(p.verdict);
    one["why"] = p.why;
    properties.push_back(std::move(one));
  }
  return {{"subject", certificate.subject},
          {"holds", certificate.holds()},
          {"scaled", certificate.scaled},
          {"properties", std::move(properties)}};
}

fs::path write_certificate(const fs::path& folder, const Certificate& certificate) {
  fs::path path = folder / "certificate.json";
  write_file(path, json_text(as_json(certificate)));
  return path;
}

}  // namespace ordo
