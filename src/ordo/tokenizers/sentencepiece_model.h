// SPDX-License-Identifier: Apache-2.0
// SentencePiece (Kudo & Richardson 2018) through its library: unigram and BPE models, encoding and training. A text
// under a unigram model is normalised by the library and cut here: its releases before 0.2.3 round sums of scores in
// another way, and give other pieces where two ways are equally good.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/tokenizers/encoded.h"
#include "ordo/tokenizers/sentencepiece_file.h"
#include "ordo/tokenizers/unigram_paths.h"

namespace ordo {

class SentencepieceModel {
 public:
  // The content of a .model file; throws DataError with `name` for one that is broken.
  SentencepieceModel(std::string_view bytes, const std::string& name);
  ~SentencepieceModel();
  SentencepieceModel(const SentencepieceModel&) = delete;
  SentencepieceModel& operator=(const SentencepieceModel&) = delete;

  int64_t vocab_size() const { return static_cast<int64_t>(file_.pieces.size()); }
  // Without <s> and </s>. The text must be valid UTF-8 (DataError).
  std::vector<int64_t> encode(std::string_view text) const;
  // <s> text </s>, as far as the model has them; of a pair the second follows without another <s>.
  Encoded encode_special(std::string_view text, std::optional<std::string_view> pair) const;
  std::string decode(std::span<const int64_t> ids) const;
  // What one piece adds to a text, in bytes, if it is not its first: " word", nothing for a control piece.
  std::string piece(int64_t id) const;
  bool is_special(int64_t id) const;  // control and unknown
  std::optional<int64_t> find(std::string_view piece) const;
  std::optional<int64_t> begin() const;  // <s>, </s>; a model may lack them
  std::optional<int64_t> end() const;

 private:
  struct Library;
  const SentencepiecePiece& at(int64_t id) const;
  void read_paths();
  std::string normalised(std::string_view text) const;
  bool can_part_texts() const;
  size_t part_end(std::string_view text, size_t from) const;
  // The library's ids of a text, and the text as it was normalised.
  void encode_part(std::string_view text, std::vector<int64_t>& ids, std::string& normal) const;
  std::vector<int64_t> cut(std::string_view normal) const;
  SentencepieceFile file_;
  std::unique_ptr<const Library> library_;
  UnigramPaths<float> paths_;      // of a unigram model
  std::vector<int64_t> byte_ids_;  // with byte fallback: 256
  bool parts_texts_ = false;       // a long text may be cut before a word: the rest is encoded as it would be there
  bool parts_at_breaks_ = false;   // and at a line break, which is a space to this model
};

struct SentencepieceTraining {
  std::string algorithm = "unigram";  // or bpe
  int64_t vocab_size = 8000;
  double coverage = 0.9995;  // of the text's characters by the alphabet; the rest are unknown
  bool byte_fallback = false, split_digits = false;
  std::string normalization = "nmt_nfkc";  // nfkc, nmt_nfkc_cf, nfkc_cf, identity
  std::vector<std::string> symbols = {};   // pieces that are always whole
};
// The next line of the training text; null at its end.
using LineSource = std::function<const std::string*()>;
// The bytes of a trained model: <unk> 0, <s> 1, </s> 2, <pad> 3, then `symbols`. The same lines give the same bytes.
// Throws ConfigError for settings that the text does not allow, DataError for a text without a line.
std::string train_sentencepiece(const SentencepieceTraining& settings, const LineSource& lines);

}  // namespace ordo
