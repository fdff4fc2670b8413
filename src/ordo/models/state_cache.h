// SPDX-License-Identifier: Apache-2.0
// What a model that carries states keeps of the tokens it has read.
#pragma once
#include "ordo/models/documents.h"
#include "ordo/models/model.h"

namespace ordo {

// The states behind the last token, and the ids of all of them: where a text is cut, what remains is read anew.
class StateCache final : public Cache {
 public:
  int64_t size() const override { return ids_.defined() ? ids_.size(1) : 0; }
  void keep_rows(const Tensor& rows) override;
  void truncate(int64_t size) override;

  // What there is to read: `in`, and in front of it the tokens whose states went with a cut, lost() of them. Throws
  // Error for another number of rows.
  ModelInput to_read(const ModelInput& in) const;
  int64_t lost() const { return states_.empty() ? size() : 0; }
  const States& states() const { return states_; }  // empty: none are known
  // Once that was read: `in` is held too, and what stands behind it.
  void hold(const ModelInput& in, const States& states);

  // Of what an encoder has read, [B, …] each; undefined ones stay so. Follows the rows, and outlives a cut.
  States source = {};

 private:
  Tensor ids_, keys_;  // [B, L]; keys undefined: no padding
  States states_;
};

}  // namespace ordo
