// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/sentencepiece_tokenizer.h"

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/kept_files.h"

namespace ordo {

namespace {

constexpr NamedValue kAlgorithms[] = {{"unigram", static_cast<int>(SentencepieceTokenizer::Algorithm::unigram)},
                                      {"bpe", static_cast<int>(SentencepieceTokenizer::Algorithm::bpe)}};

SentencepieceTraining training_of(const SentencepieceTokenizer::Config& c) {
  SentencepieceTraining made;
  made.vocab_size = c.vocab_size.value_or(made.vocab_size);
  made.coverage = c.coverage.value_or(made.coverage);
  if (c.algorithm == SentencepieceTokenizer::Algorithm::bpe) made.algorithm = "bpe";
  return made;
}

std::string learned(const SentencepieceTraining& how, const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  size_t next = 0;
  return train_sentencepiece(how, [&] { return next < lines.size() ? &lines[next++] : nullptr; });
}

// Learning takes seconds: what was learned of the same text in the same way is kept.
std::string kept_model(const SentencepieceTokenizer::Config& c, const std::string& text) {
  const SentencepieceTraining how = training_of(c);
  const std::string name =
      fmt::format("{:016x} {} {} {}", key_of(0, text), how.algorithm, how.vocab_size, number_text(how.coverage));
  return *kept_files<std::string>(name, {}, [&] { return learned(how, text); });
}

}  // namespace

void fields(Fields& f, SentencepieceTokenizer::Config& c) {
  f("file", c.file, "a .model file of SentencePiece; absent: learned from the training text");
  f("vocab_size", c.vocab_size, "learned: how many pieces; absent: 8000", within(8, 1 << 24));
  f("algorithm", c.algorithm, "learned: by which algorithm; absent: unigram", kAlgorithms);
  f("coverage", c.coverage, "learned: share of the text's characters that get pieces of their own; absent: 0.9995",
    within(0.98, 1.0));
}

SentencepieceTokenizer::SentencepieceTokenizer(const Config& config, const TokenizerFacts& facts)
    : FileTokenizer(kKind, "tokenizer.model", config.file, facts,
                    facts.text ? [&] { return kept_model(config, facts.text()); } : std::function<std::string()>()) {
  require<ConfigError>(
      config.file.empty() || !(config.vocab_size || config.algorithm || config.coverage),
      "vocab_size, algorithm and coverage say how a model is learned, but `file` gives one: leave them "
      "or it out");
}

}  // namespace ordo
