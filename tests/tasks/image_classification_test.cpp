// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/image_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/models/encoder.h"
#include "ordo/models/patch_input.h"
#include "support/program.h"
#include "support/signal_files.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

struct WrittenImages {
  Choice<Task> task{"image_classification"};
};
void fields(Fields& f, WrittenImages& c) { f("task", c.task, "the task"); }

// The task of a config as a user writes it, under `task`.
std::shared_ptr<Task> image_task(const std::string& yaml, uint64_t seed = 1) {
  WrittenImages read;
  load_config_text("task: {kind: image_classification, " + yaml + "}", walk_of(read), {.name = "test.yaml"});
  return tasks().build(read.task, {.seed = seed});
}

std::string data_refusal(const std::string& yaml) {
  return thrown<DataError>([&] { image_task(yaml)->summary(); });
}
std::string config_refusal(const std::string& yaml) {
  return thrown<ConfigError>([&] { image_task(yaml)->summary(); });
}

// All of a split, in its order.
Batch whole(const Task& task, Split split, int64_t length) {
  const auto stream = task.open({.split = split, .batch_size = 1000, .length = length, .training = false});
  return *stream->next();
}

// Six images of 2 x 2 pixels; the last column says whether the upper or the lower half is brighter.
constexpr const char* kTable = "8,9,1,0,up\n7,9,0,0,up\n0,1,9,9,down\n1,2,8,6,down\n9,8,2,2,up\n0,0,7,8,down\n";

std::string in_table(const Scratch& scratch, const std::string& table, const std::string& more = "") {
  return "data: {train: '" + scratch.write("t.csv", table).string() + "'" + more + "}";
}

// 40 images of 4 x 6 pixels in a pair of IDX files, of three classes.
struct IdxPair {
  explicit IdxPair(const Scratch& scratch) {
    std::string pixels, marks;
    for (int i = 0; i < 40; ++i) {
      marks += static_cast<char>(i % 3);
      for (int p = 0; p < 24; ++p) pixels += static_cast<char>((i * 37 + p * 11 + (i % 3) * 40) % 251);
    }
    images = scratch.write("images", idx_file({40, 4, 6}, pixels));
    labels = scratch.write("labels", idx_file({40}, marks));
  }
  std::string yaml() const {
    return "data: {train: '" + images.string() + "', train_labels: '" + labels.string() +
           "'}, split: {kind: number, modulus: 5, test: [4]}";
  }
  fs::path images, labels;
};

}  // namespace

TEST_CASE("image classification: a table becomes images of mean 0 and deviation 1, test ones by training's numbers",
          "[unit]") {
  const Scratch scratch;
  const auto task = image_task(in_table(scratch, kTable) + ", split: {kind: tail, test: 2}");
  const ModelFacts facts = task->complete({.max_length = 2});
  CHECK((facts.signal.channels == 1 && facts.signal.height == 2 && facts.signal.width == 2));
  CHECK((facts.outputs == 2 && facts.pools && facts.max_length == 4));
  const Batch train = whole(*task, Split::train, 2), test = whole(*task, Split::test, 2);
  CHECK(train.signal.sizes() == at::IntArrayRef{4, 1, 2, 2});
  CHECK(same_bytes(train.targets, at::tensor({1L, 1L, 0L, 0L})));  // down is the first of their names
  CHECK(train.signal.mean().item<float>() == Approx(0.0).margin(1e-6));
  CHECK(train.signal.std(/*unbiased=*/false).item<float>() == Approx(1.0));
  const Tensor raw =
      at::tensor({8.0F, 9.0F, 1.0F, 0.0F, 7.0F, 9.0F, 0.0F, 0.0F, 0.0F, 1.0F, 9.0F, 9.0F, 1.0F, 2.0F, 8.0F, 6.0F});
  const Tensor unseen = at::tensor({9.0F, 8.0F, 2.0F, 2.0F, 0.0F, 0.0F, 7.0F, 8.0F}).view({2, 1, 2, 2});
  CHECK(close(test.signal, (unseen - raw.mean()) / raw.std(/*unbiased=*/false), Tolerance::fp32));
  CHECK(contains(test.examples.front(), "t.csv: line 5"));
  CHECK_FALSE(task->has(Split::validation));
}

