// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "ordo/config/outline.h"
#include "ordo/config/words.h"
#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

using Texts = std::vector<std::string>;

// A choice that was made on the way to a page: its kinds, and which of the path's names is the one that was chosen.
struct Chosen {
  const Kinds* kinds;
  size_t at;
};

// A page of the manual: an option (the root has none), or a kind after its choice, with the options below it.
struct Page {
  const std::string& path;
  const std::vector<Chosen>& chosen;
  const Option* option = nullptr;
  const KindInfo* kind = nullptr;
  const Outline* below = nullptr;  // of a section or a kind
};
using PageVisit = std::function<void(const Page&)>;

// What a list or an optional holds.
const Option& held(const Option& option) {
  const bool wraps = option.type == Option::Type::list || option.type == Option::Type::optional;
  return wraps ? held(option.inner.front()) : option;
}

void visit_pages(const Outline& outline, const std::string& path, std::vector<Chosen>& chosen, const PageVisit& visit) {
  for (const auto& option : outline) {
    const std::string here = child_path(path, option.key);
    const Option& core = held(option);
    visit({here, chosen, &option, nullptr, core.type == Option::Type::group ? &core.inner : nullptr});
    if (core.type == Option::Type::group) visit_pages(core.inner, here, chosen, visit);
    const auto again = [&](const Chosen& open) { return open.kinds == core.kinds; };
    if (core.type != Option::Type::choice || std::any_of(chosen.begin(), chosen.end(), again))
      continue;  // a choice inside one of its own kinds is not unfolded again
    chosen.push_back({core.kinds, static_cast<size_t>(std::count(here.begin(), here.end(), '.')) + 1});
    for (const auto& info : *core.kinds) {
      const Outline settings = outline_of(info);
      const std::string kind_path = child_path(here, info.kind);
      visit({kind_path, chosen, &option, &info, &settings});
      visit_pages(settings, kind_path, chosen, visit);
    }
    chosen.pop_back();
  }
}

// Where a page stands: the names of its path, and which of them are kinds that a path may leave out, as those of a
// config do, because several kinds of that choice know what follows: model.decoder.position is model.position.
struct Place {
  Texts names;
  std::vector<bool> spare;

  std::string shortest() const {
    Texts kept;
    for (size_t n = 0; n < names.size(); ++n)
      if (!spare[n]) kept.push_back(names[n]);
    return join(kept, ".");
  }
  bool answers(const Texts& asked) const {
    size_t met = 0;
    for (size_t n = 0; n < names.size(); ++n) {
      if (met < asked.size() && names[n] == asked[met])
        ++met;
      else if (!spare[n])
        return false;
    }
    return met == asked.size();
  }
};

// Of all pages, in the order in which they are visited.
std::vector<Place> places_in(const Outline& root) {
  std::vector<Place> places;
  std::vector<std::vector<Chosen>> choices;
  std::set<std::string> known;
  std::vector<Chosen> chosen;
  visit_pages(root, "", chosen, [&](const Page& page) {
    places.push_back({split(page.path, '.'), {}});
    choices.push_back(page.chosen);
    known.insert(page.path);
  });
  for (size_t p = 0; p < places.size(); ++p) {
    places[p].spare.resize(places[p].names.size());
    for (const Chosen& choice : choices[p]) {
      const auto knows_it = [&](const KindInfo& info) {
        Texts names = places[p].names;
        names[choice.at] = info.kind;
        return known.contains(join(names, "."));
      };
      const auto few = std::min<std::ptrdiff_t>(2, std::ssize(*choice.kinds));
      places[p].spare[choice.at] = choice.at + 1 < places[p].names.size() &&
                                   std::count_if(choice.kinds->begin(), choice.kinds->end(), knows_it) >= few;
    }
  }
  return places;
}

std::string type_text(const Option& option) {
  switch (option.type) {
    case Option::Type::boolean:
      return "true or false";
    case Option::Type::integer:
      return "whole number";
    case Option::Type::number:
      return "number";
    case Option::Type::text:
      return "text";
    case Option::Type::path:
      return "path";
    case Option::Type::quantity:
      return "amount";
    case Option::Type::named:
      return "name";
    case Option::Type::tree:
      return "free form";
    case Option::Type::group:
      return "section";
    case Option::Type::choice:
      return "kind";
    case Option::Type::list:
      return "list of: " + type_text(option.inner.front());
    case Option::Type::optional:
      break;
  }
  return type_text(option.inner.front()) + ", or null";
}

std::string default_text(const Option& option) {
  if (option.limits.required) return "(required)";
  if (option.fallback.is_null()) return option.type == Option::Type::optional ? "null" : "";
  return yaml_inline(option.fallback);
}

std::string values_text(const Option& option) {
  const Option& core = held(option);
  switch (core.type) {
    case Option::Type::named:
      return join(names_of(core.names), ", ");
    case Option::Type::choice:
      return join(names_of(*core.kinds), ", ");
    case Option::Type::tree:
      return core.form;
    case Option::Type::quantity: {
      const std::string units = join(std::vector<std::string>(core.units.begin(), core.units.end()), ", ");
      const std::string range = range_text(core.limits);
      return "in " + units + (range.empty() ? "" : "; " + range);
    }
    default:
      return range_text(core.limits);
  }
}

