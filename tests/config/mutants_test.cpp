// SPDX-License-Identifier: Apache-2.0
#include "config/sample.h"
#include "ordo/core/hash.h"
#include "support/catch.h"

namespace ordo::sample {

namespace {

const std::string kWhole =
    "name: mutants\n"
    "data: some/where.txt\n"
    "model:\n"
    "  dim: 16\n"
    "  heads: 4\n"
    "  window: [128, 128, 0]\n"
    "  position:\n"
    "    - kind: rope\n"
    "      theta: 5e5\n"
    "      scaling: {kind: yarn, factor: 2}\n"
    "    - alibi\n"
    "  feed_forward: {hidden: 64, activation: silu, gated: true, dropout: 0.1}\n"
    "  norm: {kind: rms, bias: false}\n"
    "  softcap: 30\n"
    "train:\n"
    "  steps: 5 epochs\n"
    "  memory: 4GB\n"
    "  optimizer: {kind: adamw, lr: 1e-3, betas: [0.9, 0.99]}\n";

// Draws one change after another from a key: what a hand or a broken tool does to a config.
class Mutator {
 public:
  explicit Mutator(uint64_t key) : draw_(key) {}

  std::string mutate(std::string text) {
    const uint64_t changes = 1 + draw_.below(3);
    for (uint64_t i = 0; i < changes; ++i) text = changed(text);
    return text;
  }

 private:
  std::string changed(const std::string& text) {
    const size_t at = draw_.below(text.size());
    const size_t line = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
    const size_t next = std::min(text.find('\n', at) + 1, text.size());
    switch (draw_.below(7)) {
      case 0:
        return text.substr(0, at) + text.substr(std::min(at + 1 + draw_.below(5), text.size()));  // characters lost
      case 1:
        return text.substr(0, at) + piece() + text.substr(at);
      case 2:
        return text.substr(0, next) + text.substr(line < next ? line : 0, next - std::min(line, next)) +
               text.substr(next);  // twice
      case 3:
        return text.substr(0, line) + text.substr(next);  // a line lost
      case 4:
        return with_value(text, at);
      case 5:
        return text.substr(0, at) + other_case(text[at]) + text.substr(at + 1);
      default:
        return text.substr(0, line) + "  " + text.substr(line);
    }
  }
  // The value after the next ':' becomes something else.
  std::string with_value(const std::string& text, size_t at) {
    const size_t colon = text.find(": ", at);
    if (colon == std::string::npos) return text;
    const size_t end = text.find_first_of(",}]\n", colon);
    return text.substr(0, colon + 2) + piece() + text.substr(std::min(end, text.size()));
  }
  std::string piece() {
    static const std::vector<std::string> kPieces{"-1",     "0",
                                                  "1e999",  ".nan",
                                                  "no",     "null",
                                                  "~",      "''",
                                                  "[",      "]",
                                                  "{",      "}",
                                                  "{}",     "[]",
                                                  ":",      ": ",
                                                  "- ",     "#",
                                                  "\t",     "\n",
                                                  "&a",     "*a",
                                                  "!!str",  "<<",
                                                  "---\n",  "\"",
                                                  "'",      "\\",
                                                  "\x01",   "\xff",
                                                  "日本",   "9223372036854775808",
                                                  "1_000",  "0x10",
                                                  "true",   "kind",
                                                  "? ",     "|",
                                                  ">",      "%",
                                                  "@",      "5 epchs",
                                                  "{a: b}", "[1, 2]",
                                                  "rope",   "include: x\n",
                                                  "\r",     "1e3"};
    return kPieces[draw_.below(kPieces.size())];
  }
  static char other_case(char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::toupper(c))
                                                            : static_cast<char>(std::tolower(c));
  }

  KeyedSequence draw_;
};

}  // namespace

TEST_CASE("mutants: each damaged config is read soundly or refused with a place", "[unit]") {
  int refused = 0;
  for (uint64_t key = 0; key < 2000; ++key) {
    const std::string text = Mutator(mix(1, key)).mutate(kWhole);
    INFO("mutant " << key << "\n" << text);
    const std::string report = complaint(text);  // anything but a ConfigError fails the test
    if (report.empty()) {
      Root root = load(text).root;
      const std::string dumped = dump_yaml(walk_of(root));
      Root back = load(dumped).root;
      CHECK(dump_yaml(walk_of(back)) == dumped);
    } else {
      ++refused;
      CHECK(report.starts_with("lm.yaml:"));
    }
  }
  CHECK(refused > 800);
  CHECK(refused < 2000);
}

TEST_CASE("mutants: each damaged override is taken or refused with a place", "[unit]") {
  const std::vector<std::string> overrides{"model.position.0.scaling.kind=linear", "model.window=[1, 2]",
                                           "train.optimizer={kind: sgd, lr: 0.1}", "model.norm.kind=rms",
                                           "model.position=[rope, {kind: alibi, bias_max: 3}]"};
  for (uint64_t key = 0; key < 2000; ++key) {
    Mutator mutator(mix(2, key));
    const std::vector<std::string> damaged{mutator.mutate(overrides[key % overrides.size()]),
                                           mutator.mutate(overrides[key / 7 % overrides.size()])};
    INFO("mutant " << key << "\n" << damaged[0] << "\n" << damaged[1]);
    const std::string report = complaint(kWhole, damaged);
    const bool placed = report.empty() || report.starts_with("command line: ") || report.starts_with("lm.yaml:");
    CHECK(placed);
  }
}

}  // namespace ordo::sample
