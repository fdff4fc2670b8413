// SPDX-License-Identifier: Apache-2.0
// Plain loops compiled for several instruction sets, the best of which is chosen when the program is loaded.
#pragma once

// Before a function's definition: versions for AVX-512, AVX2 and the baseline. What it calls must be inlined to be
// compiled alike. The levels of the x86-64 ABI, since arch=skylake-avx512 and its like match one model of processor
// instead of its instructions. Sanitizers run before the choice can be made, so they get the baseline.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ORDO_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ORDO_CLONES
#endif
