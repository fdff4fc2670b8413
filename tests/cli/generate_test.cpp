// SPDX-License-Identifier: Apache-2.0
// Texts as a user has them written: by beams, by several draws, by several runs together.
#include "support/catch.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr std::string_view kWriter = R"(name: writer
task:
  kind: language_modeling
  tokenizer: char
  data: {generate: {kind: chase, sentences: 50, held_out: 5}}
model:
  kind: decoder
  dim: 32
  layers: 2
  attention: {heads: 2}
  position: rope
train:
  steps: 6
  batch_size: 4
  length: 32
  optimizer: {kind: adamw, lr: 3e-3}
  schedule: constant
)";

// A run trained for a few steps, and what `ordo generate` answers it.
class Writing {
 public:
  std::string train(const std::string& name, const Arguments& overrides = {}) const {
    const auto config = scratch_.write("writer.yaml", std::string(kWriter));
    const std::string run = (scratch_ / name).string();
    Arguments words{"train", config.string(), "--run", run, "--quiet", "device=cpu"};
    words.insert(words.end(), overrides.begin(), overrides.end());
    REQUIRE(run_ordo(words).code == 0);
    return run;
  }

 private:
  Scratch scratch_;
};

Outcome written(Arguments words) {
  words.insert(words.begin(), "generate");
  const Outcome outcome = run_ordo(words);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  return outcome;
}

Json results(Arguments words) {
  words.emplace_back("--json");
  return parse_json(written(std::move(words)).out, "stdout")["results"];
}

}  // namespace

TEST_CASE("generate --beam writes the best answers, with scores, best first", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const Arguments beams{run, "--prompt", "the cat", "--prompt", "anna", "-n", "8", "--beam", "4", "--stop", "."};
  Arguments three = beams;
  three.insert(three.end(), {"--n-best", "3"});
  const Json found = results(three);
  REQUIRE(found.size() == 2);
  for (const Json& result : found) {
    const Json& hypotheses = result["hypotheses"];
    REQUIRE(hypotheses.size() == 3);
    std::set<std::string> texts;
    double before = 0.0;
    for (const Json& one : hypotheses) {
      texts.insert(one["text"].get<std::string>() + (one["ended"].get<bool>() ? "." : ""));
      const double length = static_cast<double>(one["tokens"].size()) + (one["ended"].get<bool>() ? 1.0 : 0.0);
      CHECK(one["score"].get<double>() == Approx(one["log_probability"].get<double>() / length));
      CHECK((texts.size() == 1 || one["score"].get<double>() <= before));
      before = one["score"].get<double>();
    }
    CHECK(texts.size() == 3);
    CHECK(result["text"] == hypotheses[0]["text"]);
  }
  const Json best = results(beams);
  CHECK_FALSE(best[0].contains("hypotheses"));
  CHECK(best[0]["text"] == found[0]["text"]);
  const Json alone = results({run, "--prompt", "the cat", "-n", "8", "--beam", "4", "--stop", "."});
  CHECK(alone[0]["text"] == best[0]["text"]);
  const Outcome shown = written({run, "--prompt", "the cat", "-n", "8", "--beam", "4", "--n-best", "2"});
  CHECK(shown.out.starts_with("== answer 1 of 2, score -"));
  CHECK(shown.out.find("== answer 2 of 2, score -") != std::string::npos);
  CHECK(written({run, "--prompt", "the cat", "-n", "8", "--beam", "4"}).out.starts_with("the cat"));
}

TEST_CASE("generate --beam 1 without a length penalty writes what --greedy writes", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const Arguments common{run, "--prompt", "the cat", "-n", "8"};
  Arguments greedy = common, beam = common;
  greedy.emplace_back("--greedy");
  beam.insert(beam.end(), {"--beam", "1", "--length-penalty", "0"});
  CHECK(written(greedy).out == written(beam).out);
}

TEST_CASE("generate --samples draws several answers, and --n-best shows the likeliest of them", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const Arguments five{run, "--prompt", "the cat", "-n", "6", "--samples", "5", "--seed", "3"};
  const Json drawn = results(five)[0]["hypotheses"];
  REQUIRE(drawn.size() == 5);
  const Json once = results({run, "--prompt", "the cat", "-n", "6", "--seed", "3"})[0];
  CHECK(drawn[0]["text"] == once["text"]);
  CHECK(drawn[1]["text"] != once["text"]);
  Arguments best = five;
  best.insert(best.end(), {"--n-best", "1"});
  double likeliest = -1e9;
  for (const Json& one : drawn) likeliest = std::max(likeliest, one["log_probability"].get<double>());
  CHECK(results(best)[0]["log_probability"].get<double>() == likeliest);
}

