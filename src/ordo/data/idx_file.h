// SPDX-License-Identifier: Apache-2.0
// IDX files, the format of MNIST and its kin: two zero bytes, the type of the values, the number of dimensions, each
// size as four bytes (high byte first), then the values, the last dimension running fastest
// (http://yann.lecun.com/exdb/mnist/).
#pragma once
#include <ATen/core/Tensor.h>

#include "ordo/core/files.h"

namespace ordo {

// Bytes (type 0x08) alone; names in .gz and .zst are unpacked. Throws DataError with the path for what read_packed
// refuses, a file that is no IDX file, another type, another number of dimensions, a size of 0, and a file whose length
// is not what its header says.
at::Tensor read_idx_images(const fs::path& path);  // uint8 [N, H, W]
at::Tensor read_idx_labels(const fs::path& path);  // uint8 [N]

}  // namespace ordo
