// SPDX-License-Identifier: Apache-2.0
// A small config with every sort of option, in the shape of the real one.
#pragma once
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/config/config.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"

namespace ordo::sample {

struct Scaling {};
struct Position {};
struct Optimizer {};
struct Facts {
  int64_t dim = 8;
};

enum class Activation { gelu, relu, silu };
inline constexpr NamedValue kActivations[] = {{"gelu", 0}, {"relu", 1}, {"silu", 2}};
enum class NormKind { layer, rms };
inline constexpr NamedValue kNormKinds[] = {{"layer", 0}, {"rms", 1}};

struct Yarn : Scaling {
  struct Config {
    double factor = 4.0, beta_fast = 32.0;
  };
  static constexpr std::string_view kKind = "yarn", kSummary = "stretches the slow turns only";
  Yarn(const Config&, const Facts&) {}
};
inline void fields(Fields& f, Yarn::Config& c) {
  f("factor", c.factor, "how much longer", at_least(1));
  f("beta_fast", c.beta_fast, "turns above it are left alone");
}
struct Interpolated : Scaling {
  struct Config {
    double factor = 2.0;
  };
  static constexpr std::string_view kKind = "linear", kSummary = "squeezes all positions";
  Interpolated(const Config&, const Facts&) {}
};
inline void fields(Fields& f, Interpolated::Config& c) {
  f("factor", c.factor, "how much longer", required(at_least(1)));
}

struct Rope : Position {
  struct Config {
    double theta = 10000.0;
    bool interleaved = false;
    Choice<Scaling> scaling;
  };
  static constexpr std::string_view kKind = "rope", kSummary = "turns queries and keys";
  Rope(const Config& config, const Facts& facts) : theta(config.theta), dim(facts.dim) {}
  double theta;
  int64_t dim;
};
struct Alibi : Position {
  struct Config {
    int64_t bias_max = 8;
  };
  static constexpr std::string_view kKind = "alibi", kSummary = "a slope per head";
  Alibi(const Config&, const Facts&) {}
};
inline void fields(Fields& f, Alibi::Config& c) { f("bias_max", c.bias_max, "the steepest slope", at_least(1)); }
struct None : Position {
  struct Config {};
  static constexpr std::string_view kKind = "none", kSummary = "no encoding";
  None(const Config&, const Facts&) {}
};
inline void fields(Fields&, None::Config&) {}
struct Chain : Position {  // holds choices of its own like
  struct Config {
    std::vector<Choice<Position>> parts;
  };
  static constexpr std::string_view kKind = "chain", kSummary = "several in a row";
  Chain(const Config&, const Facts&) {}
};

struct Adamw : Optimizer {
  struct Config {
    double lr = 1e-3, weight_decay = 0.01;
    std::vector<double> betas = {0.9, 0.999};
  };
  static constexpr std::string_view kKind = "adamw", kSummary = "Adam with decoupled decay";
  Adamw(const Config&, const Facts&) {}
};
inline void fields(Fields& f, Adamw::Config& c) {
  f("lr", c.lr, "learning rate", above(0));
  f("weight_decay", c.weight_decay, "decay of the weights", at_least(0));
  f("betas", c.betas, "decay of the running means", below_one());
}
struct Sgd : Optimizer {
  struct Config {
    double lr = 0.1, momentum = 0.0;
  };
  static constexpr std::string_view kKind = "sgd", kSummary = "plain descent";
  Sgd(const Config&, const Facts&) {}
};
inline void fields(Fields& f, Sgd::Config& c) {
  f("lr", c.lr, "learning rate", above(0));
  f("momentum", c.momentum, "of the past steps", below_one());
}

inline const Catalog<Scaling, Facts>& scalings() {
  static const Catalog<Scaling, Facts> list("scaling",
                                            {entry<Yarn, Scaling, Facts>(), entry<Interpolated, Scaling, Facts>()});
  return list;
}
inline const Catalog<Position, Facts>& positions() {
  static const Catalog<Position, Facts> list("position encoding",
                                             {entry<Rope, Position, Facts>(), entry<Alibi, Position, Facts>(),
                                              entry<None, Position, Facts>(), entry<Chain, Position, Facts>()});
  return list;
}
inline const Catalog<Optimizer, Facts>& optimizers() {
  static const Catalog<Optimizer, Facts> list("optimizer",
                                              {entry<Adamw, Optimizer, Facts>(), entry<Sgd, Optimizer, Facts>()});
  return list;
}

}  // namespace ordo::sample

