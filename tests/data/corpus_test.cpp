// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/corpus.h"

#include "ordo/config/config.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

// What a config file says under `data`.
struct DataFile {
  DataConfig data;
};
void fields(Fields& f, DataFile& c) { f("data", c.data, "data"); }

std::string text_of(const TokenSequence& tokens, const Tokenizer& tokenizer) {
  Ids ids(static_cast<size_t>(tokens.size())), documents(ids.size());
  tokens.read(0, ids, documents);
  return tokenizer.decode(ids);
}

std::vector<int64_t> document_sizes(const TokenSequence& tokens) {
  Ids ids(static_cast<size_t>(tokens.size())), documents(ids.size());
  tokens.read(0, ids, documents);
  std::vector<int64_t> sizes(static_cast<size_t>(tokens.documents()));
  for (const int64_t document : documents) ++sizes[static_cast<size_t>(document)];
  return sizes;
}

std::shared_ptr<Tokenizer> bytes() { return tokenizers().build("byte", {}); }

std::shared_ptr<const TokenSequence> byte_tokens(const DataConfig& config, Split split) {
  return Corpus(config, 0).tokens(split, bytes().get(), 256);
}

}  // namespace

TEST_CASE("corpora: several files are several documents, in the order in which they are named", "[unit]") {
  const Scratch scratch;
  const DataConfig config{.train = {scratch.write("b.txt", "second"), scratch.write("a.txt", "one")}};
  const auto tokens = byte_tokens(config, Split::train);
  CHECK(text_of(*tokens, *bytes()) == "secondone");
  CHECK(document_sizes(*tokens) == Ids{6, 3});
}

TEST_CASE("corpora: text and token files stand in the order in which they are named", "[unit]") {
  const Scratch scratch;
  const DataConfig config{.train = {scratch.write("a.bin", std::string("z\0y\0", 4)), scratch.write("a.txt", "abc"),
                                    scratch.write("b.bin", std::string("x\0", 2))}};
  CHECK(text_of(*byte_tokens(config, Split::train), *bytes()) == "zyabcx");
}

TEST_CASE("corpora: blank lines may part documents, and no character is lost", "[unit]") {
  const Scratch scratch;
  const std::string text = "\n\none\nmore\n\n\n\ntwo\n\nthree\n\n";
  const DataConfig config{.train = {scratch.write("a.txt", text)}, .documents = Documents::blank_line};
  const auto tokens = byte_tokens(config, Split::train);
  CHECK(text_of(*tokens, *bytes()) == text);
  CHECK(document_sizes(*tokens) == Ids{2, 12, 5, 7});
}

TEST_CASE("corpora: a validation fraction is the last part of the training tokens, cut as nanoGPT cuts", "[unit]") {
  const Scratch scratch;
  for (const size_t size : {1, 9, 10, 11, 19, 999}) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
    DataConfig config{.train = {scratch.write("a.txt", text)}, .validation_fraction = 0.1};
    Corpus corpus(config, 0);
    const auto validation = corpus.tokens(Split::validation, bytes().get(), 256),
               train = corpus.tokens(Split::train, bytes().get(), 256);
    const auto kept = static_cast<size_t>(0.9 * static_cast<double>(size));
    CHECK(text_of(*train, *bytes()) == text.substr(0, kept));
    CHECK(text_of(*validation, *bytes()) == text.substr(kept));
  }
}

