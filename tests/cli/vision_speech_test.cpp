// SPDX-License-Identifier: Apache-2.0
// Images and sounds as a user classifies them: the recipes on made data, wrong settings, and what the recipes learn of
// real data.
#include "support/catch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/data/packed_file.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/signal_files.h"

namespace ordo::test {

namespace {

std::string recipe(const std::string& name) {
  return std::string(ORDO_SOURCE_DIR) + "/configs/tasks/" + name + ".yaml";
}

struct WrongSetting {
  std::string recipe, setting, part_of_message;
};

// Accuracy on the test split of a recipe trained on real data.
double learned(const std::string& name, const Arguments& data) {
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  Arguments words{"train", recipe(name), "--run", run, "device=cpu"};
  words.insert(words.end(), data.begin(), data.end());
  const Setting patient{.environment = {"OMP_NUM_THREADS=1"}, .seconds = 1200.0};
  const Outcome trained = run_ordo(words, patient);
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = run_ordo({"eval", run, "--split", "test", "--json"}, patient);
  REQUIRE(judged.code == 0);
  return parse_json(judged.out, "stdout").at("results")[0].at("metrics").at("accuracy").get<double>();
}

// The regular files of a tar archive (POSIX ustar), without their folders.
void unpack_tar(const fs::path& archive, const Scratch& into) {
  constexpr size_t kBlock = 512, kSizeAt = 124, kSizeDigits = 11, kTypeAt = 156;
  const std::string bytes = read_packed(archive, 100'000'000);
  for (size_t at = 0; at + kBlock <= bytes.size() && bytes[at] != '\0';) {
    const fs::path name = bytes.substr(at, 100).c_str();
    const size_t size = std::stoull(bytes.substr(at + kSizeAt, kSizeDigits), nullptr, 8);
    if (bytes[at + kTypeAt] == '0') into.write(name.filename().string(), bytes.substr(at + kBlock, size));
    at += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
}

}  // namespace

TEST_CASE("images and sounds that are made: trained and judged in detail", "[cli]") {
  const Scratch scratch;
  for (const auto& [name, examples] :
       {std::pair{"image_classification", 200U}, std::pair{"audio_classification", 100U}}) {
    const std::string run = (scratch / name).string();
    const Outcome trained = run_ordo({"train", recipe(name), "--run", run, "device=cpu", "train.steps=60"});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    const fs::path told = scratch / "examples.jsonl";
    const Outcome judged =
        run_ordo({"eval", run, "--split", "test", "--json", "--details", "--examples", told.string()});
    INFO(judged.out << judged.err);
    REQUIRE(judged.code == 0);
    const Json result = parse_json(judged.out, "stdout").at("results")[0];
    CHECK(result.at("metrics").at("accuracy").get<double>() > 0.7);
    CHECK(result.at("items").size() == examples);
    const std::string rows = read_file(told);
    CHECK(std::count(rows.begin(), rows.end(), '\n') == static_cast<std::ptrdiff_t>(examples));
    CHECK(rows.find("generated test ") != std::string::npos);
    CHECK(result.at("notes")[0].get<std::string>().starts_with("who was taken for whom"));
  }
}

TEST_CASE("images: what is left out is told in the log of a run and beside its evaluation", "[cli]") {
  const Scratch scratch;
  for (const std::string kind : {"cat", "dog"})
    for (const std::string number : {"1", "2"})
      scratch.write("all/" + kind + "/" + number + ".png", png_file(2, 2, 1, number + "b" + kind.substr(0, 2)));
  const std::string broken = scratch.write("all/cat/3.png", "no image").string(), run = (scratch / "run").string();
  const fs::path config = scratch.write("cats.yaml", R"(
task: {kind: image_classification, data: {train: all, on_bad_line: skip}}
model: {kind: encoder, input: {kind: patches, size: 1}, dim: 8, layers: 1, attention: {heads: 2}, pool: mean}
train: {steps: 1, batch_size: 4, length: 2, schedule: constant}
)");
  const Outcome trained = run_ordo({"train", config.string(), "--run", run, "device=cpu"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string told = "1 example left out: " + broken + " is neither PNG nor JPEG";
  CHECK(trained.err.find(told) != std::string::npos);
  CHECK(read_file(scratch / "run/log.txt").find("data: " + told) != std::string::npos);
  const Outcome judged = run_ordo({"eval", run, "--split", "train", "--json", "--details"});
  INFO(judged.out << judged.err);
  CHECK(judged.out.find(told) != std::string::npos);
}

TEST_CASE("images and sounds: wrong settings end in one clear error", "[cli]") {
  const WrongSetting wrong[] = {
      {"image_classification", "model.input.size=3", "model.input.size (3) must divide both sides of the images"},
      {"image_classification", "model.input=tokens", "model.input: tokens reads token ids"},
      {"image_classification", "model={kind: encoder_decoder, dim: 8, layers: 1, attention: {heads: 2}}",
       "use encoder, decoder, lstm"},
      {"image_classification", "model.input=frames", "the data of this task are images"},
      {"image_classification", "train.length=9", "9 must be 8"},
      {"image_classification", "model.token_types=2", "model.token_types (2) marks"},
      {"image_classification", "model.position={kind: window_bias, window: [3, 4]}", "window of 3 x 4 holds fewer"},
      {"audio_classification", "model.input={kind: patches, size: 2}", "the data of this task are frames of numbers"},
      {"audio_classification", "model.input.subsample=3", "model.input.subsample (3) must be a power of 2"},
      {"audio_classification", "train.length=20", "give 38 for train.length, or task.too_long: cut"},
      {"audio_classification", "task.augment.time_masks=2", "need each other"},
  };
  for (const auto& [name, setting, part] : wrong) {
    const Outcome outcome = run_ordo({"check", recipe(name), setting, "device=cpu"});
    INFO(setting << '\n' << outcome.out << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(part) != std::string::npos);
  }
}

TEST_CASE("images and sounds: certificates are refused in words", "[cli]") {
  for (const auto* name : {"image_classification", "audio_classification"}) {
    const Outcome outcome = run_ordo({"certify", recipe(name)});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("certificates are of models that read token ids") != std::string::npos);
  }
}

TEST_CASE("images: encodings that end at the last patch, and a decoder, are built and stepped", "[cli]") {
  const Arguments settings[] = {
      {"model.position={kind: window_bias, window: [4, 4]}"},
      {"model.position={kind: learned, grid: [4, 4]}"},
      {"model.position=window_bias", "model.pool=class_token"},
      {"model={kind: decoder, input: {kind: patches, size: 2}, pool: last, dim: 16, layers: 1, "
       "attention: {heads: 2}, position: rope}"}};
  for (const auto& setting : settings) {
    Arguments words{"check", recipe("image_classification"), "--step", "device=cpu"};
    words.insert(words.end(), setting.begin(), setting.end());
    const Outcome outcome = run_ordo(words);
    INFO(setting.front() << '\n' << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("images: a study of encodings is planned, and two that do the same would be told", "[cli]") {
  const std::string study = std::string(ORDO_SOURCE_DIR) + "/configs/studies/digits_feature_map.yaml";
  const Arguments words{"ablate", study, "--dry-run", "base=" + recipe("image_classification"), "device=cpu"};
  const Outcome planned = run_ordo(words);
  INFO(planned.out << planned.err);
  CHECK(planned.code == 0);
  CHECK(planned.out.find("window_bias") != std::string::npos);
}

TEST_CASE("digits: a vision transformer and attention over a feature map tell at least 90 of 100", "[slow]") {
  const auto data = data_set("digits/digits.csv.gz");
  if (!data) return;
  CHECK(learned("digits_vit", {"task.data.train=" + data->string()}) >= 0.9);
  CHECK(learned("digits_feature_map", {"task.data.train=" + data->string()}) >= 0.9);
}

TEST_CASE("mnist-t10k: a vision transformer tells at least 94 of 100", "[slow]") {
  const auto images = data_set("mnist-t10k/t10k-images-idx3-ubyte.gz");
  const auto labels = data_set("mnist-t10k/t10k-labels-idx1-ubyte.gz");
  if (!images || !labels) return;
  CHECK(learned("mnist_vit", {"task.data.train=" + images->string(), "task.data.train_labels=" + labels->string()}) >=
        0.94);
}

TEST_CASE("fsdd: at least 80 of 100 spoken digits of the test takes are told", "[slow]") {
  const auto archive = data_set("fsdd/fsdd.tar.gz");
  if (!archive) return;
  const Scratch recordings;
  unpack_tar(*archive, recordings);
  CHECK(learned("fsdd", {"task.data.train=" + (recordings / "*.wav").string()}) >= 0.8);
}

}  // namespace ordo::test
