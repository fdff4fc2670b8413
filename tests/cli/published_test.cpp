// SPDX-License-Identifier: Apache-2.0
// The shipped studies of claims from papers, each in a short form: fewer steps and seeds. What is looked at is what
// shows that early, by means alone; whether a claim holds is for the whole study to say, but each gets a verdict.
#include "support/catch.h"

#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "ordo/data/chase.h"
#include "support/data_sets.h"
#include "support/program.h"

namespace ordo::test {
namespace {

const fs::path kPublished = fs::path(ORDO_SOURCE_DIR) / "configs/studies/published";

// A shipped study, made in a folder of the test's own with settings that make it short.
class ShortForm {
 public:
  ShortForm(const std::string& name, const Arguments& shorter) {
    Arguments words{"ablate", (kPublished / (name + ".yaml")).string(), "-o", (scratch_ / "study").string()};
    words.insert(words.end(), shorter.begin(), shorter.end());
    const Outcome outcome = run_ordo(words, {.environment = {"OMP_NUM_THREADS=1"}, .seconds = 900.0});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const fs::path summary = scratch_ / "study/summary.json";
    summary_ = parse_json(read_file(summary), summary.string());
    CHECK(summary_.at("complete") == true);
    check_verdicts();
  }
  // Of the values of a level ("rope"; of several factors "three rope") at a length, the encoding under a scaling if one
  // is named.
  double mean(const std::string& level, const std::string& metric, int64_t length,
              const std::string& scaling = "") const {
    for (const Json& cell : summary_.at("cells"))
      if (levels_of(cell) == level && cell.at("metric") == metric && cell.at("length") == length &&
          cell.value("scaling", "") == scaling)
        return cell.at("mean").get<double>();
    FAIL("no " << metric << " of " << level << ' ' << scaling << " at " << length);
    return 0.0;
  }
  // How much more a metric is at one length than at another.
  double rise(const std::string& level, const std::string& metric, int64_t from, int64_t to) const {
    return mean(level, metric, to) - mean(level, metric, from);
  }
  std::string verdict(const std::string& claim) const {
    for (const Json& one : summary_.at("claims"))
      if (one.at("name") == claim) return one.at("verdict");
    return "";
  }

 private:
  static std::string levels_of(const Json& cell) {
    std::vector<std::string> levels;
    for (const auto& level : cell.at("factors")) levels.push_back(level);
    return join(levels, " ");
  }
  void check_verdicts() const {
    CHECK_FALSE(summary_.at("claims").empty());
    for (const Json& claim : summary_.at("claims")) {
      const std::string verdict = claim.at("verdict");
      CAPTURE(claim.dump());
      CHECK((verdict == "holds" || verdict == "fails" || verdict == "undecided"));
      CHECK_FALSE(claim.at("measured").empty());
    }
  }

