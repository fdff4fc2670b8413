// SPDX-License-Identifier: Apache-2.0
#include "support/hostile_corpora.h"
#include "support/packing.h"

namespace ordo::test {

namespace {

const std::string kLineModel = R"(
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 2, length: 4}
)";

// Training and validation read this file.
std::vector<std::string> both_from(const std::string& name) {
  return {"task.data.train=FOLDER/" + name, "task.data.validation=FOLDER/" + name};
}

std::string cut_in_half(const std::string& bytes) { return bytes.substr(0, bytes.size() / 2); }

// The header of llm.c, which promises so many ids.
std::string token_header(char promised) {
  std::string bytes(1024, '\0');
  bytes.replace(0, 4, "\x88\xD8\x34\x01");  // 20240520, little-endian
  bytes[4] = 1;
  bytes[8] = promised;
  return bytes;
}

}  // namespace

HostileFamily hostile_texts() {
  const std::string config = R"(
device: cpu
task: {kind: language_modeling, tokenizer: byte, data: {train: FOLDER/a.txt, validation: FOLDER/a.txt}}
)" + kLineModel;
  const std::string hundred =
      "a hundred characters, give or take some, so that packing them gives something to be cut off";
  return {
      config,
      {
          {"an empty file", {{"a.txt", ""}}, {"FOLDER/a.txt is empty"}},
          {"a missing file", {}, {"cannot read FOLDER/a.txt: there is no such file"}},
          {"a folder", {{"a.txt/b.txt", "text\n"}}, {"cannot read FOLDER/a.txt: it is a folder; name its files"}},
          {"a pattern that nothing matches", {}, {"no file matches FOLDER/*.text"}, both_from("*.text")},
          {"a file that holds more than its size says",
           {},
           {"/proc/self/status changed while it was read: it had 0 bytes"},
           {"task.data.train=/proc/self/status"}},
          {"a file named twice",
           {{"a.txt", "some text\n"}},
           {"FOLDER/a.txt is named twice"},
           {"task.data.train=[FOLDER/a.txt, FOLDER/./a.txt]"}},
          {"one line", {{"a.txt", "hello world\n"}}, {"train: 12 tokens in 1 document"}, {}, kIsRead},
          {"one character", {{"a.txt", "x"}}, {"the train split is too short", "FOLDER/a.txt"}},
          {"no line break at the end", {{"a.txt", "hello\nworld"}}, {"train: 11 tokens in 1 document"}, {}, kIsRead},
          {"CRLF", {{"a.txt", "one\r\ntwo\r\n"}}, {"train: 8 tokens in 1 document"}, {}, kIsRead},
          {"a CR alone", {{"a.txt", "one\rtwo\n"}}, {"train: 8 tokens in 1 document"}, {}, kIsRead},
          {"U+2028, U+0085, VT and FF inside lines",
           {{"a.txt", "a\xE2\x80\xA8z\xC2\x85z\x0Bz\x0Cz\n"}},
           {"train: 13 tokens in 1 document"},
           {},
           kIsRead},
          {"a byte order mark", {{"a.txt", "\xEF\xBB\xBFhello\n"}}, {"train: 6 tokens in 1 document"}, {}, kIsRead},
          {"a byte order mark alone", {{"a.txt", "\xEF\xBB\xBF"}}, {"FOLDER/a.txt is empty"}},
          {"NUL inside a line",
           {{"a.txt", std::string("ab\0cd\n", 6)}},
           {"train: 6 tokens in 1 document"},
           {},
           kIsRead},
          {"blanks alone", {{"a.txt", "   \n  \n"}}, {"train: 7 tokens in 1 document"}, {}, kIsRead},
          {"a line of 50 MB",
           {{"a.txt", std::string(50'000'000, 'x')}},
           {"train: 50000000 tokens in 1 document"},
           {},
           kIsRead},
          {"UTF-16", {{"a.txt", std::string("\xFF\xFEh\0i\0\n\0", 8)}}, {"FOLDER/a.txt looks like UTF-16", "iconv"}},
          {"UTF-16 without its mark",
           {{"a.txt", std::string("h\0e\0l\0l\0o\0 \0y\0o\0u\0\n\0", 20)}},
           {"FOLDER/a.txt looks like UTF-16"}},
          {"Latin-1",
           {{"a.txt", "one\nt\xE9t\xE9\n"}},
           {"FOLDER/a.txt: line 2: byte 0xE9 (byte 5 of the file) is not valid UTF-8", "iconv -f LATIN1"}},
          {"half a character at the end", {{"a.txt", "one\ntwo\xE2\x80"}}, {"FOLDER/a.txt: line 2: byte 0xE2"}},
          {"Latin-1 that is left out",
           {{"a.txt", "one\nt\xE9t\xE9\ntwo\n"}},
           {"train: 9 tokens in 1 document", "train: 1 line left out: FOLDER/a.txt: line 2: byte 0xE9"},
           {"task.data.on_bad_line=skip"},
           kIsRead},
          {"an empty file among those that are streamed",
           {{"a.txt", "some text\n"}, {"b.txt", ""}},
           {"FOLDER/b.txt is empty"},
           {"task.sampling=streamed", "task.data.train=[FOLDER/a.txt, FOLDER/b.txt]"}},
          {"a token file that is streamed",
           {{"a.txt", "some text\n"}, {"a.bin", "abcd"}},
           {"FOLDER/a.bin holds token ids, which are mapped and need no streaming: use task.sampling: packed"},
           {"task.sampling=streamed", "task.data.train=FOLDER/a.bin"},
           kSettingsWrong},
          {"a buffer of what is not streamed",
           {{"a.txt", "some text\n"}},
           {"task.data.buffer is of a training text that is streamed"},
           {"task.data.buffer=4"},
           kSettingsWrong},
          {"a surrogate as UTF-8", {{"a.txt", "\xED\xA0\x80\n"}}, {"FOLDER/a.txt: line 1: byte 0xED"}},
          {"a .gz that was cut off",
           {{"a.gz", cut_in_half(gzip_of(hundred))}},
           {"cannot unpack FOLDER/a.gz", "the file is damaged or cut off"},
           both_from("a.gz")},
          {"a text named .gz",
           {{"a.gz", hundred}},
           {"FOLDER/a.gz is named .gz but is not gzip data"},
           both_from("a.gz")},
          {"a .gz of nothing", {{"a.gz", gzip_of("")}}, {"FOLDER/a.gz is empty"}, both_from("a.gz")},
          {"a .zst that was cut off",
           {{"a.zst", cut_in_half(zstd_of(hundred))}},
           {"cannot unpack FOLDER/a.zst: its last frame is not whole"},
           both_from("a.zst")},
          {"a text named .zst",
           {{"a.zst", hundred}},
           {"FOLDER/a.zst is named .zst but is not zstd data"},
           both_from("a.zst")},
          {"an empty token file", {{"a.bin", ""}}, {"FOLDER/a.bin", "empty"}, both_from("a.bin")},
          {"a token file cut inside an id",
           {{"a.bin", std::string("\1\0\2\0\3", 5)}},
           {"FOLDER/a.bin holds 5 bytes of ids, which is no multiple of 2"},
           both_from("a.bin")},
          {"an id that no token has",
           {{"a.bin", std::string("\1\0\xBC\2\3\0", 6)}},
           {"FOLDER/a.bin: token 1 has id 700, the vocabulary has 256"},
           both_from("a.bin")},
          {"a token file shorter than its header says",
           {{"a.bin", token_header(9) + std::string("\1\0\2\0", 4)}},
           {"FOLDER/a.bin: the header promises 9 tokens, the file holds 2"},
           both_from("a.bin")},
      }};
}