TEST_CASE("generate keeps n-grams from repeating and an answer from ending too early", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  for (const Arguments& way : {Arguments{"--greedy"}, Arguments{"--beam", "3"}}) {
    Arguments words{run, "--prompt", "t", "-n", "10", "--no-repeat-ngram", "1"};
    words.insert(words.end(), way.begin(), way.end());
    const std::string text = results(words)[0]["text"].get<std::string>();
    CHECK(std::set<char>(text.begin(), text.end()).size() == text.size());
    CHECK(text.find('t') == std::string::npos);
  }
  const std::string free = results({run, "--prompt", "the cat", "-n", "8", "--greedy"})[0]["text"];
  const std::string stop = free.substr(0, 1);
  CHECK(results({run, "--prompt", "the cat", "-n", "8", "--greedy", "--stop", stop})[0]["text"] == "");
  const std::string held =
      results({run, "--prompt", "the cat", "-n", "8", "--greedy", "--stop", stop, "--min-new-tokens", "5"})[0]["text"];
  CHECK(held.size() >= 5);
  CHECK(held.substr(0, 5).find(stop) == std::string::npos);
}

TEST_CASE("generate --with lets runs of one vocabulary write together", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run"), other = writing.train("other", {"seed=2"});
  const Arguments common{"--prompt", "the cat", "-n", "6", "--beam", "2", "--json"};
  const auto document = [&](Arguments words) {
    words.insert(words.end(), common.begin(), common.end());
    return parse_json(written(words).out, "stdout");
  };
  const Json alone = document({run}), twice = document({run, "--with", run}), both = document({run, "--with", other});
  CHECK(twice["results"][0]["text"] == alone["results"][0]["text"]);
  CHECK(twice["results"][0]["score"].get<double>() == Approx(alone["results"][0]["score"].get<double>()));
  CHECK(both["results"][0]["score"] != alone["results"][0]["score"]);
  CHECK(both["with"][0]["run"] == other);
  const std::string bytes = writing.train("bytes", {"task.tokenizer=byte"});
  const Outcome refused = run_ordo({"generate", run, "--with", bytes, "--prompt", "the cat"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("different vocabularies") != std::string::npos);
}

TEST_CASE("a stop that is no single token, and more answers than there are, are refused", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const auto refused = [&](Arguments words) {
    words.insert(words.begin(), {"generate", run, "--prompt", "the cat", "-n", "4"});
    const Outcome outcome = run_ordo(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(refused({"--stop", "at"}).find("--stop 'at' is not one token of the model") != std::string::npos);
  CHECK(refused({"--beam", "2", "--n-best", "3"}).find("n_best is 3") != std::string::npos);
  CHECK(refused({"--min-new-tokens", "2"}).find("give --stop TOKEN too") != std::string::npos);
  CHECK(refused({"--stop", ".", "--min-new-tokens", "5"}).find("max_new_tokens (4)") != std::string::npos);
}

TEST_CASE("generate --lines answers line by line, in batches that change nothing", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const std::string texts = "the cat\nanna\nthe cat\na dog sees";
  const Scratch scratch;
  const std::string file = scratch.write("asked.txt", texts + "\n").string();
  const Arguments draws{run, "--lines", "-n", "6", "--seed", "5"};
  const auto with = [&](const Arguments& more) {
    Arguments words = draws;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Outcome whole = written(with({"--file", file})), one = written(with({"--file", file, "--batch", "1"}));
  CHECK(std::count(whole.out.begin(), whole.out.end(), '\n') == 4);
  CHECK(whole.out.starts_with("the cat"));
  CHECK(whole.out == one.out);
  const Json all = results(with({"--file", file, "--batch", "3"}));
  REQUIRE(all.size() == 4);
  CHECK(all[0]["text"] != all[2]["text"]);  // equal prompts, draws of their own
  CHECK(results({run, "-n", "6", "--seed", "5", "--prompt", "the cat"})[0]["text"] == all[0]["text"]);
  Setting typed;
  typed.input = texts;
  Arguments piped = with({"-"});
  piped.insert(piped.begin(), "generate");
  CHECK(run_ordo(piped, typed).out == whole.out);

  const std::string gap = scratch.write("gap.txt", "the cat\n\nanna\n").string();
  const std::string strange = scratch.write("strange.txt", "the cat\nth\xC3\xA9\n").string();
  const Outcome empty = run_ordo({"generate", run, "--lines", "--file", gap});
  CHECK(empty.code == 2);
  CHECK(empty.err.find("gap.txt: line 2 is empty") != std::string::npos);
  const Outcome unknown = run_ordo({"generate", run, "--lines", "--file", strange});
  CHECK(unknown.code == 3);
  CHECK(unknown.err.find("strange.txt: line 2: ") != std::string::npos);
  CHECK(run_ordo({"generate", run, "--lines", "--prompt", "the cat"}).code == 2);
  const Outcome several = run_ordo({"generate", run, "--lines", "--file", file, "--samples", "2"});
  CHECK(several.code == 2);
  CHECK(several.err.find("add --json") != std::string::npos);
  const Outcome long_line = run_ordo({"generate", run, "model.position=learned", "--lines", "--file",
                                      scratch.write("long.txt", "the cat\nthe grey dog sees the cat\n").string(),
                                      "--batch", "1", "-n", "20"});
  CHECK(long_line.code == 2);
  CHECK(long_line.out.empty());  // nothing is answered before all are looked at
}

TEST_CASE("generate reads files with a byte order mark and CRLF as training text is read", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const Scratch scratch;
  const std::string plain = scratch.write("plain.txt", "the cat\nanna\n").string();
  const std::string odd = scratch.write("odd.txt", "\xEF\xBB\xBFthe cat\r\nanna\r\n").string();
  const std::string broken = scratch.write("broken.txt", "the cat\nann\xE9\n").string();
  for (const Arguments& way : {Arguments{}, Arguments{"--lines"}}) {
    Arguments words{run, "-n", "6", "--greedy"};
    words.insert(words.end(), way.begin(), way.end());
    const auto of = [&](const std::string& file) {
      Arguments all = words;
      all.insert(all.end(), {"--file", file});
      return written(all).out;
    };
    const std::string wanted = of(plain);
    CHECK(of(odd) == wanted);
    Setting typed;
    typed.input = read_file(odd);
    words.insert(words.begin(), "generate");
    words.emplace_back("-");
    CHECK(run_ordo(words, typed).out == wanted);
  }
  const Outcome refused = run_ordo({"generate", run, "--lines", "--file", broken});
  CHECK(refused.code == 3);
  CHECK(contains(refused.err, "broken.txt: line 2: byte 0xE9"));
}

TEST_CASE("generate --prefix begins every answer, drawn or of a beam, as asked", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  for (const Arguments& way : {Arguments{"--greedy"}, Arguments{"--beam", "3"}, Arguments{"--samples", "2"}}) {
    Arguments words{run, "--prompt", "the cat", "--prompt", "anna", "-n", "9", "--prefix", " sees"};
    words.insert(words.end(), way.begin(), way.end());
    for (const Json& result : results(words)) {
      const std::string text = result["text"].get<std::string>();
      CHECK(text.starts_with(" sees"));
      CHECK(text.size() == 9);
    }
  }
}

TEST_CASE("generate --score says how likely a given answer is, as writing it would", "[cli]") {
  const Writing writing;
  const std::string run = writing.train("run");
  const Json free = results({run, "--prompt", "the cat", "-n", "7", "--greedy"})[0];
  const std::string answer = free["text"].get<std::string>();
  const Json scored = results({run, "--prompt", "the cat", "--score", answer})[0];
  CHECK(scored["log_probability"].get<double>() == Approx(free["log_probability"].get<double>()).epsilon(1e-5));
  CHECK(scored["token_log_probabilities"].size() == 7);
  CHECK(scored["per_token"].get<double>() == Approx(scored["log_probability"].get<double>() / 7.0));

  const Scratch scratch;
  const std::string asked = scratch.write("asked.txt", "the cat\nanna\n").string();
  const std::string answers = scratch.write("answers.txt", answer + "\n sees\n").string();
  const Arguments lines{run, "--file", asked, "--lines", "--score-file", answers, "--batch", "1"};
  const Json both = results(lines);
  REQUIRE(both.size() == 2);
  CHECK(both[0]["log_probability"].get<double>() == Approx(scored["log_probability"].get<double>()).epsilon(1e-5));
  CHECK(both[1]["log_probability"].get<double>() < 0.0);
  CHECK(written(lines).out.starts_with("log-probability  per token  tokens  answer\n"));

  const auto refused = [&](Arguments words) {
    words.insert(words.begin(), {"generate", run});
    const Outcome outcome = run_ordo(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(refused({"--file", asked, "--lines", "--score", "x"}).find("2 prompt(s) and 1 answer(s)") != std::string::npos);
  CHECK(refused({"--prompt", "anna", "--score", " sees", "--beam", "2"}).find("nothing is written") !=
        std::string::npos);
}

}  // namespace ordo::test