  Scratch scratch_;
  Json summary_;
};

// A text to train characters on: tiny Shakespeare, or where that is not at hand sentences of who chased whom, in which
// the same is seen.
std::string text_setting(const Scratch& scratch) {
  auto text = data_set(kTinyShakespeare);
  if (!text) text = scratch.write("input.txt", ChaseText({.sentences = 3000}, {.seed = 1}).text(Split::train));
  return "task.data.train=" + text->string();
}

}  // namespace

TEST_CASE("published order: an encoder without an encoding is blind to order, a decoder is not", "[slow]") {
  const ShortForm study("order", {"seeds=[1, 2]", "train.steps=60"});
  for (const int64_t length : {16, 32}) {
    CHECK(study.mean("encoder", "accuracy", length) <= 0.5);
    CHECK(study.mean("decoder", "accuracy", length) > 0.65);
  }
  CHECK(study.verdict("encoder-blind") == "holds");
  CHECK(study.verdict("encoder-blind-beyond") == "holds");
}

TEST_CASE("published loss: rope fits best, and anything relative better than nothing", "[slow]") {
  const Scratch scratch;
  const ShortForm study("loss", {"seeds=[1]", "train.steps=120", text_setting(scratch)});
  const auto loss = [&](const std::string& level) { return study.mean(level, "loss", 64); };
  CHECK(loss("rope") < loss("learned") - 0.1);
  CHECK(loss("rope") < loss("none") - 0.1);
  CHECK(loss("rope") < loss("sinusoidal") - 0.1);
  CHECK(loss("alibi") < loss("none") - 0.1);
  CHECK(loss("kerple") < loss("none") - 0.1);
}

TEST_CASE("published length: biases keep their loss beyond the trained length, sinusoids and rope do not", "[slow]") {
  const Scratch scratch;
  const ShortForm study("length", {"seeds=[1]", "train.steps=120", text_setting(scratch)});
  const auto rise = [&](const std::string& level) { return study.rise(level, "loss", 64, 256); };
  CHECK(rise("alibi") < 0.05);
  CHECK(rise("kerple") < 0.05);
  CHECK(rise("sinusoidal") > 0.1);
  CHECK(rise("rope") > 0.1);
  CHECK(study.mean("alibi", "loss", 256) < study.mean("rope", "loss", 256));
}

TEST_CASE("published scaling: yarn and ntk help rope at four times its length, interpolation without tuning does not",
          "[slow]") {
  const Scratch scratch;
  const ShortForm study("scaling", {"seeds=[1, 2]", "train.steps=120", text_setting(scratch)});
  const auto loss = [&](const std::string& scaling) { return study.mean("rope", "loss", 256, scaling); };
  CHECK(loss("yarn") < loss(""));
  CHECK(loss("ntk factor=8") < loss(""));
  CHECK(loss("linear") > loss(""));
  CHECK(study.mean("rope", "loss", 64, "linear") > study.mean("rope", "loss", 64));
}

TEST_CASE("published randomized: drawn positions help at twice the length, at a price within it", "[slow]") {
  const ShortForm study("randomized", {"seeds=[1, 2]", "train.steps=400"});
  CHECK(study.mean("randomized", "accuracy", 20) > study.mean("sinusoidal", "accuracy", 20) + 0.05);
  CHECK(study.mean("randomized", "accuracy", 10) < study.mean("sinusoidal", "accuracy", 10) - 0.1);
}

TEST_CASE("published copy: without an encoding some rows longer than the trained ones are copied, with a table none",
          "[slow]") {
  const ShortForm study("copy", {"seeds=[1]", "train.steps=500"});
  CHECK(study.mean("learned", "exact_match", 8) > 0.9);
  CHECK(study.mean("learned", "exact_match", 10) < 0.01);
  CHECK(study.mean("none", "exact_match", 10) > study.mean("learned", "exact_match", 10) + 0.05);
}

TEST_CASE("published counting: positions that count what matters reach further than rope", "[slow]") {
  const ShortForm study("counting", {"seeds=[1]", "train.steps=300"});
  CHECK(study.mean("cope", "exact_match", 72) > study.mean("rope", "exact_match", 72) + 0.02);
  CHECK(study.mean("rope", "exact_match", 48) > study.mean("rope", "exact_match", 72));
}

TEST_CASE("published counters: beyond the trained length several counters are lost later by what counts than by rope",
          "[slow]") {
  const ShortForm study("counters", {"seeds=[1]", "train.steps=300"});
  for (const std::string counters : {"three", "five"}) {
    CHECK(study.mean(counters + " cope", "loss", 72) < study.mean(counters + " rope", "loss", 72));
    CHECK(study.mean(counters + " cope", "accuracy", 48) > 0.8);
  }
}

TEST_CASE("every published study has its short form here", "[cli]") {
  const std::set<std::string> here{"copy", "counters", "counting", "length", "loss", "order", "randomized", "scaling"};
  for (const auto& entry : fs::directory_iterator(kPublished)) {
    CAPTURE(entry.path());
    CHECK(here.contains(entry.path().stem().string()));
  }
}

}  // namespace ordo::test
