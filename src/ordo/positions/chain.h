// SPDX-License-Identifier: Apache-2.0
// Several encodings as one: positions moved, inputs and turns in order, biases and value terms added.
#pragma once
#include <vector>

#include "ordo/positions/encoding.h"

namespace ordo {

class Chain final : public PositionEncoding {
 public:
  explicit Chain(std::vector<std::shared_ptr<PositionEncoding>> parts);  // children "0", "1", …
  PositionTraits traits() const override;
  std::vector<PositionEncoding*> parts() override;
  Positions place(const Positions& at, int64_t rows, const Draw& draw) override;
  Tensor input(const Tensor& x, const Positions& at) override;
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override;
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override;
  Tensor value(const Tensor& v, const Positions& at, int64_t layer) override;
  int64_t keeps() const override;
  Tensor keep(const Tensor& x, const Positions& at, int64_t layer) override;
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  std::shared_ptr<const ValueTerm> values(const AttentionPass& pass) override;
  void attach(int64_t layer, const Linear& q, const Linear& k) override;
  int64_t reach(int64_t length) const override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  Tensor frequencies(int64_t length) const override;  // of the first part that has some
  std::optional<Resized> resized(const std::string& name, const Tensor& saved) const override;

 private:
  AttentionPass share(const AttentionPass& pass, size_t part) const;  // with that part's own columns of `kept`
  std::vector<std::shared_ptr<PositionEncoding>> parts_;
};

}  // namespace ordo
