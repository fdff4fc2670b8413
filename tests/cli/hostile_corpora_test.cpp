// SPDX-License-Identifier: Apache-2.0
// Hostile data files given to the program.
#include "support/catch.h"

#include "support/hostile_corpora.h"
#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("a hostile corpus ends the program in words on standard error, or is told on standard output", "[cli]") {
  constexpr size_t kSample = 9;  // each takes the program's start
  size_t number = 0;
  for (const auto& family : hostile_families())
    for (const auto& corpus : family.corpora) {
      if (number++ % kSample != 0) continue;
      const Scratch folder;
      write_corpus(folder, corpus);
      Arguments words{"check", folder.write("hostile.yaml", with_folder(family.config, folder)).string()};
      for (const auto& setting : corpus.settings) words.push_back(with_folder(setting, folder));
      const Outcome outcome = run_ordo(words, {.folder = folder.path()});
      INFO(corpus.name << "\n" << outcome.out << outcome.err);
      CHECK(outcome.code == corpus.code);
      const std::string& told = corpus.code == kIsRead ? outcome.out : outcome.err;
      for (const auto& word : corpus.words) CHECK(contains(told, with_folder(word, folder)));
      if (corpus.code == kIsRead) continue;
      CHECK(outcome.out.empty());
      CHECK(outcome.err.starts_with("error: "));
      // An error of the settings shows their line, too.
      if (corpus.code == kDataWrong) CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    }
}

TEST_CASE("a token file that is cut short while a training reads it ends the training in words", "[cli]") {
  const Scratch folder;
  const fs::path ids = folder.write("a.bin", std::string(8'000'000, '\0'));
  const auto config = folder.write("cut.yaml", R"(
device: cpu
task: {kind: language_modeling, vocab_size: 16, data: {train: a.bin}}
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 1000000, batch_size: 2, length: 4}
)");
  Process running(ordo_program(), {"train", config.string(), "--run", (folder / "run").string()}, {});
  REQUIRE(running.wait_for("step 1/"));
  fs::resize_file(ids, 4096);
  const Outcome outcome = running.finish();
  INFO(outcome.err);
  CHECK(outcome.code == kDataWrong);
  CHECK(contains(outcome.err, "error: a mapped file (token ids, weights) was cut short while it was read"));
}

}  // namespace ordo::test
