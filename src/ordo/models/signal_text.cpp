// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/signal_text.h"

#include <fmt/format.h>

#include "ordo/models/feature_map_input.h"
#include "ordo/models/frame_input.h"
#include "ordo/models/patch_input.h"
#include "ordo/models/token_input.h"
#include "ordo/models/value_input.h"

namespace ordo {

namespace {

std::string counted(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

std::string_view signal_kind(const SignalFacts& signal) {
  if (!signal.defined()) return "token ids";
  return signal.image() ? "images" : "frames of numbers";
}

std::string signal_text(const SignalFacts& signal) {
  if (!signal.defined()) return std::string(signal_kind(signal));
  if (!signal.image()) return fmt::format("frames of {}", counted(signal.channels, "number"));
  return fmt::format("images of {}, {} and {}", counted(signal.channels, "channel"), counted(signal.height, "row"),
                     counted(signal.width, "column"));
}

std::string inputs_reading(const SignalFacts& signal) {
  if (!signal.defined()) return fmt::format("model.input: {}", TokenInput::kKind);
  return signal.image() ? fmt::format("model.input: {} or {}", PatchInput::kKind, FeatureMapInput::kKind)
                        : fmt::format("model.input: {} or {}", FrameInput::kKind, ValueInput::kKind);
}

}  // namespace ordo
