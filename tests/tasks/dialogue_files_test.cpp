// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/dialogue_files.h"

#include <zlib.h>

#include "dialogues.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::vector<FiledDialogue> read_whole(const fs::path& path, DialogueFormat format = DialogueFormat::automatic) {
  BadLines bad;
  return read_dialogues(path, format, bad);
}

// "user: put … | system: the …"
std::string line_of(const Spoken& turns) {
  std::string line;
  for (const auto& [speaker, text] : turns)
    line += (line.empty() ? "" : " | ") + std::string(speaker == Speaker::user ? "user: " : "system: ") + text;
  return line;
}

void check_holds(const std::vector<FiledDialogue>& found, const std::vector<Spoken>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(line_of(found[i].spoken.turns) == line_of(expected[i]));
    CHECK(found[i].number == static_cast<int64_t>(i));
  }
}

fs::path write_packed(const Scratch& scratch, const std::string& name, const std::string& text) {
  const fs::path path = scratch / name;
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return path;
}

}  // namespace

TEST_CASE("dialogue files: each format is told by how it begins, packed or not", "[unit]") {
  const Scratch scratch;
  const auto english = english_dialogues(5), chinese = chinese_dialogues(5);
  check_holds(read_whole(scratch.write("a.json", sgd_text(english))), english);
  check_holds(read_whole(scratch.write("b.json", crosswoz_text(chinese))), chinese);
  check_holds(read_whole(scratch.write("c.json", jsonl_text(english))), english);
  check_holds(read_whole(scratch.write("d.jsonl", jsonl_text(chinese))), chinese);
  check_holds(read_whole(scratch.write("one.json", jsonl_text(english_dialogues(1)))), english_dialogues(1));
  check_holds(read_whole(write_packed(scratch, "e.json.gz", crosswoz_text(english))), english);
  check_holds(read_whole(write_packed(scratch, "f.jsonl.gz", jsonl_text(english))), english);
  check_holds(read_whole(scratch.write("g.txt", sgd_text(chinese)), DialogueFormat::sgd), chinese);
}

TEST_CASE("dialogue files: a dialogue tells its file, line and name", "[unit]") {
  const Scratch scratch;
  const auto sgd = read_whole(scratch.write("a.json",
                                            "[\n{\"dialogue_id\": \"7_0\",\n\"turns\": [{\"speaker\": \"USER\", "
                                            "\"utterance\": \"a\"}, {\"speaker\": \"SYSTEM\", \"utterance\": "
                                            "\"b\"}]},\n {\"turns\": [{\"speaker\": \"SYSTEM\", \"utterance\": "
                                            "\"c\"}, {\"speaker\": \"USER\", \"utterance\": \"d\"}]}]"));
  REQUIRE(sgd.size() == 2);
  CHECK(sgd[0].spoken.where.ends_with("a.json: line 2: dialogue 7_0"));
  CHECK(sgd[1].spoken.where.ends_with("a.json: line 4: dialogue 2"));
  const auto crosswoz = read_whole(scratch.write("b.json", crosswoz_text(chinese_dialogues(1))));
  CHECK(crosswoz[0].spoken.where.ends_with("b.json: line 2: dialogue 100"));
  const auto lines = read_whole(scratch.write("c.jsonl", jsonl_text(chinese_dialogues(2))));
  CHECK(lines[1].spoken.where.ends_with("c.jsonl: line 2"));
}

