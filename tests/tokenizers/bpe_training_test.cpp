// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tokenizers/bpe_training.h"

#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/tokenizers/hf_pipeline.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

Json trained_model(const BpeTraining& settings, const std::vector<std::string>& texts) {
  return parse_json(train_byte_bpe(settings, texts), "trained")["model"];
}

}  // namespace

TEST_CASE("byte-pair training: tokens and merges are those that Hugging Face's trainer finds", "[golden]") {
  const fs::path folder = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/tokenizers/trained";
  const Json expected = parse_json(read_file(folder / "tokenizer.json"), "expected")["model"];
  const Json made =
      trained_model({.vocab_size = 700, .at_least = 3, .symbols = {"<|end|>"}}, {read_file(folder / "corpus.txt")});
  CHECK(made["merges"] == expected["merges"]);
  CHECK(made["vocab"] == expected["vocab"]);
}

TEST_CASE("byte-pair training: the most frequent pair is joined first, and rare ones are not", "[unit]") {
  const Json model = trained_model({.at_least = 2, .symbols = {"<s>"}}, {"abab abab abc", "abc"});
  CHECK(model["vocab"]["<s>"] == 0);
  CHECK(model["merges"][0] == Json({"a", "b"}));                                      // six times
  for (const Json& merge : model["merges"]) CHECK(merge != Json({"\u0120ab", "c"}));  // once
}

TEST_CASE("byte-pair training: two ways to the same text are one token", "[unit]") {
  // "abc" comes of ab + c and of a + bc.
  const std::string tokenizer =
      train_byte_bpe({.vocab_size = 400}, {"ab ab ab ab bc bc bc abc xbc xbc", "\nab\nab\nbc\nbc"});
  const HfPipeline pipeline(tokenizer, "trained");  // refuses a token that is there twice
  CHECK(pipeline.decode(pipeline.encode("abc xbc")) == "abc xbc");
}

TEST_CASE("byte-pair training: any text comes back whole", "[unit]") {
  const HfPipeline pipeline(train_byte_bpe({.vocab_size = 300, .symbols = {"<s>"}}, {"the cat and the mouse"}),
                            "trained");
  const std::string text = "the\tGr\u00FC\u00DFe <s>\U0001F388\n";
  CHECK(pipeline.decode(pipeline.encode(text)) == text);
  CHECK(pipeline.find("<s>") == 0);
  CHECK(pipeline.is_special(0));
}

TEST_CASE("byte-pair training: settings without room or with doubles are refused", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { train_byte_bpe({.vocab_size = 256, .symbols = {"<s>"}}, {"a"}); }),
                 "at least 257"));
  CHECK(contains(thrown<ConfigError>([] { train_byte_bpe({.symbols = {"<s>", "<s>"}}, {"a"}); }), "given twice"));
  CHECK(contains(thrown<ConfigError>([] { train_byte_bpe({.symbols = {""}}, {"a"}); }), "empty"));
}

}  // namespace ordo::test
