// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/tokenizer.h"

#include <algorithm>

#include "ordo/data/byte_tokenizer.h"
#include "ordo/data/char_tokenizer.h"
#include "ordo/data/hf_tokenizer.h"
#include "ordo/data/sentencepiece_tokenizer.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::shared_ptr<Tokenizer> char_tokenizer(const std::string& text) {
  return tokenizers().build("char", {.text = [text] { return text; }});
}

const fs::path kGoldens = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/tokenizers";

// One of each kind: from this text, or from a file where the kind needs one.
std::shared_ptr<Tokenizer> any_tokenizer(std::string_view kind, const std::string& text) {
  if (kind == "hf")
    return std::make_shared<HfTokenizer>(HfTokenizer::Config{kGoldens / "bbpe_gpt2/tokenizer.json"}, TokenizerFacts{});
  if (kind == "sentencepiece")
    return std::make_shared<SentencepieceTokenizer>(
        SentencepieceTokenizer::Config{kGoldens / "spm_bpe_llama/tokenizer.model"}, TokenizerFacts{});
  return tokenizers().build(kind, {.text = [text] { return text; }});
}

using Ids = std::vector<int64_t>;

}  // namespace

TEST_CASE("tokenizers: text that was encoded decodes to itself", "[unit]") {
  const std::string text = "Grüße, 世界! 🎈\nline";
  for (const auto& entry : tokenizers().entries()) {
    CAPTURE(entry.info.kind);
    const auto tokenizer = any_tokenizer(entry.info.kind, text);
    CHECK(tokenizer->kind() == entry.info.kind);
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(tokenizer->encode("").empty());
  }
}

TEST_CASE("tokenizers: a saved one is the same after loading, without any text", "[unit]") {
  const Scratch scratch;
  const std::string text = "naïve \"quotes\" \\ and \x01 controls, 東京";
  for (const auto& entry : tokenizers().entries()) {
    CAPTURE(entry.info.kind);
    const auto before = any_tokenizer(entry.info.kind, text);
    const fs::path folder = scratch / std::string(entry.info.kind) / "tokenizer";
    before->save(folder);
    const auto after = tokenizers().build(entry.info.kind, {.saved = folder});
    CHECK(after->fingerprint() == before->fingerprint());
    CHECK(after->vocab_size() == before->vocab_size());
    CHECK(after->encode(text) == before->encode(text));
    CHECK(open_tokenizer(folder)->kind() == entry.info.kind);
  }
}

TEST_CASE("tokenizers: every id has a piece, and those of a text are its bytes, but for spaces at its start",
          "[unit]") {
  const std::string text = "the 12 small models 世界";
  for (const auto& entry : tokenizers().entries()) {
    CAPTURE(entry.info.kind);
    const auto tokenizer = any_tokenizer(entry.info.kind, text);
    for (int64_t id = 0; id < tokenizer->vocab_size(); ++id) CHECK_NOTHROW(tokenizer->piece(id));
    std::string joined;
    for (const int64_t id : tokenizer->encode(text)) joined += tokenizer->piece(id);
    CHECK(joined.substr(joined.find_first_not_of(' ')) == text);
  }
}

TEST_CASE("tokenizers: special tokens stand around a text and between a pair, where there are any", "[unit]") {
  const auto plain = tokenizers().build("byte", {});
  CHECK(plain->encode_special("a", "b").ids == Ids{97, 98});
  CHECK(plain->encode_special("a", "b").types == Ids{0, 1});
  const SentencepieceTokenizer pieces({kGoldens / "spm_unigram/spm.model"}, {});
  const auto all = pieces.encode_special("a", "b");
  CHECK(all.ids.front() == pieces.find("<s>"));
  CHECK(all.ids.back() == pieces.find("</s>"));
  CHECK(std::count(all.ids.begin(), all.ids.end(), *pieces.find("</s>")) == 2);
  CHECK(all.types.back() == 1);
  CHECK(pieces.is_special(all.ids.back()));
}

TEST_CASE("tokenizers: a path is known by its name, and what is none says what would be one", "[unit]") {
  const Scratch scratch;
  CHECK(open_tokenizer(kGoldens / "wordpiece")->kind() == "hf");
  CHECK(open_tokenizer(kGoldens / "spm_unigram")->kind() == "sentencepiece");
  CHECK(open_tokenizer(scratch.write("words.txt", "a\nb\n"))->kind() == "word");
  CHECK(contains(thrown<DataError>([&] { open_tokenizer(scratch / "absent.json"); }), "no such file"));
  CHECK(contains(thrown<DataError>([&] { open_tokenizer(scratch.write("x.bin", "a")); }), "tokenizer.json"));
  CHECK(contains(thrown<DataError>([&] { open_tokenizer(scratch.path()); }), "vocabulary.json"));
  const fs::path large = scratch.write("large.json", "{");
  fs::resize_file(large, uint64_t{1} << 40);  // takes no room on the disk
  CHECK(contains(thrown<DataError>([&] { open_tokenizer(large); }), "up to 268.4 MB"));
  CHECK(contains(thrown<DataError>([] { HfTokenizer({"/dev/zero"}, {}); }), "no regular file"));
  for (const char* kind : {"hf", "sentencepiece"})
    CHECK(contains(thrown<ConfigError>([&] { tokenizers().build(kind, {}); }), "'file' is missing"));
}

