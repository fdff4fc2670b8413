// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <algorithm>

#include "config/sample.h"

namespace ordo::sample {

namespace {

std::string page(const std::string& path) {
  Root root;
  return manual(walk_of(root), path);
}

bool holds(const std::string& text, const std::vector<std::string>& phrases) {
  return std::all_of(phrases.begin(), phrases.end(),
                     [&](const auto& phrase) { return text.find(phrase) != std::string::npos; });
}

}  // namespace

TEST_CASE("manual: a section is a table of its options", "[unit]") {
  CHECK(page("model.feed_forward") ==
        "model.feed_forward: the feed-forward layers\n\n"
        "key         type           default  values            what it is\n"
        "hidden      whole number   0        at least 0        width of the inner layer\n"
        "activation  name           gelu     gelu, relu, silu  non-linearity\n"
        "gated       true or false  false                      with a gate\n"
        "dropout     number         0        in [0, 1)         after the second projection\n");
}

TEST_CASE("manual: the empty path is the top level", "[unit]") {
  const std::string text = page("");
  CHECK(holds(text, {"name ", "model ", "(required)", "the training"}));
}

TEST_CASE("manual: a choice is a table of its kinds and says where their settings are", "[unit]") {
  CHECK(holds(page("model.position"),
              {"rope   turns queries and keys", "alibi  a slope per head", "ordo help model.position.rope"}));
  CHECK(holds(page("train.optimizer"), {"default: adamw"}));
}

TEST_CASE("manual: a kind after its choice shows that kind's settings", "[unit]") {
  CHECK(holds(page("model.position.rope"),
              {"(kind: rope): turns queries and keys", "theta", "10000", "above 0", "base of the angles"}));
  CHECK(holds(page("model.position.none"), {"It has no settings."}));
}

TEST_CASE("manual: a single option has a page", "[unit]") {
  CHECK(
      holds(page("train.steps"), {"train.steps: how long", "default: 2000 steps", "steps, epochs, tokens", "above 0"}));
  CHECK(holds(page("train.optimizer.adamw.betas"), {"list of: number", "[0.9, 0.999]", "in [0, 1)"}));
  CHECK(holds(page("model.softcap"), {"number, or null", "default: null"}));
}

TEST_CASE("manual: every path that it knows has a page, and kinds inside their own kind end there", "[unit]") {
  Root root;
  const auto paths = manual_paths(walk_of(root));
  for (const auto& path : paths) {
    INFO(path);
    CHECK_FALSE(page(path).empty());
  }
  CHECK(std::count(paths.begin(), paths.end(), "model.position.chain.parts") == 1);
  CHECK(std::count(paths.begin(), paths.end(), "model.position.chain.parts.rope") == 0);
}

TEST_CASE("manual: a kind is left out of a path where several kinds know what follows", "[unit]") {
  Root root;
  const auto paths = manual_paths(walk_of(root));
  const auto knows = [&](const char* path) { return std::count(paths.begin(), paths.end(), path); };
  CHECK(knows("train.optimizer.lr") == 1);
  CHECK(knows("train.optimizer.adamw.lr") == 0);
  CHECK(knows("train.optimizer.sgd.momentum") == 1);
  CHECK(knows("train.optimizer.momentum") == 0);
  CHECK_THROWS_AS(page("train.optimizer.momentum"), ConfigError);
}

TEST_CASE("manual: a page is headed by the path that was asked for", "[unit]") {
  CHECK(page("train.optimizer.lr").starts_with("train.optimizer.lr: learning rate"));
  CHECK(holds(page("train.optimizer.sgd.lr"), {"train.optimizer.sgd.lr: learning rate", "default: 0.1"}));
}

TEST_CASE("manual: a kind's page says where the kinds of its choices and the keys of its sections are told", "[unit]") {
  CHECK(holds(page("model.position.rope"),
              {"kinds of scaling: yarn, linear; the settings of one: ordo help model.position.rope.scaling.yarn\n"}));
  CHECK(holds(page("model"), {"sections: ", "ordo help model.feed_forward"}));
}

TEST_CASE("manual: a wrong path gets the nearest", "[unit]") {
  CHECK_THROWS_WITH(page("model.postion.rope"),
                    "the manual has no page 'model.postion.rope'; did you mean 'model.position.rope'?");
  CHECK_THROWS_AS(page("zzz"), ConfigError);
}

TEST_CASE("manual: asking changes nothing in the struct", "[unit]") {
  Root root;
  const std::string before = dump_yaml(walk_of(root));
  manual(walk_of(root), "");
  manual_paths(walk_of(root));
  CHECK(dump_yaml(walk_of(root)) == before);
}

}  // namespace ordo::sample
