// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numbers>
#include <tuple>

#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/views/position_picture.h"
#include "support/goldens.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {

struct Lone {
  Choice<PositionEncoding> position;
};
void fields(Fields& f, Lone& c) { f("position", c.position, ""); }

// A kind with settings as they are typed: {"theta=500000"}.
PositionSubject subject_of(const std::string& kind, const std::vector<std::string>& settings, PositionFacts facts) {
  Lone lone;
  std::vector<std::string> overrides{"position.kind=" + kind};
  for (const auto& setting : settings) overrides.push_back("position." + setting);
  load_config_text("position: {}\n", walk_of(lone), {.overrides = overrides});
  PositionSubject subject = assembled({lone.position}, facts);
  prepare(subject, 1);
  return subject;
}

PositionFacts facts_for(int64_t heads, int64_t head_dim, bool causal, int64_t max_length = 128) {
  return {.dim = heads * head_dim,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = head_dim,
          .layers = 1,
          .max_length = max_length,
          .causal = causal};
}

PositionSubject buildable(const std::string& kind) {
  PositionFacts facts = facts_for(4, 32, true);
  try {
    return subject_of(kind, {}, facts);
  } catch (const ConfigError&) {
    facts.causal = false;
    return subject_of(kind, {}, facts);
  }
}

// Looked at as the program does.
PositionView seen(const std::string& kind, const std::vector<std::string>& settings, const PositionFacts& facts,
                  int64_t length) {
  return look_at(subject_of(kind, settings, facts), {.length = length, .matrix = length});
}

// rope in even layers, alibi in odd ones.
PositionSubject by_turns() {
  struct Listed {
    std::vector<Choice<PositionEncoding>> position;
  } listed;
  load_config_text("position: [{kind: rope, layers: [1, 0]}, {kind: alibi, layers: [0, 1]}]\n",
                   [&](Fields& f) { f("position", listed.position, ""); }, {});
  PositionFacts facts = facts_for(4, 8, true);
  facts.layers = 4;
  PositionSubject subject = assembled(listed.position, facts);
  prepare(subject, 1);
  return subject;
}

}  // namespace

TEST_CASE("positions: every kind of the catalogue is looked at, drawn and told", "[conformance]") {
  for (const auto& info : positions().kinds()) {
    CAPTURE(info.kind);
    const PositionView view = look_at(buildable(std::string(info.kind)), {.length = 128, .matrix = 32});
    CHECK(view.decay.size(0) == view.distances.size(0));
    CHECK(view.decay_at(0) == 0.0);
    CHECK(view.decay.isfinite().all().item<bool>());
    CHECK(view.table.defined() == view.traits.places.input);
    CHECK(view.moved.defined() == view.traits.places.positions);
    if (view.traits.places.scores) CHECK(view.bias.isfinite().all().item<bool>());
    const std::string picture = position_picture(view, nullptr);
    CHECK(picture.find("nan") == std::string::npos);
    CHECK(picture.ends_with("</svg>\n"));
    CHECK(position_text(view).find(view.traits.places.text()) != std::string::npos);
    CHECK(position_json(view).at("kind") == view.name);
  }
}

TEST_CASE("positions: the table of a sinusoid is that of the reference", "[golden]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"sinusoidal/interleaved-d8-n16", {"layout=interleaved"}},
      {"sinusoidal/interleaved-d32-n50", {"layout=interleaved"}},
      {"sinusoidal/half-d8-n16", {"layout=half"}},
      {"sinusoidal/half-d32-n50", {"layout=half"}},
      {"sinusoidal/t2t-d8-n16", {"layout=half", "exponent=t2t"}},
      {"sinusoidal/t2t-d32-n50", {"layout=half", "exponent=t2t"}}};
  size_t checked = 0;
  for (const auto& c : goldens("positions", "sinusoidal"))
    for (const auto& [id, settings] : cases) {
      if (c.id() != id) continue;
      CAPTURE(c.id());
      const Tensor table = c.tensor("table");
      const int64_t L = table.size(0), D = table.size(1);
      CHECK(close(seen("sinusoidal", settings, facts_for(1, D, true, L), L).table, table, c.tolerance("table")));
      ++checked;
    }
  CHECK((checked == cases.size() || goldens_elsewhere()));
}

TEST_CASE("positions: the biases of Sandwich are those of the reference", "[golden]") {
  int checked = 0;
  for (const auto& c : goldens("positions", "sandwich")) {
    CAPTURE(c.id());
    const Tensor bias = c.tensor("bias")[0];
    const bool causal = !c.param("bidirectional", true);
    const int64_t H = bias.size(0), L = bias.size(1);
    const PositionView view = seen("sandwich", {"sandwich_dim=" + std::to_string(c.param<int64_t>("sandwich_dim", 0))},
                                   facts_for(H, 8, causal, L), L);
    CHECK(close(causal ? view.bias.tril() : view.bias, causal ? bias.tril() : bias, c.tolerance("bias")));
    ++checked;
  }
  CHECK((checked == 2 || goldens_elsewhere()));
}

