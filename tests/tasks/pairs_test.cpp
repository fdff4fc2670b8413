// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/pairs.h"

#include <zlib.h>

#include <algorithm>
#include <set>

#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/cogs.h"
#include "ordo/tasks/pcfg_set.h"
#include "ordo/tasks/scan.h"
#include "support/data_sets.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

const std::string kScan =
    "IN: walk OUT: I_WALK\n"
    "IN: jump twice OUT: I_JUMP I_JUMP\n"
    "IN: turn left twice and walk OUT: I_TURN_LEFT I_TURN_LEFT I_WALK\n"
    "IN: jump OUT: I_JUMP\n";

// Says how often it read a file.
class CountedScan final : public PairTask {
 public:
  CountedScan(const PairConfig& config, int& reads) : PairTask(config, {}), reads_(reads) {}
  std::string_view kind() const override { return "counted_scan"; }

 private:
  std::vector<WordPair> read(const fs::path& path) const override {
    ++reads_;
    std::vector<WordPair> pairs;
    for (const auto& line : read_lines(path)) {
      const size_t out = line.find(" OUT: ");
      pairs.push_back(word_pair(line.substr(4, out - 4), line.substr(out + 6), path, pairs.size() + 1));
    }
    return pairs;
  }
  int& reads_;
};

fs::path write_gz(const Scratch& scratch, const std::string& name, const std::string& text) {
  const fs::path path = scratch / name;
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return path;
}

std::vector<std::string> texts(const PairTask& task, Split split, int64_t size) {
  std::vector<std::string> found;
  for (int64_t i = 0; i < task.held_out_count(split, size); ++i)
    found.push_back(task.text(task.held_out_example(split, static_cast<uint64_t>(i), size)));
  return found;
}

std::shared_ptr<Model> pair_model(const PairTask& task, int64_t length) {
  const StackConfig stack{.dim = 16, .layers = 1, .attention = {.heads = 2}, .tie_embeddings = false};
  Choice<Model> choice("decoder");
  choice.config = std::make_shared<Decoder::Config>(Decoder::Config{stack});
  return models().build(choice, task.complete({.max_length = length, .seed = 1}));
}

}  // namespace

TEST_CASE("scan: commands and their actions, the shorter answers first", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan)}}, {});
  CHECK(texts(task, Split::train, 48) ==
        std::vector<std::string>{"walk -> I_WALK <end>", "jump -> I_JUMP <end>", "jump twice -> I_JUMP I_JUMP <end>",
                                 "turn left twice and walk -> I_TURN_LEFT I_TURN_LEFT I_WALK <end>"});
  CHECK(task.symbols() == std::vector<std::string>{"walk", "I_WALK", "jump", "twice", "I_JUMP", "turn", "left", "and",
                                                   "I_TURN_LEFT", "<unknown>", "<end>"});
}

TEST_CASE("cogs: sentences and logical forms apart by tabs, gzipped or not", "[unit]") {
  const Scratch scratch;
  const std::string text = "A cat ran .\tcat ( x _ 1 ) AND run . agent ( x _ 2 , x _ 1 )\tin_distribution\nrun\trun\n";
  const std::vector<std::string> expected{"run -> run <end>",
                                          "A cat ran . -> cat ( x _ 1 ) AND run . agent ( x _ 2 , x _ 1 ) <end>"};
  for (const fs::path& file : {scratch.write("train.tsv", text), write_gz(scratch, "train.tsv.gz", text)})
    CHECK(texts(Cogs({.files = {.train = file}}, {}), Split::train, 100) == expected);
}

TEST_CASE("pcfg set: prompts and, beside them, their answers, gzipped or not", "[unit]") {
  const Scratch scratch;
  const std::string prompts = "reverse A1 B2 C3\ncopy D4\n", answers = "C3 B2 A1\nD4\n";
  const std::vector<std::string> expected{"copy D4 -> D4 <end>", "reverse A1 B2 C3 -> C3 B2 A1 <end>"};
  scratch.write("train.tgt", answers);
  write_gz(scratch, "train.tgt.gz", answers);
  for (const fs::path& file : {scratch.write("train.src", prompts), write_gz(scratch, "train.src.gz", prompts)})
    CHECK(texts(PcfgSet({.files = {.train = file}}, {}), Split::train, 100) == expected);
}

