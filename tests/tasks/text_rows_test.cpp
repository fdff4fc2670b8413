// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/text_rows.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include "support/thrown.h"

namespace ordo::test {
namespace {

// Bytes with marks as BERT's: 900 text 901, or 900 text 901 second 901.
class Marking final : public Tokenizer {
 public:
  std::string_view kind() const override { return "marking"; }
  int64_t vocab_size() const override { return 902; }
  std::vector<int64_t> encode(std::string_view text) const override { return {text.begin(), text.end()}; }
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const override {
    Encoded made{.ids = {900}, .types = {0}};
    const auto add = [&](std::string_view part, int64_t type) {
      for (const char c : part) made.ids.push_back(c);
      made.ids.push_back(901);
      made.types.resize(made.ids.size(), type);
    };
    add(text, 0);
    if (pair) add(*pair, 1);
    return made;
  }
  std::string decode(std::span<const int64_t>) const override { return ""; }
  std::string piece(int64_t) const override { return ""; }
  void save(const fs::path&) const override {}
  uint64_t fingerprint() const override { return 0; }
};

std::string shown_row(const TextRow& row) {
  std::string text;
  for (const int64_t id : row.ids) text += id == 900 ? '<' : id == 901 ? '|' : static_cast<char>(id);
  return text;
}

}  // namespace

TEST_CASE("text rows: marks stay and the ends of texts go when a row is cut, that of the longer one first", "[unit]") {
  const Marking tokenizer;
  const TextRows one(tokenizer, false), two(tokenizer, true);
  CHECK(one.vocab_size() == 902);
  CHECK(two.vocab_size() == 902);
  const TextRow single = one.row("abcdef"), pair = two.row("abcdef", "xyz");
  CHECK(single.marks() == 2);
  CHECK(pair.marks() == 3);
  CHECK(shown_row(cut(single, 5)) == "<abc|");
  CHECK(shown_row(cut(single, 8)) == "<abcdef|");
  const struct {
    int64_t length;
    std::string row;
  } cases[] = {{12, "<abcdef|xyz|"}, {11, "<abcde|xyz|"}, {9, "<abc|xyz|"},
               {8, "<abc|xy|"},      {7, "<ab|xy|"},      {5, "<a|x|"}};
  for (const auto& [length, row] : cases) {
    const TextRow kept = cut(pair, length);
    CHECK(shown_row(kept) == row);
    CHECK(std::count(kept.types.begin(), kept.types.end(), 1) == kept.second + 1);
  }
  CHECK(shown_row(cut(two.row("ab", "uvwxyz"), 8)) == "<ab|uvw|");
}

TEST_CASE("text rows: of a batch each is followed by padding that keys tell from tokens", "[unit]") {
  const Marking tokenizer;
  const TextRows rows(tokenizer, true);
  const std::vector<TextRow> list{rows.row("a", "b"), rows.row("cd", "e")};
  const Batch batch = side_by_side(list, /*types=*/true);
  CHECK(batch.ids.sizes() == at::IntArrayRef({2, 6}));
  CHECK(batch.mask.keys.sum(1).equal(at::tensor({5, 6})));
  CHECK(batch.types.sum(1).equal(at::tensor({2, 2})));
  CHECK_FALSE(side_by_side(std::span(list).first(1), false).mask.keys.defined());
  CHECK_FALSE(side_by_side(std::span(list).first(1), false).types.defined());
}

TEST_CASE("text rows: a text without a token is refused", "[unit]") {
  const Marking tokenizer;
  CHECK(contains(thrown<DataError>([&] { TextRows(tokenizer, false).row(""); }), "gives no token"));
  CHECK(contains(thrown<DataError>([&] { TextRows(tokenizer, true).row("a", ""); }), "second text"));
}

}  // namespace ordo::test
