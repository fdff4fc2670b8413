// SPDX-License-Identifier: Apache-2.0
// The one precompiled header: what every file that sees LibTorch needs (about 10 s of parsing without it).
#pragma once
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/module.h>