TEST_CASE("pairs: the prompt and = are read, the answer and its end are asked", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan)}}, {});
  const Batch batch = *task.open({.split = Split::train, .batch_size = 4, .length = 3, .training = false})->next();
  const int64_t words = std::ssize(task.symbols()), padding = words, equals = words + 1, start = words + 4,
                end = words - 1;
  REQUIRE(batch.ids.sizes() == at::IntArrayRef{4, 10});
  const auto row = [](const Tensor& t, int64_t i) {
    const Tensor one = t[i].contiguous();
    return std::vector<int64_t>(one.data_ptr<int64_t>(), one.data_ptr<int64_t>() + one.numel());
  };
  // jump twice = I_JUMP I_JUMP <end>
  CHECK(row(batch.ids, 2) == std::vector<int64_t>{start, 2, 3, equals, 4, 4, padding, padding, padding, padding});
  CHECK(row(batch.targets, 2) ==
        std::vector<int64_t>{kIgnore, kIgnore, kIgnore, 4, 4, end, kIgnore, kIgnore, kIgnore, kIgnore});
  CHECK(batch.weight == 2 + 2 + 3 + 4);
  CHECK(task.row_length(3) == 10);
}

TEST_CASE("pairs: an evaluation takes the answers of at most so many words", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan), .test = scratch.write("test.txt", kScan)}},
                  {});
  const auto model = pair_model(task, 3);
  model->eval();
  const auto judged = [&](int64_t length) {
    return task.evaluate(*model, {.split = Split::test, .batch_size = 3, .length = length, .training = false});
  };
  CHECK(judged(1).tokens == 4.0);  // two answers of one word, with their ends
  CHECK(judged(2).tokens == 7.0);
  CHECK(judged(30).tokens == 11.0);
  CHECK(judged(30).outcomes.accuracy.size() == 4);
  CHECK(judged(30).metrics.count("exact_match") == 1);
  CHECK(contains(thrown<ConfigError>([&] { judged(0); }), "length 0"));
}

TEST_CASE("pairs: training takes every pair once an epoch, and refuses a length that is shorter than an answer",
          "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan)}}, {});
  const auto stream = task.open({.split = Split::train, .batch_size = 2, .length = 3, .seed = 4});
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    const Batch batch = *stream->next();
    names.insert(batch.examples.begin(), batch.examples.end());
  }
  CHECK(names.size() == 4);
  CHECK(stream->epoch() == 1);
  const std::string refusal = task.refuses_length(Split::train, 2).value_or("");
  CHECK(contains(refusal, "set train.length to 3"));
  CHECK(contains(refusal, "task.longest to 2"));
}

TEST_CASE("pairs: longer answers can be left out of training, and the summary says how many were", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan), .longest = 1}}, {});
  CHECK(texts(task, Split::train, 48) == std::vector<std::string>{"walk -> I_WALK <end>", "jump -> I_JUMP <end>"});
  CHECK(contains(task.summary()[1], "2 pairs, answers of 1 to 1 words; 2 with more than 1 words are left out"));
  CHECK(task.symbols().size() == 11);  // the words of what is left out are known all the same
}

TEST_CASE("pairs: a part of the training pairs can be held out, drawn from the seed of the data", "[unit]") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("IN: w{0} OUT: A{0}\n", i);
  const fs::path file = scratch.write("train.txt", text);
  const auto held_out = [&](uint64_t seed) {
    const Scan task({.files = {.train = file, .validation_fraction = 0.1}}, {.seed = seed});
    CHECK(task.draws_examples());
    CHECK(task.has(Split::validation));
    CHECK_FALSE(task.has(Split::test));
    const auto validation = texts(task, Split::validation, 1), training = texts(task, Split::train, 1);
    CHECK(validation.size() == 4);
    CHECK(training.size() == 36);
    for (const auto& pair : validation) CHECK(std::count(training.begin(), training.end(), pair) == 0);
    return validation;
  };
  CHECK(held_out(1) == held_out(1));
  CHECK(held_out(1) != held_out(2));
}

TEST_CASE("pairs: lengths below all answers of a split are refused before anything is trained", "[unit]") {
  const Scratch scratch;
  const fs::path file = scratch.write("train.txt", kScan);
  const Scan task({.files = {.train = file, .validation = scratch.write("held.txt", "IN: jump twice OUT: A B\n")}}, {});
  CHECK(task.refuses_length(Split::validation, 1) ==
        "the validation split of scan has no answer of at most 1 words: its shortest has 2");
  CHECK_FALSE(task.refuses_length(Split::validation, 2));
  CHECK_FALSE(task.refuses_length(Split::test, 1));  // there is no such split, which is not for lengths to say
}