TEST_CASE("corpora: with weights the entries of the list are parts, a pattern one, and validation is cut from each",
          "[unit]") {
  const Scratch scratch;
  scratch.write("many/1.txt", "abcde");
  scratch.write("many/2.txt", "fghij");
  DataConfig config{.train = {scratch / "many/*.txt", scratch.write("one.txt", "0123456789")}, .weights = {3, 1}};
  Corpus whole(config, 0);
  CHECK(text_of(*whole.tokens(Split::train, bytes().get(), 256), *bytes()) == "abcdefghij0123456789");
  REQUIRE(whole.parts().size() == 2);
  CHECK(whole.parts()[0].name == (scratch / "many/*.txt").string());
  CHECK(whole.parts()[0].weight == 3.0);
  CHECK(whole.parts()[0].count == 10);
  config.validation_fraction = 0.2;
  Corpus cut(config, 0);
  CHECK(text_of(*cut.tokens(Split::validation, bytes().get(), 256), *bytes()) == "ij89");
  CHECK(text_of(*cut.tokens(Split::train, bytes().get(), 256), *bytes()) == "abcdefgh01234567");
  REQUIRE(cut.parts().size() == 2);
  CHECK(cut.parts()[1].count == 8);
  config.weights = {};
  Corpus plain(config, 0);
  CHECK(text_of(*plain.tokens(Split::validation, bytes().get(), 256), *bytes()) == "6789");
  CHECK(plain.parts().empty());
}

TEST_CASE("corpora: a tokenizer learns from all of the training files, and from no other", "[unit]") {
  const Scratch scratch;
  DataConfig config{.train = {scratch.write("a.txt", "abc"), scratch.write("b.txt", "xyz")},
                    .test = {scratch.write("t.txt", "q")},
                    .validation_fraction = 0.5};
  Corpus corpus(config, 0);
  CHECK(corpus.training_text() == "abcxyz");
  CHECK(corpus.training_text() == "abcxyz");
}

TEST_CASE("corpora: a character that the training text lacks is named with file, line and column", "[unit]") {
  const Scratch scratch;
  std::string far;  // beyond the first piece that is encoded at once
  for (int i = 0; i < 300'000; ++i) far += "aaaa\n";
  const DataConfig config{.train = {scratch.write("a.txt", "a\n")},
                          .validation = {scratch.write("v.txt", far + "aaé\n")}};
  Corpus corpus(config, 0);
  const auto tokenizer = tokenizers().build("char", {.text = [&] { return corpus.training_text(); }});
  const auto message = thrown<DataError>([&] { corpus.tokens(Split::validation, tokenizer.get(), 2); });
  CHECK(contains(message, (scratch / "v.txt").string()));
  CHECK(contains(message, "line 300001, column 3"));
  CHECK(contains(message, "'é' (U+00E9)"));
}

TEST_CASE("corpora: long texts are encoded in pieces without a seam", "[unit]") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += i % 7 == 0 ? "äb\n" : "cdefg";
  const DataConfig config{.train = {scratch.write("a.txt", text)}};
  Corpus corpus(config, 0);
  const auto tokenizer = tokenizers().build("char", {.text = [&] { return corpus.training_text(); }});
  CHECK(text_of(*corpus.tokens(Split::train, tokenizer.get(), tokenizer->vocab_size()), *tokenizer) == text);
}

TEST_CASE("corpora: text without a tokenizer says what to set", "[unit]") {
  const Scratch scratch;
  Corpus corpus(DataConfig{.train = {scratch.write("a.txt", "abc")}}, 0);
  CHECK(contains(thrown<ConfigError>([&] { corpus.tokens(Split::train, nullptr, 10); }), "task.tokenizer"));
}

TEST_CASE("corpora: a split that is not there is asked for by its key", "[unit]") {
  Corpus corpus(DataConfig{.train = {"a.txt"}}, 0);
  CHECK(corpus.has(Split::train));
  CHECK_FALSE(corpus.has(Split::validation));
  CHECK(contains(thrown<ConfigError>([&] { corpus.tokens(Split::test, bytes().get(), 256); }), "task.data.test"));
  CHECK(contains(thrown<ConfigError>([&] { corpus.tokens(Split::validation, bytes().get(), 256); }),
                 "validation_fraction"));
}

