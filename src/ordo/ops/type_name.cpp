// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/type_name.h"

namespace ordo {

std::string type_name(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "fp32";
    case at::kDouble:
      return "fp64";
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "fp16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kBool:
      return "bool";
    default:
      return c10::toString(type);
  }
}

}  // namespace ordo
