// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/hf_pipeline.h"

#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

// A tokenizer.json with a word-level model of four words; `parts` comes before it.
std::string words_with(const std::string& parts) {
  return "{" + parts +
         R"("model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}}})";
}
std::string with_model(const std::string& model) { return R"({"model": )" + model + "}"; }

std::string refusal(const std::string& json) {
  return thrown<DataError>([&] { HfPipeline(json, "tokenizer.json"); });
}

}  // namespace

TEST_CASE("tokenizer.json: a broken file is refused with its name and the path in it", "[unit]") {
  struct Case {
    std::string json, reason;
  };
  const std::string bpe = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": )";
  const std::vector<Case> cases{
      {"", "line 1, column 1"},
      {"{", "line 1"},
      {"[]", "expected an object, found an array of 0"},
      {"{}", "'model' is missing"},
      {with_model("[]"), "model: expected an object"},
      {with_model("{}"), "'vocab' is missing"},
      {with_model(R"({"type": "Magic"})"), "model.type: unknown type 'Magic'; there are BPE, WordPiece"},
      {with_model(R"({"type": "WordLevel", "vocab": {}})"), "empty"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": -1}})"), R"(model.vocab."a": expected a whole number)"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": 99999999999999999999}})"), "expected a whole number"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": 4194304}})"), "found 4194304"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": 1, "b": 1}})"),
       R"(model.vocab."b": another token has the id 1)"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": 1, "a": 2}})"), "key 'a' appears twice"},
      {with_model(R"({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "u"})"), "model.unk_token: 'u' is not"},
      {with_model(R"({"type": "WordPiece", "vocab": {"a": 0}})"), "'unk_token' is missing"},
      {with_model(bpe + R"(["a b c"]})"), "model.merges[0]: a merge is two tokens"},
      {with_model(bpe + R"(["a b", ["a"]]})"), "model.merges[1]: a merge has two parts"},
      {with_model(bpe + R"(["b a"]})"), "model.merges[0]: 'ba' is not in the vocabulary"},
      {with_model(bpe + R"([7]})"), "model.merges[0]: expected a string, found 7"},
      {with_model(bpe + R"([], "dropout": 0.1})"), "model.dropout"},
      {with_model(R"({"type": "Unigram", "vocab": []})"), "empty"},
      {with_model(R"({"type": "Unigram", "vocab": [["a", "0"]]})"), "model.vocab[0][1]: expected a finite number"},
      {with_model(R"({"type": "Unigram", "vocab": [["a", 0], ["a", 1]]})"),
       "model.vocab[1]: the token 'a' is there twice"},
      {with_model(R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1})"),
       "model.unk_id: expected a whole number from 0 to 0"},
      {words_with(R"("version": "2.0", )"), "version: expected \"1.0\""},
      {words_with(R"("normalizer": {}, )"), "normalizer: 'type' is missing"},
      {words_with(R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFX"}]}, )"),
       "normalizer.normalizers[0].type: unknown type 'NFX'"},
      {words_with(R"("normalizer": {"type": "Replace", "pattern": {"Regex": "(a"}, "content": ""}, )"),
       "normalizer.pattern.Regex: the regular expression"},
      {words_with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA!"}, )"), "not base64"},
      {words_with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////wAA"}, )"),
       "precompiled_charsmap: a table"},
      {words_with(R"("pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": "Kept"}, )"),
       "unknown behavior 'Kept'"},
      {words_with(R"("pre_tokenizer": {"type": "Metaspace", "replacement": "xy"}, )"), "expected one character"},
      {words_with(R"("decoder": {"type": "Strip", "content": " ", "start": -1, "stop": 0}, )"), "decoder.start"},
      {words_with(R"("added_tokens": [{"id": 2, "content": "a"}], )"),
       "added_tokens[0].id: 'a' has the id 2 here and 1"},
      {words_with(R"("added_tokens": [{"id": 2, "content": "x"}], )"), "the id 2 is that of 'b'"},
      {words_with(R"("added_tokens": [{"id": 9, "content": "x"}, {"id": 9, "content": "y"}], )"), "added_tokens[1]"},
      {words_with(R"("post_processor": {"type": "BertProcessing", "sep": ["b", 2], "cls": ["x", 4]}, )"),
       "post_processor.cls[1]: expected a whole number from 0 to 3"},
      {words_with(
           R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}]}, )"),
       "post_processor.single[0].SpecialToken: 'x' is not among special_tokens"},
      {words_with(R"("post_processor": {"type": "TemplateProcessing", "single": []}, )"), "leaves a text out"},
      {std::string(200, '[') + std::string(200, ']'), "nests deeper"}};
  for (const auto& [json, reason] : cases) {
    CAPTURE(json);
    const std::string message = refusal(json);
    CHECK(contains(message, reason));
    CHECK(contains(message, "tokenizer.json"));
  }
}