TEST_CASE("corpora: bad lines are left out, counted and told of each split", "[unit]") {
  const Scratch scratch;
  DataConfig config{.train = {scratch.write("a.txt", "abc\ncab\n")},
                    .validation = {scratch.write("b.txt", "ab\nabxab\nxx\nc\xE9\nba\ncax")},
                    .on_bad_line = OnBadLine::skip};
  const auto letters = tokenizers().build("char", {.text = [] { return std::string("abc\n"); }});
  Corpus corpus(config, 0);
  CHECK(text_of(*corpus.tokens(Split::validation, letters.get(), 4), *letters) == "ab\n\n\n\nba\n");
  CHECK(text_of(*corpus.tokens(Split::train, letters.get(), 4), *letters) == "abc\ncab\n");
  CHECK(corpus.left_out(Split::train).empty());
  const std::string told = corpus.left_out(Split::validation);
  CHECK(contains(told, "4 lines left out: "));
  CHECK(contains(told, "b.txt: line 4: byte 0xE9"));
  CHECK(contains(told, "b.txt: line 2, column 3: unknown character 'x' (U+0078)"));
  CHECK(contains(told, "b.txt: line 3, column 1: unknown character"));
  config.on_bad_line = OnBadLine::stop;
  config.validation = {scratch.write("c.txt", "ab\nabxab\n")};
  CHECK(contains(thrown<DataError>([&] { Corpus(config, 0).tokens(Split::validation, letters.get(), 4); }),
                 "c.txt: line 2, column 3: unknown character 'x'"));

  const auto no_break = tokenizers().build("char", {.text = [] { return std::string("abc"); }});
  config.on_bad_line = OnBadLine::skip;
  CHECK(text_of(*Corpus(config, 0).tokens(Split::train, no_break.get(), 3), *no_break) == "abccab");

  config.column = "text";
  config.train = {scratch.write("d.jsonl", "{\"text\": \"ab\"}\n{\"txt\": 1}\n{\"text\": \"ba\"}\n")};
  Corpus records(config, 0);
  CHECK(text_of(*records.tokens(Split::train, letters.get(), 4), *letters) == "ab\n\nba\n\n");
  CHECK(contains(records.left_out(Split::train), "d.jsonl: line 2: 'text' is missing"));
  config.train = {scratch.write("e.jsonl", "{\"text\": \"ab\"}\n{\"text\": \"bx\"}\n")};
  Corpus lacking(config, 0);
  lacking.tokens(Split::train, letters.get(), 4);
  CHECK(contains(lacking.left_out(Split::train), "e.jsonl: unknown character 'x'"));  // lines of texts are no lines
}

TEST_CASE("corpora: made text comes with all three splits, each another text", "[unit]") {
  const DataConfig config{.generate = Choice<TextSource>("chase")};
  Corpus corpus(config, 5);
  std::vector<std::string> heads;
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    REQUIRE(corpus.has(split));
    heads.push_back(text_of(*corpus.tokens(split, bytes().get(), 256), *bytes()).substr(0, 100));
  }
  CHECK(heads[0] != heads[1]);
  CHECK(heads[1] != heads[2]);
}

TEST_CASE("corpora: settings that cannot hold together are named together", "[unit]") {
  const auto complaints = [](const DataConfig& config) {
    std::string all;
    for (const auto& text : contradictions(config, "task.data")) all += text + "\n";
    return all;
  };
  const Choice<TextSource> made("chase");
  CHECK(complaints({.train = {"a"}, .validation_fraction = 0.1}).empty());
  CHECK(complaints({.generate = made}).empty());
  CHECK(contains(complaints({}), "task.data.train is missing"));
  CHECK(contains(complaints({.train = {"a"}, .validation = {"b"}, .validation_fraction = 0.1}),
                 "task.data.validation and task.data.validation_fraction"));
  CHECK(contains(complaints({.train = {"a"}, .generate = made}), "task.data.generate and task.data.train"));
  CHECK(contains(complaints({.validation = {"a"}, .generate = made}), "task.data.generate and task.data.validation "));
  CHECK(contains(complaints({.test = {"a"}, .generate = made}), "task.data.generate and task.data.test"));
  CHECK(contains(complaints({.weights = {1}, .generate = made}), "task.data.weights are of the files"));
  CHECK(contains(complaints({.train = {"a", "b"}, .weights = {1}}), "task.data.weights are 1"));
  CHECK(complaints({.train = {"a", "b"}, .weights = {1, 2}}).empty());
  CHECK(contains(complaints({.validation_fraction = 0.1, .generate = made}),
                 "task.data.generate and task.data.validation_fraction"));
  CHECK(streamed_contradictions({.train = {"a"}, .validation = {"b"}}, "task.data").empty());
  CHECK(streamed_contradictions({.weights = {1}, .validation_fraction = 0.1, .generate = made}, "task.data").size() ==
        3);
}

