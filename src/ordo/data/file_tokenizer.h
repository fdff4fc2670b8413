// SPDX-License-Identifier: Apache-2.0
// A tokenizer that is made from one file, which is saved as it is.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/data/tokenizer.h"
#include "ordo/data/tokenizer_file.h"

namespace ordo {

// `Pipeline` is made from a file's content and its name for messages; texts and ids are its work.
template <class Pipeline>
class FileTokenizer : public Tokenizer {
 public:
  int64_t vocab_size() const final { return pipeline_->vocab_size(); }
  std::vector<int64_t> encode(std::string_view text) const final { return pipeline_->encode(text); }
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const final {
    return pipeline_->encode_special(text, pair);
  }
  std::string decode(std::span<const int64_t> ids) const final { return pipeline_->decode(ids); }
  std::string piece(int64_t id) const final { return pipeline_->piece(id); }
  bool is_special(int64_t id) const final { return pipeline_->is_special(id); }
  std::optional<int64_t> find(std::string_view token) const final { return pipeline_->find(token); }
  std::string_view kind() const final { return kind_; }
  void save(const fs::path& folder) const final {
    write_vocabulary(folder, kind_, Json::object());
    write_file(folder / name_, content_);
  }
  uint64_t fingerprint() const final { return key_of(key_of(0, kind_), content_); }

 protected:
  // `name`: what the file is called in the folder of a saved one. `make`: gives its content where there is no file.
  FileTokenizer(std::string_view kind, std::string_view name, const fs::path& file, const TokenizerFacts& facts,
                const std::function<std::string()>& make = {})
      : kind_(kind), name_(name) {
    const bool saved = !facts.saved.empty();
    if (saved) read_vocabulary(facts.saved, kind);
    require<ConfigError>(saved || !file.empty() || make, "'file' is missing: the {} to use", name);
    const bool made = !saved && file.empty();
    const fs::path path = saved ? facts.saved / name : made ? fs::path(name) : file;
    content_ = made ? make() : read_tokenizer_file(path);
    pipeline_ = std::make_unique<const Pipeline>(content_, path.string());
  }

 private:
  std::string_view kind_, name_;
  std::string content_;  // of the file
  std::unique_ptr<const Pipeline> pipeline_;
};

}  // namespace ordo
