// SPDX-License-Identifier: Apache-2.0
// The documents of a batch, each in a row of its own that begins with its first token: for layers that carry something
// from one token to the next, and must carry nothing over padding and from one document to another.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ordo/ops/sequence.h"

namespace ordo {

struct DocumentRows {
  int64_t rows = 0, columns = 0;  // of the batch, [B, L]
  Tensor row;                     // int64 [N]: which of them each document is of
  Tensor lengths;                 // int64 [N], on the CPU, descending, at least 1
  Tensor keys;                    // bool [N, T]: false behind the end of a document
  Tensor place;                   // int64 [N * T]: where its tokens stand in the batch, row * L + column; else 0
  Tensor back;                    // int64 [B * L]: where the batch's tokens stand in the documents; else 0
  Tensor real;                    // bool [B, L]: false is padding

  Tensor gathered(const Tensor& x) const;   // [B, L, D] -> [N, T, D], zeros behind the ends
  Tensor scattered(const Tensor& y) const;  // [N, T, D] -> [B, L, D], zeros where padding is
};

// What layers need of the tokens before to go on: tensors [rows, …], in an order of their own.
using States = std::vector<Tensor>;

// The real tokens of a row are one document wherever padding stands between them; with segments they are as many as
// there are runs of equal ones. Nothing where each row is one document without padding. Throws Error for a batch
// without a real token. mask: of x [B, L, D] (keys, q_segment).
std::optional<DocumentRows> documents_of(const Mask& mask, const Tensor& x);

// Rows x [N, T, D] through layers. `rows`: where they end; null: none has padding. `states`: empty, or those before the
// rows; then those behind them.
using Layers = std::function<Tensor(const Tensor& x, const DocumentRows* rows, States& states)>;
// x [B, L, D] through them, each document by itself. States are the rows' own, [B, …]; in rows of several documents
// nothing goes on behind them, and those that come back are empty.
Tensor over_documents(const Layers& layers, const Tensor& x, const Mask& mask, States& states);

}  // namespace ordo
