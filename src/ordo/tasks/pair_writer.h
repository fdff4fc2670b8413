// SPDX-License-Identifier: Apache-2.0
// Prompts and answers of a task of pairs, in words apart by blanks.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ordo/tasks/pair_files.h"
#include "ordo/tasks/text_writer.h"

namespace ordo {

class PairWriter final : public TextWriter {
 public:
  // What the model is given for the ids of a prompt's words.
  using Layout = std::function<Prompt(std::vector<int64_t>)>;
  PairWriter(std::shared_ptr<const PairFiles> files, Layout layout)
      : files_(std::move(files)), layout_(std::move(layout)) {}
  Prompt prompt(std::string_view text) const override;
  std::vector<int64_t> answer(std::string_view text) const override;
  std::string piece(int64_t id, bool first) const override;
  std::string text(std::span<const int64_t> ids) const override;
  std::vector<int64_t> ends() const override { return {files_->end()}; }
  std::optional<int64_t> token(std::string_view text) const override;
  int64_t vocab_size() const override { return std::ssize(files_->symbols); }
  bool continues() const override { return false; }
  uint64_t fingerprint() const override;

 private:
  std::shared_ptr<const PairFiles> files_;
  Layout layout_;
};

}  // namespace ordo
