// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/tokens.h"

#include <array>
#include <numeric>

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> words(256);
  words[0] = magic;
  words[1] = version;
  words[2] = count;
  return bytes_of(words);
}

Ids all_of(const TokenStore& store) {
  Ids ids(static_cast<size_t>(store.size()));
  store.read(0, ids);
  return ids;
}

Ids all_of(const TokenSequence& sequence) {
  Ids ids(static_cast<size_t>(sequence.size())), documents(ids.size());
  sequence.read(0, ids, documents);
  return ids;
}

// The documents {10, 11, 12}, {}, {13}, {14, 15}.
TokenSequence three_documents() {
  TokenSequence sequence;
  const auto a = TokenStore::of("a.txt", {9, 10, 11, 12, 13}, 100), b = TokenStore::of("b.txt", {14, 15}, 100);
  sequence.add(a, 1, 4);
  sequence.add(a, 4, 4);
  sequence.add(a, 4, 5);
  sequence.add(b, 0, 2);
  return sequence;
}

}  // namespace

TEST_CASE("token files: raw ids and llm.c's two headers are read", "[unit]") {
  const Scratch scratch;
  const std::vector<uint16_t> narrow{1, 2, 50256};
  const std::vector<uint32_t> wide{7, 128255};
  CHECK(all_of(*TokenStore::map(scratch.write("raw16.bin", bytes_of(narrow)), TokenType::uint16, 50257)) ==
        Ids{1, 2, 50256});
  CHECK(all_of(*TokenStore::map(scratch.write("raw32.bin", bytes_of(wide)), TokenType::uint32, 128256)) ==
        Ids{7, 128255});
  const auto gpt2 = scratch.write("gpt2.bin", header(20240520, 1, 3) + bytes_of(narrow));
  const auto llama = scratch.write("llama.bin", header(20240801, 7, 2) + bytes_of(wide));
  CHECK(all_of(*TokenStore::map(gpt2, TokenType::uint32, 50257)) ==
        Ids{1, 2, 50256});  // the header decides, not the setting
  CHECK(all_of(*TokenStore::map(llama, TokenType::uint16, 128256)) == Ids{7, 128255});
}

TEST_CASE("token files: what does not fit is refused with path and reason", "[unit]") {
  struct Case {
    std::string what, bytes, reason;
    TokenType raw = TokenType::uint16;
  };
  const std::string three = bytes_of(std::vector<uint16_t>{1, 99, 100});
  const std::vector<Case> cases{
      {"empty", "", "is empty"},
      {"odd size", three + "x", "no multiple of 2 (uint16)"},
      {"size of uint16 read as uint32", three, "no multiple of 4 (uint32)", TokenType::uint32},
      {"id beyond the vocabulary", three, "token 2 has id 100, the vocabulary has 100"},
      {"wide id beyond the vocabulary", bytes_of(std::vector<uint32_t>{4'000'000'000U}), "id 4000000000",
       TokenType::uint32},
      {"newer header", header(20240520, 2, 3) + three, "version 2, version 1 is expected"},
      {"fewer tokens than promised", header(20240520, 1, 4) + three, "promises 4 tokens, the file holds 3"},
      {"more tokens than promised", header(20240520, 1, 2) + three, "promises 2 tokens"},
      {"negative count", header(20240520, 1, -1) + three, "promises -1"},
      {"a header alone", header(20240520, 1, 0), "holds no token"},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, reason, raw] : cases) {
    CAPTURE(what);
    const auto path = scratch.write("odd.bin", bytes);
    const auto message = thrown<DataError>([&, type = raw] { TokenStore::map(path, type, 100); });
    CHECK(contains(message, reason));
    CHECK(contains(message, path.string()));
  }
  CHECK(contains(thrown<DataError>([&] { TokenStore::map(scratch / "absent.bin", TokenType::uint16, 9); }),
                 "absent.bin"));
  CHECK(contains(thrown<DataError>([&] { TokenStore::map(scratch.path(), TokenType::uint16, 9); }), "folder"));
}

TEST_CASE("token stores: ids of large vocabularies are not cut to 16 bits", "[unit]") {
  CHECK(all_of(*TokenStore::of("x", {0, 65535}, 65536)) == Ids{0, 65535});
  CHECK(all_of(*TokenStore::of("x", {65536}, 65537)) == Ids{65536});
  CHECK(all_of(*TokenStore::of("x", {0, 65536, 200000}, 200001)) == Ids{0, 65536, 200000});
}

TEST_CASE("token sequences: documents are read through as one, each token with its document", "[unit]") {
  const auto sequence = three_documents();
  REQUIRE(sequence.size() == 6);
  CHECK(sequence.documents() == 3);
  for (int64_t from = 0; from <= 6; ++from)
    for (int64_t to = from; to <= 6; ++to) {
      Ids ids(static_cast<size_t>(to - from)), documents(ids.size());
      sequence.read(from, ids, documents);
      const Ids all{10, 11, 12, 13, 14, 15}, numbers{0, 0, 0, 1, 2, 2};
      CHECK(ids == Ids(all.begin() + from, all.begin() + to));
      CHECK(documents == Ids(numbers.begin() + from, numbers.begin() + to));
    }
}

TEST_CASE("token sequences: a place names the file and the offset in it", "[unit]") {
  const auto sequence = three_documents();
  CHECK(sequence.place(0) == "a.txt, offset 1");
  CHECK(sequence.place(3) == "a.txt, offset 4");
  CHECK(sequence.place(5) == "b.txt, offset 1");
}

TEST_CASE("token sequences: two parts of a cut make up the whole, wherever it is cut", "[unit]") {
  const auto sequence = three_documents();
  for (int64_t at = 0; at <= sequence.size(); ++at) {
    const auto [first, second] = sequence.cut(at);
    CHECK(first.size() == at);
    auto joined = all_of(first);
    const auto rest = all_of(second);
    joined.insert(joined.end(), rest.begin(), rest.end());
    CHECK(joined == all_of(sequence));
  }
}

TEST_CASE("token sequences: the fingerprint sees every id and every border", "[unit]") {
  const auto fingerprint = [](const Ids& ids, const std::vector<int64_t>& ends) {
    TokenSequence sequence;
    const auto store = TokenStore::of("x", ids, 100);
    int64_t begin = 0;
    for (const int64_t end : ends) sequence.add(store, std::exchange(begin, end), end);
    return sequence.fingerprint();
  };
  const auto reference = fingerprint({1, 2, 3, 4}, {2, 4});
  CHECK(fingerprint({1, 2, 3, 4}, {2, 4}) == reference);
  CHECK(fingerprint({1, 2, 3, 5}, {2, 4}) != reference);
  CHECK(fingerprint({1, 2, 3, 4}, {3, 4}) != reference);
  CHECK(fingerprint({1, 2, 3, 4}, {4}) != reference);
  CHECK(fingerprint({1, 2, 3, 4}, {2, 3}) != reference);
}

}  // namespace ordo::test
