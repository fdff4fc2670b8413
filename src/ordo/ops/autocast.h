// SPDX-License-Identifier: Apache-2.0
// Autocast's state, owned here alone.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace ordo {

// What autocast is set to for one device type.
struct AutocastState {
  bool enabled = false;
  c10::ScalarType dtype = c10::ScalarType::BFloat16;
  bool cache = true;
  bool operator==(const AutocastState&) const = default;
};
AutocastState autocast_state(c10::DeviceType device);

// Sets autocast for a scope. The cast cache is cleared when the outermost scope ends: it would return stale weights
// after an update.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, const AutocastState& state);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  AutocastState before_;
};
inline AutocastState no_autocast() { return {false, c10::ScalarType::BFloat16, true}; }

}  // namespace ordo
