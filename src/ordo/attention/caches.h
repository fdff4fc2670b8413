// SPDX-License-Identifier: Apache-2.0
// The caches of the catalogue. Caches serve generation: they hold numbers, gradients do not flow through them.
#pragma once
#include "ordo/attention/cache.h"

namespace ordo {

// Grows by doubling; new columns are written in place.
class FullCache final : public KVCache {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "full", kSummary = "all keys and values, room doubled when full";
  FullCache(const Config& config, const CacheFacts& facts);
  void advance(const Positions& fresh, const Mask& mask) override;
  Held append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) override;
  int64_t size() const override { return size_; }
  void keep_rows(const Tensor& rows) override;
  void truncate(int64_t size) override;

 private:
  struct Layer {
    Tensor k, v, kept;
  };  // room for more columns than are held
  void note_padding(const Mask& mask, int64_t rows, int64_t length);
  void note_segments(const Mask& mask);
  int64_t before_ = 0, size_ = 0;  // columns before and after the last advance
  Positions at_;
  Mask mask_;  // as the layers see it: of the fresh queries against all columns
  std::vector<Layer> layers_;
};
void fields(Fields& f, FullCache::Config& c);

// Written once, then read: keys and values of an encoder's output for cross-attention.
class FixedCache final : public KVCache {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "fixed", kSummary = "written once, then read: an encoder's output";
  FixedCache(const Config& config, const CacheFacts& facts);
  void advance(const Positions& fresh, const Mask& mask) override;
  Held append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) override;
  std::optional<Held> held(int64_t layer) const override;
  int64_t size() const override;
  void keep_rows(const Tensor& rows) override;
  void truncate(int64_t size) override;

 private:
  Positions at_;
  Mask mask_;
  std::vector<std::optional<Held>> layers_;
};
void fields(Fields& f, FixedCache::Config& c);

}  // namespace ordo