TEST_CASE("byte tokenizer: every byte is its own id", "[unit]") {
  const auto tokenizer = tokenizers().build("byte", {});
  CHECK(tokenizer->vocab_size() == 256);
  CHECK(tokenizer->encode(std::string("\x00\x7F\xFF", 3)) == Ids{0, 127, 255});
  CHECK(tokenizer->piece(200) == "\xC8");
}

TEST_CASE("char tokenizer: ids follow the order of code points", "[unit]") {
  const auto tokenizer = char_tokenizer("bañb🎈a\n");
  CHECK(tokenizer->vocab_size() == 5);
  CHECK(tokenizer->encode("\nabñ🎈") == Ids{0, 1, 2, 3, 4});
  CHECK(tokenizer->piece(3) == "ñ");
}

TEST_CASE("char tokenizer: an unknown character is named with its code point, line and column", "[unit]") {
  const auto tokenizer = char_tokenizer("abcé\n");
  const auto message = thrown<DataError>([&] { tokenizer->encode("abc\néaxb"); });
  CHECK(contains(message, "'x' (U+0078)"));
  CHECK(contains(message, "line 2, column 3"));
  CHECK(contains(thrown<DataError>([&] { tokenizer->encode("ab\xFF"); }), "byte 0xFF"));
  CHECK(contains(thrown<DataError>([&] { tokenizer->encode("a\tb"); }), "unknown character U+0009"));
}

TEST_CASE("char tokenizer: another alphabet has another fingerprint", "[unit]") {
  CHECK(char_tokenizer("ab")->fingerprint() == char_tokenizer("bba")->fingerprint());
  CHECK(char_tokenizer("ab")->fingerprint() != char_tokenizer("abc")->fingerprint());
  CHECK(char_tokenizer("ab")->fingerprint() != tokenizers().build("byte", {})->fingerprint());
}

TEST_CASE("char tokenizer: without training text it says what it needs", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { tokenizers().build("char", {}); }), "learns its alphabet"));
  CHECK(contains(thrown<DataError>([] { char_tokenizer(""); }), "empty"));
}

TEST_CASE("tokenizers: an id outside the vocabulary is refused, not looked up", "[unit]") {
  CHECK(contains(thrown<DataError>([] { char_tokenizer("abc")->piece(3); }), "0 … 2"));
  CHECK(contains(thrown<DataError>([] { char_tokenizer("abc")->decode(Ids{0, -1}); }), "-1"));
  CHECK(contains(thrown<DataError>([] { tokenizers().build("byte", {})->piece(256); }), "256"));
}

TEST_CASE("tokenizers: a damaged or foreign saved file is refused with its path and the reason", "[unit]") {
  struct Case {
    std::string text, reason;
  };
  const std::vector<Case> cases{{"{", "line 1"},
                                {"[]", "\"format\""},
                                {R"({"kind": "char", "characters": "ab"})", "\"format\""},
                                {R"({"format": 2, "kind": "char", "characters": "ab"})", "format 2"},
                                {R"({"format": 1, "kind": "byte"})", "holds a byte tokenizer"},
                                {R"({"format": 1, "kind": "char"})", "characters"},
                                {R"({"format": 1, "kind": "char", "characters": ""})", "characters"},
                                {R"({"format": 1, "kind": "char", "characters": ["a"]})", "characters"},
                                {R"({"format": 1, "kind": "char", "characters": "ba"})", "sorted"},
                                {R"({"format": 1, "kind": "char", "characters": "aab"})", "sorted"}};
  const Scratch scratch;
  for (const auto& [text, reason] : cases) {
    CAPTURE(text);
    scratch.write("vocabulary.json", text);
    const auto message = thrown<DataError>([&] { tokenizers().build("char", {.saved = scratch.path()}); });
    CHECK(contains(message, reason));
    CHECK(contains(message, (scratch / "vocabulary.json").string()));
  }
  CHECK(contains(thrown<DataError>([&] { tokenizers().build("char", {.saved = scratch / "absent"}); }),
                 "vocabulary.json"));
}

}  // namespace ordo::test