TEST_CASE("pairs: words that training has not are told, and how many answers hold one", "[unit]") {
  const Scratch scratch;
  const fs::path test = scratch.write("test.txt", "IN: walk OUT: I_FLY\nIN: hop OUT: I_WALK\nIN: walk OUT: I_WALK\n");
  const Scan task({.files = {.train = scratch.write("train.txt", kScan), .test = test}}, {});
  CHECK(texts(task, Split::test, 9) ==
        std::vector<std::string>{"walk -> <unknown> <end>", "<unknown> -> I_WALK <end>", "walk -> I_WALK <end>"});
  CHECK(contains(task.summary()[2],
                 "2 with a word that training has not, 1 of them in the answer, which is then never right"));
}

TEST_CASE("pairs: an answer with a word that training has not is wrong even when <unknown> is written", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan),
                             .test = scratch.write("test.txt", "IN: walk OUT: I_FLY\n")}},
                  {});
  const auto model = pair_model(task, 3);
  model->eval();
  const StreamOptions options{.split = Split::test, .batch_size = 1, .length = 3, .training = false};
  // The head's rows of both targets, <unknown> and <end>, along the states that they are judged at: they are written.
  const Batch batch = *task.open(options)->next();
  const at::NoGradGuard no_gradients;
  const Tensor hidden = model->forward({.ids = batch.ids, .at = batch.at})[0];
  const int64_t L = batch.ids.size(1), unknown = std::ssize(task.symbols()) - 2;
  REQUIRE(batch.targets[0][L - 2].item<int64_t>() == unknown);
  for (const int64_t back : {2, 1}) model->head().weight()[unknown + 2 - back].copy_(100.0 * hidden[L - back]);
  const Tensor written = model->head().logits(hidden).argmax(-1);
  REQUIRE(written[L - 2].item<int64_t>() == unknown);
  REQUIRE(written[L - 1].item<int64_t>() == unknown + 1);
  const Evaluation made = task.evaluate(*model, options);
  CHECK(made.metrics.at("accuracy") == 0.5);  // the end mark
  CHECK(made.metrics.at("exact_match") == 0.0);
  CHECK(made.outcomes.accuracy == std::vector<double>{0.5});
  CHECK(made.metrics.at("loss") < 0.1);  // in the loss <unknown> is a word like any other
  CHECK(made.tokens == 2.0);
}

TEST_CASE("pairs: other training pairs have another fingerprint", "[unit]") {
  const Scratch scratch;
  const auto print = [&](const std::string& text) {
    return Scan({.files = {.train = scratch.write("train.txt", text)}}, {}).fingerprint();
  };
  CHECK(print(kScan) == print(kScan));
  CHECK(print(kScan) != print(kScan + "IN: jump OUT: I_WALK\n"));
}

// Resuming a run, or a study, compares the fingerprint with the recorded one.
TEST_CASE("pairs: the fingerprint stays the same from version to version", "[golden]") {
  const Scratch scratch;
  const fs::path file = scratch.write("train.txt",
                                      "IN: walk OUT: I_WALK\n"
                                      "IN: jump twice OUT: I_JUMP I_JUMP\n"
                                      "IN: jump OUT: I_JUMP\n"
                                      "IN: walk twice OUT: I_WALK I_WALK\n");
  CHECK(hash_text(Scan({.files = {.train = file, .validation_fraction = 0.25}}, {.seed = 4}).fingerprint()) ==
        "xxh3:c12bfe8ac8c0a3df");
}

TEST_CASE("pairs: tasks of the same files read them once, until one of them changes", "[unit]") {
  const Scratch scratch;
  int reads = 0;
  const auto words = [&](double held_out) {
    return CountedScan({.train = scratch / "train.txt", .test = scratch / "test.txt", .validation_fraction = held_out},
                       reads)
        .symbols()
        .size();
  };
  scratch.write("train.txt", kScan);
  scratch.write("test.txt", kScan);
  CHECK(words(0.0) == 11);
  CHECK(reads == 2);
  CHECK(words(0.0) == 11);
  CHECK(words(0.25) == 11);  // the same files in other parts
  CHECK(reads == 2);
  scratch.write("train.txt", kScan + "IN: hop OUT: I_HOP\n");
  CHECK(words(0.0) == 13);
  CHECK(reads == 4);
}

