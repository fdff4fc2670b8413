// SPDX-License-Identifier: Apache-2.0
// One token a byte: 256 of them, nothing is unknown.
#pragma once
#include "ordo/data/tokenizer.h"

namespace ordo {

class ByteTokenizer final : public Tokenizer {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "byte", kSummary = "one token a byte: 256 tokens, takes any text";
  ByteTokenizer(const Config& config, const TokenizerFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return 256; }
  std::vector<int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  std::string piece(int64_t id) const override;
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;
  bool piecewise() const override { return true; }
};
void fields(Fields& f, ByteTokenizer::Config& c);

}  // namespace ordo