TEST_CASE("positions: the frequencies of scalings are those of the reference", "[golden]") {
  const std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> cases{
      {"rope_scaling/linear-x4-d16", "inv_freq_none", {"scaling.kind=linear", "scaling.factor=4"}},
      {"rope_scaling/yarn-x4-d64",
       "inv_freq_none",
       {"scaling.kind=yarn", "scaling.factor=4", "scaling.original_max_position_embeddings=2048"}},
      {"rope_scaling/dynamic-x2-d32",
       "inv_freq_512",
       {"scaling.kind=dynamic", "scaling.factor=2", "scaling.original_max_position_embeddings=256"}}};
  size_t checked = 0;
  for (const auto& c : goldens("positions", "rope_scaling"))
    for (const auto& [id, tensor, settings] : cases) {
      if (c.id() != id) continue;
      CAPTURE(c.id());
      const PositionView view =
          look_at(subject_of("rope", settings, facts_for(2, c.param<int64_t>("head_dim", 0), true)),
                  {.length = 512, .matrix = 8});
      CHECK(close(view.frequencies.to(at::kFloat), c.tensor(tensor), c.tolerance(tensor)));
      CHECK(close(view.angles[3].to(at::kFloat), 3 * c.tensor(tensor), c.tolerance(tensor)));
      ++checked;
    }
  CHECK((checked == cases.size() || goldens_elsewhere()));
}

TEST_CASE("positions: the biases of ALiBi are those of the reference", "[golden]") {
  int checked = 0;
  for (const auto& c : goldens("positions", "alibi")) {
    if (c.id() != "alibi/asymmetric-h4-n5") continue;
    const Tensor bias = c.tensor("bias");
    const int64_t H = bias.size(0), L = bias.size(1);
    const PositionView view = seen("alibi", {"direction=asymmetric"}, facts_for(H, 8, false, L), L);
    CHECK(close(view.bias, bias, c.tolerance("bias")));
    // Over distances: the last query's row backwards is the past, the first one's the future.
    for (int64_t d = 0; d < L; ++d) {
      CHECK(close(view.bias_by_distance.select(1, L - 1 + d), bias.select(1, L - 1).select(1, L - 1 - d),
                  c.tolerance("bias")));
      CHECK(close(view.bias_by_distance.select(1, L - 1 - d), bias.select(1, 0).select(1, d), c.tolerance("bias")));
    }
    ++checked;
  }
  CHECK((checked == 1 || goldens_elsewhere()));
}

TEST_CASE("positions: rope's frequencies, wavelengths and angles follow its formula", "[unit]") {
  const PositionView view = seen("rope", {"theta=100"}, facts_for(2, 8, true), 16);
  const auto w = view.wavelengths();
  REQUIRE(w.size() == 4);
  for (int m = 0; m < 4; ++m)
    CHECK(w[static_cast<size_t>(m)] == Approx(2 * std::numbers::pi * std::pow(100.0, 2.0 * m / 8.0)));
  CHECK(view.angles[3][1].item<double>() == Approx(3.0 * std::pow(100.0, -2.0 / 8.0)));
}

TEST_CASE("positions: equal tokens under ALiBi fall by the mean slope, and by nothing under none", "[unit]") {
  const PositionView alibi = seen("alibi", {}, facts_for(4, 8, true), 32);
  const double mean = (std::pow(2.0, -2) + std::pow(2.0, -4) + std::pow(2.0, -6) + std::pow(2.0, -8)) / 4;
  CHECK(alibi.decay_at(10) == Approx(-10 * mean).epsilon(1e-5));
  CHECK(std::isnan(alibi.decay_at(32)));
  const PositionView none = seen("none", {}, facts_for(4, 8, true), 32);
  CHECK(none.decay.abs().max().item<double>() == 0.0);
}

TEST_CASE("positions: equal tokens under rope score as the sum of cosines says", "[unit]") {
  // One pair of channels a head: q and k turned by d w score |q|^2 cos(d w) / sqrt(2), w = 1.
  const PositionView view = seen("rope", {}, facts_for(1, 2, true), 8);
  const double size = -view.decay_at(1) / (1.0 - std::cos(1.0));
  CHECK(size > 0.0);
  for (int64_t d = 2; d < 8; ++d)
    CHECK(view.decay_at(d) == Approx(size * (std::cos(static_cast<double>(d)) - 1.0)).margin(1e-5));
}

