// SPDX-License-Identifier: Apache-2.0
// Hostile data files through whole configs: each ends in an error that names it, or is read as the documentation says.
#include "support/catch.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "ordo/train/run_config.h"
#include "support/hostile_corpora.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

// What became of a corpus: its task and the summary of it, or an error.
struct Ending {
  int code = 0;
  std::string told;
  std::shared_ptr<const Task> task = nullptr;
};

std::unique_ptr<BatchStream> judged_stream(const Task& task, Split split, int64_t length) {
  return task.open({.split = split, .batch_size = 2, .length = length, .training = false});
}

// All that a training does with its data before it computes: the config is checked against them, they are summed up, a
// batch is drawn, and what is judged is read to its end.
Ending ending_of(const std::string& config, const std::vector<std::string>& settings) {
  try {
    const RunConfig run = load_run_config_text(config, "hostile.yaml", settings).config;
    const std::shared_ptr<const Task> task = make_task(run);
    const std::string told = join(task->summary(), "\n");
    const int64_t length = run.train.length;
    const auto batch = task->open({.batch_size = run.train.batch_size, .length = length, .seed = 1})->next();
    CHECK(batch.has_value());
    for (const Split split : {Split::validation, Split::test})
      if (task->has(split))
        for (const auto stream = judged_stream(*task, split, length); stream->next();) {
        }
    return {.told = told, .task = task};
  } catch (const Error& error) {
    return {.code = error.exit_code(), .told = error.what()};
  }
}

Ending ending_in(const Scratch& folder, const HostileFamily& family, const HostileCorpus& corpus) {
  write_corpus(folder, corpus);
  std::vector<std::string> settings = corpus.settings;
  for (auto& setting : settings) setting = with_folder(setting, folder);
  return ending_of(with_folder(family.config, folder), settings);
}

void check_family(const HostileFamily& family) {
  for (const auto& corpus : family.corpora) {
    const Scratch folder;
    const Ending ending = ending_in(folder, family, corpus);
    INFO(corpus.name << "\n" << ending.told);
    CHECK(ending.code == corpus.code);
    for (const auto& word : corpus.words) {
      INFO("must say: " << word);
      CHECK(contains(ending.told, with_folder(word, folder)));
    }
  }
}

// The text that an evaluation reads: its first token, and behind it each one's target.
std::string judged_text(const Task& task) {
  std::vector<int64_t> ids;
  const auto stream = judged_stream(task, Split::validation, 4);
  while (const auto batch = stream->next()) {
    if (ids.empty()) ids.push_back(batch->ids[0][0].item<int64_t>());
    const Tensor targets = batch->targets.flatten();
    for (int64_t i = 0; i < targets.numel(); ++i) ids.push_back(targets[i].item<int64_t>());
  }
  return task.tokenizer()->decode(ids);
}

// ---- numbered pairs ----

constexpr size_t kNumbered = 50;
const std::string kLineLike = "a\xE2\x80\xA8z\xE2\x80\xA9z\xC2\x85z\x0Bz\x0Cz\x1Cz\rz\n";

// Line `number` of a side, without its break: most hold a character that some programs end a line at.
std::string numbered(const std::string& side, size_t number, size_t shift) {
  constexpr std::string_view kBreaks[] = {" ", "\xE2\x80\xA8", "\x0B", "\x0C", "\r", "\xC2\x85", "\xE2\x80\xA9"};
  return side + std::string(kBreaks[(number + shift) % std::size(kBreaks)]) + std::to_string(number);
}

struct NumberedFiles {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  std::string train;  // PairPaths
};

std::vector<NumberedFiles> numbered_files() {
  std::string source, target, tsv, csv, jsonl;
  for (size_t n = 1; n <= kNumbered; ++n) {
    const std::string a = numbered("src", n, 0), b = numbered("tgt", n, 3);
    source += a + "\r\n";
    target += b + "\n";
    tsv += a + "\t" + b + "\r\n";
    csv += fmt::format("\"{}\",{}{}\n", a, n % 5 == 0 ? fmt::format("\"tgt\n{}\"", n) : b, n % 2 == 0 ? "\r" : "");
    jsonl += Json{{"source", a}, {"target", b}}.dump() + "\n";
  }
  target.pop_back();  // and no break behind the last
  return {{"files side by side", {{"a.en", source}, {"a.zh", target}}, "{source: FOLDER/a.en, target: FOLDER/a.zh}"},
          {"TSV", {{"a.tsv", tsv}}, "{files: FOLDER/a.tsv}"},
          {"CSV", {{"a.csv", csv}}, "{files: FOLDER/a.csv}"},
          {"JSON Lines", {{"a.jsonl", jsonl}}, "{files: FOLDER/a.jsonl}"}};
}

