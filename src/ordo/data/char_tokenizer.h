// SPDX-License-Identifier: Apache-2.0
// One token a character (Unicode code point). The alphabet is what occurs in the training text, sorted by code point.
#pragma once
#include <unordered_map>

#include "ordo/data/tokenizer.h"

namespace ordo {

class CharTokenizer final : public Tokenizer {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "char",
                                    kSummary = "one token a character; the alphabet is that of the training text";
  CharTokenizer(const Config& config, const TokenizerFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return static_cast<int64_t>(pieces_.size()); }
  std::vector<int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  std::string piece(int64_t id) const override;
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;
  bool piecewise() const override { return true; }

 private:
  std::string alphabet() const;      // all characters in the order of their ids
  std::vector<std::string> pieces_;  // by id, as UTF-8
  std::unordered_map<char32_t, int64_t> ids_;
};
void fields(Fields& f, CharTokenizer::Config& c);

}  // namespace ordo