// Long lists of names would push everything else off the screen: they have a page of their own.
std::string short_values(const Option& option) {
  constexpr size_t kLongest = 44;
  const std::string text = values_text(option);
  if (held(option).type == Option::Type::tree) return "";
  if (display_width(text) <= kLongest) return text;
  const Option& core = held(option);
  const size_t count = core.type == Option::Type::choice ? core.kinds->size() : core.names.size();
  return fmt::format("one of {}", count);
}

// The first kind that has settings, for an example of where they are told.
std::string_view telling_kind(const Kinds& kinds) {
  const auto told =
      std::find_if(kinds.begin(), kinds.end(), [](const auto& info) { return !outline_of(info).empty(); });
  return told == kinds.end() ? kinds.front().kind : told->kind;
}

// What did not fit into the table, and where the pages below are.
std::string pages_below(const std::string& path, const Outline& outline) {
  constexpr size_t kLongest = 120;
  std::string out;
  Texts sections;
  for (const auto& option : outline) {
    const Option& core = held(option);
    const std::string here = child_path(path, option.key), values = values_text(option);
    if (core.type == Option::Type::group) sections.push_back("ordo help " + here);
    if (core.type == Option::Type::tree) out += fmt::format("{}: {}\n", option.key, values);
    if (core.type == Option::Type::named && short_values(option) != values)
      out += fmt::format("{} is one of: {}\n", option.key, values);
    if (core.type == Option::Type::choice)
      out += fmt::format("kinds of {}: {}the settings of one: ordo help {}.{}\n", option.key,
                         display_width(values) <= kLongest ? values + "; " : fmt::format("ordo help {}; ", here), here,
                         telling_kind(*core.kinds));
  }
  if (!sections.empty()) out += fmt::format("sections: {}\n", join(sections, ", "));
  return out.empty() ? "" : "\n" + out;
}

std::string options_table(const std::string& path, const Outline& outline) {
  Table table({"key", "type", "default", "values", "what it is"});
  for (const auto& option : outline)
    table.row({option.key, type_text(option), default_text(option), short_values(option), option.help});
  return table.text() + pages_below(path, outline);
}

std::string choice_page(const std::string& path, const Option& option) {
  const Kinds& kinds = *held(option).kinds;
  Table table({"kind", "what it is"});
  for (const auto& info : kinds) table.row({std::string(info.kind), std::string(info.summary)});
  const std::string fallback = default_text(option);
  return fmt::format("{}: {}\n{}, default: {}\n\n{}\nThe settings of one kind: ordo help {}.{}\n", path, option.help,
                     type_text(option), fallback.empty() ? "none" : fallback, table.text(), path, telling_kind(kinds));
}

std::string value_page(const std::string& path, const Option& option) {
  std::string out = fmt::format("{}: {}\n{}", path, option.help, type_text(option));
  const std::string fallback = default_text(option), values = values_text(option);
  if (!fallback.empty()) out += fmt::format(", default: {}", fallback);
  return out + (values.empty() ? "" : fmt::format("\nvalues: {}", values)) + "\n";
}

// `path`: as it was asked for.
std::string page_text(const std::string& path, const Page& page) {
  if (page.kind != nullptr) {
    const std::string head = fmt::format("{} (kind: {}): {}\n", path, page.kind->kind, page.kind->summary);
    return head + (page.below->empty() ? "It has no settings.\n" : "\n" + options_table(path, *page.below));
  }
  if (page.below != nullptr)
    return fmt::format("{}: {}\n\n{}", path, page.option->help, options_table(path, *page.below));
  return held(*page.option).type == Option::Type::choice ? choice_page(path, *page.option)
                                                         : value_page(path, *page.option);
}

}  // namespace

std::vector<std::string> manual_paths(const Walk& walk) {
  Texts paths{""};
  std::set<std::string> told;
  for (const Place& place : places_in(outline_of(walk)))
    if (told.insert(place.shortest()).second) paths.push_back(place.shortest());
  return paths;
}

std::string manual(const Walk& walk, std::string_view path) {
  const Outline root = outline_of(walk);
  if (path.empty()) return options_table("", root);
  const auto places = places_in(root);
  const Texts asked = split(path, '.');
  const auto wanted = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.answers(asked); });
  if (wanted == places.end()) {
    const std::string near = did_you_mean(path, manual_paths(walk));
    throw ConfigError(fmt::format("the manual has no page '{}'{}{}", shown(path), near.empty() ? "" : "; ", near));
  }
  std::string text;
  std::vector<Chosen> chosen;
  auto here = places.begin();
  visit_pages(root, "", chosen, [&](const Page& page) {
    if (here++ == wanted) text = page_text(std::string(path), page);
  });
  return text;
}

}  // namespace ordo
