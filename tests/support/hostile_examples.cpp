// SPDX-License-Identifier: Apache-2.0
#include "support/hostile_corpora.h"

namespace ordo::test {

HostileFamily hostile_pairs() {
  const std::string config = R"(
device: cpu
task: {kind: translation, tokenizer: byte}
model: {kind: encoder_decoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 2, length: 12}
)";
  const std::string sides = "task.data.train={source: FOLDER/a.en, target: FOLDER/a.zh}";
  const std::string skip = "task.data.on_bad_line=skip";
  const auto pairs = [](const std::string& name) { return "task.data.train={files: FOLDER/" + name + "}"; };
  const std::string good_json = "{\"source\": \"one\", \"target\": \"eins\"}\n";
  const std::string both = "FOLDER/a.en and FOLDER/a.zh: line 2: ";
  return {config,
          {
              {"a blank line on one side",
               {{"a.en", "one\ntwo\nthree\n"}, {"a.zh", "一\n\n三\n"}},
               {both + "the target is empty"},
               {sides}},
              {"a blank line on one side, to be skipped",
               {{"a.en", "one\ntwo\nthree\n"}, {"a.zh", "一\n\n三\n"}},
               {"train: 2 pairs", "1 line left out: " + both + "the target is empty"},
               {sides, skip},
               kIsRead},
              {"blanks alone on one side",
               {{"a.en", "one\n \t\nthree\n"}, {"a.zh", "一\n二\n三\n"}},
               {both + "the source is empty"},
               {sides}},
              {"a line more on one side",
               {{"a.en", "one\ntwo\nthree\n"}, {"a.zh", "一\n二\n"}},
               {"FOLDER/a.en has 3 lines, FOLDER/a.zh has 2"},
               {sides, skip}},
              {"a blank line more at the end",
               {{"a.en", "one\ntwo\n\n"}, {"a.zh", "一\n二\n"}},
               {"FOLDER/a.en has 3 lines, FOLDER/a.zh has 2"},
               {sides}},
              {"a line break at the end of one side alone",
               {{"a.en", "one\ntwo"}, {"a.zh", "一\n二\n"}},
               {"train: 2 pairs"},
               {sides},
               kIsRead},
              {"one side alone",
               {{"a.en", "one\n"}},
               {"FOLDER/a.en", "each needs the other"},
               {"task.data.train={source: FOLDER/a.en}"}},
              {"one side in UTF-16",
               {{"a.en", "one\n"}, {"a.zh", std::string("\xFF\xFE\0N\n\0", 6)}},
               {"FOLDER/a.zh looks like UTF-16"},
               {sides, skip}},
              {"blank lines alone, to be skipped",
               {{"a.en", "\n\n"}, {"a.zh", "\n\n"}},
               {"no pair is left for the train split", "2 lines left out: FOLDER/a.en and FOLDER/a.zh: line 1"},
               {sides, skip}},
              {"pairs that are all too long",
               {{"a.en", "much longer than twelve\n"}, {"a.zh", "一\n"}},
               {"hostile.yaml:5:", "the train split has no pair of at most 12 tokens a side: its shortest has 23"},
               {sides},
               kSettingsWrong},
              {"a tab in a cell of a TSV",
               {{"a.tsv", "one\teins\ntwo\tzwei\tmore\n"}},
               {"FOLDER/a.tsv: line 2: expected 2 cells, found 3"},
               {pairs("a.tsv")}},
              {"line breaks in quotes",
               {{"a.csv", "one,\"eins\nzwei\"\ntwo,zwei\n"}},
               {"train: 2 pairs"},
               {pairs("a.csv")},
               kIsRead},
              {"a quote that is never closed",
               {{"a.csv", "one,eins\n\"two,zwei\n"}},
               {"FOLDER/a.csv: line 2: a quoted cell of this row is never closed"},
               {pairs("a.csv"), skip}},
              {"a key that is missing",
               {{"a.jsonl", good_json + "{\"source\": \"two\"}\n"}},
               {"FOLDER/a.jsonl: line 2: 'target' is missing"},
               {pairs("a.jsonl")}},
              {"a key twice",
               {{"a.jsonl", good_json + "{\"source\": \"two\", \"source\": \"2\", \"target\": \"zwei\"}\n"}},
               {"FOLDER/a.jsonl: line 2", "key 'source' appears twice"},
               {pairs("a.jsonl")}},
              {"a line cut off",
               {{"a.jsonl", good_json + "{\"source\": \"two\", \"tar"}},
               {"FOLDER/a.jsonl: line 2: not valid JSON"},
               {pairs("a.jsonl")}},
              {"lists in place of objects, to be skipped",
               {{"a.jsonl", good_json + "[\"two\", \"zwei\"]\n" + good_json + "[]\n"}},
               {"train: 2 pairs", "2 lines left out: FOLDER/a.jsonl: line 2: expected an object"},
               {pairs("a.jsonl"), skip},
               kIsRead},
              {"a name that tells no format",
               {{"a.dat", "one\teins\n"}},
               {"FOLDER/a.dat: what it is cannot be told by its name"},
               {pairs("a.dat")}},
          }};
}

