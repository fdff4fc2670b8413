// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/json.h"

#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/json_items.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

constexpr size_t kDeepestJson = 100;

// The parser's input: tells how far it has read, since its events do not say where they happened.
struct JsonCursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  JsonCursor& operator++() {
    *reached = ++at;
    return *this;
  }
  JsonCursor operator++(int) {
    JsonCursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const JsonCursor& other) const { return at == other.at; }
};

class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder() = default;
  // Hands out the items of the root and does not keep them; `reached` is the parser's, behind the token it has read.
  JsonBuilder(const VisitItem& visit, const char* begin, const char* const* reached)
      : visit_(&visit), begin_(begin), reached_(reached) {}
  Json root;
  std::string problem;  // why parsing stopped

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return stop("binary values are not JSON"); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!open_.back().keys.insert(name).second) return stop(fmt::format("key '{}' appears twice in one object", name));
    open_.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …": the place is told by
    // the caller
    std::string_view text = error.what();
    for (const std::string_view mark : {"column ", "] "}) {
      const auto found = text.find(mark);
      if (found == std::string_view::npos) continue;
      const auto end = mark == "] " ? found + 2 : text.find(": ", found) + 2;
      return stop(std::string(text.substr(end)));
    }
    return stop(std::string(text));
  }

 private:
  struct Open {
    Json* value;  // stays put: its container does not grow while it is open
    std::string key;
    std::unordered_set<std::string> keys;
  };
  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }
  Json* place(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Straight into the vector behind an ordered object: its own insertion searches all keys again, which takes seconds
    // for a vocabulary.
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(open_.back().key), std::move(value));
    return &members.back().second;
  }
  bool put(Json value) {
    begin_item();
    place(std::move(value));
    return finish_item();
  }
  bool open(Json value) {
    if (open_.size() >= kDeepestJson) return stop(fmt::format("nests deeper than {} levels", kDeepestJson));
    begin_item();
    open_.push_back({place(std::move(value)), {}, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return finish_item();
  }
  void begin_item() {
    if (visit_ != nullptr && open_.size() == 1) item_offset_ = static_cast<size_t>(*reached_ - begin_) - 1;
  }
  bool finish_item() {
    if (visit_ == nullptr) return true;
    if (open_.empty()) return root.is_structured() || stop("expected a list or an object");
    if (open_.size() > 1) return true;
    if (root.is_array()) {
      (*visit_)("", root.back(), item_offset_);
    } else {
      const auto& [key, value] = root.get_ref<Json::object_t&>().back();
      (*visit_)(key, value, item_offset_);
    }
    root.clear();
    return true;
  }

  std::vector<Open> open_;
  const VisitItem* visit_ = nullptr;
  const char* begin_ = nullptr;
  const char* const* reached_ = nullptr;
  size_t item_offset_ = 0;
};

void parse_with(JsonBuilder& builder, std::string_view text, std::string_view what, const char*& reached) {
  const auto refuse = [&](size_t offset, std::string_view why) {
    throw Error(fmt::format("{}: not valid JSON at {}: {}", what, place_in(text, offset).text(), why));
  };
  // The parser takes a NUL for the end of the text and would not look at what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) refuse(nul, "a NUL byte");
  const char* const begin = text.data();
  if (!Json::sax_parse(JsonCursor{begin, &reached}, JsonCursor{begin + text.size(), &reached}, &builder))
    refuse(reached == begin ? 0 : static_cast<size_t>(reached - begin) - 1, builder.problem);
}

}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  JsonBuilder builder;
  const char* reached = text.data();
  parse_with(builder, text, what, reached);
  return std::move(builder.root);
}

void each_json_item(std::string_view text, std::string_view what, const VisitItem& visit) {
  const char* reached = text.data();
  JsonBuilder builder(visit, text.data(), &reached);
  parse_with(builder, text, what, reached);
}

std::string json_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace ordo
