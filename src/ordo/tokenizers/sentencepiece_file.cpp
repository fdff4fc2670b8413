// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/sentencepiece_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/tokenizers/charsmap.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

namespace {

struct WireField {
  uint64_t number = 0, value = 0;  // of a varint or a fixed field
  std::string_view bytes = {};     // of one with a length
  enum class Form { varint, fixed64, bytes, fixed32 } form = Form::varint;
};

// The fields of a message, one after another.
class WireReader {
 public:
  WireReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}
  std::optional<WireField> next() {
    if (at_ == bytes_.size()) return std::nullopt;
    const uint64_t head = varint();
    WireField field{.number = head >> 3U};
    switch (head & 7U) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.form = WireField::Form::fixed64, field.value = fixed(8);
        break;
      case 2:
        field.form = WireField::Form::bytes, field.bytes = take(varint());
        break;
      case 5:
        field.form = WireField::Form::fixed32, field.value = fixed(4);
        break;
      default:
        broken();
    }
    return field;
  }

 private:
  [[noreturn]] void broken() const {
    throw DataError(fmt::format("{} is no SentencePiece model, or a damaged one: its message breaks at byte {} of {}",
                                name_, at_, bytes_.size()));
  }
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) broken();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    broken();
  }
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    const std::string_view bytes = take(size);
    for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
  }
  std::string_view bytes_, name_;
  size_t at_ = 0;
};

SentencepiecePiece read_piece(std::string_view bytes, const std::string& name, size_t id) {
  SentencepiecePiece piece;
  WireReader reader(bytes, name);
  while (const auto field = reader.next()) {
    if (field->number == 1 && field->form == WireField::Form::bytes) piece.text = field->bytes;
    if (field->number == 2 && field->form == WireField::Form::fixed32)
      piece.score = std::bit_cast<float>(static_cast<uint32_t>(field->value));
    if (field->number != 3 || field->form != WireField::Form::varint) continue;
    require<DataError>(field->value >= 1 && field->value <= 6, "{}: piece {}: unknown type {}", name, id, field->value);
    piece.type = static_cast<PieceType>(field->value);
  }
  require<DataError>(!piece.text.empty(), "{}: piece {} has no text", name, id);
  require<DataError>(valid_utf8(piece.text), "{}: piece {} is not valid UTF-8", name, id);
  require<DataError>(std::isfinite(piece.score), "{}: piece {} has a score that is not finite", name, id);
  return piece;
}

void check_normalizer(std::string_view bytes, const std::string& name) {
  WireReader reader(bytes, name);
  while (const auto field = reader.next()) {
    if (field->number != 2 || field->form != WireField::Form::bytes || field->bytes.empty()) continue;
    try {
      Charsmap{field->bytes};
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: normalizer_spec.precompiled_charsmap: {}", name, error.what()));
    }
  }
}

void read_trainer(std::string_view bytes, const std::string& name, SentencepieceFile& file) {
  constexpr uint64_t kAlgorithm = 3, kByteFallback = 35, kUnigram = 1;
  WireReader reader(bytes, name);
  while (const auto field = reader.next()) {
    if (field->form != WireField::Form::varint) continue;
    if (field->number == kAlgorithm) file.is_unigram = field->value == kUnigram;
    if (field->number == kByteFallback) file.byte_fallback = field->value != 0;
  }
}

}  // namespace

SentencepieceFile read_sentencepiece_file(std::string_view bytes, const std::string& name) {
  constexpr uint64_t kPiece = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
  SentencepieceFile file;
  WireReader reader(bytes, name);
  while (const auto field = reader.next()) {
    if (field->form != WireField::Form::bytes) continue;
    if (field->number == kTrainer) read_trainer(field->bytes, name, file);
    if (field->number == kNormalizer || field->number == kDenormalizer) check_normalizer(field->bytes, name);
    if (field->number != kPiece) continue;
    require<DataError>(static_cast<int64_t>(file.pieces.size()) < kMostTokens, "{} has more than {} pieces", name,
                       kMostTokens);
    file.pieces.push_back(read_piece(field->bytes, name, file.pieces.size()));
  }
  require<DataError>(!file.pieces.empty(), "{} is no SentencePiece model: it has no pieces", name);
  return file;
}

}  // namespace ordo
