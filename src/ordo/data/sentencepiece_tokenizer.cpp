// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/sentencepiece_tokenizer.h"

#include <mutex>

#include "ordo/core/hash.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr NamedValue kAlgorithms[] = {{"unigram", static_cast<int>(SentencepieceTokenizer::Algorithm::unigram)},
                                      {"bpe", static_cast<int>(SentencepieceTokenizer::Algorithm::bpe)}};

std::string learned(const SentencepieceTokenizer::Config& c, const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  size_t next = 0;
  return train_sentencepiece({.algorithm = c.algorithm == SentencepieceTokenizer::Algorithm::bpe ? "bpe" : "unigram",
                              .vocab_size = c.vocab_size,
                              .coverage = c.coverage},
                             [&] { return next < lines.size() ? &lines[next++] : nullptr; });
}

// A run makes its task several times (to check it, to size it, to train it), and learning takes seconds: what was
// learned last from the same text in the same way is kept.
std::string kept_model(const SentencepieceTokenizer::Config& c, const std::string& text) {
  static std::mutex mutex;
  static std::pair<uint64_t, std::string> kept;
  const std::lock_guard lock(mutex);
  const uint64_t key = key_of(
      key_of(0, text), fmt::format("{} {} {}", static_cast<int>(c.algorithm), c.vocab_size, number_text(c.coverage)));
  if (kept.second.empty() || kept.first != key) kept = {key, learned(c, text)};
  return kept.second;
}

}  // namespace

void fields(Fields& f, SentencepieceTokenizer::Config& c) {
  f("file", c.file, "a .model file of SentencePiece; absent: learned from the training text");
  f("vocab_size", c.vocab_size, "learned: how many pieces", within(8, 1 << 24));
  f("algorithm", c.algorithm, "learned: by which algorithm", kAlgorithms);
  f("coverage", c.coverage, "learned: share of the text's characters that get pieces of their own", within(0.98, 1.0));
}

SentencepieceTokenizer::SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts)
    : FileTokenizer(kKind, "tokenizer.model", config.file, facts,
                    facts.text ? [&] { return kept_model(config, facts.text()); } : std::function<std::string()>()) {}

}  // namespace ordo
