// SPDX-License-Identifier: Apache-2.0
// Types of numbers as a config and its user name them.
#pragma once
#include <c10/core/ScalarType.h>

#include <string>

namespace ordo {

std::string type_name(at::ScalarType type);  // "fp32", "bf16", "int64", "bool", …

}  // namespace ordo
