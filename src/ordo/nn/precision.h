// SPDX-License-Identifier: Apache-2.0
// How numbers are held during training: fp32, or autocast to bf16 or fp16 over fp32 weights.
#pragma once
#include <span>

#include "ordo/config/fields.h"
#include "ordo/ops/autocast.h"

namespace ordo {

enum class Precision { fp32, bf16, fp16 };
extern const std::span<const NamedValue> kPrecisions;

AutocastState autocast_of(Precision precision);
c10::ScalarType compute_type(Precision precision);     // of products
std::string_view precision_name(Precision precision);  // "bf16"

}  // namespace ordo