TEST_CASE("image classification: labels in the first column, a header, and images that are no squares", "[unit]") {
  const Scratch scratch;
  const auto task = image_task(
      in_table(scratch, "kind,a,b\nup,9,1\ndown,1,8\nup,7,0\n", ", label: first, header: true, shape: [2, 1]"));
  const Batch train = whole(*task, Split::train, 2);
  CHECK(train.signal.sizes() == at::IntArrayRef{3, 1, 2, 1});
  CHECK(same_bytes(train.targets, at::tensor({1L, 0L, 1L})));
  CHECK(task->row_length(2) == 2);
}

TEST_CASE("image classification: IDX files of images and labels, divided by the images' numbers", "[unit]") {
  const Scratch scratch;
  const auto task = image_task(IdxPair(scratch).yaml());
  const Batch test = whole(*task, Split::test, 6);
  CHECK(whole(*task, Split::train, 6).signal.sizes() == at::IntArrayRef{32, 1, 4, 6});
  CHECK(test.signal.sizes() == at::IntArrayRef{8, 1, 4, 6});
  CHECK(same_bytes(test.targets, at::tensor({1L, 0L, 2L, 1L, 0L, 2L, 1L, 0L})));  // of 4, 9, 14, …
  CHECK(contains(test.examples[1], "image 9 (from 0)"));
  CHECK(task->complete({.max_length = 6}).max_length == 24);
}

TEST_CASE("image classification: folders are classes, and grey images beside coloured ones are coloured", "[unit]") {
  const Scratch scratch;
  scratch.write("cat/1.png", png_file(2, 1, 1, {'\x10', '\x20'}));
  scratch.write("dog/1.png", png_file(2, 1, 3, {'\x01', '\x02', '\x03', '\x04', '\x05', '\x06'}));
  const auto task = image_task("data: {train: '" + scratch.path().string() + "'}, classes: [dog, cat]");
  const Batch train = whole(*task, Split::train, 2);
  CHECK(train.signal.sizes() == at::IntArrayRef{2, 3, 1, 2});
  CHECK(same_bytes(train.targets, at::tensor({1L, 0L})));
  CHECK(same_bytes(train.signal[0][0] > 0.0, train.signal[0][2] > 0.0));
  // each channel for itself: red of the cat is 0x10, 0x20, that of the dog 1, 4
  const Tensor red = at::tensor({16.0F, 32.0F, 1.0F, 4.0F});
  CHECK(close(train.signal[1][0][0][1], (red[3] - red.mean()) / red.std(/*unbiased=*/false), Tolerance::fp32));
}

TEST_CASE("image classification: the same loss for batches of any size", "[unit]") {
  const auto task = image_task("data: {generate: {images: 8, held_out: 70, side: 4}}");
  auto patches = std::make_shared<PatchInput::Config>();
  patches->size = 2;
  Encoder::Config config;
  config.dim = 16;
  config.layers = 2;
  config.attention.heads = 2;
  config.init.std = 0.3;
  config.input = Choice<InputLayer>("patches");
  config.input.config = patches;
  config.position = {Choice<PositionEncoding>("learned")};
  Encoder model(config, task->complete({.max_length = 4, .seed = 1}));
  model.eval();
  std::vector<double> losses;
  for (const int64_t batch_size : {1, 7, 64}) {
    const Evaluation made =
        task->evaluate(model, {.split = Split::test, .batch_size = batch_size, .length = 4, .training = false});
    CHECK(made.tokens == 70.0);
    losses.push_back(made.metrics.at("loss"));
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-6));
  CHECK(losses[2] == Approx(losses[0]).epsilon(1e-6));
}