TEST_CASE("positions: the similarity of a causal stack shows no key after its query", "[unit]") {
  const PositionView view = seen("sinusoidal", {}, facts_for(2, 8, true), 8);
  CHECK(view.similarity.isnan().sum().item<int64_t>() == 28);
  CHECK(view.similarity[5][5].item<double>() == Approx(0.0).margin(1e-5));  // all rows have one length
  CHECK(seen("sinusoidal", {}, facts_for(2, 8, false), 8).similarity.isnan().sum().item<int64_t>() == 0);
}

TEST_CASE("positions: what a table refuses is told, and the rest is shown", "[unit]") {
  const PositionView view = seen("learned", {}, facts_for(2, 8, true, 24), 100);
  CHECK(view.length == 24);
  CHECK(view.asked == 100);
  CHECK(view.table.size(0) == 24);
  CHECK(view.refused.find("24 positions") != std::string::npos);
  CHECK(position_json(view).at("refused") == view.refused);
}

TEST_CASE("positions: a shorter wavelength beside the default is drawn as a line of its own", "[unit]") {
  const PositionView own = seen("rope", {"theta=100"}, facts_for(2, 8, true), 16),
                     plain = seen("rope", {}, facts_for(2, 8, true), 16);
  const auto times = [](const std::string& page) {
    int count = 0;
    for (size_t at = page.find("default settings"); at != std::string::npos; at = page.find("default settings", at + 1))
      ++count;
    return count;
  };
  CHECK(times(position_picture(own, &plain)) == 2);    // wavelengths, and scores over the distance
  CHECK(times(position_picture(plain, &plain)) == 1);  // wavelengths are the same
  CHECK(times(position_picture(own, nullptr)) == 0);
}

TEST_CASE("positions: a comparison has one row and one line a kind", "[unit]") {
  std::vector<PositionView> views;
  for (const char* kind : {"rope", "alibi", "learned"}) views.push_back(seen(kind, {}, facts_for(4, 8, true), 70));
  const std::string text = comparison_text(views), picture = comparison_picture(views);
  for (const auto& view : views) {
    CHECK(text.find("\n" + view.name) != std::string::npos);
    CHECK(picture.find(">" + view.name + "<") != std::string::npos);
  }
  CHECK(text.find("at 64") != std::string::npos);
}

TEST_CASE("positions: titles name the settings that are not defaults, of nested choices too", "[unit]") {
  const std::vector<std::string> yarn{"scaling.kind=yarn", "scaling.factor=4",
                                      "scaling.original_max_position_embeddings=64"};
  const PositionView view = seen("rope", yarn, facts_for(2, 8, true), 16);
  const std::string title = "rope, scaling yarn (factor 4, original_max_position_embeddings 64)";
  CHECK(view.title == title);
  CHECK(position_text(view).starts_with(title + ": "));
  CHECK(position_json(view).at("title") == title);
  CHECK(position_picture(view, nullptr).find(">" + title + "<") != std::string::npos);
  CHECK(seen("rope", {}, facts_for(2, 8, true), 16).title == "rope");
  CHECK(seen("rope", {"theta=500000"}, facts_for(2, 8, true), 16).title == "rope, theta 500000");
}

TEST_CASE("positions: of parts that act in some layers, the layer that is shown is told and is all that is shown",
          "[unit]") {
  const PositionSubject subject = by_turns();
  const PositionView first = look_at(subject, {.length = 16, .matrix = 16});
  CHECK(first.title == "rope");
  CHECK(first.layer_note == "layer 0 of 4: rope (alibi acts in other layers; --layer)");
  CHECK(first.traits.places.text() == "query and key");
  CHECK_FALSE(first.bias.defined());
  const PositionView second = look_at(subject, {.length = 16, .matrix = 16, .layer = 3});
  CHECK(second.title == "alibi");
  CHECK(second.layer_note == "layer 3 of 4: alibi (rope acts in other layers; --layer)");
  CHECK_FALSE(second.frequencies.defined());
  CHECK(second.bias.defined());
  for (const PositionView* view : {&first, &second}) {
    CHECK(position_text(*view).find(view->layer_note) != std::string::npos);
    CHECK(position_picture(*view, nullptr).find(view->layer_note) != std::string::npos);
    CHECK(position_json(*view).at("layer_note") == view->layer_note);
  }
  CHECK_THROWS_AS(look_at(subject, {.length = 16, .layer = 4}), ConfigError);
}