namespace ordo {
template <>
inline const Kinds& kinds_of<sample::Scaling>() {
  return sample::scalings().kinds();
}
template <>
inline const Kinds& kinds_of<sample::Position>() {
  return sample::positions().kinds();
}
template <>
inline const Kinds& kinds_of<sample::Optimizer>() {
  return sample::optimizers().kinds();
}
}  // namespace ordo

namespace ordo::sample {

inline void fields(Fields& f, Rope::Config& c) {
  f("theta", c.theta, "base of the angles", above(0));
  f("interleaved", c.interleaved, "pairs are neighbours");
  f("scaling", c.scaling, "for longer inputs");
}
inline void fields(Fields& f, Chain::Config& c) { f("parts", c.parts, "the encodings, in order"); }

struct FeedForward {
  int64_t hidden = 0;
  Activation activation = Activation::gelu;
  bool gated = false;
  double dropout = 0.0;
};
inline void fields(Fields& f, FeedForward& c) {
  f("hidden", c.hidden, "width of the inner layer", at_least(0));
  f("activation", c.activation, "non-linearity", kActivations);
  f("gated", c.gated, "with a gate");
  f("dropout", c.dropout, "after the second projection", below_one());
}
struct Norm {
  NormKind kind = NormKind::layer;
  bool bias = true;
};
inline void fields(Fields& f, Norm& c) {
  f("kind", c.kind, "which norm", kNormKinds);
  f("bias", c.bias, "with a bias");
}
struct Model {
  int64_t dim = 0;
  int64_t heads = 2;
  std::vector<int64_t> window;
  std::vector<Choice<Position>> position;
  FeedForward feed_forward;
  Norm norm;
  std::optional<double> softcap;
};
inline void fields(Fields& f, Model& c) {
  f("dim", c.dim, "model width", required(at_least(1)));
  f("heads", c.heads, "query heads", at_least(1));
  f("window", c.window, "tokens in sight, by layer", at_least(0));
  f("position", c.position, "where tokens stand");
  f("feed_forward", c.feed_forward, "the feed-forward layers");
  f("norm", c.norm, "the norms");
  f("softcap", c.softcap, "bound of the scores", above(0));
}
struct Train {
  Quantity steps{2000, "steps"};
  Quantity memory{4, "GB"};
  Choice<Optimizer> optimizer{"adamw"};
};
inline void fields(Fields& f, Train& c) {
  f("steps", c.steps, "how long", kHorizonUnits, above(0));
  f("memory", c.memory, "how much", kMemoryUnits);
  f("optimizer", c.optimizer, "how weights move");
}
struct Root {
  std::string name = "run";
  std::filesystem::path data;
  Model model;
  Train train;
};
inline void fields(Fields& f, Root& c) {
  f("name", c.name, "of the run");
  f("data", c.data, "the corpus");
  f("model", c.model, "the model", required());
  f("train", c.train, "the training");
}

struct Loaded {
  Root root;
  Sources sources;
};
inline Loaded load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  log::set_level(log::Level::warning);  // tests of the log read its file
  Loaded loaded;
  loaded.sources = load_config_text(text, walk_of(loaded.root), {.overrides = overrides, .name = "lm.yaml"});
  return loaded;
}
// What the reader says about a wrong text; empty when it has nothing to say.
inline std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    load(text, overrides);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace ordo::sample
