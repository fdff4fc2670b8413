// SPDX-License-Identifier: Apache-2.0
// What a model reads, in words.
#pragma once
#include <string>
#include <string_view>

#include "ordo/models/model.h"

namespace ordo {

std::string_view signal_kind(const SignalFacts& signal);  // "images", "frames of numbers"; without a signal "token ids"
// "images of 1 channel, 8 rows and 8 columns", "frames of 40 numbers".
std::string signal_text(const SignalFacts& signal);
// "model.input: patches or feature_map": what reads them.
std::string inputs_reading(const SignalFacts& signal);

}  // namespace ordo
