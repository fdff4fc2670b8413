// SPDX-License-Identifier: Apache-2.0
// White space as a character that can be seen, as SentencePiece has it: settings that the pre-tokeniser and the decoder
// `Metaspace` share.
#pragma once
#include <string>

#include "ordo/tokenizers/json_view.h"

namespace ordo {

struct Metaspace {
  enum class Prepend { always, first, never };  // to which pieces the mark is added in front, if they lack it
  std::string replacement = "\u2581";
  Prepend prepend = Prepend::always;
  bool split = true;
};
Metaspace read_metaspace(const JsonView& part);

}  // namespace ordo
