// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/added_tokens.h"

#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

size_t character_before(std::string_view text, size_t to) { return character_start(text, to - 1); }

// Where the white space that ends at `to` begins, not before `least`; and where that which begins at `from` ends.
size_t space_before(std::string_view text, size_t least, size_t to) {
  while (to > least) {
    const size_t before = character_before(text, to);
    if (!is_space(code_point_at(text, before).value)) break;
    to = before;
  }
  return to;
}
size_t space_after(std::string_view text, size_t from) {
  while (from < text.size()) {
    const CodePoint point = code_point_at(text, from);
    if (point.bytes == 0 || !is_space(point.value)) break;
    from += point.bytes;
  }
  return from;
}

}  // namespace

AddedTokens::AddedTokens(const JsonView& list, const Vocabulary& model, const Normalizer& normalizer)
    : word_(Regex(fmt::format("[{}]", kWordClass))) {
  for (const JsonView& entry : list.items()) {
    const JsonView content = entry.at("content"), number = entry.at("id");
    const std::string& text = content.text();
    const int64_t id = number.integer(0, kMostTokens - 1);
    const auto known = model.find(text);
    number.require(!known || *known == id, "'{}' has the id {} here and {} in the model's vocabulary", text, id,
                   known.value_or(0));
    const std::string* const there = model.token(id);
    number.require(known || there == nullptr, "the id {} is that of '{}' in the model's vocabulary", id,
                   there != nullptr ? *there : "");
    entry.require(own_.add(text, id), "the token '{}' or the id {} is there twice", text, id);
    const bool special = entry.boolean("special", false);
    if (special) special_.insert(id);
    if (text.empty()) continue;  // an id without a text that could be found
    const bool after = entry.boolean("normalized", !special);
    const std::string sought = after && normalizer ? normalizer(text) : text;
    (after ? after_ : raw_).add(sought, static_cast<int64_t>(rules_.size()));
    rules_.push_back(
        {id, entry.boolean("single_word", false), entry.boolean("lstrip", false), entry.boolean("rstrip", false)});
  }
}

const std::string* AddedTokens::token(int64_t id) const { return own_.token(id); }
std::optional<int64_t> AddedTokens::find(std::string_view text) const { return own_.find(text); }

bool AddedTokens::stands_alone(std::string_view text, Span match) const {
  const auto is_word = [&](size_t from) {
    const auto found = word_->find(text.substr(from, code_point_at(text, from).bytes), 0);
    return found.has_value();
  };
  return (match.from == 0 || !is_word(character_before(text, match.from))) &&
         (match.to == text.size() || !is_word(match.to));
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool normalized) const {
  const ByteTree& tree = normalized ? after_ : raw_;
  std::vector<Part> parts;
  size_t done = 0;
  for (size_t at = 0; at < text.size() && !tree.empty();) {
    Span match{at, at};
    int64_t found = -1;
    tree.prefixes(text, at, [&](size_t end, int64_t rule) { match.to = end, found = rule; });
    at = found < 0 ? at + 1 : match.to;
    if (found < 0) continue;
    const Rule& rule = rules_[static_cast<size_t>(found)];
    if (rule.single_word && !stands_alone(text, match)) continue;
    if (rule.takes_left) match.from = space_before(text, done, match.from);
    if (rule.takes_right) match.to = space_after(text, match.to);
    if (done < match.from) parts.push_back({{done, match.from}, {}});
    parts.push_back({match, rule.id});
    done = match.to;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, {}});
  return parts;
}

}  // namespace ordo
