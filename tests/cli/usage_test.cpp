// SPDX-License-Identifier: Apache-2.0
// How the program takes wrong words, what its help says, and that what it prints can be read by programs.
#include "support/catch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

const std::string kConfigs = std::string(ORDO_SOURCE_DIR) + "/configs/";
const Arguments kCommands{"train",     "eval",    "ablate", "report", "generate",  "predict",
                          "check",     "certify", "config", "data",   "tokenizer", "list",
                          "positions", "bench",   "replay", "doctor", "help"};

bool plain_text(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; });
}

}  // namespace

TEST_CASE("wrong words on the command line end in exit 2 and one line that says what to do", "[cli]") {
  struct Misuse {
    Arguments words;
    std::string told;
  };
  const std::string tiny = kConfigs + "tiny.yaml";
  const Scratch scratch;
  const std::vector<Misuse> misuses{
      {{"trian"}, "did you mean 'train'"},
      {{"--tain"}, "unknown option"},
      {{"train"}, "CONFIG"},
      {{"train", "nowhere.yaml"}, "nowhere.yaml"},
      {{"train", ORDO_SOURCE_DIR}, "config.yaml"},
      {{"train", std::string(300, 'x') + ".yaml"}, "File name too long"},
      {{"check", tiny, "train.schedule={kind: cosine, warmup: 1000}", "train.steps=5"}, "warmup"},
      {{"train", tiny, "extra"}, "unexpected argument 'extra'"},
      {{"train", tiny, "--rnu", "x"}, "did you mean '--run'"},
      {{"train", tiny, "--run"}, "--run"},
      {{"train", tiny, "train.stepz=1"}, "train.stepz"},
      {{"train", tiny, "--resume", "nowhere", "device=cpu"}, "nowhere"},
      {{"eval"}, "RUN"},
      {{"eval", "x", "--lengths", "64,abc"}, "'abc'"},
      {{"eval", "x", "--lengths", "064"}, "'064'"},
      {{"eval", "x", "--lengths", "64,16,64"}, "--lengths names 64 twice"},
      {{"eval", "x", "--lengths", ""}, "--lengths"},
      {{"eval", "x", "--split", "tset"}, "did you mean 'test'"},
      {{"generate", "x"}, "--prompt"},
      {{"generate", "x", "--prompt", ""}, "empty"},
      {{"generate", "x", "--prompt", "a", "--temperature", "nan"}, "'nan'"},
      {{"generate", "x", "--prompt", "a", "--temperature", "inf"}, "'inf'"},
      {{"generate", "x", "--prompt", "a", "--temperature", "1e400"}, "'1e400'"},
      {{"generate", "x", "--prompt", "a", "--temperature", "0"}, "'0'"},
      {{"generate", "x", "--prompt", "a", "--top-p", "1.5"}, "'1.5'"},
      {{"generate", "x", "--prompt", "a", "--top-k", "-1"}, "'-1'"},
      {{"generate", "x", "--prompt", "a", "--top-k", "010"}, "'010'"},
      {{"generate", "x", "--prompt", "a", "--max-new-tokens", "9223372036854775808"}, "9223372036854775808"},
      {{"generate", "x", "--prompt", "a", "--seed", "1.5"}, "'1.5'"},
      {{"generate", "x", "--prompt", "a", "--greedy", "--top-k", "5"}, "contradict"},
      {{"generate", "x", "--prompt", "a", "--greedy=maybe"}, "greedy"},
      {{"generate", "x", "--prompt", "a", "--greedy", "--samples", "5"}, "--samples and --greedy contradict"},
      {{"generate", "x", "--prompt", "a", "--beam", "4", "--greedy"}, "--greedy and --beam contradict"},
      {{"generate", "x", "--prompt", "a", "--beam", "4", "--temperature", "2"}, "--temperature and --beam contradict"},
      {{"generate", "x", "--prompt", "a", "--beam", "4", "--seed", "2"}, "--seed and --beam contradict"},
      {{"generate", "x", "--prompt", "a", "--beam", "4", "--repetition-penalty", "2"}, "--no-repeat-ngram"},
      {{"generate", "x", "--prompt", "a", "--beam", "0"}, "'0'"},
      {{"generate", "x", "--prompt", "a", "--length-penalty", "2"}, "give --beam N"},
      {{"generate", "x", "--prompt", "a", "--coverage-penalty", "0.2"}, "give --beam N"},
      {{"generate", "x", "--prompt", "a", "--early-stopping", "first"}, "give --beam N"},
      {{"generate", "x", "--prompt", "a", "--beam", "4", "--early-stopping", "frist"}, "did you mean 'first'"},
      {{"generate", "x", "--prompt", "a", "--n-best", "2"}, "give --beam N or --samples N"},
      {{"list"}, "KINDS"},
      {{"list", "postions"}, "did you mean 'positions'"},
      {{"list", "tasks", "--kernels"}, "positions"},
      {{"config"}, ""},
      {{"config", "shwo", tiny}, "did you mean 'show'"},
      {{"config", "diff", tiny}, "B"},
      {{"bench"}, "--case"},
      {{"bench", "--case", "gpt2-is"}, "gpt2ish"},
      {{"bench", "--case", "gpt2ish", "--threads", "0"}, "'0'"},
      {{"bench", tiny, "--dtype", "bf16"}, "train.precision"},
      {{"help", "trane"}, "did you mean 'train'"},
      {{"help", "model.postion"}, "model.position"},
      {{"help", "rope"}, "ordo help model.position.rope"},
      {{"help", "optimizer"}, "ordo help train.optimizer"},
  };
  for (const auto& misuse : misuses) {
    std::string shown;
    for (const auto& word : misuse.words) shown += word + " ";
    const Outcome outcome = run_ordo(misuse.words, {.folder = scratch.path()});
    INFO("ordo " << shown << "\nexit " << outcome.code << "\n" << outcome.err);
    if (misuse.words == Arguments{"config"}) {  // asks for nothing: shown what there is
      CHECK(outcome.code == 0);
      continue;
    }
    CHECK((outcome.code == 2 || outcome.code == 3 || outcome.code == 4));
    CHECK(outcome.err.find("error: ") == 0);
    CHECK(outcome.err.find(misuse.told) != std::string::npos);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 3);  // a config's message shows the line too
  }
}

