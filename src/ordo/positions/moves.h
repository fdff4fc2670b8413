// SPDX-License-Identifier: Apache-2.0
// What encodings that move positions have in common. They act before every other encoding of a list reads positions,
// once a forward pass: all layers, and a block that is recomputed, see the same.
#pragma once
#include "ordo/core/hash.h"
#include "ordo/positions/encoding.h"

namespace ordo {

class PositionMove : public PositionEncoding, public Resets {
 public:
  // Draws nothing; the path tells the stacks of a model apart, so that source and target move by numbers of their own.
  void reset(const Initialiser& init, const std::string& path) final {
    (void)init;
    site_ = mix(kind_, key_of(0, path));
  }

 protected:
  explicit PositionMove(std::string_view kind) : kind_(key_of(0, kind)), site_(kind_) {}
  uint64_t draw_key(const Draw& draw) const { return draw.key(site_); }
  // Throws ConfigError when positions are real-valued already.
  static void require_whole(std::string_view kind, const Positions& at) {
    require<ConfigError>(!at.coords.defined(),
                         "{}: moves whole positions, these are real-valued; put it before what makes them so", kind);
  }

 private:
  uint64_t kind_, site_;
};

}  // namespace ordo