TEST_CASE("pairs: nothing is read before it is needed, and once it is, not again", "[unit]") {
  const Scratch scratch;
  const fs::path file = scratch.write("train.txt", kScan);
  const Scan unread({.files = {.train = scratch / "missing.txt"}}, {});
  CHECK(unread.has(Split::train));
  CHECK_FALSE(unread.draws_examples());
  CHECK_FALSE(unread.refuses_length(Split::test, 4));
  const Scan task({.files = {.train = file}}, {});
  const int64_t longest = task.row_length(3);
  fs::remove(file);
  CHECK(task.row_length(3) == longest);
  CHECK(task.row_length(2) < longest);
  CHECK(task.training_count(100) == 4);
  CHECK(contains(thrown<DataError>([&] { Scan({.files = {.train = file}}, {}).symbols(); }), "train.txt"));
}

TEST_CASE("pairs: files that are not what they should be are refused with file and line", "[unit]") {
  const Scratch scratch;
  const auto scan = [&](const std::string& text) {
    return thrown<DataError>([&] { Scan({.files = {.train = scratch.write("t.txt", text)}}, {}).symbols(); });
  };
  CHECK(contains(scan("IN: walk OUT: I_WALK\nwalk\n"), "t.txt: line 2: expected \"IN: command OUT: actions\""));
  CHECK(contains(scan("IN:  OUT: I_WALK\n"), "line 1"));
  CHECK(contains(scan("IN: walk OUT: \n"), "the answer is empty"));
  CHECK(contains(thrown<DataError>([&] { Cogs({.files = {.train = scratch.write("t.tsv", "a b\n")}}, {}).symbols(); }),
                 "line 1: expected a sentence, a tab"));
  const auto pcfg = [&](const fs::path& file) {
    return thrown<DataError>([&] { PcfgSet({.files = {.train = file}}, {}).symbols(); });
  };
  CHECK(contains(pcfg(scratch.write("p.txt", "copy A\n")), "is not named .src"));
  CHECK(contains(pcfg(scratch.write("p.src", "copy A\n")), "p.tgt"));
  scratch.write("p.tgt", "A\nB\n");
  CHECK(contains(pcfg(scratch / "p.src"), "has 1 lines and"));
  const PairConfig twice{.train = "a", .validation = "b", .validation_fraction = 0.1};
  CHECK(contains(thrown<ConfigError>([&] { Scan({.files = twice}, {}); }), "give one"));
}

TEST_CASE("pairs: a model that sees both sides is refused", "[unit]") {
  const Scratch scratch;
  const Scan task({.files = {.train = scratch.write("train.txt", kScan)}}, {.causal = false});
  Choice<Model> choice("encoder");
  choice.config = std::make_shared<Encoder::Config>(
      Encoder::Config{StackConfig{.dim = 16, .layers = 1, .attention = {.heads = 2}}});
  const auto model = models().build(choice, {.vocab_size = 20, .max_length = 16, .seed = 1});
  CHECK(contains(task.refuses(*model).value_or(""), "model.kind: decoder"));
}

TEST_CASE("pairs: the published files are read whole", "[slow]") {
  for (const char* const folder : {"scan", "cogs", "pcfg-set"})
    if (!data_set(folder)) return;
  const fs::path data = data_set("scan")->parent_path();
  const Scan length(
      {.files = {.train = data / "scan/tasks_train_length.txt.gz", .test = data / "scan/tasks_test_length.txt.gz"}},
      {});
  CHECK(length.training_count(100) == 16990);
  CHECK(length.held_out_count(Split::test, 48) == 3920);
  CHECK(length.held_out_count(Split::test, 23) == 0);
  CHECK(length.symbols().size() == 19 + 2);
  const Cogs cogs({.files = {.train = data / "cogs/train.tsv.gz",
                             .validation = data / "cogs/dev.tsv.gz",
                             .test = data / "cogs/test.tsv.gz"}},
                  {});
  CHECK(cogs.training_count(100) == 24155);
  CHECK(cogs.held_out_count(Split::test, 200) == 3000);
  CHECK(cogs.row_length(153) <= 1 + 22 + 154);
  const PcfgSet pcfg({.files = {.train = data / "pcfg-set/test.src.gz",
                                .validation = data / "pcfg-set/dev.src.gz",
                                .test = data / "pcfg-set/productivity_test.src.gz"}},
                     {});
  CHECK(pcfg.training_count(100) == 9721);
  CHECK(pcfg.held_out_count(Split::validation, 1000) == 4860);
  CHECK(pcfg.held_out_count(Split::test, 1000) == 11333);
}

}  // namespace ordo::test
