// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/kernel.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {
void check_segments(const Tensor& segments, const char* name, int64_t B, int64_t L) {
  require(segments.scalar_type() == at::kLong, "attention: {} must be int64, found {}", name,
          type_name(segments.scalar_type()));
  const auto [rows, columns] = sizes<2>(segments, name);
  require((rows == 1 || rows == B) && columns == L, "attention: {} is [{}, {}], expected [1 or {}, {}]", name, rows,
          columns, B, L);
}
}  // namespace

void check_shapes(const AttentionCall& call) {
  const auto [B, H, Lq, E] = sizes<4>(call.q, "q [B, H, Lq, E]");
  const auto [k_rows, G, Lk, k_width] = sizes<4>(call.k, "k [B, G, Lk, E]");
  const auto [v_rows, v_groups, v_length, v_width] = sizes<4>(call.v, "v [B, G, Lk, E]");
  require(k_rows == B && v_rows == B, "attention: q has {} rows, k has {} and v has {}; they must agree", B, k_rows,
          v_rows);
  require(G > 0 && H % G == 0 && v_groups == G, "attention: {} query heads cannot share {} key and {} value heads", H,
          G, v_groups);
  require(v_length == Lk, "attention: there are {} keys and {} values", Lk, v_length);
  require(k_width == E, "attention: queries are {} wide, keys {}", E, k_width);
  const Mask& mask = call.mask;
  if (mask.keys.defined()) {
    require(mask.keys.scalar_type() == at::kBool, "attention: mask.keys must be bool, found {}",
            type_name(mask.keys.scalar_type()));
    const auto [rows, columns] = sizes<2>(mask.keys, "mask.keys [1|B, Lk]");
    require((rows == 1 || rows == B) && columns == Lk, "attention: mask.keys is [{}, {}], expected [1 or {}, {}]", rows,
            columns, B, Lk);
  }
  require(mask.q_segment.defined() == mask.k_segment.defined(),
          "attention: a mask gives segments of queries and of keys, or neither");
  if (!mask.q_segment.defined()) return;
  check_segments(mask.q_segment, "mask.q_segment [1|B, Lq]", B, Lq);
  check_segments(mask.k_segment, "mask.k_segment [1|B, Lk]", B, Lk);
}

}  // namespace ordo
