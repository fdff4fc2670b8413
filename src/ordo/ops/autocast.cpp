// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/autocast.h"

#include <ATen/autocast_mode.h>

namespace ordo {

namespace {

void set_autocast(c10::DeviceType device, const AutocastState& state) {
  at::autocast::set_autocast_enabled(device, state.enabled);
  at::autocast::set_autocast_dtype(device, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.cache);
}

}  // namespace

AutocastState autocast_state(c10::DeviceType device) {
  return {at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device),
          at::autocast::is_autocast_cache_enabled()};
}

AutocastScope::AutocastScope(c10::DeviceType device, const AutocastState& state)
    : device_(device), before_(autocast_state(device)) {
  set_autocast(device, state);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  set_autocast(device_, before_);
}

}  // namespace ordo
