// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/parse.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

// Thrown through the parser to stop it, once the problem is noted.
struct StopParsing {};

// From the parser's marks (bytes, 0-based) to places (characters, 1-based).
class Places {
 public:
  Places(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {
    for (size_t start = 0; start <= text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      lines_.emplace_back(text.data() + start, end - start);
      start = end + 1;
    }
  }
  // Of a value on the command line: all of it is in one place.
  Places(const std::string& text, const Source& fixed) : Places(text, fixed.file) { fixed_ = fixed; }

  Source at(const YAML::Mark& mark) {
    if (fixed_) return *fixed_;
    const std::string_view text = line(mark);
    const size_t byte = std::min(static_cast<size_t>(std::max(mark.column, 0)), text.size());
    // Marks mostly move forward: going on from the last one keeps a long line linear.
    if (mark.line != line_ || byte < byte_) line_ = mark.line, byte_ = 0, column_ = 1;
    for (; byte_ < byte; ++byte_) column_ += continues_character(text[byte_]) ? 0 : 1;
    return {file_, mark.line + 1, column_};
  }
  std::string_view line(const YAML::Mark& mark) const {
    return mark.line < 0 || static_cast<size_t>(mark.line) >= lines_.size() ? ""
                                                                            : lines_[static_cast<size_t>(mark.line)];
  }
  // What follows on the line.
  std::string_view rest(const YAML::Mark& mark) const {
    const std::string_view text = line(mark);
    return text.substr(std::min(static_cast<size_t>(std::max(mark.column, 0)), text.size()));
  }
  // Everything that follows.
  std::string_view remainder(const YAML::Mark& mark) const {
    const std::string_view left = rest(mark);
    return left.empty() ? left
                        : std::string_view(left.data(), static_cast<size_t>(text_.data() + text_.size() - left.data()));
  }

 private:
  const std::string& text_;
  std::string file_;
  std::optional<Source> fixed_;
  std::vector<std::string_view> lines_;
  int line_ = -1, column_ = 1;
  size_t byte_ = 0;
};

// Whether the quoted scalar that starts here, perhaps after an anchor, has its closing quote: at the end of a file the
// parser does not ask.
bool quote_is_closed(std::string_view text) {
  while (text.starts_with('&') || text.starts_with(' ')) {
    text.remove_prefix(std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  const char quote = text.empty() ? ' ' : text.front();
  if (quote != '\'' && quote != '"') return true;  // a block
  for (size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return true;
      ++i;  // '' stands for one quote
    }
  }
  return false;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(Places& places, Problems& problems) : places_(places), problems_(problems) {
    root.source = places.at(YAML::Mark{});  // of an empty text, of which there is no event
  }
  Node root;

  // Where the innermost value of this kind starts whose end has not come.
  const Source* open_at(Node::Kind kind) const {
    return open_.empty() || open_.back().node.kind != kind ? nullptr : &open_.back().node.source;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ == 0) return;
    if (places_.rest(mark).starts_with("---"))
      stop(places_.at(mark), "a second document starts here; a config is one document",
           "put it into a file of its own");
    stop(places_.at(mark), "this does not go on with what stands above",
         "a text is either one map of `key: value` lines or one list of `- item` lines");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.source = places_.at(mark);
    if (!open_.empty() && !is_written_null(places_.rest(mark))) {
      const Open& parent = open_.back();
      if (parent.has_key) node.source = parent.key_at;
      if (parent.node.kind == Node::Kind::list) node.source = parent.node.source;
    }
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Source at = places_.at(mark);
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end())
      stop(at, "this alias stands inside the value that it names", "a value cannot contain itself");
    if (nodes_ + count_nodes(named->second) > kMostNodes) too_many(at);
    if (open_.size() + depth_of(named->second) > kDeepestNode) too_deep(at);
    Node copy = named->second;
    nodes_ += count_nodes(copy) - 1;  // add() counts one
    copy.source = at;
    add(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    if (tag == "!" && !quote_is_closed(places_.remainder(mark)))
      stop(places_.at(mark), "a quote is opened and never closed", "");
    Node node;
    node.kind = Node::Kind::scalar;
    node.text = value;
    node.quoted = tag == "!";
    node.source = places_.at(mark);
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {  // a list or map whose end has not come yet
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false, usable_key = false;
    std::string key;
    Source key_at;
    std::unordered_map<std::string, int> line_of = {};  // the keys so far
  };

  // Whether `~` or `null` stands there; else the value was left out, and the mark is that of the next thing in the
  // file.
  static bool is_written_null(std::string_view rest) {
    const std::string_view word = rest.substr(0, rest.find_first_of(" ,]}#"));
    return word == "~" || word == "null" || word == "Null" || word == "NULL";
  }
  [[noreturn]] void stop(const Source& at, std::string text, std::string hint) {
    problems_.add_at(at, std::move(text), std::move(hint));
    throw StopParsing{};
  }
  [[noreturn]] void too_many(const Source& at) {
    stop(at, fmt::format("more than {} values (aliases count as often as they are used)", kMostNodes), "");
  }
  [[noreturn]] void too_deep(const Source& at) {
    stop(at, fmt::format("nests deeper than {} levels", kDeepestNode), "");
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    problems_.add_at(places_.at(mark), "tags are not taken", "write the value alone; quotes make text of anything");
  }
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Source at = places_.at(mark);
    if (open_.size() >= kDeepestNode) too_deep(at);
    check_tag(mark, tag);
    Open opened;
    opened.node.kind = kind;
    opened.node.source = at;
    opened.anchor = anchor;
    open_.push_back(std::move(opened));
  }
  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed.node), closed.anchor);
  }
  void add(Node node, YAML::anchor_t anchor) {
    if (++nodes_ > kMostNodes) too_many(node.source);
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      const Source at = node.source;
      parent.node.items.push_back({"", at, std::move(node)});
    } else if (!parent.has_key) {
      take_key(parent, node);
    } else {
      parent.has_key = false;
      if (parent.usable_key) parent.node.items.push_back({parent.key, parent.key_at, std::move(node)});
    }
  }
  void take_key(Open& parent, const Node& key) {
    parent.has_key = true;
    parent.usable_key = false;
    parent.key_at = key.source;
    if (key.kind != Node::Kind::scalar) {
      problems_.add_at(key.source, "a key must be a name",
                       key.kind == Node::Kind::null ? "there is nothing before the ':'" : "");
      return;
    }
    if (key.text == "<<" && !key.quoted) {
      problems_.add_at(key.source, "merge keys ('<<') are not taken",
                       "`include: other.yaml` at the top level merges files");
      return;
    }
    const auto [before, fresh] = parent.line_of.emplace(key.text, key.source.line);
    if (!fresh) {
      problems_.add_at(key.source, fmt::format("duplicate key '{}'", shown(key.text)),
                       before->second > 0 ? fmt::format("first given in line {}", before->second) : "");
      return;
    }
    parent.key = key.text;
    parent.usable_key = true;
  }

  Places& places_;
  Problems& problems_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  size_t nodes_ = 0;
  int documents_ = 0;
};

