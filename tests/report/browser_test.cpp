// SPDX-License-Identifier: Apache-2.0
// The page of a report as a browser shows it: nothing wider than the window, text that can be read, no complaints.
#include "support/catch.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "report/fabricated_study.h"
#include "support/program.h"

namespace ordo::test {
namespace {

std::optional<fs::path> browser() {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path == nullptr ? "" : path, ':'))
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (const fs::path program = fs::path(folder) / name; access(program.c_str(), X_OK) == 0) return program;
  return std::nullopt;
}

struct Window {
  int width = 1280;
  bool dark = false;
};

Outcome open_page(const fs::path& page, const Window& window, const Scratch& scratch, const Arguments& what) {
  Arguments words{"--headless=new",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--hide-scrollbars",
                  "--no-first-run",
                  "--disable-dev-shm-usage",
                  "--enable-logging=stderr",
                  "--user-data-dir=" + (scratch / "profile").string(),
                  fmt::format("--blink-settings=preferredColorScheme={}", window.dark ? 0 : 1),
                  fmt::format("--window-size={},900", window.width)};
  words.insert(words.end(), what.begin(), what.end());
  words.push_back("file://" + page.string());
  return run_program(*browser(), words,
                     {.folder = scratch.path(), .environment = {"HOME=" + scratch.path().string()}, .seconds = 60});
}

// Looks at a copy of the page: its width, the least contrast of any text (WCAG 2, 1.4.3), ids that are there twice.
constexpr const char* kProbe = R"js(<script>
function rgb(text) { return (text.match(/[\d.]+/g) || []).map(Number); }
function light(colour) {
  const [r, g, b] = colour.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = rgb(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}
function look() {
  let least = 99, where = '', texts = 0;
  for (const element of document.querySelectorAll('body *')) {
    if (['SCRIPT', 'STYLE', 'title', 'desc'].includes(element.tagName) || element.closest('legend')) continue;
    if (![...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const style = getComputedStyle(element);
    const ink = rgb(element instanceof SVGElement ? style.fill : style.color), paper = behind(element);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    texts += 1;
    if (contrast < least) { least = contrast; where = element.outerHTML.slice(0, 120); }
  }
  return {least, where, texts};
}
document.querySelectorAll('details').forEach(d => d.open = true);
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
const found = {...look(), width: innerWidth, needed: document.documentElement.scrollWidth,
  doubles: ids.length - new Set(ids).size, paper: getComputedStyle(document.body).backgroundColor};
document.getElementById('scheme-dark').click();
found.dark = getComputedStyle(document.body).backgroundColor;
document.getElementById('scheme-light').click();
found.light = getComputedStyle(document.body).backgroundColor;
parent.postMessage(encodeURIComponent(JSON.stringify(found)), '*');
</script>)js";

// A window is never narrower than 500 pixels; a frame in it is.
constexpr const char* kFrame =
    R"js(<!DOCTYPE html><style>:root{{color-scheme:light dark}}iframe{{border:0;width:{}px;height:900px}}</style>
<script>onmessage = m => {{
  const out = document.createElement('output');
  out.textContent = m.data;
  document.body.append(out);
}}</script><body><iframe src="probed.html"></iframe></body>)js";

std::string decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i] == '%' ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    if (text[i] == '%') i += 2;
  }
  return out;
}

Json looked_at(const std::string& page, const Window& window, const Scratch& scratch) {
  const std::string policy = "<meta http-equiv=\"Content-Security-Policy\"";
  std::string copy = page;
  const size_t at = copy.find(policy);
  REQUIRE(at != std::string::npos);
  copy.erase(at, copy.find('\n', at) - at);  // it would forbid the probe
  copy.insert(copy.find("</body>"), kProbe);
  scratch.write("probed.html", copy);
  const Outcome outcome = open_page(scratch.write("frame.html", fmt::format(kFrame, window.width)), {1280, window.dark},
                                    scratch, {"--dump-dom", "--virtual-time-budget=10000"});
  const std::string mark = "<output>";
  const size_t begin = outcome.out.find(mark), end = outcome.out.find("</output>");
  INFO(outcome.err);
  REQUIRE(end != std::string::npos);
  return parse_json(decoded(outcome.out.substr(begin + mark.size(), end - begin - mark.size())),
                    "what the probe found");
}

}  // namespace

TEST_CASE("report: a browser shows the page without complaint, overflow or faint text, narrow and wide, light and dark",
          "[cli]") {
  if (!browser())
    FAIL(
        "no chromium, chromium-browser or google-chrome in PATH, so nothing is known of the page: install one (Debian: "
        "apt install chromium), or leave this case out with scripts/test.sh -E report/browser_test");
  const Scratch scratch;
  auto levels = fabricated_levels();
  levels[4].name = "alibi-with-a-long-name-that-no-line-of-a-telephone-holds-in-one-piece-symmetric";
  const std::string page = report_html(fabricated_study(levels));
  const fs::path file = scratch.write("report.html", page);
  for (const int width : {390, 1280})
    for (const bool dark : {false, true}) {
      CAPTURE(width, dark);
      const Window window{width, dark};
      const fs::path picture = scratch / "page.png";
      const Outcome shown = open_page(file, window, scratch, {"--screenshot=" + picture.string()});
      INFO(shown.err);
      CHECK(shown.code == 0);
      CHECK(fs::file_size(picture) > 10000);
      CHECK(shown.err.find("CONSOLE") == std::string::npos);

      const Json found = looked_at(page, window, scratch);
      CAPTURE(found.dump());
      CHECK(found.at("width") == width);
      CHECK(found.at("needed") <= width);
      CHECK(found.at("texts") > 200);
      CHECK(found.at("least").get<double>() >= 4.5);
      CHECK(found.at("doubles") == 0);
      CHECK(found.at("dark") != found.at("light"));
      CHECK(found.at("paper") == found.at(dark ? "dark" : "light"));
    }
}

}  // namespace ordo::test
