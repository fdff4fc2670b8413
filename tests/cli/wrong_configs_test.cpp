// SPDX-License-Identifier: Apache-2.0
// Every mistake that people make in a config ends in exit 2, the place of the mistake, and what to do about it.
#include "support/catch.h"

#include "ordo/core/errors.h"
#include "ordo/models/model.h"
#include "ordo/tasks/task.h"
#include "ordo/train/run_config.h"
#include "support/mistakes.h"

namespace ordo::test {
namespace {

constexpr std::string_view kRight = R"(task:
  kind: language_modeling
  tokenizer: char
  data: {generate: {kind: chase, sentences: 20, held_out: 5}}
model:
  kind: decoder
  dim: 32
  layers: 2
  attention: {heads: 2}
  position: rope
train:
  steps: 2
  batch_size: 2
  length: 16
)";

constexpr std::string_view kMade = "data: {generate: {kind: chase, sentences: 20, held_out: 5}}";

const std::vector<Mistake>& wrong_configs() {
  static const std::vector<Mistake> kMistakes{
      // sizes that no machine has
      {"layers: 2", "layers: 1000000000", "8:11", {"model.layers", "[1, 10000]"}},
      {"dim: 32", "dim: 4000000000", "7:8", {"model.dim", "[1, 1048576]"}},
      {"batch_size: 2", "batch_size: 1000000000", "13:15", {"train.batch_size", "[0, 1048576]"}},
      {"length: 16", "length: 9223372036854775807", "14:11", {"train.length", "[1, 67108864]"}},
      {"", "", kCommandLine, {"train.accumulate", "[1, 1048576]"}, {"train.accumulate=9223372036854775807"}},
      // names
      {"dim: 32", "dmi: 32", "7:3", {"unknown key 'dmi'", "dim"}},
      {"model:", "modle:", "5:1", {"unknown key 'modle'", "model"}},
      {"heads: 2", "haeds: 2", "9:15", {"'haeds'", "heads"}},
      {"dim: 32", "dim: 32\n  dim: 64", "8:3", {"duplicate", "'dim'"}},
      {"position: rope", "position: rpoe", "10:13", {"rpoe", "rope"}},
      {"position: rope", "position: {kind: alibi, theta: 5}", "10:27", {"theta", "alibi"}},
      {"position: rope", "position: {theta: 5}", "10:13", {"kind"}},
      // times
      {"position: rope", "position: time_age", "10:13", {"time_age: ", "use time_decay"}},
      {"position: rope", "position: {kind: calendar, start: 2016-02-30}", "10:37", {"no such moment"}},
      {"position: rope", "position: {kind: calendar, frequency: 1M}", "10:20", {"give step"}},
      {"position: rope", "position: {kind: calendar, features: [hour, weekday]}", "10:47", {"day_of_week"}},
      {"position: rope", "position: {kind: time2vec, span: 0.5}", "10:20", {"below step"}},
      {"position: rope", "position: {kind: time_decay, unit: 0}", "10:38", {"above 0"}},
      // formulas: the place is the character
      {"position: rope", "position: {kind: expression, bias: \"\"}", "10:39", {"bias: ", "empty"}},
      {"position: rope",
       "position: {kind: expression, bias: \"-a*abs(i-j)\"}",
       "10:40",
       {"bias: ", "unknown name 'a'"}},
      {"position: rope",
       "position: {kind: expression, bias: \"-2*abs(i-j\"}",
       "10:45",
       {"bias: ", "'(' is never closed"}},
      {"position: rope", "position: {kind: expression, bias: \"-2*abs(i-j))\"}", "10:50", {"bias: ", "found ')'"}},
      {"position: rope",
       "position: {kind: expression, bias: \"-2*ab(i-j)\"}",
       "10:42",
       {"bias: ", "did you mean 'abs'?"}},
      {"position: rope", "position: {kind: expression, bias: \"2 distance\"}", "10:41", {"bias: ", "times is *"}},
      {"position: rope", "position: {kind: expression, bias: \"distance ** 2\"}", "10:49", {"bias: ", "a^b"}},
      {"position: rope", "position: {kind: expression, bias: \"h = 0\"}", "10:41", {"bias: ", "equality is =="}},
      {"position: rope",
       "position: {kind: expression, bias: \"0 < i < 5\"}",
       "10:45",
       {"bias: ", "one comparison only"}},
      {"position: rope", "position: {kind: expression, bias: \"i − j\"}", "10:41", {"bias: ", "the minus sign is -"}},
      {"position: rope",
       "position: {kind: expression, bias: \"max(distance)\"}",
       "10:39",
       {"bias: ", "two values or more, found 1"}},
      {"position: rope",
       "position: {kind: expression, bias: \"exp(i, j)\"}",
       "10:39",
       {"bias: ", "one value, found 2"}},
      {"position: rope", "position: {kind: expression, bias: \"log\"}", "10:39", {"bias: ", "is a function"}},
      {"position: rope", "position: {kind: expression, bias: \"distance(2)\"}", "10:39", {"bias: ", "is no function"}},
      {"position: rope", "position: {kind: expression, bias: \"h[0]\"}", "10:40", {"bias: ", "found '['"}},
      {"position: rope", "position: {kind: expression, bias: \"1/0 + i\"}", "10:40", {"bias: ", "not finite"}},
      {"position: rope", "position: {kind: expression, bias: \"i + j +\"}", "10:46", {"bias: ", "ends where"}},
      {"position: rope", "position: {kind: expression, bias: \"2*|i - j|\"}", "10:41", {"bias: ", "abs(x)"}},
      {"position: rope", "position: {kind: expression, bias: \"i; j\"}", "10:40", {"bias: ", "found ';'"}},
      {"position: rope",
       "position:\n    kind: expression\n    parameters: [{name: a, init: 1}]\n    bias: >-\n      -a*abs(i - j)\n     "
       " + b",
       "15:9",
       {"unknown name 'b'", "a, i, j"}},
      {"position: rope", "position: {kind: expression, bias: 1/distance}", "10:20", {"inf at i = 0, j = 0"}},
      {"position: rope", "position: {kind: expression, bias: h, parameters: [{name: h}]}", "10:61", {"taken"}},
      {"position: rope", "position: {kind: expression, bias: 1, parameters: [{name: x-y}]}", "10:62", {"letters"}},
      {"position: rope", "position: {kind: expression, bias: 1, parameters: [{name: x}]}", "10:20", {"does not use"}},
      {"position: rope", "position: {kind: expression, bias: 1, parameters: [{size: 2}]}", "10:54", {"name"}},
      {"position: rope",
       "position: expression",
       kCommandLine,
       {"bias (character 3)", "'k'", "        1+k\n          ^ "},
       {"model.position.bias=1+k"}},
      {"position: rope",
       "position: rope",
       kCommandLine,
       {"missing key 'model.dim'", "kind encoder here replaces decoder", "dim, layers, attention"},
       {"model.kind=encoder"}},
      {"kind: decoder", "kind: decodre", "6:9", {"decodre", "decoder"}},
      {"kind: language_modeling", "kind: langauge_modeling", "2:9", {"langauge_modeling", "language_modeling"}},
      {"tokenizer: char", "tokenizer: chars", "3:14", {"chars", "char"}},
      {"kind: chase", "kind: chess", "4:27", {"chess", "chase"}},
      {"steps: 2", "steps: 2\n  optimizer: adamv", "13:14", {"adamv", "adamw"}},
      {"steps: 2", "steps: 2\n  schedule: cosinus", "13:13", {"cosinus", "cosine"}},
      {"steps: 2", "steps: 2\n  recompute: block", "13:14", {"block", "blocks"}},
      {"steps: 2", "steps: 2\n  precision: fp8", "13:14", {"fp8", "fp32", "bf16"}},
      {"steps: 2", "steps: 2\n  on_nonfinite: ignore", "13:17", {"ignore", "skip", "rollback"}},
      {"heads: 2", "heads: 2, kernel: flesh", "9:33", {"flesh", "sdpa"}},
      {"dim: 32", "dim: 32\n  norm: {kind: batch}", "8:16", {"batch", "layer", "rms"}},
      {"dim: 32", "dim: 32\n  norm: {placement: before}", "8:21", {"before", "pre"}},
      {"dim: 32", "dim: 32\n  feed_forward: {activation: swish}", "8:30", {"swish", "silu"}},
      // what must be there
      {"model:\n  kind: decoder\n  dim: 32\n  layers: 2\n  attention: {heads: 2}\n  position: rope\n",
       "",
       "1:1",
       {"missing", "model"}},
      {"  length: 16\n", "", "11:1", {"missing", "length"}},
      {"  kind: language_modeling\n", "", "2:3", {"kind"}},
      {"  dim: 32\n", "", "5:1", {"dim"}},
      {"{heads: 2}", "{kv_heads: 2}", "9:", {"heads"}},
      {"", "", "1:1", {"missing key 'task'", "'model'", "'train'"}},
      // types
      {"dim: 32", "dim: wide", "7:8", {"wide", "number"}},
      {"dim: 32", "dim: 32.5", "7:8", {"32.5", "whole"}},
      {"dim: 32", "dim: \"32\"", "7:8", {"32"}},
      {"dim: 32", "dim: 010", "7:8", {"010", "zero"}},
      {"dim: 32", "dim: 9223372036854775808", "7:8", {"9223372036854775808"}},
      {"dim: 32", "dim: [32]", "7:8", {"dim", "list"}},
      {"dim: 32", "dim:", "7:3", {"dim"}},
      {"dim: 32", "dim: 32\n  bias: no", "8:9", {"no", "true", "false"}},
      {"dim: 32", "dim: 32\n  bias: 1", "8:9", {"1", "true", "false"}},
      {"dim: 32", "dim: 32\n  dropout: nan", "8:12", {"nan"}},
      {"dim: 32", "dim: 32\n  dropout: .inf", "8:12", {".inf"}},
      {"steps: 2", "steps: 2\n  clip: 1e400", "13:9", {"1e400"}},
      {"steps: 2", "steps: 2\n  clip: 1e-300", "13:3", {"train.clip (1e-300) makes every gradient 0"}},
      {"attention: {heads: 2}", "attention: 2", "9:14", {"attention", "map"}},
      {"steps: 2", "steps: 5 parsecs", "12:10", {"parsecs", "steps", "epochs", "tokens"}},
      {"steps: 2", "steps: 2\n  recompute: {kind: budget, memory: 4 XB}", "13:37", {"XB", "GB"}},
      // ranges
      {"dim: 32", "dim: 0", "7:8", {"dim", "0"}},
      {"layers: 2", "layers: -2", "8:11", {"-2"}},
      {"dim: 32", "dim: 32\n  dropout: 1.5", "8:12", {"1.5", "1"}},
      {"steps: 2", "steps: 0", "12:10", {"0"}},
      {"steps: 2", "steps: 2\n  accumulate: 0", "13:15", {"0", "1"}},
      {"steps: 2", "steps: 2\n  ema: 1", "13:8", {"1"}},
      {"steps: 2", "steps: 2\n  optimizer: {kind: adamw, lr: -1}", "13:32", {"-1"}},
      {"steps: 2", "steps: 2\n  optimizer: {kind: adamw, betas: [1.2, 0.9]}", "13:", {"1.2"}},
      {"position: rope", "position: {kind: rope, theta: 0}", "10:33", {"theta", "0"}},
      {"task:", "seed: -1\ntask:", "1:7", {"seed", "-1"}},
      {"task:", "checkpoint: {keep: 0}\ntask:", "1:20", {"keep", "0"}},
      // two keys that cannot hold together
      {"heads: 2", "heads: 3", "9:15", {"model.dim", "model.attention.heads", "32", "3"}},
      {"heads: 2", "heads: 2, kv_heads: 3", "9:25", {"model.attention.heads", "model.attention.kv_heads"}},
      {"position: rope",
       "position: rope\n  tie_embeddings: false\n  init: {kind: lecun_normal, std: 0.1}",
       "12:30",
       {"model.init.std", "lecun_normal", "kind: normal"}},
      {"position: rope",
       "position: rope\n  init: {kind: lecun_normal}",
       "11:10",
       {"model.tie_embeddings", "model.init.embedding_std", "tie_embeddings: false"}},
      {"batch_size: 2", "batch_size: 2\n  batch_tokens: 64", "14:3", {"train.batch_size", "train.batch_tokens"}},
      {"  batch_size: 2\n", "", "11:1", {"train.batch_size", "train.batch_tokens"}},
      {"batch_size: 2", "batch_tokens: 8", "13:3", {"train.batch_tokens", "train.length"}},
      {"task:", "evaluate: {stride: 32}\ntask:", "1:12", {"evaluate.stride", "32", "16"}},
      {"steps: 2", "steps: 2\n  early_stop: {patience: 3}", "13:3", {"train.early_stop", "evaluate.every"}},
      {"steps: 2",
       "steps: 2\n  schedule: {kind: cosine, warmup: 3}",
       "13:28",
       {"warmup (3 steps)", "train.steps (2 steps)"}},
      {"steps: 2",
       "steps: 2 epochs\n  schedule: {kind: wsd, warmup: 2.5 epochs}",
       "13:25",
       {"warmup (2.5 epochs)", "train.steps (2 epochs)"}},
      {"steps: 2", "steps: 2\n  on_nonfinite: rollback", "13:3", {"train.on_nonfinite", "checkpoint.every"}},
      {"task:", "checkpoint: {best: loss}\ntask:", "1:14", {"loss", "validation.loss"}},
      {"task:", "device: gpu\ntask:", "1:1", {"gpu", "cuda"}},
      {"task:", "device: cuda:x\ntask:", "1:1", {"cuda:x", "cuda:N"}},
      {"task:", "name: a/b\ntask:", "1:1", {"a/b"}},
      {"held_out: 5}", "held_out: 5}, train: input.txt", "4:3", {"task.data.generate", "task.data.train"}},
      // weights
      {"held_out: 5}", "held_out: 5}, weights: [1]", "4:3", {"task.data.weights", "there are none"}},
      {kMade, "data: {train: [a, b], weights: [0.7]}", "4:3", {"weights are 1", "names 2 files or patterns"}},
      {kMade, "data: {train: [a, b], weights: [0.7, 0]}", "4:40", {"weights", "0"}},
      {kMade, "data: {train: [a, b], weights: [0.7, -2]}", "4:40", {"weights", "-2"}},
      {kMade, "data: {train: [a, b], weights: [nan, 1]}", "4:35", {"weights", "nan"}},
      {kMade, "data: {train: [a, b], weights: [1, .inf]}", "4:38", {"weights", ".inf"}},
      {kMade,
       "sampling: consecutive\n  data: {train: [a, b], weights: [1, 2]}",
       "2:9",
       {"task.sampling: consecutive", "task.data.weights", "packed or random"}},
      {kMade, "data: {}", "4:3", {"task.data.train", "missing"}},
      {"tokenizer: char\n  ", "", "2:9", {"task.tokenizer"}},
      {"position: rope", "position: {kind: learned, max_positions: 8}", "10:20", {"max_positions", "8", "16"}},
      {"position: rope", "position: learned\n  max_length: 8", "11:3", {"model.max_length", "train.length", "8", "16"}},
      {"position: rope", "position: {kind: rope, rotary_dim: 7}", "10:", {"7"}},
      // YAML itself
      {"  dim: 32", "\tdim: 32", "7:1", {"tab"}},
      {"{heads: 2}", "{heads: 2", "9:14", {"does not end well"}},
      {"  length: 16\n", "  length: 16\n---\nname: x\n", "15:1", {"second document"}},
      {"", "- a\n- b\n", "1:1", {"list"}},
      {"", "just words\n", "1:1", {"just words"}},
      {"dim: 32", "dim: &a [*a]", "7:12", {"alias"}},
      {"task:", "include: nowhere.yaml\ntask:", "1:10", {"nowhere.yaml"}},
      // the command line
      {"", "", kCommandLine, {"train.lerning_rate", "train"}, {"train.lerning_rate=1"}},
      {"", "", kCommandLine, {"model.dim", "wide"}, {"model.dim=wide"}},
      {"", "", kCommandLine, {"model.position", "rpoe", "rope"}, {"model.position.kind=rpoe"}},
      {"", "", kCommandLine, {"model.position"}, {"model.position.5.theta=1"}},
      {"", "", kCommandLine, {"train.optimizer.lr", "nan"}, {"train.optimizer.lr=nan"}},
      {"", "", kCommandLine, {"model.attention.heads", "7"}, {"model.attention.heads=7"}},
      {"", "", kCommandLine, {"[1, 2"}, {"evaluate.lengths=[1, 2"}},
  };
  return kMistakes;
}

// Reads a config as `ordo check` does, and assembles task and model: the refusal, or "" when all was well.
std::string refusal(const std::string& text, const std::vector<std::string>& overrides) {
  try {
    const RunConfig config = load_run_config_text(text, "wrong.yaml", overrides).config;
    const auto task = tasks().build(config.task, {.seed = config.seed()});
    models().build(config.model, task->complete({.max_length = config.train.length, .seed = config.seed()}));
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("each wrong config is refused with its place and what is wrong, and the right one is not", "[cli]") {
  CHECK(wrong_configs().size() >= 60);
  check_refused(kRight, wrong_configs(), refusal);
}

TEST_CASE("the program ends a wrong config with exit 2, the message on stderr and nothing on stdout", "[cli]") {
  check_exits(Scratch(), kRight, wrong_configs(), {"check"});
}

TEST_CASE("all mistakes of a file are reported together", "[cli]") {
  const std::string text =
      "task: {kind: language_modeling, tokenizer: char, data: {generate: chase}}\nmodel: {kind: decoder, dmi: 3, "
      "layers: x}\n"
      "train: {steps: 0, length: 16, batch_size: 2}\n";
  const std::string message = refusal(text, {});
  for (const auto* place : {"wrong.yaml:2:", "'dmi'", "'x'", "wrong.yaml:3:"}) {
    INFO(message);
    CHECK(message.find(place) != std::string::npos);
  }
}

}  // namespace ordo::test
