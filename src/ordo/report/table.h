// SPDX-License-Identifier: Apache-2.0
// One table, three writings: HTML, Markdown, LaTeX.
#pragma once
#include <string>
#include <vector>

namespace ordo::report {

struct TableCell {
  std::string text;
  std::string html = {};  // in its place on the page, already escaped; empty: the text
};
struct ReportTable {
  struct Column {
    std::string name;
    bool number = false;
    bool prose = false;  // words that want a wide column
  };
  std::string title, note;
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;
};

std::string html_of(const ReportTable& table);  // inside a box that scrolls by itself where the screen is too narrow
std::string markdown_of(const ReportTable& table);
std::string latex_of(const ReportTable& table);  // a tabular; needs no package

std::string markdown_escaped(const std::string& text);
std::string latex_escaped(const std::string& text);

}  // namespace ordo::report
