// SPDX-License-Identifier: Apache-2.0
// Where a piece of work spends its time: by operator of LibTorch, counting an operator's own time without that of the
// operators it calls.
#pragma once
#include <functional>

#include "ordo/core/json.h"

namespace ordo::cli {

// {"profile": [{"op": "aten::mm", "calls": 12, "ms": 3.4, "share": 0.41}, …], "outside_ms": …}: the largest first;
// outside: no operator was running.
Json operator_profile(const std::function<void()>& work);

}  // namespace ordo::cli