TEST_CASE("image classification: made bars are told apart by where they are bright, and follow the seed", "[unit]") {
  const std::string made = "data: {generate: {images: 60, held_out: 20, side: 8}}";
  const auto task = image_task(made);
  CHECK(task->draws_examples());
  const Batch train = whole(*task, Split::train, 8);
  const Tensor rows = train.signal.mean(3).amax({1, 2}), columns = train.signal.mean(2).amax({1, 2});
  const Tensor vertical = (columns > rows).to(at::kLong);
  CHECK(vertical.eq(train.targets).sum().item<int64_t>() >= 45);
  CHECK(task->fingerprint() == image_task(made)->fingerprint());
  CHECK(task->fingerprint() != image_task(made, 2)->fingerprint());
  CHECK_FALSE(same_bytes(whole(*task, Split::test, 8).signal, whole(*task, Split::validation, 8).signal));
}

TEST_CASE("image classification: what a person is told of the data", "[unit]") {
  const Scratch scratch;
  const auto task =
      image_task(in_table(scratch, std::string(kTable) + "8,9,1,0,up\n") + ", split: {kind: tail, test: 1}");
  const std::vector<std::string> told{"images of 1 channel, 2 rows and 2 columns", "train: 6 examples",
                                      "test: 1 examples; 1 of them stand in train, too",
                                      "2 classes, in training: down 3, up 3"};
  CHECK(task->summary() == told);
  CHECK_FALSE(task->refuses_length(Split::train, 2));
  CHECK(*task->refuses_length(Split::train, 4) ==
        "the images have 2 rows and 2 columns of pixels, and the length counts the longer side: 4 must be 2");
}

TEST_CASE("image classification: hostile files end in one clear error each", "[unit]") {
  const Scratch scratch;
  CHECK(contains(data_refusal(in_table(scratch, "1,2,3,4,up\n1,2,x,4,down\n")), "t.csv: line 2"));
  CHECK(contains(data_refusal(in_table(scratch, "1,2,3,4,up\n1,2,3,down\n")), "t.csv: line 2"));
  CHECK(contains(data_refusal(in_table(scratch, "1\n2\n")), "found one column"));
  CHECK(contains(config_refusal(in_table(scratch, "1,2,3,up\n3,4,5,down\n")), "are no square of pixels"));
  CHECK(contains(config_refusal(in_table(scratch, kTable, ", shape: [3, 1]")), "task.data.shape (3 x 1) has 3 pixels"));
  CHECK(contains(config_refusal(in_table(scratch, kTable, ", shape: [4]")), "rows and columns, found 1"));
  CHECK(contains(config_refusal(in_table(scratch, "1,2,3,4,up\n4,3,2,1,up\n")), "needs two classes"));
  CHECK(contains(data_refusal(in_table(scratch, kTable) + ", classes: [up, left]"), "there is no class 'down'"));
  CHECK(contains(data_refusal(in_table(scratch, kTable) + ", classes: [up, down, left]"), "no example of class left"));
  CHECK(contains(
      data_refusal(in_table(scratch, std::string(kTable) + "1,1,1,1,left\n") + ", split: {kind: tail, test: 1}"),
      "line 7: there is no class 'left'"));

  const IdxPair pair(scratch);
  const std::string images = scratch.write("cut", idx_file({40, 4, 6}, "abc")).string();
  const std::string few = scratch.write("few", idx_file({3}, std::string("\0\1\2", 3))).string();
  const auto files = [](const std::string& a, const std::string& b) {
    return "data: {train: '" + a + "', train_labels: '" + b + "'}";
  };
  CHECK(contains(data_refusal(files(images, pair.labels.string())), "damaged or cut off"));
  CHECK(contains(data_refusal(files(pair.images.string(), few)), "images has 40 images, but "));
  CHECK(
      contains(config_refusal("data: {train: '" + pair.images.string() + "'}"), "give it too (task.data.train_labels"));
  CHECK(contains(config_refusal(files(scratch.write("t.csv", kTable).string(), few)), "has its labels in a column"));
}

