// SPDX-License-Identifier: Apache-2.0
// Which GPUs the runs of a study are shared out over.
#pragma once
#include <string>
#include <vector>

namespace ordo {

// As CUDA_VISIBLE_DEVICES names them; empty when there is none that can be used. A child process asks the driver: this
// one must not start it, since it forks afterwards.
std::vector<std::string> gpus_to_share();

// The names of the first `count` of the devices that CUDA_VISIBLE_DEVICES (null: not set) lets a process see.
std::vector<std::string> gpu_names(int count, const char* visible);

}  // namespace ordo
