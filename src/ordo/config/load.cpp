// SPDX-License-Identifier: Apache-2.0
// From files and the command line to a filled struct: read, include, override, check.
#include <algorithm>
#include <utility>

#include "ordo/config/config.h"
#include "ordo/config/layers.h"
#include "ordo/config/node.h"
#include "ordo/config/overrides.h"
#include "ordo/config/parse.h"
#include "ordo/config/reader.h"
#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr std::uintmax_t kLargestConfig = 10'000'000;  // bytes
constexpr size_t kMostFiles = 100;                     // of one config, with all it includes

std::string similar_file(const fs::path& file) {
  std::vector<std::string> names;
  std::error_code ignored;
  constexpr size_t kMostNames = 1000;
  for (const auto& entry : fs::directory_iterator(file.has_parent_path() ? file.parent_path() : ".", ignored)) {
    if (names.size() == kMostNames) break;
    names.push_back(entry.path().filename().string());
  }
  const std::string near = nearest(file.filename().string(), names);
  return near.empty() ? "" : fmt::format("; did you mean {}?", (file.parent_path() / near).string());
}

std::string read_config_file(const fs::path& file) {
  std::error_code ignored;
  const auto status = fs::status(file, ignored);
  require<ConfigError>(
      fs::exists(status) || status.type() == fs::file_type::none || status.type() == fs::file_type::unknown,
      "there is no file {}{}", file.string(), similar_file(file));
  require<ConfigError>(!fs::is_directory(status), "{} is a folder; a config is a YAML file", file.string());
  require<ConfigError>(!fs::is_character_file(status) && !fs::is_block_file(status),
                       "{} is a device; a config is a YAML file", file.string());
  const auto size = fs::is_regular_file(status) ? fs::file_size(file, ignored) : 0;
  std::string text;
  try {
    if (size <= kLargestConfig) text = read_file(file);
  } catch (const DataError& error) {
    throw ConfigError(error.what());
  }
  require<ConfigError>(size <= kLargestConfig && text.size() <= kLargestConfig,
                       "{} is larger than 10 MB; that is no config", file.string());
  return plain_lines(std::move(text));
}

// Reads a file and what it includes into one tree.
class TreeLoader {
 public:
  TreeLoader(Problems& problems, Folders& folders) : problems_(problems), folders_(folders) {}

  Node file(const fs::path& path) {
    const std::string text = read_config_file(path);
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(path, ignored);
    open_.push_back(whole);
    folders_[path.string()] = fs::absolute(path).lexically_normal().parent_path();
    Node tree = this->text(text, path.string());
    open_.pop_back();
    return tree;
  }
  Node text(const std::string& text, const std::string& name) {
    problems_.source_text(name, text);
    auto parsed = parse_yaml(text, name, problems_);
    if (!parsed) {
      broken_ = true;
      return {};
    }
    nodes_ += count_nodes(*parsed);
    if (nodes_ > kMostNodes) {
      problems_.add_at({name, 1, 1}, fmt::format("with this file the config has more than {} values", kMostNodes));
      broken_ = true;
      return {};
    }
    if (parsed->kind == Node::Kind::map) parsed->source = {name, 1, 1};
    return with_included(std::move(*parsed), name);
  }
  bool broken() const { return broken_; }  // some text is no YAML: what it would have set is unknown

 private:
  Node with_included(Node tree, const std::string& name) {
    const auto item =
        std::find_if(tree.items.begin(), tree.items.end(), [](const auto& i) { return i.key == "include"; });
    if (tree.kind != Node::Kind::map || item == tree.items.end()) return tree;
    const Node wanted = std::move(item->value);
    tree.items.erase(item);
    std::vector<const Node*> names;
    if (wanted.kind == Node::Kind::list)
      for (const auto& i : wanted.items) names.push_back(&i.value);
    else
      names.push_back(&wanted);
    Node base;
    base.kind = Node::Kind::map;
    base.source = tree.source;
    for (const Node* included : names) include(base, *included, fs::path(name).parent_path());
    merge(base, tree);
    return base;
  }
  void include(Node& base, const Node& name, const fs::path& folder) {
    if (name.kind != Node::Kind::scalar || name.text.empty() || name.text.find('\0') != std::string::npos)
      return problems_.add_at(name.source, "include must be the path of a file, or a list of such paths", "");
    const fs::path path = (folder / name.text).lexically_normal();
    std::error_code ignored;
    if (std::find(open_.begin(), open_.end(), fs::weakly_canonical(path, ignored)) != open_.end())
      return failed(name, fmt::format("{} includes itself", path.string()), "");
    if (++files_ > kMostFiles) return failed(name, fmt::format("more than {} files are included", kMostFiles), "");
    try {
      const Node tree = file(path);
      if (tree.kind != Node::Kind::map && tree.kind != Node::Kind::null)
        return failed(name, fmt::format("{} is no map of keys", path.string()), "");
      if (tree.kind == Node::Kind::map) merge(base, tree);
    } catch (const ConfigError& error) {
      failed(name, error.what(), "paths are relative to the file that includes");
    }
  }
  void failed(const Node& at, std::string text, std::string hint) {
    broken_ = true;
    problems_.add_at(at.source, std::move(text), std::move(hint));
  }

  Problems& problems_;
  Folders& folders_;
  std::vector<fs::path> open_;  // the files that are being read, each included by the one before
  size_t files_ = 0, nodes_ = 0;
  bool broken_ = false;
};

Sources load_tree(const std::function<Node(TreeLoader&)>& read, const std::string& name, const Walk& walk,
                  const LoadOptions& options, const std::function<void(Problems&)>& check) {
  Problems problems;
  Folders folders;
  TreeLoader loader(problems, folders);
  Node root = read(loader);
  if (root.kind == Node::Kind::null) {  // an empty file is an empty map
    root.kind = Node::Kind::map;
    root.source = {name, 1, 1};
  }
  // Without the whole tree, keys would only seem to be missing.
  if (loader.broken()) problems.throw_if_any();
  apply_overrides(root, options.overrides, problems);
  Sources sources = read_into(root, walk, folders, problems);
  if (problems.empty() && check) check(problems);  // relations between options make sense only where each is sound
  problems.throw_if_any();
  return sources;
}

}  // namespace

std::optional<Node> read_tree(const fs::path& file, Folders& folders, Problems& problems) {
  TreeLoader loader(problems, folders);
  Node root = loader.file(file);
  if (loader.broken()) return std::nullopt;
  if (root.kind == Node::Kind::null) {  // an empty file is an empty map
    root.kind = Node::Kind::map;
    root.source = {file.string(), 1, 1};
  }
  return root;
}

Sources load_config(const fs::path& file, const Walk& walk, const LoadOptions& options,
                    const std::function<void(Problems&)>& check) {
  return load_tree([&](TreeLoader& loader) { return loader.file(file); }, file.string(), walk, options, check);
}

Sources load_config_text(const std::string& text, const Walk& walk, const LoadOptions& options,
                         const std::function<void(Problems&)>& check) {
  const std::string name = options.name.empty() ? "text" : options.name;
  require<ConfigError>(text.size() <= kLargestConfig, "{} is larger than 10 MB; that is no config", name);
  return load_tree([&](TreeLoader& loader) { return loader.text(plain_lines(text), name); }, name, walk, options,
                   check);
}

}  // namespace ordo
