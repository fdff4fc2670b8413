// SPDX-License-Identifier: Apache-2.0
// Keys and values of the tokens seen so far. Positions are absolute and stored with the keys, so that left padding,
// eviction and beams need no special case.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/ops/sequence.h"

namespace ordo {

struct CacheFacts {
  int64_t layers = 0;
};

// What a model keeps of the tokens that it has read, to go on from them.
class Cache {
 public:
  virtual ~Cache() = default;
  virtual int64_t size() const = 0;                // tokens held
  virtual void keep_rows(const Tensor& rows) = 0;  // int64 [B']: beam search, finished sequences
  virtual void truncate(int64_t size) = 0;         // the first `size` tokens stay
};

class KVCache : public Cache {
 public:
  struct Held {
    Tensor k, v, kept;  // all that the new queries may see, columns in order of arrival: [B, G, Lk, E], kept [B, Lk, n]
                        // or undefined
    Positions at;       // of those keys
    Mask mask;          // for the new queries against those keys
  };
  // Once per model call, by the stack, before the layers append: positions and mask of the fresh tokens (mask.keys [B,
  // L_fresh] or undefined).
  virtual void advance(const Positions& fresh, const Mask& mask) = 0;
  virtual Held append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) = 0;
  // What a layer can read without appending: set once a cache that is written once (`fixed`) has been written.
  virtual std::optional<Held> held(int64_t layer) const {
    (void)layer;
    return std::nullopt;
  }
};

using CacheCatalog = Catalog<KVCache, CacheFacts>;
const CacheCatalog& caches();  // full (grows by doubling), fixed (written once, then read: encoder output)
template <>
const Kinds& kinds_of<KVCache>();

}  // namespace ordo