int64_t number_of(const std::string& text) { return std::stoll(text.substr(text.find_last_not_of("0123456789") + 1)); }

std::string decoded(const Task& task, const Tensor& ids) {
  std::vector<int64_t> text;
  for (int64_t i = 0; i < ids.numel(); ++i)
    if (const auto id = ids[i].item<int64_t>(); id >= 0 && id < task.tokenizer()->vocab_size()) text.push_back(id);
  return task.tokenizer()->decode(text);
}

std::vector<std::pair<std::string, std::string>> judged_pairs(const Task& task) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto stream = task.open({.split = Split::test, .batch_size = 1, .length = 12, .training = false});
  while (const auto batch = stream->next())
    pairs.emplace_back(decoded(task, batch->source.ids.flatten()), decoded(task, batch->targets.flatten()));
  return pairs;
}

}  // namespace

TEST_CASE("hostile texts and token files end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_texts());
}
TEST_CASE("hostile columns of tables and JSON lines end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_columns());
}
TEST_CASE("hostile pairs of texts end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_pairs());
}
TEST_CASE("hostile labelled texts end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_labelled_texts());
}
TEST_CASE("hostile tagged sentences end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_tagged_texts());
}
TEST_CASE("hostile dialogues end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_dialogues());
}
TEST_CASE("hostile series end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_series());
}
TEST_CASE("hostile images end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_images());
}
TEST_CASE("hostile sounds end in one clear error or are read as documented", "[unit]") {
  check_family(hostile_sounds());
}

TEST_CASE("sixty corpora and more are hostile", "[unit]") {
  size_t count = 0;
  for (const auto& family : hostile_families()) count += family.corpora.size();
  CHECK(count >= 60);
}

TEST_CASE("CRLF becomes LF and a byte order mark goes; every other character of a text stays where it is", "[unit]") {
  const struct {
    std::string bytes, text;
  } cases[] = {
      {"one\r\ntwo\r\n", "one\ntwo\n"},
      {"one\rtwo\r\r\nthree\r", "one\rtwo\r\nthree\r"},
      {"\xEF\xBB\xBFone\xEF\xBB\xBF two", "one\xEF\xBB\xBF two"},
      {kLineLike, kLineLike},
      {std::string("a\0b\n\n\n \t", 8), std::string("a\0b\n\n\n \t", 8)},
  };
  for (const auto& [bytes, text] : cases) {
    const Scratch folder;
    folder.write("a.txt", bytes);
    const Ending ending = ending_of(with_folder(hostile_texts().config, folder), {});
    INFO(ending.told);
    REQUIRE(ending.task != nullptr);
    CHECK(judged_text(*ending.task) == text);
  }
}

TEST_CASE("pair n is made of line n of both sides, whatever looks like a line break in them", "[unit]") {
  for (const auto& [name, files, train] : numbered_files()) {
    const Scratch folder;
    for (const auto& [file, bytes] : files) folder.write(file, bytes);
    const std::string paths = with_folder(train, folder);
    const Ending ending =
        ending_of(with_folder(hostile_pairs().config, folder), {"task.data.train=" + paths, "task.data.test=" + paths});
    INFO(name << "\n" << ending.told);
    REQUIRE(ending.task != nullptr);
    std::set<int64_t> seen;
    for (const auto& [source, target] : judged_pairs(*ending.task)) {
      CHECK(source.starts_with("src"));
      CHECK(target.starts_with("tgt"));
      CHECK(number_of(source) == number_of(target));
      seen.insert(number_of(source));
    }
    CHECK(seen.size() == kNumbered);
  }
}

TEST_CASE("data that may not be read is refused with its path", "[unit]") {
  if (::geteuid() == 0) {
    WARN("without files that may not be read: root reads them all");
    return;
  }
  const Scratch folder;
  fs::permissions(folder.write("a.txt", "some text\n"), fs::perms::none);
  const Ending ending = ending_of(with_folder(hostile_texts().config, folder), {});
  CHECK(ending.code == kDataWrong);
  CHECK(contains(ending.told, with_folder("FOLDER/a.txt: Permission denied", folder)));
}

}  // namespace ordo::test
