// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/masking.h"

#include <algorithm>
#include <numeric>

#include "ordo/data/byte_tokenizer.h"
#include "ordo/ops/fused_loss.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kMaskedVocabulary = 50, kMask = 50;

// One document of ids that repeat with no short period.
TokenSequence masked_text(int64_t size) {
  Ids ids(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) ids[static_cast<size_t>(i)] = (i * i + 7 * i) % kMaskedVocabulary;
  TokenSequence sequence;
  sequence.add(TokenStore::of("text.txt", ids, kMaskedVocabulary), 0, size);
  return sequence;
}

TokenSequence bytes_of(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  TokenSequence sequence;
  sequence.add(TokenStore::of("text.txt", ids, 256), 0, std::ssize(ids));
  return sequence;
}

Ids masking_values(const Tensor& t) { return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()}; }

std::vector<Window> side_by_side(int64_t size, int64_t length) {
  std::vector<Window> windows;
  for (int64_t begin = 0; begin + length < size; begin += length)
    windows.push_back({.begin = begin, .end = begin + length, .judged = begin});
  return windows;
}

}  // namespace

TEST_CASE("masking: 15 % are asked for, of which 80 % are hidden, 10 % another token and 10 % left", "[unit]") {
  constexpr int64_t kSize = 100'001;
  const TokenSequence text = masked_text(kSize);
  const Batch batch =
      masked_batch(text, side_by_side(kSize, 100), {.mask_id = kMask, .vocab_size = kMaskedVocabulary}, /*key=*/1);
  const Ids shown = masking_values(batch.ids), targets = masking_values(batch.targets);
  Ids ids(shown.size()), documents(shown.size());
  text.read(0, ids, documents);
  double asked = 0, masked = 0, other = 0, kept = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (targets[i] == kIgnore) {
      CHECK(shown[i] == ids[i]);  // what is not asked for is seen as it is
      continue;
    }
    CHECK(targets[i] == ids[i]);
    ++asked;
    (shown[i] == kMask ? masked : shown[i] == ids[i] ? kept : other) += 1;
    CHECK(shown[i] <= kMask);
  }
  CHECK(batch.weight == asked);
  const auto size = static_cast<double>(ids.size());
  CHECK(asked / size == Approx(0.15).margin(0.005));
  CHECK(masked / asked == Approx(0.8).margin(0.02));
  CHECK(other / asked == Approx(0.1 * 49.0 / 50.0).margin(0.015));  // one in fifty is drawn as itself
  CHECK(kept / asked == Approx(0.1 + 0.1 / 50.0).margin(0.015));
}

TEST_CASE("masking: the masks are a function of key and place, whatever the windows and rows", "[unit]") {
  const TokenSequence text = masked_text(1001);
  const Masking masking{.mask_id = kMask, .vocab_size = kMaskedVocabulary};
  const auto whole = masking_values(masked_batch(text, side_by_side(1001, 1000), masking, 7).ids);
  for (const int64_t length : {10, 50, 250}) {
    const auto windows = side_by_side(1001, length);
    CHECK(masking_values(masked_batch(text, windows, masking, 7).ids) == whole);
    Ids one_by_one;
    for (const Window& window : windows) {
      const Ids row = masking_values(masked_batch(text, {window}, masking, 7).ids);
      one_by_one.insert(one_by_one.end(), row.begin(), row.end());
    }
    CHECK(one_by_one == whole);
  }
  CHECK(masking_values(masked_batch(text, side_by_side(1001, 1000), masking, 8).ids) != whole);
}

TEST_CASE("masking: the random token is never the mask, wherever the mask stands in the vocabulary", "[unit]") {
  const TokenSequence text = masked_text(5001);
  for (const int64_t mask : {0, 20, 49}) {
    const Masking masking{.masked = 0.0, .random = 1.0, .mask_id = mask, .vocab_size = kMaskedVocabulary};
    const Batch batch = masked_batch(text, side_by_side(5001, 5000), masking, 3);
    Ids drawn;
    for (size_t i = 0; i < 5000; ++i)
      if (masking_values(batch.targets)[i] != kIgnore) drawn.push_back(masking_values(batch.ids)[i]);
    CHECK(std::count(drawn.begin(), drawn.end(), mask) == 0);
    CHECK(*std::max_element(drawn.begin(), drawn.end()) == (mask == 49 ? 48 : 49));
    CHECK(*std::min_element(drawn.begin(), drawn.end()) == (mask == 0 ? 1 : 0));
  }
}

TEST_CASE("masking: of a word all tokens are asked for, or none", "[unit]") {
  std::string words;
  for (int i = 0; i < 300; ++i) words += i % 3 == 0 ? "one " : i % 3 == 1 ? "Two2two, " : "naïve. ";
  const TokenSequence text = bytes_of(words);
  const ByteTokenizer tokenizer({}, {});
  const Masking masking{
      .share = 0.3, .masked = 1.0, .random = 0.0, .mask_id = 256, .vocab_size = 256, .parts = word_parts(tokenizer)};
  const Batch batch = masked_batch(text, side_by_side(text.size(), text.size() - 1), masking, 5);
  const Ids targets = masking_values(batch.targets);
  int hidden = 0, seen = 0;
  size_t begin = 0;
  while (begin < targets.size()) {
    if (std::string(" ,.").find(words[begin]) != std::string::npos) {
      ++begin;
      continue;
    }
    const size_t end = std::min(words.find_first_of(" ,.", begin), targets.size());
    const auto asked =
        std::count_if(targets.begin() + static_cast<std::ptrdiff_t>(begin),
                      targets.begin() + static_cast<std::ptrdiff_t>(end), [](int64_t t) { return t != kIgnore; });
    INFO(words.substr(begin, end - begin));
    CHECK((asked == 0 || asked == static_cast<std::ptrdiff_t>(end - begin)));
    ++(asked == 0 ? seen : hidden);
    begin = end;
  }
  CHECK(hidden > 50);
  CHECK(seen > 150);
}

TEST_CASE("masking: rows that cross documents keep their segments, and words end with a document", "[unit]") {
  TokenSequence text;
  const auto store = TokenStore::of("text.txt", {'a', 'b', 'c', 'd', 'e', 'f'}, 256);
  text.add(store, 0, 3);
  text.add(store, 3, 6);
  const ByteTokenizer tokenizer({}, {});
  bool differ = false;
  for (uint64_t key = 0; key < 20; ++key) {
    const Batch batch =
        masked_batch(text, {{.begin = 0, .end = 5, .judged = 0}},
                     {.share = 0.5, .mask_id = 256, .vocab_size = 256, .parts = word_parts(tokenizer)}, key);
    CHECK(masking_values(batch.mask.q_segment) == Ids{0, 0, 0, 1, 1});
    const Ids targets = masking_values(batch.targets);
    CHECK((targets[0] == kIgnore) == (targets[2] == kIgnore));
    CHECK((targets[3] == kIgnore) == (targets[4] == kIgnore));
    differ = differ || (targets[2] == kIgnore) != (targets[3] == kIgnore);
  }
  CHECK(differ);
}

}  // namespace ordo::test
