// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/table.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "ordo/core/utf8.h"
#include "ordo/views/svg.h"

namespace ordo::report {

namespace {

// LaTeX's own word for a character: its special ones, and those beyond ASCII that reports use.
struct LatexWord {
  std::string_view character, word;
};
constexpr std::array kLatexWords{LatexWord{"\\", "\\textbackslash{}"},
                                 LatexWord{"{", "\\{"},
                                 LatexWord{"}", "\\}"},
                                 LatexWord{"$", "\\$"},
                                 LatexWord{"&", "\\&"},
                                 LatexWord{"#", "\\#"},
                                 LatexWord{"%", "\\%"},
                                 LatexWord{"_", "\\_"},
                                 LatexWord{"^", "\\textasciicircum{}"},
                                 LatexWord{"~", "\\textasciitilde{}"},
                                 LatexWord{"<", "$<$"},
                                 LatexWord{">", "$>$"},
                                 LatexWord{"|", "$|$"},
                                 LatexWord{"\"", "''"},
                                 LatexWord{"\n", " "},
                                 LatexWord{"\t", " "},
                                 LatexWord{"±", "$\\pm$"},
                                 LatexWord{"×", "$\\times$"},
                                 LatexWord{"·", "$\\cdot$"},
                                 LatexWord{"–", "--"},
                                 LatexWord{"—", "---"},
                                 LatexWord{"…", "\\ldots{}"},
                                 LatexWord{"≥", "$\\ge$"},
                                 LatexWord{"≤", "$\\le$"},
                                 LatexWord{"≠", "$\\ne$"},
                                 LatexWord{"→", "$\\to$"},
                                 LatexWord{"−", "$-$"},
                                 LatexWord{"’", "'"},
                                 LatexWord{"“", "``"},
                                 LatexWord{"”", "''"}};

std::string_view class_of(const ReportTable::Column& column) {
  return column.number ? " class=\"n\"" : column.prose ? " class=\"prose\"" : "";
}

std::string row_of(const std::vector<std::string>& cells, std::string_view between, std::string_view end) {
  return fmt::format("{}{}", fmt::join(cells, between), end);
}

}  // namespace

std::string html_of(const ReportTable& table) {
  std::string out = fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n",
                                escaped(table.title));
  out += fmt::format("<caption>{}</caption>\n<thead><tr>", escaped(table.title));
  for (const auto& column : table.columns)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), escaped(column.name));
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string content = row[i].html.empty() ? escaped(row[i].text) : row[i].html;
      const char* tag = i == 0 ? "th scope=\"row\"" : "td";
      out += fmt::format("<{}{}>{}</{}>", tag, class_of(table.columns[i]), content, i == 0 ? "th" : "td");
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  return table.note.empty() ? out : out + fmt::format("<p class=\"note\">{}</p>\n", escaped(table.note));
}

std::string markdown_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r')
      out += ' ';
    else if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else {
      if (std::string_view("\\`*_[]|#~$").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_of(const ReportTable& table) {
  std::string out = fmt::format("**{}**\n\n", markdown_escaped(table.title));
  std::vector<std::string> names, rules;
  for (const auto& column : table.columns) {
    names.push_back(markdown_escaped(column.name));
    rules.emplace_back(column.number ? "---:" : "---");
  }
  out += "| " + row_of(names, " | ", " |\n") + "| " + row_of(rules, " | ", " |\n");
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(markdown_escaped(cell.text));
    out += "| " + row_of(cells, " | ", " |\n");
  }
  return table.note.empty() ? out : out + "\n" + markdown_escaped(table.note) + "\n";
}

std::string latex_escaped(const std::string& text) {
  std::string out;
  each_character(text, [&](char32_t code, std::string_view character) {
    const auto* known = kLatexWords.begin();
    while (known != kLatexWords.end() && known->character != character) ++known;
    if (known != kLatexWords.end())
      out += known->word;
    else if (code >= 0x80)  // plain LaTeX has no letter for most of these
      out += fmt::format("\\texttt{{U+{:04X}}}", static_cast<uint32_t>(code));
    else if (code >= 0x20 && code != 0x7F)
      out += character;
  });
  return out;
}

std::string latex_of(const ReportTable& table) {
  std::string layout;
  std::vector<std::string> names;
  for (const auto& column : table.columns) {
    layout += column.number ? "r" : column.prose ? "p{5cm}" : "l";
    names.push_back(latex_escaped(column.name));
  }
  std::string out = fmt::format("% {}\n\\begin{{tabular}}{{{}}}\n\\hline\n", latex_escaped(table.title), layout);
  out += row_of(names, " & ", " \\\\\n\\hline\n");
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(latex_escaped(cell.text));
    // A bracket right after \\ would be taken for a distance.
    if (!cells.empty() && cells.front().starts_with('[')) cells.front() = "{}" + cells.front();
    out += row_of(cells, " & ", " \\\\\n");
  }
  out += "\\hline\n\\end{tabular}\n";
  return table.note.empty() ? out : out + "\n" + latex_escaped(table.note) + "\n";
}

}  // namespace ordo::report
