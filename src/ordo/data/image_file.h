// SPDX-License-Identifier: Apache-2.0
// Images in files: PNG by libpng, JPEG by libjpeg-turbo, told apart by their first bytes, whatever their names say.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ordo/core/files.h"

namespace ordo {

inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// uint8 [C, H, W] on the CPU: C is 1 for grey images, 3 (red, green, blue) for all others; values as they are stored:
// no gamma, no colour profile, no turning by EXIF.
//
// PNG: palettes become colours, 1 to 4 bits of grey 0 to 255, 16 bits are rounded to 8; of an animation the still image
// is read. An alpha channel (or transparent colour) that is opaque everywhere is dropped; an image with a transparent
// pixel is refused, for what lies behind it is not the reader's to choose. JPEG: grey and colour, progressive too;
// CMYK and YCCK are refused, and so is whatever libjpeg would only warn of and fill with grey (stray bytes between
// segments excepted, which harm nothing).
//
// Throws DataError with the path for what read_packed refuses, an empty file, another format, a file that is damaged or
// cut off, more than `most_pixels` (before memory is taken for them), a JPEG of more than 200 scans.
at::Tensor read_image(const fs::path& path, int64_t most_pixels = kMostPixels);

}  // namespace ordo