TEST_CASE("every command explains itself", "[cli]") {
  const Outcome overview = run_ordo({"--help"});
  CHECK(overview.code == 0);
  CHECK(run_ordo({}).out == overview.out);
  for (const auto& command : kCommands) {
    CHECK(overview.out.find("  " + command + " ") != std::string::npos);
    const Outcome help = run_ordo({command, "--help"});
    INFO(command << help.out << help.err);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(help.out.find("ordo " + command) != std::string::npos);
    if (command != "help") CHECK(run_ordo({"help", command}).out.starts_with(help.out));
  }
}

TEST_CASE("the manual knows every path of a config, and pages", "[cli]") {
  const Outcome rope = run_ordo({"help", "model.position.rope"});
  CHECK(rope.code == 0);
  CHECK(rope.out.find("theta") != std::string::npos);
  for (const auto* page :
       {"overrides", "exit-codes", "run-folder", "signals", "train", "model.attention", "train.optimizer.adamw"}) {
    INFO(page);
    CHECK(run_ordo({"help", page}).code == 0);
  }
  CHECK(run_ordo({"help", "help"}).out.find("ordo help") != std::string::npos);
  CHECK(run_ordo({"help", "--paths"}).out.find("\nmodel.position.rope\n") != std::string::npos);
}

TEST_CASE("the manual shows paths as configs have them, and topics that it knows itself", "[cli]") {
  const Outcome rope = run_ordo({"help", "model.position.rope"});
  CHECK(rope.out.starts_with("model.position.rope (kind: rope)"));
  CHECK(rope.out.find("decoder") == std::string::npos);
  CHECK(rope.out.find("longrope") != std::string::npos);
  CHECK(run_ordo({"help", "model.encoder.position.rope"}).out.starts_with("model.encoder.position.rope (kind: rope)"));
  std::istringstream pages(rope.out + run_ordo({"help", "model.position"}).out + run_ordo({"help", "model"}).out +
                           run_ordo({"help", "model.position.expression"}).out);
  size_t told = 0;
  for (std::string word, before; pages >> word; before = word) {
    if (before != "help") continue;
    while (word.ends_with(',') || word.ends_with(';')) word.pop_back();
    INFO(word);
    CHECK(run_ordo({"help", word}).code == 0);
    ++told;
  }
  CHECK(told >= 5);
}

TEST_CASE("the version is told", "[cli]") {
  const Outcome outcome = run_ordo({"--version"});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("ordo 0."));
}