HostileFamily hostile_columns() {
  const std::string config = R"(
device: cpu
task: {kind: language_modeling, tokenizer: byte, data: {column: text}}
)" + kLineModel;
  const auto csv = both_from("a.csv"), tsv = both_from("a.tsv"), jsonl = both_from("a.jsonl");
  return {config,
          {
              {"a tab in a cell of a TSV",
               {{"a.tsv", "n\ttext\n1\tone\n2\ttwo\ttoo\n"}},
               {"FOLDER/a.tsv: line 3: expected 2 cells, found 3"},
               tsv},
              {"another column", {{"a.tsv", "n\ttexts\n1\tone\n"}}, {"FOLDER/a.tsv: there is no column 'text'"}, tsv},
              {"a header alone", {{"a.tsv", "n\ttext\n"}}, {"FOLDER/a.tsv: there is no row behind the header"}, tsv},
              {"a table whose name tells nothing",
               {{"a.dat", "n\ttext\n1\tx\n"}},
               {"FOLDER/a.dat: what it is cannot be told by its name"},
               both_from("a.dat")},
              {"a table named .txt, one with tabs",
               {{"a.txt", "n\ttext\n1\twords enough\n"}},
               {"train: 14 tokens in 1 document"},
               both_from("a.txt"),
               kIsRead},
              {"line breaks in quotes",
               {{"a.csv", "n,text\n1,\"one\nand more\"\n2,\"a \"\"word\"\"\"\n"}},
               {"train: 24 tokens in 1 document"},
               csv,
               kIsRead},
              {"a quote that is never closed",
               {{"a.csv", "n,text\n1,one\n2,\"two\n3,three\n"}},
               {"FOLDER/a.csv: line 3: a quoted cell of this row is never closed"},
               csv},
              {"a quote inside a cell",
               {{"a.csv", "n,text\n1,an \"odd\" one\n"}},
               {"FOLDER/a.csv: line 2: a quote stands inside a cell"},
               csv},
              {"two columns of one name",
               {{"a.csv", "text,text\none,two\n"}},
               {"FOLDER/a.csv: line 1: the header names column 'text' twice"},
               csv},
              {"a key that is missing",
               {{"a.jsonl", "{\"text\": \"one\"}\n{\"txt\": \"two\"}\n"}},
               {"FOLDER/a.jsonl: line 2: 'text' is missing"},
               jsonl},
              {"a key twice",
               {{"a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\", \"text\": \"three\"}\n"}},
               {"FOLDER/a.jsonl: line 2", "key 'text' appears twice"},
               jsonl},
              {"a line that is no JSON",
               {{"a.jsonl", "{\"text\": \"one\"}\n\n{text: two}\n"}},
               {"FOLDER/a.jsonl: line 2: expected a JSON value, found a blank line"},
               jsonl},
              {"a number where a text is due",
               {{"a.jsonl", "{\"text\": \"one\"}\n{\"text\": 2}\n"}},
               {"FOLDER/a.jsonl: line 2: text: expected a string, found 2"},
               jsonl},
          }};
}

}  // namespace ordo::test
