// SPDX-License-Identifier: Apache-2.0
// What input layers of images have in common.
#pragma once
#include <string_view>

#include "ordo/models/input.h"

namespace ordo {

// Throws ConfigError, in the name of the layer, when the data are no images.
void require_images(std::string_view kind, const SignalFacts& signal);
// The images [B, C, H, W] of an input. Throws Error when there are none, or of another shape than the facts say.
Tensor image_of(const ModelInput& in, const SignalFacts& facts);
// The places of a grid, row by row: index 0, 1, …; coords [1, rows * columns, 2], row and column.
Positions grid_positions(int64_t rows, int64_t columns, c10::Device device);

}  // namespace ordo
