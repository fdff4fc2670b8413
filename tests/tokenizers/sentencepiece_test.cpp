// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/sentencepiece_model.h"

#include "ordo/core/errors.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

const std::vector<std::string>& sample_lines() {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> made;
    for (const char* who : {"the cat", "a mouse", "the old dog", "nobody", "every bird"})
      for (const char* does : {"chases", "sees", "likes", "was chased by"})
        for (const char* whom : {"the mouse", "a cat", "12 birds", "nobody else"})
          made.push_back(std::string(who) + " " + does + " " + whom + ".");
    return made;
  }();
  return lines;
}

std::string trained(SentencepieceTraining settings) {
  size_t next = 0;
  return train_sentencepiece(settings,
                             [&] { return next < sample_lines().size() ? &sample_lines()[next++] : nullptr; });
}

// A field of a protocol buffer that has a length.
std::string field(int number, const std::string& bytes) {
  std::string made(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size(); true; size >>= 7) {
    made += static_cast<char>(size > 127 ? (size & 127) | 128 : size);
    if (size <= 127) return made + bytes;
  }
}
std::string piece(const std::string& text, const std::string& rest = "") { return field(1, field(1, text) + rest); }

std::string refused_model(const std::string& bytes) {
  return thrown<DataError>([&] { SentencepieceModel(bytes, "spm.model"); });
}

}  // namespace

TEST_CASE("sentencepiece: a trained model takes its text apart and puts it together again", "[unit]") {
  for (const char* algorithm : {"unigram", "bpe"}) {
    CAPTURE(algorithm);
    const SentencepieceModel model(trained({.algorithm = algorithm, .vocab_size = 36}), "m");
    CHECK(model.vocab_size() == 36);
    for (const auto& line : sample_lines()) CHECK(model.decode(model.encode(line)) == line);
    CHECK(model.find("<unk>") == 0);
    CHECK(model.begin() == 1);
    CHECK(model.end() == 2);
    CHECK(model.find("<pad>") == 3);
    CHECK(model.find("nothing of the kind") == std::nullopt);
    CHECK(model.is_special(2));
    CHECK_FALSE(model.is_special(10));
  }
}

TEST_CASE("sentencepiece: a long text is encoded in parts, and as if it were not", "[unit]") {
  for (const char* algorithm : {"unigram", "bpe"}) {
    CAPTURE(algorithm);
    const SentencepieceModel model(trained({.algorithm = algorithm, .vocab_size = 36}), "m");
    std::string text;
    Ids expected;
    for (size_t i = 0; text.size() < 600'000; ++i) {
      const std::string& line = sample_lines()[i % sample_lines().size()];
      text += line + (i % 2 == 0 ? "\n" : " ");
      const Ids ids = model.encode(line);
      expected.insert(expected.end(), ids.begin(), ids.end());
    }
    const bool same = model.encode(text) == expected;
    CHECK(same);
  }
}

TEST_CASE("sentencepiece: a model that keeps line breaks keeps them in long texts too", "[unit]") {
  const SentencepieceModel model(
      trained({.algorithm = "bpe", .vocab_size = 330, .byte_fallback = true, .normalization = "identity"}), "m");
  std::string text;
  while (text.size() < 600'000) text += "the cat\nlikes ";
  text.pop_back();  // a space at the end would go
  const bool same = model.decode(model.encode(text)) == text;
  CHECK(same);
}

TEST_CASE("sentencepiece: the same text trains the same bytes", "[unit]") {
  CHECK(trained({.vocab_size = 36}) == trained({.vocab_size = 36}));
}

TEST_CASE("sentencepiece: symbols stay whole, digits and bytes come apart when asked", "[unit]") {
  const SentencepieceModel model(
      trained(
          {.algorithm = "bpe", .vocab_size = 330, .byte_fallback = true, .split_digits = true, .symbols = {"<sep>"}}),
      "m");
  const Ids ids = model.encode("the cat<sep>12\u4E16");
  CHECK(std::count(ids.begin(), ids.end(), *model.find("<sep>")) == 1);
  CHECK(model.decode(ids) == "the cat<sep>12\u4E16");
  std::string text;
  for (const int64_t id : ids) text += model.piece(id);
  CHECK(text == " the cat<sep>12\u4E16");
}

TEST_CASE("sentencepiece: what cannot be trained says what to change", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { trained({.vocab_size = 4}); }), "at least 5"));
  CHECK(contains(thrown<ConfigError>([] { trained({.vocab_size = 100000}); }), "Vocabulary size"));
  CHECK(contains(thrown<ConfigError>([] { trained({.vocab_size = 60, .symbols = {"a,b"}}); }), "a comma"));
  CHECK(contains(thrown<DataError>([] { train_sentencepiece({}, [] { return nullptr; }); }), "no line"));
}

TEST_CASE("sentencepiece: a damaged model is refused with its name and the reason", "[unit]") {
  const std::string unknown = piece("<unk>", std::string("\x18\x02", 2)), a = piece("a");
  const std::string score_nan = piece("b", std::string("\x15\x00\x00\xC0\x7F", 5));
  struct Case {
    std::string bytes, reason;
  };
  const std::vector<Case> cases{
      {"", "no pieces"},
      {"{\"version\": 1}", "breaks at byte"},
      {std::string("\x0A\xFF\xFF\xFF\xFF\x0F", 6), "breaks at byte"},
      {std::string(20, '\xFF'), "breaks at byte"},
      {unknown + piece(""), "piece 1 has no text"},
      {unknown + piece("\xFF"), "piece 1 is not valid UTF-8"},
      {unknown + score_nan, "not finite"},
      {unknown + piece("b", std::string("\x18\x07", 2)), "unknown type 7"},
      {a, "does not take this model"},
      {unknown + a + a, "does not take this model"},
      {unknown + a + field(3, field(2, "abc")), "precompiled_charsmap"},
      {unknown + a +
           field(3, field(2, std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\x7F') + std::string(1, '\0'))),
       "leads out of itself"}};
  for (const auto& [bytes, reason] : cases) {
    CAPTURE(bytes);
    CHECK(contains(refused_model(bytes), reason));
    CHECK(contains(refused_model(bytes), "spm.model"));
  }
}

TEST_CASE("sentencepiece: ids beyond the vocabulary are refused, not looked up", "[unit]") {
  const SentencepieceModel model(trained({.vocab_size = 36}), "m");
  CHECK(contains(thrown<DataError>([&] { model.decode(Ids{36}); }), "0 … 35"));
  CHECK(contains(thrown<DataError>([&] { model.piece(-1); }), "-1"));
  CHECK(contains(thrown<DataError>([&] { model.encode("ab\xFF"); }), "byte 2"));
}

}  // namespace ordo::test