TEST_CASE("positions: a layer in which nothing acts shows no turn", "[unit]") {
  Lone lone;
  load_config_text("position: {kind: rope, layers: [0, 1]}\n", walk_of(lone), {});
  PositionFacts facts = facts_for(2, 8, true);
  facts.layers = 2;
  PositionSubject subject = assembled({lone.position}, facts);
  prepare(subject, 1);
  const PositionView still = look_at(subject, {.length = 16, .layer = 0});
  CHECK(still.title == "none");
  CHECK(still.layer_note == "layer 0 of 2: nothing (rope acts in other layers; --layer)");
  CHECK(still.decay.abs().max().item<double>() == 0.0);
  CHECK(look_at(subject, {.length = 16}).layer == 1);
}

TEST_CASE("positions: a map of fewer positions than are shown covers all of them", "[unit]") {
  const PositionView few = seen("alibi", {}, facts_for(4, 8, true), 64);
  const PositionView all = look_at(subject_of("alibi", {}, facts_for(4, 8, true)), {.length = 64, .matrix = 16});
  CHECK(all.similar.size(0) == 16);
  CHECK(all.similar[15].item<int64_t>() == 60);
  CHECK(all.similarity[15][0].item<double>() == Approx(few.similarity[60][0].item<double>()));
  CHECK(all.similarity[3][4].isnan().item<bool>());
}

TEST_CASE("positions: fresh weights are said to be, and why what starts at zero is silent", "[unit]") {
  const PositionView learned = seen("learned", {}, facts_for(2, 8, true), 8),
                     cope = seen("cope", {}, facts_for(2, 8, true), 8);
  CHECK(position_text(learned).find("fresh weights") != std::string::npos);
  CHECK(position_picture(learned, nullptr).find("fresh weights") != std::string::npos);
  CHECK(learned.silence().empty());
  CHECK(cope.silence().find("weight starts at 0") != std::string::npos);
  CHECK(position_text(cope).find(cope.silence()) != std::string::npos);
  CHECK(comparison_text({cope, learned}).find(cope.silence()) != std::string::npos);
  CHECK(position_text(seen("rope", {}, facts_for(2, 8, true), 8)).find("fresh") == std::string::npos);
}

TEST_CASE("positions: the length row of a table that ends is short", "[unit]") {
  const std::string text = position_text(seen("learned", {}, facts_for(2, 8, true, 24), 100));
  CHECK(text.find("ends at 24 positions\n") != std::string::npos);
  CHECK(text.find("longer than") == std::string::npos);
}

TEST_CASE("positions: two subjects of one kind and of other lengths are told apart", "[unit]") {
  PositionSubject a = subject_of("rope", {}, facts_for(2, 8, true, 32)),
                  b = subject_of("rope", {"theta=100"}, facts_for(2, 8, true, 64));
  a.name = "a";
  b.name = "b";
  const std::vector<PositionView> views{look_at(a, {.length = 32}), look_at(b, {.length = 64})};
  const std::string text = comparison_text(views), picture = comparison_picture(views);
  for (const char* name : {"a: rope", "b: rope"}) {
    CHECK(text.find(std::string("\n") + name) != std::string::npos);
    CHECK(picture.find(std::string(">") + name + "<") != std::string::npos);
    CHECK(picture.find(std::string(name) + ": score") != std::string::npos);
  }
  CHECK(picture.find("a: rope: 2 heads of 8, causal; positions 0 to 31") != std::string::npos);
  CHECK(picture.find("b: rope, theta 100: 2 heads of 8, causal; positions 0 to 63") != std::string::npos);
  CHECK(picture.find("built for") == std::string::npos);
  CHECK(text.find("at 63") != std::string::npos);
}

TEST_CASE("positions: maps of a comparison share their colours, or say that they do not", "[unit]") {
  const auto page = [](const std::vector<std::string>& kinds) {
    std::vector<PositionView> views;
    for (const auto& kind : kinds) views.push_back(seen(kind, {}, facts_for(4, 8, true), 32));
    return comparison_picture(views);
  };
  CHECK(page({"alibi", "rope"}).find("in all maps") != std::string::npos);
  const std::string apart = page({"alibi", "learned"});  // first weights of 0.02 beside slopes
  CHECK(apart.find("in this map only") != std::string::npos);
  CHECK(apart.find("in all maps") == std::string::npos);
}

TEST_CASE("positions: tensors hold the table, the bias and the parameters by name", "[unit]") {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : position_tensors(seen("learned", {}, facts_for(2, 8, true), 8)))
    names.push_back(name);
  const std::string all = join(names, " ");
  CHECK(all.find("table") != std::string::npos);
  CHECK(all.find("parameters.weight") != std::string::npos);
  CHECK(all.find("similarity") != std::string::npos);
}

}  // namespace ordo::test