TEST_CASE("tokenizer.json: files from before the model's type was written are told apart", "[unit]") {
  CHECK(HfPipeline(with_model(R"({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["#version: 0.2", "a b"]})"), "f")
            .encode("abb") == Ids{2, 1});
  CHECK(HfPipeline(
            with_model(R"({"vocab": {"?": 0, "a": 1, "##b": 2}, "continuing_subword_prefix": "##", "unk_token": "?"})"),
            "f")
            .encode("abb") == Ids{1, 2, 2});
  CHECK(HfPipeline(with_model(R"({"vocab": {"?": 0, "abb": 1}, "unk_token": "?"})"), "f").encode("abb") == Ids{1});
  CHECK(HfPipeline(with_model(R"({"vocab": [["?", 0], ["a", -1], ["bb", -1.5], ["b", -3]], "unk_id": 0})"), "f")
            .encode("abbxy") == Ids{1, 2, 0});
}

TEST_CASE("byte-pair encoding: the earliest merge goes first, of equal ones the leftmost", "[unit]") {
  const HfPipeline tokenizer(
      with_model(
          R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "aa": 2, "ab": 3, "aaa": 4}, "merges": [["a", "a"], ["a", "b"], ["aa", "a"]]})"),
      "f");
  CHECK(tokenizer.encode("aaa") == Ids{4});
  CHECK(tokenizer.encode("aaab") == Ids{2, 3});
  CHECK(tokenizer.encode(std::string(100001, 'a')).size() == 50000);
}

TEST_CASE("byte-pair encoding: merges that lead back to themselves come to an end", "[unit]") {
  const HfPipeline tokenizer(
      with_model(
          R"({"type": "BPE", "vocab": {"": 0, "a": 1, "aa": 2}, "merges": [["a", ""], ["", "a"], ["a", "a"], ["aa", ""]]})"),
      "f");
  CHECK(tokenizer.encode("aaaa") == Ids{2, 2});
}

TEST_CASE("tokenizer.json: of added tokens the longest is taken, and neighbours may be swallowed", "[unit]") {
  const std::string tokens = R"("added_tokens": [{"id": 10, "content": "<x>", "special": true, "lstrip": true},
      {"id": 11, "content": "<x>y", "special": true}, {"id": 12, "content": "WORD", "single_word": true, "normalized": false}], )";
  const HfPipeline tokenizer(words_with(tokens + R"("pre_tokenizer": {"type": "WhitespaceSplit"}, )"), "f");
  CHECK(tokenizer.vocab_size() == 13);
  CHECK(tokenizer.encode("a  <x>b") == Ids{1, 10, 2});
  CHECK(tokenizer.encode("a <x>yb") == Ids{1, 11, 2});
  CHECK(tokenizer.encode("WORD WORDS (WORD)") == Ids{12, 0, 0, 12, 0});
  CHECK(tokenizer.is_special(10));
  CHECK_FALSE(tokenizer.is_special(12));
  CHECK(tokenizer.find("<x>y") == 11);
  CHECK(tokenizer.find("ab") == 3);
}

TEST_CASE("tokenizer.json: free ids decode to nothing, ids beyond the vocabulary are refused", "[unit]") {
  const HfPipeline tokenizer(words_with(R"("added_tokens": [{"id": 9, "content": "z"}], )"), "f");
  CHECK(tokenizer.decode(Ids{1, 7, 2}) == "a b");
  CHECK(contains(thrown<DataError>([&] { tokenizer.decode(Ids{10}); }), "0 … 9"));
  CHECK(contains(thrown<DataError>([&] { tokenizer.piece(-1); }), "-1"));
}

TEST_CASE("tokenizer.json: pieces of a byte-level text are its bytes, one by one", "[unit]") {
  const HfPipeline tokenizer(
      with_model(
          R"({"type": "BPE", "vocab": {"\u0120": 0, "\u00E4": 1, "\u00B8": 2, "a": 3}, "merges": []},
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"})"),
      "f");
  const Ids ids = tokenizer.encode(" \u4E2Da");
  std::string text;
  for (const int64_t id : ids) text += tokenizer.piece(id);
  CHECK(text ==
        " \xE4\xB8"
        "a");  // the third byte has no token, and the reference drops it
  CHECK(tokenizer.decode(ids) ==
        " \uFFFD"
        "a");
}

TEST_CASE("tokenizer.json: pieces of words bring the space before them", "[unit]") {
  const std::string model =
      R"({"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "play": 1, "##ing": 2}}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true})";
  const HfPipeline tokenizer(with_model(model), "f");
  CHECK(tokenizer.piece(1) == " play");
  CHECK(tokenizer.piece(2) == "ing");
}

TEST_CASE("tokenizer.json: a text that is not UTF-8 is refused with its byte", "[unit]") {
  CHECK(contains(thrown<DataError>([] { HfPipeline(words_with(""), "f").encode("ab\xFF"); }), "byte 2"));
}

}  // namespace ordo::test
