// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/style.h"

#include <fmt/format.h>

#include <string_view>

namespace ordo::report {

namespace {

struct PageColour {
  std::string_view name, light, dark;
};
// c0 … c7: Okabe and Ito's (2008), the pale ones deeper on white, the deep ones paler on black.
constexpr PageColour kPageColours[] = {
    {"paper", "#ffffff", "#14171b"}, {"shade", "#f4f6f8", "#1d2228"}, {"ink", "#1a1e23", "#e7eaed"},
    {"quiet", "#555d66", "#a9b1ba"}, {"rule", "#d5dadf", "#3a4149"},  {"link", "#0b57a4", "#84bdf7"},
    {"good", "#08653a", "#74d6a0"},  {"bad", "#a3250d", "#ff9f8a"},   {"open", "#6b5200", "#e9c96f"},
    {"c0", "#0072b2", "#4fa9e2"},    {"c1", "#c85400", "#f28c4f"},    {"c2", "#00855f", "#2fc79b"},
    {"c3", "#b35f8e", "#e49bc5"},    {"c4", "#000000", "#f2f2f2"},    {"c5", "#a87000", "#f0b93a"},
    {"c6", "#2a86bd", "#93d0f5"},    {"c7", "#6b6b6b", "#a6a6a6"}};

std::string variables(bool dark) {
  std::string out = fmt::format("color-scheme:{};", dark ? "dark" : "light");
  for (const auto& colour : kPageColours)
    out += fmt::format("--{}:{};", colour.name, dark ? colour.dark : colour.light);
  return out;
}

constexpr std::string_view kRules = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
h1{font-size:1.15rem;font-weight:600;color:var(--quiet);margin:0}
h2{font-size:1.3rem;line-height:1.25;margin:2.6rem 0 .7rem;padding-top:.7rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p,ul{margin:.5rem 0;max-width:46rem}
a{color:var(--link)}
a:focus-visible,input:focus-visible+label,.scroll:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
.scheme{display:flex;border:1px solid var(--rule);border-radius:.4rem;margin:0;padding:0;font-size:.85rem}
.scheme legend,.scheme input{position:absolute;opacity:0;width:1px;height:1px;overflow:hidden}
.scheme label{padding:.2rem .7rem;border-radius:.35rem;color:var(--quiet);cursor:pointer}
.scheme input:checked+label{background:var(--shade);color:var(--ink);font-weight:600}
.headline{font-size:1.5rem;line-height:1.35;font-weight:600;margin:1rem 0 .8rem;max-width:54rem}
.facts{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:0 0 1rem;padding:0;list-style:none;color:var(--quiet);max-width:none}
.facts b{color:var(--ink)}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;list-style:none;padding:0;max-width:none;font-size:.9rem}
.warning{border-left:4px solid var(--bad);background:var(--shade);padding:.6rem .9rem;margin:1rem 0;max-width:54rem}
.claims{display:grid;gap:.7rem;padding:0;list-style:none;max-width:none}
.claims li{border:1px solid var(--rule);border-left-width:5px;border-radius:.4rem;padding:.6rem .9rem}
.claims .holds{border-left-color:var(--good)}.claims .fails{border-left-color:var(--bad)}
.claims .undecided{border-left-color:var(--open)}
.claims p{margin:.2rem 0}
.verdict{font-weight:700;white-space:nowrap}
.holds .verdict,.verdict.better{color:var(--good)}.fails .verdict,.verdict.worse{color:var(--bad)}
.undecided .verdict{color:var(--open)}
.claims .name{color:var(--quiet);font-size:.9rem;margin-left:.6rem}
.scroll{overflow-x:auto;max-width:100%;margin:1rem 0 .4rem}
table{border-collapse:separate;border-spacing:0;font-size:.9rem;line-height:1.4;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.2rem 0 .4rem;font-size:1rem}
th,td{padding:.3rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);max-width:28rem}
thead th{border-bottom:2px solid var(--quiet);vertical-align:bottom;background:var(--paper)}
tbody th{font-weight:600;min-width:7rem;position:sticky;left:0;background:var(--paper)}
.n{text-align:right}
td,tbody th{white-space:nowrap}thead th,td.prose,.long td,.long tbody th{white-space:normal}
.prose{min-width:16rem}
.long td,.long th{overflow-wrap:anywhere}
.note{color:var(--quiet);font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem 1.5rem;margin:1rem 0}
.charts.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
.charts figure{margin:0;max-width:36rem}
details{margin:.8rem 0}summary{cursor:pointer;font-weight:600}
blockquote{margin:.6rem 0;padding:.1rem 0 .1rem 1rem;border-left:3px solid var(--rule);white-space:pre-wrap;max-width:52rem}
footer{margin-top:3rem;padding-top:.8rem;border-top:1px solid var(--rule);color:var(--quiet);font-size:.9rem}
svg.chart{display:block;width:100%;height:auto;font-family:inherit}
svg.chart text{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}svg.chart .panel{font-size:14px;font-weight:600}
svg.chart .frame{fill:none;stroke:var(--quiet)}svg.chart .tick{stroke:var(--quiet)}
svg.chart .grid{stroke:var(--rule)}
svg.chart .mark{stroke:var(--quiet);stroke-dasharray:3 3}
svg.chart .line{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}
svg.chart .bar{fill:none;stroke:var(--c);stroke-width:1.5}
svg.chart .dot{fill:var(--c);stroke:var(--paper);stroke-width:.7}svg.chart .band{fill:var(--c)}
svg.chart .hollow{fill:none;stroke:var(--ink);stroke-width:1.6}
@media (max-width:40rem){body{padding:.8rem}.headline{font-size:1.25rem}th,td{padding:.3rem .5rem}.prose{min-width:18rem}tbody th{white-space:normal}}
@media print{
  body{max-width:none;padding:0;font-size:10pt}
  .scheme,nav{display:none}
  .scroll{overflow:visible}table{font-size:7.5pt}th,td{padding:.15rem .35rem}td,tbody th{white-space:normal}td.n{white-space:nowrap}.prose{min-width:8rem}tbody th{min-width:4rem}
  a{color:inherit;text-decoration:none}
  thead{display:table-header-group;break-after:avoid}tr,figure,.claims li{break-inside:avoid}h2,h3,caption{break-after:avoid}
  .charts,.charts.small{grid-template-columns:1fr 1fr}
  details::details-content{content-visibility:visible;height:auto}
}
)css";

}  // namespace

// The scheme is the reader's own unless one is chosen on the page, and always light on paper. No script is needed.
std::string style_sheet() {
  std::string out = ":root{" + variables(/*dark=*/false) + "}\n";
  const std::string dark = variables(/*dark=*/true);
  out += "@media screen and (prefers-color-scheme:dark){:root:not(:has(#scheme-light:checked)){" + dark + "}}\n";
  out += "@media screen{:root:has(#scheme-dark:checked){" + dark + "}}\n";
  for (int i = 0; i < 8; ++i) out += fmt::format(".c{0}{{--c:var(--c{0})}}", i);
  return out + std::string(kRules);
}

}  // namespace ordo::report
