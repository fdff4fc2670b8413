// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/word_tokenizer.h"

#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

WordTokenizer learned(const std::string& text, WordTokenizer::Config config = {}) {
  return WordTokenizer(config, {.text = [text] { return text; }});
}

}  // namespace

TEST_CASE("word tokenizer: the most frequent words come first, equals in the order of their bytes", "[unit]") {
  const auto tokenizer = learned("b a c b\nb c\n");
  CHECK(tokenizer.encode("<unk> b \n c a") == Ids{0, 1, 2, 3, 4});
  CHECK(tokenizer.vocab_size() == 5);
  CHECK(tokenizer.encode("what\u3000b") == Ids{0, 1});
}

TEST_CASE("word tokenizer: size and at_least leave rare words to <unk>", "[unit]") {
  CHECK(learned("b a c b c b", {.size = 3}).vocab_size() == 3);
  CHECK(learned("b a c b c b", {.at_least = 2}).encode("a b c") == Ids{0, 1, 2});
  CHECK(contains(thrown<DataError>([] { learned("a b", {.at_least = 2}); }), "2 times"));
  CHECK(contains(thrown<ConfigError>([] { learned("a b", {.size = 1}); }), "leaves room for <unk> alone"));
}

TEST_CASE("word tokenizer: lines stay lines, other white space becomes one space", "[unit]") {
  const auto tokenizer = learned("a b\nc");
  CHECK(tokenizer.decode(tokenizer.encode("\n\na \t b \n c\n")) == "\n\na b\nc\n");
}

TEST_CASE("word tokenizer: a file of words gives ids by its lines, and is written back the same", "[unit]") {
  const Scratch scratch;
  const std::string words = "the\n<unk>\n\\n\ncat\n";
  const WordTokenizer tokenizer({.file = scratch.write("words.txt", words)}, {});
  CHECK(tokenizer.encode("the dog\ncat") == Ids{0, 1, 2, 3});
  CHECK(tokenizer.file_text() == words);
  CHECK(tokenizer.find("cat") == 3);
  CHECK(tokenizer.is_special(1));
}

TEST_CASE("word tokenizer: a backslash and an n in a text are no line break, and leave a file that can be read",
          "[unit]") {
  const Scratch scratch;
  const WordTokenizer made = learned("a \\n b\na \\n\n");
  const WordTokenizer again({.file = scratch.write("words.txt", made.file_text())}, {});
  CHECK(again.encode("a \\n\n") == made.encode("a \\n\n"));
  CHECK(made.encode("\\n") != made.encode("\n"));
}

TEST_CASE("word tokenizer: without <unk> an unknown word is named with its place", "[unit]") {
  const Scratch scratch;
  const WordTokenizer tokenizer({.file = scratch.write("words.txt", "the\n\\n\ncat\n")}, {});
  const auto message = thrown<DataError>([&] { tokenizer.encode("the\nthe dog"); });
  CHECK(contains(message, "line 2, column 5"));
  CHECK(contains(message, "'dog'"));
}

TEST_CASE("word tokenizer: a bad file is refused with its line", "[unit]") {
  const Scratch scratch;
  const auto refused = [&](const std::string& text) {
    const fs::path path = scratch.write("words.txt", text);
    return thrown<DataError>([&] { WordTokenizer({.file = path}, {}); });
  };
  CHECK(contains(refused("a\nb\na\n"), "words.txt: line 3: the word 'a' is there twice"));
  CHECK(contains(refused("a\n\nb\n"), "line 2: an empty word"));
  CHECK(contains(refused("a\nb c\n"), "line 2: the word 'b c' has white space"));
  CHECK(contains(refused("a\n\xFF\n"), "line 2"));
  CHECK(
      contains(thrown<ConfigError>([&] { WordTokenizer({.file = scratch.write("words.txt", "a\n"), .size = 5}, {}); }),
               "'size'"));
  CHECK(contains(thrown<ConfigError>([] { WordTokenizer({}, {}); }), "give 'file'"));
}

TEST_CASE("word tokenizer: a damaged saved one is refused with its path", "[unit]") {
  const Scratch scratch;
  for (const char* words :
       {"", R"(, "words": [])", R"(, "words": "a")", R"(, "words": [1])", R"(, "words": ["a", "a"])"}) {
    scratch.write("vocabulary.json", std::string(R"({"format": 1, "kind": "word")") + words + "}");
    CHECK(contains(thrown<DataError>([&] { WordTokenizer({}, {.saved = scratch.path()}); }), "vocabulary.json"));
  }
}

}  // namespace ordo::test
