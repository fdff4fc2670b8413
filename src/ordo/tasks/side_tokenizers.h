// SPDX-License-Identifier: Apache-2.0
// The tokenizers of sources and of targets: one for both, or each its own, kept in a run as one.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/tokenizer.h"

namespace ordo {

// Two tokenizers as one that is saved in one folder, each in one below it; in all else it is that of the targets.
class SideTokenizers final : public Tokenizer {
 public:
  static constexpr std::string_view kKind = "source and target";
  SideTokenizers(std::shared_ptr<const Tokenizer> source, std::shared_ptr<const Tokenizer> target)
      : source_(std::move(source)), target_(std::move(target)) {}
  static fs::path source_folder(const fs::path& saved) { return saved / "source"; }
  static fs::path target_folder(const fs::path& saved) { return saved / "target"; }
  static bool saved_in(const fs::path& folder);  // is it two that were saved there?
  const Tokenizer& source() const { return *source_; }
  std::string_view kind() const override { return kKind; }
  int64_t vocab_size() const override { return target_->vocab_size(); }
  std::vector<int64_t> encode(std::string_view text) const override { return target_->encode(text); }
  std::string decode(std::span<const int64_t> ids) const override { return target_->decode(ids); }
  std::string piece(int64_t id) const override { return target_->piece(id); }
  bool is_special(int64_t id) const override { return target_->is_special(id); }
  std::optional<int64_t> find(std::string_view token) const override { return target_->find(token); }
  void save(const fs::path& folder) const override;
  uint64_t fingerprint() const override;

 private:
  std::shared_ptr<const Tokenizer> source_, target_;
};

}  // namespace ordo
