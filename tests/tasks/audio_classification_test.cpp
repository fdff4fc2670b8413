// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/audio_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/models/encoder.h"
#include "support/program.h"
#include "support/signal_files.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

struct WrittenSounds {
  Choice<Task> task{"audio_classification"};
};
void fields(Fields& f, WrittenSounds& c) { f("task", c.task, "the task"); }

// The task of a config as a user writes it, under `task`.
std::shared_ptr<Task> sound_task(const std::string& yaml) {
  WrittenSounds read;
  load_config_text("task: {kind: audio_classification, " + yaml + "}", walk_of(read), {.name = "test.yaml"});
  return tasks().build(read.task, {.seed = 1});
}

std::string sound_refusal(const std::string& yaml) {
  return thrown<DataError>([&] { sound_task(yaml)->summary(); });
}
std::string sound_contradiction(const std::string& yaml) {
  return thrown<ConfigError>([&] { sound_task(yaml)->summary(); });
}

constexpr const char* kFeatures = ", features: {sample_rate: 8000, mels: 10}";

Batch all_sounds(const Task& task, Split split, int64_t length) {
  const auto stream = task.open({.split = split, .batch_size = 1000, .length = length, .training = false});
  return *stream->next();
}

// low_anna_0.wav, high_ben_1.wav, …: twelve tones, each longer than the one before.
std::string named_sounds(const Scratch& scratch) {
  int take = 0;
  for (const auto* speaker : {"anna", "ben", "carl"})
    for (const auto* kind : {"high", "low", "high", "low"}) {
      const auto name = fmt::format("{}_{}_{}.wav", kind, speaker, take);
      scratch.write(name, wav_file(tone(*kind == 'h' ? 2000.0 : 300.0, static_cast<size_t>(400 + 80 * take))));
      ++take;
    }
  return "data: {train: '" + (scratch / "*.wav").string() + "', name: '{class}_{speaker}_{take}'}";
}

}  // namespace

TEST_CASE("audio classification: names of files say the class, and whom to keep for the test", "[unit]") {
  const Scratch scratch;
  const auto task = sound_task(named_sounds(scratch) + ", split: {kind: name, by: speaker, test: [ben]}" + kFeatures);
  const Batch test = all_sounds(*task, Split::test, 20), train = all_sounds(*task, Split::train, 20);
  CHECK(same_bytes(test.targets, at::tensor({0L, 0L, 1L, 1L})));
  CHECK(train.targets.numel() == 8);
  CHECK(contains(test.examples.front(), "high_ben_4.wav"));
  // a frame of 200 samples every 80: take 4 has 720 samples and so 7 frames, take 7 the most
  CHECK(test.signal.sizes() == at::IntArrayRef{4, 10, 10});
  CHECK(same_bytes(test.mask.keys.sum(1), at::tensor({7L, 9L, 8L, 10L})));
  CHECK(test.signal[0].slice(0, 7).eq(0.0).all().item<bool>());
  const ModelFacts facts = task->complete({.max_length = 20});
  CHECK((facts.signal.channels == 10 && !facts.signal.image() && facts.outputs == 2 && facts.max_length == 20));
}

TEST_CASE("audio classification: every band has mean 0 and deviation 1 over the frames of training", "[unit]") {
  const Scratch scratch;
  const auto task = sound_task(named_sounds(scratch) + kFeatures);
  const Batch train = all_sounds(*task, Split::train, 20);
  const Tensor frames = train.signal.flatten(0, 1).index({train.mask.keys.flatten()});
  CHECK(close(frames.mean(0), at::zeros({10}), {.absolute = 1e-4, .relative = 0.0}));
  CHECK(close(frames.std(0, /*unbiased=*/false), at::zeros({10}) + 1.0, {.absolute = 1e-4, .relative = 0.0}));
}

TEST_CASE("audio classification: folders are classes, and sounds of other rates are resampled", "[unit]") {
  const Scratch scratch;
  scratch.write("low/1.wav", wav_file(tone(300.0, 1600)));
  scratch.write("high/1.wav", wav_file(tone(2000.0, 3200, 16000.0), 16000));
  const auto task = sound_task("data: {train: '" + scratch.path().string() + "'}" + kFeatures);
  const Batch train = all_sounds(*task, Split::train, 18);
  CHECK(same_bytes(train.targets, at::tensor({0L, 1L})));
  CHECK_FALSE(train.mask.keys.defined());  // both last 0.2 s
  CHECK(train.signal.sizes() == at::IntArrayRef{2, 18, 10});
}

TEST_CASE("audio classification: longer sounds end the run in words, or are cut", "[unit]") {
  const Scratch scratch;
  const std::string sounds = named_sounds(scratch) + kFeatures;
  const auto task = sound_task(sounds);
  CHECK_FALSE(task->refuses_length(Split::train, 14));
  CHECK(contains(*task->refuses_length(Split::train, 13), "the longest sound of train has 14 frames ("));
  CHECK(contains(*task->refuses_length(Split::train, 13), "give 14 for train.length, or task.too_long: cut"));
  const auto cutting = sound_task(sounds + ", too_long: cut");
  CHECK_FALSE(cutting->refuses_length(Split::train, 5));
  CHECK(all_sounds(*cutting, Split::train, 5).signal.size(1) == 5);
}

