// SPDX-License-Identifier: Apache-2.0
// The only include of Catch2. LibTorch defines CHECK too; taken in this order, Catch2's is the one that counts.
#pragma once
#include <c10/util/Logging.h>
#undef CHECK
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