TEST_CASE("dialogue files: what is no dialogue is refused with file, line and place", "[unit]") {
  const Scratch scratch;
  const auto refusal = [&](const std::string& text) {
    return thrown<DataError>([&] { read_whole(scratch.write("bad.json", text)); });
  };
  struct Case {
    std::string text, told;
  };
  const std::string good = R"({"speaker": "USER", "utterance": "hello"})";
  const std::vector<Case> table{
      {R"([{"turns": []}])", "bad.json: line 1: dialogue 1: turns: the dialogue has no turns"},
      {R"([{"frames": []}])", "dialogue 1: 'turns' is missing"},
      {R"([{"turns": [)" + good + R"(, {"speaker": "BOT", "utterance": "hi"}]}])",
       "turns[1].speaker: unknown speaker 'BOT'; there are USER, SYSTEM"},
      {R"([{"turns": [)" + good + R"(, {"speaker": "SYSTEM", "utterance": " 　"}]}])",
       "turns[1].utterance: the utterance is empty"},
      {R"([{"turns": [)" + good + R"(, {"speaker": "SYSTEM"}]}])", "turns[1]: 'utterance' is missing"},
      {R"([{"turns": [)" + good + R"(, {"speaker": "SYSTEM", "utterance": 5}]}])",
       "turns[1].utterance: expected a string, found 5"},
      {R"([{"turns": [)" + good + "]}]", "turns: all turns are of 'USER': a dialogue has two sides"},
      {R"([{"turns": "hello"}])", "turns: expected an array, found \"hello\""},
      {"[\n 7]", "expected an object, found 7"},
      {"[]", "bad.json: no dialogue is in it"},
      {"[{\"turns\": [\n}]", "bad.json: not valid JSON at line 2, column 1"},
      {R"({"11": {"messages": [{"role": "bot", "content": "x"}]}})",
       "dialogue 11: messages[0].role: unknown role 'bot'"},
      {R"({"11": {"messages": [{"role": "usr", "content": "x"}, {"role": "sys", "content": "y"}]}, "11": {}})",
       "key '11' appears twice"},
      {R"({"11": {"goal": 1}})", "dialogue 11: 'messages' is missing"},
      {R"({"turns": [{"role": "assistant", "text": "x"}]})", "unknown role 'assistant'; there are user, system"},
      {"hello", "expected dialogues as JSON"},
      {"  \n ", "expected dialogues as JSON"},
      {"", "is empty"},
  };
  for (const auto& [text, told] : table) {
    CAPTURE(text);
    const std::string message = refusal(text);
    CAPTURE(message);
    CHECK(contains(message, told));
    CHECK(contains(message, "bad.json"));
  }
  CHECK(contains(
      thrown<DataError>([&] { read_whole(scratch.write("bad.jsonl", jsonl_text(english_dialogues(1)) + "{\n")); }),
      "bad.jsonl: line 2: not valid JSON"));
}

TEST_CASE("dialogue files: a bad dialogue can be left out and counted; the others keep their numbers", "[unit]") {
  const Scratch scratch;
  auto dialogues = english_dialogues(4);
  dialogues[1].clear();
  for (const auto& path :
       {scratch.write("a.json", sgd_text(dialogues)), scratch.write("b.json", crosswoz_text(dialogues)),
        scratch.write("c.jsonl", jsonl_text(dialogues))}) {
    CAPTURE(path);
    BadLines bad(OnBadLine::skip);
    const auto found = read_dialogues(path, DialogueFormat::automatic, bad);
    REQUIRE(found.size() == 3);
    CHECK(found[0].number == 0);
    CHECK(found[1].number == 2);
    CHECK(bad.count() == 1);
    CHECK(contains(bad.sentence(), "the dialogue has no turns"));
  }
  BadLines bad(OnBadLine::skip);
  CHECK(contains(
      thrown<DataError>([&] { read_dialogues(scratch.write("d.json", "[{}]"), DialogueFormat::automatic, bad); }),
      "no dialogue is in it: 1 line left out"));
}

TEST_CASE("dialogue files: the published files are read whole", "[slow]") {
  const auto sgd = data_set("sgd-sample/train_dialogues_033.json.gz"), crosswoz = data_set("crosswoz-val/val.json.gz");
  if (!sgd || !crosswoz) return;
  const auto turns = [](const std::vector<FiledDialogue>& dialogues) {
    size_t count = 0;
    for (const auto& dialogue : dialogues) count += dialogue.spoken.turns.size();
    return count;
  };
  const auto english = read_whole(*sgd), chinese = read_whole(*crosswoz);
  CHECK(english.size() == 128);
  CHECK(turns(english) == 1172);
  CHECK(chinese.size() == 500);
  CHECK(turns(chinese) == 8458);
}

}  // namespace ordo::test