HostileFamily hostile_labelled_texts() {
  const std::string config = R"(
device: cpu
task: {kind: text_classification, tokenizer: byte, classes: [no, yes], data: {train: FOLDER/a.tsv}}
model: {kind: encoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope, pool: mean}
train: {steps: 2, batch_size: 2, length: 16}
)";
  const std::string free = "task.classes=[]", skip = "task.data.on_bad_line=skip";
  const auto from = [](const std::string& name) { return "task.data.train=FOLDER/" + name; };
  return {config,
          {
              {"a label outside the set",
               {{"a.tsv", "one\tyes\ntwo\tno\nthree\tmaybe\n"}},
               {"FOLDER/a.tsv: line 3: there is no class 'maybe'; there are no, yes"}},
              {"a label outside the set, to be skipped",
               {{"a.tsv", "one\tyes\ntwo\tno\nthree\tmaybe\n"}},
               {"train: 2 examples", "1 line left out: FOLDER/a.tsv: line 3: there is no class 'maybe'"},
               {skip},
               kIsRead},
              {"a label that is missing",
               {{"a.tsv", "one\tyes\ntwo\nthree\tno\n"}},
               {"FOLDER/a.tsv: line 2: expected 2 cells, found 1"}},
              {"a label of blanks", {{"a.tsv", "one\tyes\ntwo\t \n"}}, {"FOLDER/a.tsv: line 2: the label is empty"}},
              {"an empty text", {{"a.tsv", "one\tyes\n\tno\n"}}, {"FOLDER/a.tsv: line 2: the text is empty"}},
              {"a column that is not there",
               {{"a.tsv", "text\tlabel\none\tyes\n"}},
               {"FOLDER/a.tsv: there is no column 'lable'; did you mean 'label'?"},
               {"task.data.header=true", "task.data.label=lable"}},
              {"a header that is taken for an example",
               {{"a.tsv", "text\tlabel\none\tyes\ntwo\tno\nthree\tno\nfour\tyes\n"}},
               {"FOLDER/a.tsv: line 1: 'label' is the label of this line alone"},
               {free}},
              {"a class without an example",
               {{"a.tsv", "one\tyes\ntwo\tyes\n"}},
               {"the training split has no example of class no"}},
              {"one class",
               {{"a.tsv", "one\tyes\ntwo\tyes\n"}},
               {"needs two classes or more, found 1: 'yes'"},
               {free},
               kSettingsWrong},
              {"several labels where one is due",
               {{"a.tsv", "one\tyes\ntwo\tno,yes\n"}},
               {"FOLDER/a.tsv: line 2: there is no class 'no,yes'"}},
              {"several labels, to be left out",
               {{"a.tsv", "one\tyes\ntwo\tno,yes\nthree\tno\n"}},
               {"train: 2 examples", "1 examples with several labels left out"},
               {"task.only_single=true"},
               kIsRead},
              {"one label twice",
               {{"a.tsv", "one\tyes,yes\ntwo\tno\n"}},
               {"FOLDER/a.tsv: line 1: one of the labels 'yes,yes' is there twice"},
               {"task.labels=multi"}},
              {"a label that is no text",
               {{"a.jsonl", "{\"text\": \"one\", \"label\": \"yes\"}\n{\"text\": \"two\", \"label\": null}\n"}},
               {"FOLDER/a.jsonl: line 2: 'label' is missing"},
               {from("a.jsonl")}},
              {"a text of the test that is trained on",
               {{"a.tsv", "one\tyes\ntwo\tno\n"}, {"b.tsv", "two\tno\nthree\tyes\n"}},
               {"test: 2 examples", "the text of 1 is among those of train, too"},
               {"task.data.test=FOLDER/b.tsv"},
               kIsRead},
              {"an empty list of classes",
               {{"a.tsv", "one\tyes\n"}, {"classes.txt", "\n"}},
               {"FOLDER/classes.txt", "needs two classes or more"},
               {free, "task.classes_file=FOLDER/classes.txt"},
               kSettingsWrong},
              {"no text fits",
               {{"a.tsv", "one and two and three\tyes\ntwo\tno\n"}},
               {"train.length", "FOLDER/a.tsv: line 1", "give 21 for train.length"},
               {},
               kSettingsWrong},
          }};
}

