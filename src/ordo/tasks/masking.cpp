// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/masking.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>

#include "ordo/core/hash.h"
#include "ordo/ops/fused_loss.h"

namespace ordo {

namespace {

constexpr std::string_view kMaskingBlanks = " \t\r\n\v\f";

bool is_punctuation(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u > ' ' && u < 127 && !(u >= '0' && u <= '9') && !((u | 32) >= 'a' && (u | 32) <= 'z');
}

WordPart word_part(const Tokenizer& tokenizer, int64_t id) {
  if (tokenizer.is_special(id)) return WordPart::none;
  const std::string alone = tokenizer.decode(std::array{id}), twice = tokenizer.decode(std::array{id, id});
  const std::string behind = twice.substr(std::min(alone.size(), twice.size()));  // what a second one adds
  const size_t first = behind.find_first_not_of(kMaskingBlanks);
  if (first == std::string::npos || is_punctuation(behind[first])) return WordPart::none;
  return behind.find_first_of(kMaskingBlanks) == std::string::npos ? WordPart::more : WordPart::start;
}

// Draws that belong to places of the sequence.
class MaskDraws {
 public:
  MaskDraws(const Masking& masking, uint64_t key) : masking_(masking), key_(key) {}
  // Is what starts at this place asked for?
  bool asked(int64_t place) const {
    return KeyedSequence(mix(key_, static_cast<uint64_t>(place))).unit() < masking_.share;
  }
  // What stands in the place of a token that is asked for.
  int64_t shown(int64_t place, int64_t id) const {
    KeyedSequence draw(mix(key_of(key_, "shown"), static_cast<uint64_t>(place)));
    const double u = draw.unit();
    if (u < masking_.masked) return masking_.mask_id;
    if (u >= masking_.masked + masking_.random) return id;
    const bool mask_is_inside = masking_.mask_id < masking_.vocab_size;
    const auto any = static_cast<int64_t>(draw.below(static_cast<uint64_t>(masking_.vocab_size - mask_is_inside)));
    return mask_is_inside && any >= masking_.mask_id ? any + 1 : any;
  }

 private:
  const Masking& masking_;
  uint64_t key_;
};

// Of each token of a window the place where its word starts; its own where words do not count.
std::vector<int64_t> word_places(const std::vector<int64_t>& ids, const std::vector<int64_t>& documents, int64_t begin,
                                 const Masking& masking) {
  std::vector<int64_t> places(ids.size());
  const auto part = [&](size_t i) { return masking.parts.at(static_cast<size_t>(ids[i])); };
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool goes_on = i > 0 && !masking.parts.empty() && part(i) == WordPart::more &&
                         part(i - 1) != WordPart::none && documents[i] == documents[i - 1];
    places[i] = goes_on ? places[i - 1] : begin + static_cast<int64_t>(i);
  }
  return places;
}

}  // namespace

std::vector<WordPart> word_parts(const Tokenizer& tokenizer) {
  std::vector<WordPart> parts;
  for (int64_t id = 0; id < tokenizer.vocab_size(); ++id) parts.push_back(word_part(tokenizer, id));
  return parts;
}

Batch masked_batch(const TokenSequence& tokens, const std::vector<Window>& windows, const Masking& masking,
                   uint64_t key) {
  Batch batch = batch_of(tokens, windows);
  const MaskDraws draws(masking, key);
  const int64_t length = batch.ids.size(1);
  std::vector<int64_t> ids(static_cast<size_t>(length)), documents(ids.size());
  batch.weight = 0.0;
  for (size_t row = 0; row < windows.size(); ++row) {
    const Window& window = windows[row];
    tokens.read(window.begin, ids, documents);
    const auto starts = word_places(ids, documents, window.begin, masking);
    int64_t* const shown = batch.ids.data_ptr<int64_t>() + static_cast<int64_t>(row) * length;
    int64_t* const targets = batch.targets.data_ptr<int64_t>() + static_cast<int64_t>(row) * length;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool asked = draws.asked(starts[i]);
      targets[i] = asked ? ids[i] : kIgnore;
      if (asked) shown[i] = draws.shown(window.begin + static_cast<int64_t>(i), ids[i]);
      batch.weight += asked ? 1.0 : 0.0;
    }
  }
  return batch;
}

}  // namespace ordo