struct Explained {
  std::string text, hint;
};

// What the parser's message means to who wrote the file.
Explained explained(std::string_view text) {
  if (text == YAML::ErrorMsg::UNKNOWN_ANCHOR)
    return {"this alias names no anchor before it", "anchors are set with &name"};
  if (text == YAML::ErrorMsg::EOF_IN_SCALAR) return {"a quote is opened and never closed", ""};
  if (text == YAML::ErrorMsg::END_OF_SEQ_FLOW)
    return {"a list opened with '[' does not end well", "items are separated by ',' and closed with ']'"};
  if (text == YAML::ErrorMsg::END_OF_MAP_FLOW)
    return {"a map opened with '{' does not end well", "entries are separated by ',' and closed with '}'"};
  if (text == YAML::ErrorMsg::FLOW_END) return {"a closing bracket without its opening one", ""};
  if (text == YAML::ErrorMsg::END_OF_MAP || text == YAML::ErrorMsg::MAP_VALUE || text == YAML::ErrorMsg::MAP_KEY)
    return {"a key, a ':' or an indent is out of place here",
            "each line is `key: value` with a space after the ':', at the indent of its neighbours; a value with ': ' "
            "in it needs quotes"};
  if (text == YAML::ErrorMsg::END_OF_SEQ || text == YAML::ErrorMsg::BLOCK_ENTRY)
    return {"a '-' or an indent is out of place here", "each item starts with '- ' at the indent of its neighbours"};
  if (text == YAML::ErrorMsg::UNKNOWN_TOKEN) return {"this character cannot start a value", "put the value in quotes"};
  return {"not valid YAML: " + std::string(text), ""};
}

std::optional<Node> parse_with(const std::string& text, Places& places, Problems& problems) {
  TreeBuilder builder(places, problems);
  std::istringstream in(text);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder.root);
  } catch (const StopParsing&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    YAML::Mark mark = error.mark;
    const std::string_view line = places.line(mark);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (error.msg == YAML::ErrorMsg::TAB_IN_INDENTATION || (indent < line.size() && line[indent] == '\t')) {
      mark.column = static_cast<int>(indent);
      problems.add_at(places.at(mark), "a tab stands where the line is indented", "YAML is indented with spaces only");
    } else {
      auto [why, hint] = explained(error.msg);
      const bool list = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW,
                 map = error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
      const Source* start = list ? builder.open_at(Node::Kind::list) : map ? builder.open_at(Node::Kind::map) : nullptr;
      if (start != nullptr && start->line > 0)
        hint += fmt::format("; what does not fit stands in line {}", mark.line + 1);
      problems.add_at(start == nullptr ? places.at(mark) : *start, why, hint);
    }
    return std::nullopt;
  }
}

// What YAML forbids and the parser lets pass, or takes for the end of the file.
bool readable(const std::string& text, Places& places, Problems& problems) {
  size_t bad = 0;
  const bool utf8 = valid_utf8(text, &bad);
  if (utf8) {
    bad = 0;
    const auto forbidden = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    };
    while (bad < text.size() && !forbidden(text[bad])) ++bad;
    if (bad == text.size()) return true;
  }
  YAML::Mark mark;
  mark.line = static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n'));
  const size_t start = bad == 0 ? std::string::npos : text.rfind('\n', bad - 1);
  mark.column = static_cast<int>(start == std::string::npos ? bad : bad - start - 1);
  const int byte = static_cast<unsigned char>(text[bad]);
  if (utf8)
    problems.add_at(places.at(mark), fmt::format("the control character 0x{:02x} is not allowed", byte), "");
  else
    problems.add_at(places.at(mark), fmt::format("byte 0x{:02x} is not valid UTF-8", byte), "save the file as UTF-8");
  return false;
}

}  // namespace

std::string plain_lines(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (text.find('\r') == std::string::npos) return text;
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    plain += text[i] == '\r' ? '\n' : text[i];
  }
  return plain;
}

std::optional<Node> parse_yaml(const std::string& text, const std::string& file, Problems& problems) {
  Places places(text, file);
  if (!readable(text, places, problems)) return std::nullopt;
  return parse_with(text, places, problems);
}

std::optional<Node> parse_value(const std::string& text, const Source& at, Problems& problems) {
  Places places(text, at);
  if (!readable(text, places, problems)) return std::nullopt;
  return parse_with(text, places, problems);
}

}  // namespace ordo
