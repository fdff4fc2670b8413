// SPDX-License-Identifier: Apache-2.0
// What an encoder reads, of which a decoder then writes.
#pragma once
#include "ordo/ops/sequence.h"

namespace ordo {

struct EncoderInput {
  Tensor ids = {};  // int64 [B, Ls]; undefined: there is none
  Positions at = {};
  Tensor keys = {};  // bool [B, Ls], optional: false = padding
  bool defined() const { return ids.defined(); }
};

}  // namespace ordo
