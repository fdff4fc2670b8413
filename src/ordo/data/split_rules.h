// SPDX-License-Identifier: Apache-2.0
// The rules of the catalogue.
#pragma once
#include "ordo/data/splits.h"

namespace ordo {

// Remainders of something by `modulus`; all others are training.
struct Remainders {
  int64_t modulus = 0;
  std::vector<int64_t> validation = {}, test = {};
  Split of(uint64_t value) const;
};
void fields(Fields& f, Remainders& c);

class RemainderSplit : public SplitRule {
 public:
  std::vector<Split> divide(const std::vector<SplitKey>& examples) const final;
  bool gives(Split split) const final;

 protected:
  explicit RemainderSplit(const Remainders& config);  // throws ConfigError for remainders that contradict each other
  virtual uint64_t value(const SplitKey& example) const = 0;

 private:
  Remainders config_;
};

// By the number of the example in its file, from 0.
class NumberSplit final : public RemainderSplit {
 public:
  struct Config : Remainders {};
  static constexpr std::string_view kKind = "number", kSummary = "by the example's number in its file, from 0";
  NumberSplit(const Config& config, const SplitFacts& facts);

 private:
  uint64_t value(const SplitKey& example) const override;
};
void fields(Fields& f, NumberSplit::Config& c);

// By CRC-32 of the text (that of zlib), so that equal texts stay together and other programs can divide alike.
class HashSplit final : public RemainderSplit {
 public:
  struct Config : Remainders {};
  static constexpr std::string_view kKind = "hash", kSummary = "by the CRC-32 of the text: equal texts stay together";
  HashSplit(const Config& config, const SplitFacts& facts);

 private:
  uint64_t value(const SplitKey& example) const override;
};
void fields(Fields& f, HashSplit::Config& c);

// Drawn from the seed, text by text: shares hold on average, and equal texts stay together.
class ShareSplit final : public SplitRule {
 public:
  struct Config {
    double validation = 0.0, test = 0.0;
  };
  static constexpr std::string_view kKind = "share", kSummary = "drawn from the seed; equal texts stay together";
  ShareSplit(const Config& config, const SplitFacts& facts);
  std::vector<Split> divide(const std::vector<SplitKey>& examples) const override;
  bool gives(Split split) const override;
  bool drawn() const override { return true; }

 private:
  Config config_;
  uint64_t key_;
};
void fields(Fields& f, ShareSplit::Config& c);

// The last examples of a file: first training, then `validation`, then `test`.
class TailSplit final : public SplitRule {
 public:
  struct Config {
    int64_t validation = 0, test = 0;
  };
  static constexpr std::string_view kKind = "tail", kSummary = "the last examples of a file";
  TailSplit(const Config& config, const SplitFacts& facts);
  std::vector<Split> divide(const std::vector<SplitKey>& examples) const override;
  bool gives(Split split) const override;

 private:
  Config config_;
};
void fields(Fields& f, TailSplit::Config& c);

// By a name that the data have of each example: a speaker, a take, a column.
class NameSplit final : public SplitRule {
 public:
  struct Config {
    std::string by;
    std::vector<std::string> validation = {}, test = {};
  };
  static constexpr std::string_view kKind = "name", kSummary = "by a name of the example: a speaker, a column";
  NameSplit(const Config& config, const SplitFacts& facts);
  std::vector<Split> divide(const std::vector<SplitKey>& examples) const override;
  bool gives(Split split) const override;

 private:
  Config config_;
};
void fields(Fields& f, NameSplit::Config& c);

}  // namespace ordo
