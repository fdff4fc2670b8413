// SPDX-License-Identifier: Apache-2.0
// exp for loops that the compiler turns into vectors: without branches, calls or denormal numbers.
#pragma once
#include <bit>
#include <cstdint>

namespace ordo {

// exp(x) within 2 ulp for x up to about 1; what is below -80 counts as -80, so that nothing is denormal. NaN stays NaN.
// 2^n * exp(r) with |r| <= ln 2 / 2; the minimax polynomial of (exp(r) - 1 - r) / r^2 is that of the Cephes library.
inline __attribute__((always_inline)) float fast_exp(float x) {
  constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F,
                  kLn2Low = -2.12194440e-4F;  // ln 2 in two parts: the first product is exact
  constexpr float kRound = 12582912.0F;       // 1.5 * 2^23: adding it rounds to an integer, held in the low bits
  x = x < -80.0F ? -80.0F : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float tail = 1.9875691500e-4F;
  tail = tail * r + 1.3981999507e-3F;
  tail = tail * r + 8.3334519073e-3F;
  tail = tail * r + 4.1665795894e-2F;
  tail = tail * r + 1.6666665459e-1F;
  tail = tail * r + 5.0000001201e-1F;
  const float power = std::bit_cast<float>((std::bit_cast<int32_t>(shifted) << 23) + 0x3F800000);  // 2^n
  return (tail * r * r + r + 1.0F) * power;
}

}  // namespace ordo