TEST_CASE("audio classification: silence has features, and a band that never changes becomes 0", "[unit]") {
  const Scratch scratch;
  scratch.write("a/1.wav", wav_file(std::vector<int16_t>(1000, 0)));
  scratch.write("b/1.wav", wav_file(std::vector<int16_t>(1200, 0)));
  const auto task = sound_task("data: {train: '" + scratch.path().string() + "'}" + kFeatures);
  CHECK(all_sounds(*task, Split::train, 20).signal.eq(0.0).all().item<bool>());
}

TEST_CASE("audio classification: the same loss for batches of any size, and training blots out what evaluation sees",
          "[unit]") {
  const auto task = sound_task(std::string("data: {generate: {sounds: 40, held_out: 70}}") + kFeatures +
                               ", augment: {band_masks: 1, band_width: 8}");
  Encoder::Config config;
  config.dim = 16;
  config.layers = 2;
  config.attention.heads = 2;
  config.init.std = 0.3;
  config.input = Choice<InputLayer>("frames");
  config.position = {Choice<PositionEncoding>("sinusoidal")};
  Encoder model(config, task->complete({.max_length = 40, .seed = 1}));
  model.eval();
  std::vector<double> losses;
  for (const int64_t batch_size : {1, 7, 64}) {
    const Evaluation made =
        task->evaluate(model, {.split = Split::test, .batch_size = batch_size, .length = 40, .training = false});
    CHECK(made.tokens == 70.0);
    losses.push_back(made.metrics.at("loss"));
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-6));
  CHECK(losses[2] == Approx(losses[0]).epsilon(1e-6));

  Batch batch = all_sounds(*task, Split::test, 40);
  const auto loss_of_step = [&](int64_t step) {
    batch.draw.step = step;
    return task->loss(model, batch, {}).sum.item<double>();
  };
  CHECK(loss_of_step(1) == loss_of_step(2));
  model.train();
  CHECK(loss_of_step(1) != loss_of_step(2));
  CHECK(loss_of_step(1) == loss_of_step(1));
}

TEST_CASE("audio classification: hostile files end in one clear error each", "[unit]") {
  const Scratch scratch;
  const std::string folder = "data: {train: '" + scratch.path().string() + "'}";
  CHECK(contains(sound_refusal(folder), "has no sub-folders"));
  scratch.write("a/1.wav", wav_file(tone(300.0, 800)));
  fs::create_directory(scratch / "b");
  CHECK(contains(sound_refusal(folder), "the class 'b' has no files"));
  const std::string whole = wav_file(tone(300.0, 800));
  scratch.write("b/1.wav", whole.substr(0, 500));
  CHECK(contains(sound_refusal(folder), "b/1.wav"));
  scratch.write("b/1.wav", wav_file({}));
  CHECK(contains(sound_refusal(folder), "b/1.wav"));
  scratch.write("b/1.wav", "no sound");
  CHECK(contains(sound_refusal(folder), "b/1.wav"));

  const auto named = [&](const std::string& files) {
    return "data: {train: '" + (scratch / files).string() + "', name: '{class}_{take}'}";
  };
  CHECK(contains(sound_refusal(named("*.wav")), "*.wav"));
  CHECK(contains(sound_refusal(named("a")), "is a folder; with task.data.name give its files"));
  CHECK(contains(sound_refusal(named("a/1.wav")), "its name does not fit '{class}_{take}'"));
}

TEST_CASE("audio classification: what is left out moves no split", "[unit]") {
  const Scratch scratch;
  std::string yaml = named_sounds(scratch) + ", split: {kind: number, modulus: 3, test: [2]}" + kFeatures;
  yaml.insert(yaml.find("{train") + 1, "on_bad_line: skip, ");
  const auto names = [&] { return all_sounds(*sound_task(yaml), Split::test, 20).examples; };
  const auto before = names();
  CHECK(before.size() == 4);
  scratch.write("high_anna_0.wav", "no sound");
  CHECK(names() == before);
  CHECK(contains(sound_task(yaml)->summary().back(), "1 example left out: " + (scratch / "high_anna_0.wav").string()));
  scratch.write("aaa.wav", "nor is its name one");
  CHECK(contains(sound_task(yaml)->summary().back(), "2 examples left out: "));
}

TEST_CASE("audio classification: settings that contradict each other are refused with both", "[unit]") {
  CHECK(contains(sound_contradiction("data: {}"), "give one of task.data.train"));
  CHECK(contains(sound_contradiction("data: {generate: {}, test: [a]}"), "leave task.data.test out"));
  CHECK(contains(sound_contradiction("data: {generate: {}, on_bad_line: skip}"), "task.data.on_bad_line is of files"));
  CHECK(contains(sound_contradiction("data: {generate: {}, name: '{class}'}"), "the sounds are made"));
  CHECK(contains(sound_contradiction("data: {train: a, name: '{kind}_{take}'}"), "where the class stands: {class}"));
  CHECK(contains(sound_contradiction("data: {train: a}, augment: {time_masks: 1}"), "need each other"));
  CHECK(contains(sound_contradiction("data: {generate: {}}, features: {sample_rate: 8000, high: 5000}"),
                 "task.features.high (5000)"));
}

}  // namespace ordo::test
