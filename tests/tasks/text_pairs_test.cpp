// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/core/files.h"
#include "ordo/data/split_rules.h"
#include "ordo/tasks/text_pairs.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::vector<std::string> sources_of(const TextPairs& made, Split split) {
  std::vector<std::string> all;
  for (const auto& pair : made.pairs[static_cast<size_t>(split)]) all.push_back(pair.source);
  return all;
}

fs::path written(const Scratch& scratch, const std::string& name, const std::string& text) {
  write_file(scratch / name, text);
  return scratch / name;
}

}  // namespace

TEST_CASE("pairs of texts come from tables, JSON lines, or files side by side", "[unit]") {
  const Scratch scratch;
  TextPairsConfig config;
  config.train.files = {written(scratch, "a.txt", "\xEF\xBB\xBFHi.\t嗨。\tcredit\nRun!\t跑！\tcredit\n")};
  config.validation.files = {written(scratch, "b.jsonl", R"({"source": "Wait.", "target": "等等。", "by": 1})")};
  config.test.source = {written(scratch, "c.en", "One\nTwo\n")};
  config.test.target = {written(scratch, "c.zh", "一\n二\n")};
  const TextPairs made = read_text_pairs(config, nullptr);
  CHECK(sources_of(made, Split::train) == std::vector<std::string>{"Hi.", "Run!"});
  CHECK(made.pairs[0][1].target == "跑！");
  CHECK(contains(made.pairs[0][1].where, "a.txt: line 2"));
  CHECK(sources_of(made, Split::validation) == std::vector<std::string>{"Wait."});
  CHECK(made.pairs[2][1].target == "二");
}

TEST_CASE("columns are named or counted, and may be the other way round", "[unit]") {
  const Scratch scratch;
  TextPairsConfig config;
  config.train.files = {written(scratch, "a.csv", "id,en,zh\n1,\"Hi, you\",嗨\n")};
  config.header = true;
  config.source = "zh";
  config.target = "en";
  const TextPairs made = read_text_pairs(config, nullptr);
  CHECK(made.pairs[0][0].source == "嗨");
  CHECK(made.pairs[0][0].target == "Hi, you");
  config.source = "cn";
  CHECK(contains(thrown<DataError>([&] { read_text_pairs(config, nullptr); }), "cn"));
}

TEST_CASE("a rule divides the pairs by their sources: equal ones stay together", "[unit]") {
  const Scratch scratch;
  TextPairsConfig config;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "source " + std::to_string(i / 2) + "\ttarget " + std::to_string(i) + "\n";
  config.train.files = {written(scratch, "a.tsv", text)};
  HashSplit::Config rule;
  rule.modulus = 5;
  rule.test = {0};
  const TextPairs made = read_text_pairs(config, std::make_unique<HashSplit>(rule, SplitFacts{}).get());
  const auto train = sources_of(made, Split::train), test = sources_of(made, Split::test);
  CHECK(train.size() + test.size() == 200);
  CHECK(test.size() % 2 == 0);
  for (const auto& source : test) CHECK(std::find(train.begin(), train.end(), source) == train.end());
}

TEST_CASE("what is wrong with pairs is told with file and line, or left out and counted", "[unit]") {
  const Scratch scratch;
  TextPairsConfig config;
  const auto told = [&] { return thrown<DataError>([&] { read_text_pairs(config, nullptr); }); };
  config.train.files = {written(scratch, "a.tsv", "Hi.\t嗨。\nRun!\t \nWait\t等\n")};
  CHECK(contains(told(), "a.tsv: line 2: the target is empty"));
  config.on_bad_line = OnBadLine::skip;
  const TextPairs made = read_text_pairs(config, nullptr);
  CHECK(sources_of(made, Split::train) == std::vector<std::string>{"Hi.", "Wait"});
  CHECK(contains(made.left_out, "1 line"));
  NumberSplit::Config odd;
  odd.modulus = 2;
  odd.test = {1};
  TextPairsConfig counted = config;
  counted.train.files = {written(scratch, "n.tsv", "a\t0\nonly one cell\n\t2\nb\t3\nc\t4\n")};
  const TextPairs numbered = read_text_pairs(counted, std::make_unique<NumberSplit>(odd, SplitFacts{}).get());
  CHECK(sources_of(numbered, Split::train) == std::vector<std::string>{"a", "c"});
  CHECK(sources_of(numbered, Split::test) == std::vector<std::string>{"b"});
  config.validation.files = {written(scratch, "v.tsv", "Hi.\t\nRun!\t \n")};
  CHECK(contains(told(), "no pair is left for the validation split; 3 lines"));
  config.validation = {};
  config.train = {.source = {written(scratch, "b.en", "One\nTwo\nThree\n")},
                  .target = {written(scratch, "b.zh", "一\n二\n")}};
  CHECK(contains(told(), "b.en has 3 lines"));
  config.train = {.source = {scratch / "b.en"}};
  CHECK(contains(told(), "each needs the other"));
  config.train = {.files = {written(scratch, "c.dat", "a\tb\n")}};
  CHECK(contains(told(), "task.data.format"));
}

}  // namespace ordo::test
