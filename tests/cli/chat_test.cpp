// SPDX-License-Identifier: Apache-2.0
// ordo generate RUN --chat as a user has it: turns in, answers out.
#include "support/catch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {

namespace {

constexpr std::string_view kTalker = R"(name: talker
task:
  kind: dialogue
  tokenizer: word
  data: {generate: {dialogues: 40, held_out: 5, exchanges: 4}}
  answer_tokens: 8
model:
  kind: decoder
  dim: 32
  layers: 2
  attention: {heads: 2}
  position: rope
train:
  steps: 20
  batch_size: 8
  length: 40
  optimizer: {kind: adamw, lr: 5e-3}
  schedule: constant
)";

const std::string kTurns =
    "put the key in the drawer\nput the cup on the shelf\n\nwhere is the key\nwhere is the cup\n";

class Talking {
 public:
  Talking() : run_((scratch_ / "run").string()) {
    const auto config = scratch_.write("talker.yaml", std::string(kTalker));
    const Outcome outcome = run_ordo({"train", config.string(), "--run", run_, "--quiet", "device=cpu"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  }
  const Scratch& scratch() const { return scratch_; }
  const std::string& run() const { return run_; }
  Outcome chat(const Arguments& more, const std::string& input = kTurns) const {
    Arguments words{"generate", run_, "--chat"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ordo(words, {.input = input});
  }

 private:
  Scratch scratch_;
  std::string run_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("generate --chat answers each line in a line, and tells when its window is full", "[cli]") {
  const Talking talking;
  const Outcome piped = talking.chat({"--greedy"});
  INFO(piped.out << piped.err);
  REQUIRE(piped.code == 0);
  const auto answers = lines_of(piped.out);
  CHECK(answers.size() == 4);  // the empty line is no turn
  CHECK(piped.out.find('>') == std::string::npos);
  CHECK(piped.err.find("the window of 40 tokens is full") != std::string::npos);
  const auto file = talking.scratch().write("turns.txt", kTurns.substr(0, kTurns.size() - 1));
  CHECK(talking.chat({"--greedy", "--file", file.string()}, "").out == piped.out);
  const Outcome dash = run_ordo({"generate", talking.run(), "-", "--chat", "--greedy"}, {.input = kTurns});
  CHECK(dash.out == piped.out);
  const Outcome prompt =
      run_ordo({"generate", talking.run(), "--prompt", "put the key in the drawer", "--greedy", "-n", "7"});
  CHECK(prompt.out == answers[0] + "\n");
  CHECK(talking.chat({"--greedy"}, "").code == 0);
  CHECK(talking.chat({"--greedy"}, "").out.empty());
}

TEST_CASE("generate --chat --json gives all turns in one document", "[cli]") {
  const Talking talking;
  const auto answers = lines_of(talking.chat({"--greedy"}).out);
  const Outcome outcome = talking.chat({"--greedy", "--json"});
  REQUIRE(outcome.code == 0);
  const Json document = parse_json(outcome.out, "stdout");
  CHECK(document["run"] == talking.run());
  REQUIRE(document["turns"].size() == 8);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(document["turns"][2 * i]["role"] == "user");
    const Json& answer = document["turns"][2 * i + 1];
    CHECK(answer["role"] == "system");
    CHECK(answer["text"] == answers[i]);
    CHECK(answer["log_probability"].get<double>() < 0.0);
  }
  CHECK(document["turns"][1]["dropped"] == 0);
  CHECK(document["turns"][7]["dropped"].get<int>() > 0);
}

TEST_CASE("generate --chat draws by seed, and several runs may answer together", "[cli]") {
  const Talking talking;
  const auto drawn = [&](const std::string& seed) { return talking.chat({"--temperature", "3", "--seed", seed}).out; };
  CHECK(drawn("1") == drawn("1"));
  CHECK(drawn("1") != drawn("2"));
  CHECK(talking.chat({"--greedy", "--with", talking.run()}).out == talking.chat({"--greedy"}).out);
}

TEST_CASE("generate --chat refuses what does not belong to it, in words", "[cli]") {
  const Talking talking;
  const auto refused = [&](const Arguments& more, int code, const std::string& input = kTurns) {
    const Outcome outcome = talking.chat(more, input);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    return outcome.err;
  };
  CHECK(refused({"--prompt", "x"}, 2).find("--prompt and --chat contradict") != std::string::npos);
  CHECK(refused({"--beam", "2"}, 2).find("--beam and --chat contradict") != std::string::npos);
  CHECK(refused({"--samples", "2"}, 2).find("--samples and --chat contradict") != std::string::npos);
  CHECK(refused({"-n", "8"}, 2).find("an answer has room for 7 tokens") != std::string::npos);
  CHECK(refused({"--file", "missing.txt"}, 3).find("missing.txt") != std::string::npos);
  CHECK(refused({}, 3, "where is the key\n\xff\n").find("line 2: not valid UTF-8 at byte 0") != std::string::npos);
  std::string words;
  for (int i = 0; i < 40; ++i) words += "key ";
  CHECK(refused({}, 3, words).find("line 1: a turn of 40 tokens is too long") != std::string::npos);
  const Outcome cut = talking.chat({"task.too_long=cut"}, words);
  CHECK(cut.code == 0);
  CHECK(cut.err.find("is cut to its first 28") != std::string::npos);
  CHECK(talking.chat({}, "where is the elephant\n").err.find("1 of the turn's 4 tokens") != std::string::npos);
  const auto text = talking.scratch().write(
      "text.yaml", "include: " + std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml\ntrain: {steps: 12}\n");
  const std::string other = (talking.scratch() / "text").string();
  REQUIRE(run_ordo({"train", text.string(), "--run", other, "--quiet", "device=cpu"}).code == 0);
  const Outcome no_dialogue = run_ordo({"generate", other, "--chat"});
  CHECK(no_dialogue.code == 2);
  CHECK(no_dialogue.err.find("its task is 'language_modeling'") != std::string::npos);
}

TEST_CASE("an interrupt ends a chat that waits for its user, with what was said", "[cli]") {
  const Talking talking;
  const std::string pipe = (talking.scratch() / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int turns = open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // never at its end
  REQUIRE(turns >= 0);
  const std::string said = "put the key in the drawer\n";
  REQUIRE(write(turns, said.data(), said.size()) == static_cast<ssize_t>(said.size()));
  Process plain(ordo_program(), {"generate", talking.run(), "--chat", "--greedy", "--file", pipe}, {});
  CHECK(plain.wait_for("\n"));
  plain.signal(SIGINT);
  const Outcome ended = plain.finish();
  CHECK(ended.code == 130);
  CHECK(lines_of(ended.out).size() == 1);
  CHECK(ended.err.empty());
  close(turns);
}

TEST_CASE("generate --chat tells file and line of a turn that cannot be read, and takes a byte order mark off",
          "[cli]") {
  const Talking talking;
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(talking.chat({"--greedy"}, mark + kTurns).out == talking.chat({"--greedy"}).out);
  const Outcome json = talking.chat({"--greedy", "--json"}, mark + "where is the key\n");
  CHECK(parse_json(json.out, "stdout")["turns"][0]["text"] == "where is the key");
  const auto file = talking.scratch().write("bad.txt", "where is the key\nwhere is \xFF\n");
  const Outcome refused = talking.chat({"--greedy", "--file", file.string()}, "");
  CHECK(refused.code == 3);
  CHECK(refused.err.find("bad.txt: line 2: not valid UTF-8 at byte 9") != std::string::npos);
  CHECK(talking.chat({"--greedy"}, "\xFF\n").err.find("standard input: line 1: not valid") != std::string::npos);
}

}  // namespace ordo::test
