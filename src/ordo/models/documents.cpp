// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/documents.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

namespace ordo {

namespace {

struct FoundDocument {
  int64_t row = 0;
  std::vector<int64_t> places = {};
};

// [1|B, L] of any device -> [B, L] on the CPU; undefined: `otherwise` everywhere.
Tensor document_table(const Tensor& given, const Tensor& otherwise) {
  return (given.defined() ? given.cpu().expand(otherwise.sizes()) : otherwise).contiguous();
}

// Longest first; documents of one length in the order of the batch.
std::vector<FoundDocument> find_documents(const Tensor& keys, const Tensor& segments) {
  const int64_t B = keys.size(0), L = keys.size(1);
  const bool* const key = keys.data_ptr<bool>();
  const int64_t* const segment = segments.data_ptr<int64_t>();
  std::vector<FoundDocument> found;
  for (int64_t row = 0; row < B; ++row) {
    int64_t before = -1;  // the real token before
    for (int64_t at = row * L; at < (row + 1) * L; ++at) {
      if (!key[at]) continue;
      if (before < 0 || segment[before] != segment[at]) found.push_back({.row = row});
      found.back().places.push_back(at);
      before = at;
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.places.size() > b.places.size(); });
  return found;
}

DocumentRows laid_out(const std::vector<FoundDocument>& found, int64_t B, int64_t L) {
  const auto N = std::ssize(found), T = std::ssize(found.front().places);
  DocumentRows made{.rows = B,
                    .columns = L,
                    .row = at::empty({N}, at::kLong),
                    .lengths = at::empty({N}, at::kLong),
                    .keys = at::zeros({N, T}, at::kBool),
                    .place = at::zeros({N * T}, at::kLong),
                    .back = at::zeros({B * L}, at::kLong),
                    .real = at::zeros({B, L}, at::kBool)};
  for (int64_t n = 0; n < N; ++n) {
    const FoundDocument& document = found[static_cast<size_t>(n)];
    const auto length = std::ssize(document.places);
    made.row.data_ptr<int64_t>()[n] = document.row;
    made.lengths.data_ptr<int64_t>()[n] = length;
    std::copy(document.places.begin(), document.places.end(), made.place.data_ptr<int64_t>() + n * T);
    std::fill_n(made.keys.data_ptr<bool>() + n * T, length, true);
    for (int64_t t = 0; t < length; ++t) {
      const int64_t place = document.places[static_cast<size_t>(t)];
      made.back.data_ptr<int64_t>()[place] = n * T + t;
      made.real.data_ptr<bool>()[place] = true;
    }
  }
  return made;
}

// The states of documents as those of the rows that they are of; a row without one keeps what it had, or has zeros.
States states_of_rows(const States& states, const States& before, const DocumentRows& documents) {
  States rows;
  for (size_t i = 0; i < states.size(); ++i) {
    std::vector<int64_t> shape = states[i].sizes().vec();
    shape[0] = documents.rows;
    const Tensor base = before.empty() ? at::zeros(shape, states[i].options()) : before[i].to(states[i].scalar_type());
    rows.push_back(base.index_copy(0, documents.row, states[i]));
  }
  return rows;
}

// The tokens of x [N, T, D] at places in N * T, zeros where `keys` [rows, columns] are false.
Tensor tokens_at(const Tensor& x, const Tensor& places, const Tensor& keys) {
  return x.flatten(0, 1)
      .index_select(0, places)
      .view({keys.size(0), keys.size(1), x.size(2)})
      .masked_fill(keys.logical_not().unsqueeze(2), 0.0);
}

}  // namespace

Tensor DocumentRows::gathered(const Tensor& x) const { return tokens_at(x, place, keys); }

Tensor DocumentRows::scattered(const Tensor& y) const { return tokens_at(y, back, real); }

std::optional<DocumentRows> documents_of(const Mask& mask, const Tensor& x) {
  const auto [B, L, D] = sizes<3>(x, "x [B, L, D]");
  if (mask.positional()) return std::nullopt;
  const auto found = find_documents(document_table(mask.keys, at::ones({B, L}, at::kBool)),
                                    document_table(mask.q_segment, at::zeros({B, L}, at::kLong)));
  require(!found.empty(), "a batch of {} row(s) of {} has not a single real token: all of it is padding", B, L);
  if (std::ssize(found) == B && std::ssize(found.back().places) == L) return std::nullopt;
  DocumentRows made = laid_out(found, B, L);
  for (Tensor* const t : {&made.row, &made.keys, &made.place, &made.back, &made.real}) *t = t->to(x.device());
  return made;
}

Tensor over_documents(const Layers& layers, const Tensor& x, const Mask& mask, States& states) {
  const auto documents = documents_of(mask, x);
  if (!documents) return layers(x, nullptr, states);
  States of_documents;
  for (const Tensor& state : states) of_documents.push_back(state.index_select(0, documents->row));
  const Tensor hidden = documents->scattered(layers(documents->gathered(x), &*documents, of_documents));
  states = mask.q_segment.defined() ? States{} : states_of_rows(of_documents, states, *documents);
  return hidden;
}

}  // namespace ordo