TEST_CASE("--json prints exactly one JSON document on stdout", "[cli]") {
  const std::string tiny = kConfigs + "tiny.yaml";
  const std::vector<Arguments> commands{{"list", "positions", "--json"},
                                        {"list", "positions", "--kernels", "--json"},
                                        {"list", "caches", "--json"},
                                        {"config", "show", tiny, "--json"},
                                        {"config", "schema", "--json"},
                                        {"config", "diff", tiny, kConfigs + "sentences.yaml", "--json"},
                                        {"check", tiny, "--json"},
                                        {"check", tiny, "--step", "--json"},
                                        {"doctor", "--json"}};
  for (const auto& words : commands) {
    const Outcome outcome = run_ordo(words);
    INFO(words[0] << " " << words[1] << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_NOTHROW(parse_json(outcome.out, "stdout"));
  }
}

TEST_CASE("off a terminal nothing holds a control character", "[cli]") {
  const std::string tiny = kConfigs + "tiny.yaml";
  const Scratch scratch;
  for (const Arguments& words :
       {Arguments{"train", tiny, "train.steps=3", "train.schedule=constant", "--run", (scratch / "run").string()},
        Arguments{"check", tiny}, Arguments{"doctor"}, Arguments{"--help"}}) {
    const Outcome outcome = run_ordo(words, {.environment = {"TERM=xterm-256color"}});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(plain_text(outcome.out));
    CHECK(plain_text(outcome.err));
  }
}

TEST_CASE("list names each kind, and which encodings work under which kernels", "[cli]") {
  const Outcome positions = run_ordo({"list", "positions"});
  for (const auto* kind : {"none", "sinusoidal", "learned", "rope", "alibi"})
    CHECK(positions.out.find(kind) != std::string::npos);
  const Outcome pairs = run_ordo({"list", "positions", "--kernels"});
  CHECK(pairs.out.find("tiled") != std::string::npos);
  CHECK(pairs.out.find("rope                query and key          both       yes   yes    yes   yes    yes\n") !=
        std::string::npos);
  CHECK(pairs.out.find("xpos                query and key          two-sided  no    no     no    no     no\n") !=
        std::string::npos);
  const std::string reason = "it does not let an encoding act on scores\n";
  CHECK(pairs.out.find(reason) != std::string::npos);
  CHECK(pairs.out.find(reason) == pairs.out.rfind(reason));  // once for all that it holds for
  for (const auto* kinds : {"kernels", "models", "inputs", "tasks", "splits", "tokenizers", "sources", "optimizers",
                            "schedules", "recompute", "caches"})
    CHECK(run_ordo({"list", kinds}).code == 0);
}

TEST_CASE("list positions --kernels has each pair for causal and two-sided stacks, and a reason for what is refused",
          "[cli]") {
  const Json document = Json::parse(run_ordo({"list", "positions", "--kernels", "--json"}).out);
  const auto kinds_of = [](const std::string& catalogue) {
    const Json listed = Json::parse(run_ordo({"list", catalogue, "--json"}).out);
    Arguments kinds;
    for (const auto& one : listed["kinds"]) kinds.push_back(one["kind"]);
    return kinds;
  };
  const Arguments encodings = kinds_of("positions"), kernels = kinds_of("kernels");
  const auto why = [&](const std::string& position, const std::string& kernel,
                       const std::string& stack) -> std::string {
    for (const auto& pair : document["pairs"])
      if (pair["position"] == position && pair["kernel"] == kernel && pair["stack"] == stack) {
        CHECK(pair["works"] == pair["why"].get<std::string>().empty());
        return pair["why"];
      }
    return "not listed";
  };
  for (const std::string& position : encodings)
    for (const std::string& kernel : kernels)
      for (const char* const stack : {"causal", "two-sided"}) CHECK(why(position, kernel, stack) != "not listed");
  CHECK(document["pairs"].size() == encodings.size() * kernels.size() * 2);
  CHECK(why("alibi", "sdpa", "causal").empty());
  CHECK(why("rope", "flash", "two-sided").empty());
  CHECK(why("alibi", "flash", "causal").find("does not let an encoding act on scores") != std::string::npos);
  CHECK(why("t5_bias", "sdpa", "causal").find("no gradient for a learned bias") != std::string::npos);
  CHECK(why("expression", "sdpa", "causal").find("no gradient for a learned bias") != std::string::npos);
  CHECK(why("fire", "sdpa", "causal").find("no gradient for a learned bias") != std::string::npos);
  CHECK(why("cope", "sdpa", "causal").find("all keys of a row") != std::string::npos);
  CHECK(why("xpos", "tiled", "two-sided").find("xpos: ") == 0);
  for (const std::string& position : encodings) {
    INFO(position);
    CHECK((why(position, "eager", "causal").empty() || why(position, "eager", "two-sided").empty()));
    for (const char* const stack : {"causal", "two-sided"})
      CHECK(why(position, "tiled", stack) == why(position, "eager", stack));
  }
}

TEST_CASE("config show says where each value came from, and reads back to itself", "[cli]") {
  const Scratch scratch;
  const Outcome shown = run_ordo({"config", "show", kConfigs + "tiny.yaml", "train.steps=17"});
  CHECK(shown.out.find("tiny.yaml:") != std::string::npos);
  CHECK(shown.out.find("command line") != std::string::npos);
  const auto file = scratch.write("tiny.yaml", shown.out);
  const Outcome same = run_ordo({"config", "diff", file.string(), kConfigs + "tiny.yaml"});
  INFO(same.out << same.err);
  CHECK(same.out.find("train.steps") != std::string::npos);
  CHECK(std::count(same.out.begin(), same.out.end(), '\n') == 2);  // the header and that one key
  CHECK(run_ordo({"config", "diff", file.string(), file.string()}).out == "no difference\n");
}

TEST_CASE("a result that cannot be written is an error, a reader that has left is none", "[cli]") {
  const std::string program = ordo_program().string();
  const Outcome full = run_program("/usr/bin/env", {"bash", "-c", program + " list positions > /dev/full"});
  CHECK(full.code == 1);
  CHECK(full.err.find("standard output") != std::string::npos);
  CHECK(run_program("/usr/bin/env", {"bash", "-c", "set -o pipefail; " + program + " help --paths | head -n 1"}).code ==
        0);
}

TEST_CASE("a device that is not there ends in one sentence and exit 6", "[cli]") {
  const Outcome outcome = run_ordo({"check", kConfigs + "tiny.yaml", "device=cuda:7"});
  CHECK(outcome.code == 6);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

}  // namespace ordo::test
