// SPDX-License-Identifier: Apache-2.0
// Reading a config file into structs, strictly, and writing structs back: what the rest of the house uses of config/.
#pragma once
#include <concepts>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include "ordo/config/fields.h"
#include "ordo/core/json.h"

namespace ordo {

using Walk = std::function<void(Fields&)>;
template <Configurable C>
Walk walk_of(C& config) {
  return [&config](Fields& f) { fields(f, config); };
}

// What is wrong with a config, gathered so that all of it is reported together.
class Problems {
 public:
  struct Problem {
    Source at;
    std::string text, hint;
    size_t width = 0;  // characters that the caret underlines; 0: the key or value there
  };
  Problems();
  ~Problems();
  // At a path of the config ("model.attention.heads"): the table path -> place made by the reader finds file, line and
  // column (of the key itself, else of the nearest parent that is there).
  template <class... Args>
  void add(std::string_view path, fmt::format_string<Args...> format, Args&&... args) {
    add_text(path, fmt::format(format, std::forward<Args>(args)...));
  }
  void add_text(std::string_view path, std::string text, std::string hint = "");
  void add_at(Source at, std::string text, std::string hint = "", size_t width = 0);
  void place(std::string_view path, const Source& at);          // said by the reader
  void source_text(const std::string& file, std::string text);  // for the line shown under a problem
  // The texts that another reading knows; and what it found wrong, but for what was told already.
  void know_texts_of(const Problems& other);
  void adopt(const Problems& other);
  const Source* find(std::string_view path) const;  // where the value of a path was written; null: a default
  // Where the byte `offset` of the text that is written at `start` stands: in quotes, in a block, or over several lines
  // too. `start` itself when that cannot be told (on the command line, or behind an escape of another character).
  Source inside(const Source& start, std::string_view text, size_t offset) const;
  bool empty() const { return problems_.empty(); }
  const std::vector<Problem>& all() const { return problems_; }
  std::string report() const;  // file:line:col: text, the line, a caret, the hint; one after another
  void throw_if_any() const;   // ConfigError(report())

 private:
  std::vector<Problem> problems_;
  struct Places;
  std::unique_ptr<Places> places_;
};

struct LoadOptions {
  std::span<const std::string> overrides;  // "a.b.c=value"
  std::string name;                        // shown in place of the path when the text has no file
};

// Reads YAML (with `include:`), applies overrides, fills the struct, runs `check` (relations between options; only when
// each is sound by itself), and throws ConfigError with every problem found. The second form reads a text instead of a
// file. Returns where each given value came from.
using Sources = std::map<std::string, Source>;
Sources load_config(const std::filesystem::path& file, const Walk& walk, const LoadOptions& options,
                    const std::function<void(Problems&)>& check = {});
Sources load_config_text(const std::string& text, const Walk& walk, const LoadOptions& options,
                         const std::function<void(Problems&)>& check = {});

// The resolved config: every key with its value, defaults included. YAML that reads back to the same struct; with
// `sources`, a comment says where each value came from.
std::string dump_yaml(const Walk& walk, const Sources* sources = nullptr);
Json dump_json(const Walk& walk);                            // the same as nested JSON
Json schema_json(const Walk& walk, std::string_view title);  // JSON Schema (draft 2020-12) for editors

// The manual of one path ("model.position.rope", "train", ""): keys, types, defaults, limits, one line each. Throws
// ConfigError with the nearest path.
std::string manual(const Walk& walk, std::string_view path);
std::vector<std::string> manual_paths(const Walk& walk);  // every path the manual knows

struct Difference {
  std::string path, a, b;  // values as YAML; "" when the key is absent on that side
};
std::vector<Difference> differ(const Walk& a, const Walk& b);

}  // namespace ordo
