// SPDX-License-Identifier: Apache-2.0
// The lists of kernels and caches.
#include "ordo/attention/caches.h"
#include "ordo/attention/eager.h"
#include "ordo/attention/flash.h"
#include "ordo/attention/sdpa.h"
#include "ordo/attention/tiled.h"

namespace ordo {

namespace {
template <class T>
Entry<AttentionKernel, KernelFacts> kernel_entry() {
  return entry<T, AttentionKernel, KernelFacts>();
}
template <class T>
Entry<KVCache, CacheFacts> cache_entry() {
  return entry<T, KVCache, CacheFacts>();
}
}  // namespace

const KernelCatalog& kernels() {
  static const KernelCatalog list{"attention kernel",
                                  {kernel_entry<AutoKernel>(), kernel_entry<EagerKernel>(), kernel_entry<SdpaKernel>(),
                                   kernel_entry<TiledKernel>(), kernel_entry<FlashKernel>()}};
  return list;
}
template <>
const Kinds& kinds_of<AttentionKernel>() {
  return kernels().kinds();
}

const CacheCatalog& caches() {
  static const CacheCatalog list{"cache", {cache_entry<FullCache>(), cache_entry<FixedCache>()}};
  return list;
}
template <>
const Kinds& kinds_of<KVCache>() {
  return caches().kinds();
}

Places missing_places(const KernelTraits& kernel, const PositionTraits& position) {
  const Places& has = kernel.places;
  const Places& wants = position.places;
  return {.input = wants.input && !has.input,
          .query_key = wants.query_key && !has.query_key,
          .scores = wants.scores && !has.scores,
          .values = wants.values && !has.values};
}

std::optional<std::string> never_works(const KernelTraits& kernel, std::string_view kernel_kind,
                                       const PositionTraits& position, std::string_view position_kind) {
  const Places missing = missing_places(kernel, position);
  if (!missing.anywhere()) return std::nullopt;
  const Places &has = kernel.places, &wants = position.places;
  return fmt::format(
      "attention kernel {} does not let an encoding act on {}, so it cannot serve {} (acts on: {}); use auto, or {}",
      kernel_kind, missing.text(), position_kind, wants.text(),
      has.text() == "nothing" ? "no encoding" : fmt::format("an encoding that acts on {} alone", has.text()));
}

}  // namespace ordo