TEST_CASE("image classification: folders of damaged, unequal or no images end in one clear error each", "[unit]") {
  const Scratch scratch;
  const std::string folder = "data: {train: '" + scratch.path().string() + "'}";
  CHECK(contains(data_refusal(folder), "has no sub-folders"));
  scratch.write("cat/1.png", png_file(2, 1, 1, "ab"));
  const std::string whole_file = png_file(2, 1, 1, "cd");
  scratch.write("dog/1.png", whole_file.substr(0, whole_file.size() / 2));
  CHECK(contains(data_refusal(folder), "dog/1.png"));
  scratch.write("dog/1.png", png_file(1, 2, 1, "cd"));
  CHECK(contains(data_refusal(folder), "dog/1.png has 2 rows and 1 columns of pixels, but "));
  scratch.write("dog/1.png", whole_file);
  CHECK(contains(config_refusal("data: {train: '" + scratch.path().string() + "', train_labels: x}"),
                 "is a folder, whose sub-folders are the labels: leave "));
}

TEST_CASE("image classification: what is left out moves no split, and is told with the evaluation", "[unit]") {
  const Scratch scratch;
  for (int i = 0; i < 5; ++i)
    for (const std::string kind : {"cat", "dog"})
      scratch.write(fmt::format("{}/{}.png", kind, i), png_file(2, 2, 1, fmt::format("{}bc{}", i, kind[0])));
  const std::string yaml = "data: {train: '" + scratch.path().string() +
                           "', on_bad_line: skip}, split: {kind: number, modulus: 4, test: [3]}";
  const auto names = [&] { return whole(*image_task(yaml), Split::test, 2).examples; };
  const auto before = names();
  CHECK(before.size() == 2);  // of 3, 7
  scratch.write("cat/1.png", "no image");
  CHECK(names() == before);
  const auto task = image_task(yaml);
  CHECK(whole(*task, Split::train, 2).targets.numel() == 7);
  const std::string told = "1 example left out: " + (scratch / "cat/1.png").string();
  CHECK(contains(task->summary().back(), told));
  Encoder::Config config;
  config.dim = 4;
  config.layers = 1;
  config.attention.heads = 1;
  config.input = Choice<InputLayer>("feature_map");
  Encoder model(config, task->complete({.max_length = 2, .seed = 1}));
  model.eval();
  const auto notes =
      task->evaluate(model, {.split = Split::test, .batch_size = 4, .length = 2, .training = false, .details = true})
          .notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return contains(note, told); }));
}

TEST_CASE("image classification: with skip, an example of an unknown class is left out", "[unit]") {
  const Scratch scratch;
  const auto task = image_task(in_table(scratch, std::string(kTable) + "1,1,1,1,left\n", ", on_bad_line: skip") +
                               ", classes: [up, down]");
  CHECK(whole(*task, Split::train, 2).targets.numel() == 6);
  CHECK(contains(task->summary().back(), "line 7: there is no class 'left'"));
}

TEST_CASE("image classification: what is judged has a class, or the run ends, whatever becomes of bad lines",
          "[unit]") {
  const Scratch scratch;
  const auto judged = scratch.write("judged.csv", "1,1,1,1,left\n");
  const auto task = image_task(in_table(scratch, kTable, ", on_bad_line: skip, validation: '" + judged.string() + "'"));
  CHECK(contains(thrown<DataError>([&] { task->summary(); }), "line 1: there is no class 'left'"));
}

TEST_CASE("image classification: settings that contradict each other are refused with both", "[unit]") {
  CHECK(contains(config_refusal("data: {}"), "give one of task.data.train"));
  CHECK(contains(config_refusal("data: {train: a.csv, generate: {}}"), "give one of task.data.train"));
  CHECK(contains(config_refusal("data: {generate: {}, test: a.csv}"), "leave task.data.test out"));
  CHECK(contains(config_refusal("data: {generate: {}, on_bad_line: skip}"), "task.data.on_bad_line is of files"));
  CHECK(contains(config_refusal("data: {generate: {}}, split: {kind: tail, test: 1}"), "leave it out"));
  CHECK(contains(config_refusal("data: {train: a.csv, test: b.csv}, split: {kind: tail, test: 1}"),
                 "task.split takes test out of the training files, and task.data.test gives files for it"));
  CHECK(contains(config_refusal("data: {train: a.csv, test_labels: b}"), "are labels of task.data.test"));
  CHECK(contains(config_refusal("data: {train: a, train_labels: b, header: true}"), "there are none: leave them out"));
}

}  // namespace ordo::test
