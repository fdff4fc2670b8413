// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ordo/config/outline.h"
#include "ordo/config/words.h"
#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// A page of the manual: an option (the root has none), or a kind after its choice, with the options below it.
struct Page {
  const std::string& path;
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

void visit_pages(const Outline& outline, const std::string& path, std::vector<const Kinds*>& open,
                 const PageVisit& visit) {
  for (const auto& option : outline) {
    const std::string here = child_path(path, option.key);
    const Option& core = held(option);
    visit({here, &option, nullptr, core.type == Option::Type::group ? &core.inner : nullptr});
    if (core.type == Option::Type::group) visit_pages(core.inner, here, open, visit);
    if (core.type != Option::Type::choice || std::find(open.begin(), open.end(), core.kinds) != open.end()) continue;
    open.push_back(core.kinds);  // a choice inside one of its own kinds is not unfolded again
    for (const auto& info : *core.kinds) {
      const Outline settings = outline_of(info);
      const std::string kind_path = child_path(here, info.kind);
      visit({kind_path, &option, &info, &settings});
      visit_pages(settings, kind_path, open, visit);
    }
    open.pop_back();
  }
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
  if (display_width(text) <= kLongest) return text;
  const Option& core = held(option);
  const size_t count = core.type == Option::Type::choice ? core.kinds->size() : core.names.size();
  return fmt::format("one of {}", count);
}

std::string options_table(const Outline& outline) {
  Table table({"key", "type", "default", "values", "what it is"});
  for (const auto& option : outline)
    table.row({option.key, type_text(option), default_text(option), short_values(option), option.help});
  return table.text();
}

std::string choice_page(const std::string& path, const Option& option) {
  const Kinds& kinds = *held(option).kinds;
  Table table({"kind", "what it is"});
  for (const auto& info : kinds) table.row({std::string(info.kind), std::string(info.summary)});
  const std::string fallback = default_text(option);
  return fmt::format("{}: {}\n{}, default: {}\n\n{}\nThe settings of one kind: ordo help {}.{}\n", path, option.help,
                     type_text(option), fallback.empty() ? "none" : fallback, table.text(), path, kinds.front().kind);
}

std::string value_page(const std::string& path, const Option& option) {
  std::string out = fmt::format("{}: {}\n{}", path, option.help, type_text(option));
  const std::string fallback = default_text(option), values = values_text(option);
  if (!fallback.empty()) out += fmt::format(", default: {}", fallback);
  return out + (values.empty() ? "" : fmt::format("\nvalues: {}", values)) + "\n";
}

std::string page_text(const Page& page) {
  if (page.kind != nullptr) {
    const std::string head = fmt::format("{} (kind: {}): {}\n", page.path, page.kind->kind, page.kind->summary);
    return head + (page.below->empty() ? "It has no settings.\n" : "\n" + options_table(*page.below));
  }
  if (page.below != nullptr)
    return fmt::format("{}: {}\n\n{}", page.path, page.option->help, options_table(*page.below));
  return held(*page.option).type == Option::Type::choice ? choice_page(page.path, *page.option)
                                                         : value_page(page.path, *page.option);
}

}  // namespace

std::vector<std::string> manual_paths(const Walk& walk) {
  std::vector<std::string> paths{""};
  std::vector<const Kinds*> open;
  visit_pages(outline_of(walk), "", open, [&](const Page& page) { paths.push_back(page.path); });
  return paths;
}

std::string manual(const Walk& walk, std::string_view path) {
  const Outline root = outline_of(walk);
  if (path.empty()) return options_table(root);
  std::string text;
  std::vector<const Kinds*> open;
  visit_pages(root, "", open, [&](const Page& page) {
    if (text.empty() && page.path == path) text = page_text(page);
  });
  if (text.empty()) {
    const std::string near = did_you_mean(path, manual_paths(walk));
    throw ConfigError(fmt::format("the manual has no page '{}'{}{}", shown(path), near.empty() ? "" : "; ", near));
  }
  return text;
}

}  // namespace ordo