TEST_CASE("corpora: the settings are read from YAML, one file or a list of them", "[unit]") {
  DataFile file;
  load_config_text("data: {train: a.txt, validation: [b.txt, 'c*.txt'], documents: blank_line, token_type: uint32}",
                   walk_of(file), {});
  REQUIRE(file.data.train.size() == 1);
  CHECK(file.data.train[0].filename() == "a.txt");
  CHECK(file.data.validation.size() == 2);
  CHECK(file.data.documents == Documents::blank_line);
  CHECK(file.data.token_type == TokenType::uint32);
  DataFile weighted;
  load_config_text("data: {train: [a.txt, 'b*.txt'], weights: [0.7, 0.3]}", walk_of(weighted), {});
  CHECK(weighted.data.weights == std::vector<double>{0.7, 0.3});
  DataFile made;
  load_config_text("data: {generate: {kind: chase, sentences: 10}}", walk_of(made), {});
  REQUIRE(made.data.generate);
  CHECK(contains(thrown<ConfigError>([] {
                   DataFile bad;
                   load_config_text("data: {train: a, validation_fraction: 1.0}", walk_of(bad), {});
                 }),
                 "validation_fraction"));
}

TEST_CASE("corpora: tiny Shakespeare has 1115394 characters, 65 of them distinct", "[unit]") {
  const fs::path path = fs::path(ORDO_SOURCE_DIR) / "../shared/data/tiny-shakespeare/input.txt.gz";
  if (!fs::exists(path)) {
    WARN("skipped: " << path << " is absent");
    return;
  }
  Corpus corpus(DataConfig{.train = {path}, .validation_fraction = 0.1}, 0);
  const auto tokenizer = tokenizers().build("char", {.text = [&] { return corpus.training_text(); }});
  CHECK(tokenizer->vocab_size() == 65);
  CHECK(corpus.tokens(Split::train, tokenizer.get(), 65)->size() == 1003854);
  CHECK(corpus.tokens(Split::validation, tokenizer.get(), 65)->size() == 111540);
}

TEST_CASE("corpora: the texts of a table's column, or of JSON lines, with a blank line behind each", "[unit]") {
  const Scratch scratch;
  DataConfig config{.train = {scratch.write("a.tsv", "first\tone poem\nsecond\tanother\n")},
                    .validation = {scratch.write("b.csv", "title,text\n\"a, b\",\"two\nlines\"\n")},
                    .column = "2",
                    .documents = Documents::blank_line};
  const auto tokens = byte_tokens(config, Split::train);
  CHECK(text_of(*tokens, *bytes()) == "one poem\n\nanother\n\n");
  CHECK(document_sizes(*tokens) == Ids{10, 9});
  config.column = "text";
  CHECK(text_of(*byte_tokens(config, Split::validation), *bytes()) == "two\nlines\n\n");
  CHECK(contains(thrown<DataError>([&] { byte_tokens(config, Split::train); }), "text"));
  config.train = {scratch.write("d.dat", "text\nonce\n")};
  CHECK(contains(thrown<DataError>([&] { byte_tokens(config, Split::train); }), "task.data.format"));
  config.format = RecordFormat::tsv;
  CHECK(text_of(*byte_tokens(config, Split::train), *bytes()) == "once\n\n");
  CHECK(contradictions({.train = config.train, .format = RecordFormat::tsv}, "task.data").size() == 1);
  config.format = RecordFormat::automatic;
  config.train = {scratch.write("c.jsonl", "{\"text\": \"hallo\"}\n")};
  CHECK(text_of(*byte_tokens(config, Split::train), *bytes()) == "hallo\n\n");
}

}  // namespace ordo::test
