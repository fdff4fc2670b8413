// SPDX-License-Identifier: Apache-2.0
// Small models with one bug each, for a certificate to find.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ordo/certify/certify.h"
#include "ordo/models/stack.h"
#include "support/small_encodings.h"

namespace ordo::test {

using PlantedEncoding = std::shared_ptr<PositionEncoding>;

// What is wrong; nothing set: a sound model without an encoding.
struct Plant {
  std::function<PlantedEncoding(const PositionFacts&, uint64_t seed)> encoding = {};
  std::function<void(ModelInput&, const Cache*)> tamper = {};  // with what the model is given
  std::function<std::shared_ptr<KVCache>(std::shared_ptr<KVCache>, PositionEncoding&)> cache = {};
  bool two_sided = false;           // and says so
  bool secretly_two_sided = false;  // but says that it is causal
};

// Two layers of width 32, four heads over two groups, as long as 64 positions.
class PlantedSubject final : public Subject {
 public:
  explicit PlantedSubject(Plant plant) : plant_(std::move(plant)) {}
  std::string name() const override { return "planted"; }
  int64_t vocab_size(const Variant&) const override { return 13; }
  std::shared_ptr<Model> build(const Variant& variant) const override;

 private:
  Plant plant_;
};

// The properties that a certificate of the planted model finds broken.
std::vector<std::string> broken_by(Plant plant);
bool names(const std::vector<std::string>& failed, const std::string& property);
std::string listed(const std::vector<std::string>& failed);

// An encoding of the catalogue, of small_encodings(), or "none", for Plant::encoding.
inline auto kind(const std::string& name) {
  return [name](const PositionFacts& facts, uint64_t) {
    return name == "none" ? make_position({}, facts) : any_encoding(name, facts);
  };
}

// An encoding that is another one, but for what is overridden.
class Wrapped : public PositionEncoding {
 public:
  Wrapped(const std::string& name, const PositionFacts& facts) {
    inner = register_module("inner", any_encoding(name, facts));
  }
  PositionTraits traits() const override { return inner->traits(); }
  Tensor input(const Tensor& x, const Positions& at) override { return inner->input(x, at); }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override { return inner->query(q, at, layer); }
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override { return inner->key(k, at, layer); }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override { return inner->scores(pass); }
  PlantedEncoding inner;
};
template <class T>
auto wrapping(const std::string& name) {
  return [name](const PositionFacts& facts, uint64_t) -> PlantedEncoding { return std::make_shared<T>(name, facts); };
}

// A cache that changes what the layers are handed.
class TamperedCache final : public KVCache {
 public:
  TamperedCache(std::shared_ptr<KVCache> inner, std::function<void(Held&)> tamper)
      : inner_(std::move(inner)), tamper_(std::move(tamper)) {}
  void advance(const Positions& fresh, const Mask& mask) override { inner_->advance(fresh, mask); }
  Held append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) override {
    Held held = inner_->append(layer, k, v, kept);
    tamper_(held);
    return held;
  }
  int64_t size() const override { return inner_->size(); }
  void keep_rows(const Tensor& rows) override { inner_->keep_rows(rows); }
  void truncate(int64_t size) override { inner_->truncate(size); }

 private:
  std::shared_ptr<KVCache> inner_;
  std::function<void(Held&)> tamper_;
};

}  // namespace ordo::test