HostileFamily hostile_tagged_texts() {
  const std::string config = R"(
device: cpu
task: {kind: token_classification, tokenizer: byte, classes: [X, Y], data: {train: FOLDER/a.conll}}
model: {kind: encoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 2, length: 16}
)";
  const std::string json = "task.data.train=FOLDER/a.jsonl";
  const std::string good_json = "{\"tokens\": [\"a\"], \"tags\": [\"X\"]}\n";
  return {config,
          {
              {"more words than tags",
               {{"a.jsonl", good_json + "{\"tokens\": [\"a\", \"b\"], \"tags\": [\"X\"]}\n"}},
               {"FOLDER/a.jsonl: line 2: 2 words have 1 tags"},
               {json}},
              {"a sentence without words",
               {{"a.jsonl", good_json + "{\"tokens\": [], \"tags\": []}\n"}},
               {"FOLDER/a.jsonl: line 2: the sentence is empty"},
               {json}},
              {"a word that is no text",
               {{"a.jsonl", good_json + "{\"tokens\": [7], \"tags\": [\"X\"]}\n"}},
               {"FOLDER/a.jsonl: line 2: tokens[0]: expected a string, found 7"},
               {json}},
              {"a word without its tag",
               {{"a.conll", "a X\nb Y\n\nc\n"}},
               {"FOLDER/a.conll: line 4: expected a word in column 1 and a tag in column 2 or later"}},
              {"a tag outside the set",
               {{"a.conll", "a X\nb Y\n\nc Z\n"}},
               {"FOLDER/a.conll: line 4: there is no class 'Z'"}},
              {"a tag outside the set, to be skipped",
               {{"a.conll", "a X\nb Y\n\nc Z\n"}},
               {"1 line left out: FOLDER/a.conll: line 4: there is no class 'Z'"},
               {"task.data.on_bad_line=skip"},
               kIsRead},
              {"blank lines alone", {{"a.conll", "\n \n\n"}}, {"no sentence is left for the train split"}},
          }};
}

HostileFamily hostile_dialogues() {
  const std::string config = R"(
device: cpu
task: {kind: dialogue, tokenizer: byte, answer_tokens: 8, data: {train: FOLDER/a.json}}
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 2, length: 32}
)";
  const std::string user = R"({"speaker": "USER", "utterance": "hello"})",
                    system = R"({"speaker": "SYSTEM", "utterance": "hi"})";
  const auto turns = [](const std::string& first, const std::string& second) {
    return "{\"turns\": [" + first + ", " + second + "]}";
  };
  const std::string good = turns(user, system);
  const auto second = [&](const std::string& dialogue) { return "[" + good + ",\n" + dialogue + "]"; };
  return {
      config,
      {
          {"no JSON", {{"a.json", "hello\n"}}, {"FOLDER/a.json: expected dialogues as JSON"}},
          {"cut off",
           {{"a.json", "[" + good + ",\n" + good.substr(0, 20)}},
           {"FOLDER/a.json: not valid JSON at line 2"}},
          {"an empty list", {{"a.json", "[]"}}, {"FOLDER/a.json: no dialogue is in it"}},
          {"no turns",
           {{"a.json", second(R"({"turns": []})")}},
           {"FOLDER/a.json: line 2: dialogue 2: turns: the dialogue has no turns"}},
          {"no turns, to be skipped",
           {{"a.json", second(R"({"turns": []})")}},
           {"train: 1 dialogues of 2 turns", "1 line left out: FOLDER/a.json: line 2: dialogue 2"},
           {"task.data.on_bad_line=skip"},
           kIsRead},
          {"an unknown role",
           {{"a.json", second(turns(user, R"({"speaker": "BOT", "utterance": "hi"})"))}},
           {"FOLDER/a.json: line 2: dialogue 2: turns[1].speaker: unknown speaker 'BOT'; there are USER, SYSTEM"}},
          {"an empty utterance",
           {{"a.json", second(turns(user, R"({"speaker": "SYSTEM", "utterance": " "})"))}},
           {"FOLDER/a.json: line 2: dialogue 2: turns[1].utterance: the utterance is empty"}},
          {"one side alone",
           {{"a.json", second(turns(user, user))}},
           {"FOLDER/a.json: line 2: dialogue 2: turns: all turns are of 'USER': a dialogue has two sides"}},
          {"a blank line among the dialogues",
           {{"a.jsonl", R"({"turns": [{"role": "user", "text": "a"}, {"role": "system", "text": "b"}]})"
                        "\n\n"}},
           {"FOLDER/a.jsonl: line 2: expected a JSON value, found a blank line"},
           {"task.data.train=FOLDER/a.jsonl"}},
          {"an utterance longer than any window",
           {{"a.json", second(turns(R"({"speaker": "USER", "utterance": "much longer than the window of thirty-two"})",
                                    system))}},
           {"train.length", "FOLDER/a.json: line 2: dialogue 2: turn 1 has 41 tokens"},
           {},
           kSettingsWrong},
      }};
}

}  // namespace ordo::test
