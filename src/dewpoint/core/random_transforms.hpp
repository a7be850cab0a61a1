// From random bits to exponential and normal numbers, with the same bytes everywhere.
//
// Only what IEEE 754 rounds correctly is used, step by step: sums, products, quotients, square
// roots, and operations on bits. No product is fused with a sum, because some processors cannot,
// and no function of the mathematical library is called, because libraries differ. The functions
// here are the reference, one number at a time; random_kernels.cpp computes the same formulas in
// vectors, and bit for bit the same numbers.
//
//     −log u, u = 2ᵉ m, √½ ≤ m < √2:    s = (m − 1)/(m + 1),  z = s²,
//                                       −log u = −e log 2 − s (2 + z Q(z))
//     cos 2πv, sin 2πv, v = q/4 + w, |w| < 1/8:  z = w²,
//                                       cos 2πw = 1 + z C(z),  sin 2πw = w S(z),
//                                       then q quarter turns
//
// Q, C and S are minimax polynomials, fitted for this file by Remez's algorithm with 60 digits.
//
// Accuracy, in units of ε = 2⁻⁵³, the largest relative error of one rounding. m − 1 and w are
// exact.
//
// * log m: m + 1, the quotient, the sum with 2 and the last product round once each. z Q is at most
//   1/100 of 2 and errs by less than 9ε. Together 4.1ε.
// * −log u: with e = 0 that is all. With e = −1 the result is at least (log 2)/2 and log m at most
//   that; the double next to log 2 errs by 0.3ε, and the sum rounds: 2 · 0.3ε + 4.1ε + ε. For other
//   e the product rounds too, and log m weighs less. All are below 6ε.
// * √(−2 log u): half of that, and a rounding: 4ε.
// * cos 2πw, at least √½: z C is at most 0.3 and errs by ε (z) + 1.2ε (C) + ε; the fit of C by 0.2ε
//   of the cosine; the sum rounds. Together 2.6ε.
// * sin 2πw: S errs by 1.4ε, its fit by 0.5ε, the last product by ε: 2.9ε.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace dewpoint::transforms {

/// Bounds of the relative errors of exponential() and of both numbers of normal_pair().
inline constexpr double kExponentialError = 6.0 * 0x1p-53;
inline constexpr double kNormalError = (4.0 + 2.9 + 1.0) * 0x1p-53;

/// Uniform on the open interval (0, 1): (k + 1/2) 2⁻⁵² with k the upper 52 of 64 bits, exactly.
[[nodiscard]] double open_uniform(std::uint64_t bits);

/// −log u with u = open_uniform(bits).
///
///   Properties  (1) between 2⁻⁵³ and 53 log 2, with relative error below kExponentialError.
[[nodiscard]] double exponential(std::uint64_t bits);

struct Pair {
  double first;
  double second;
};

/// √(−2 log u) cos 2πv and √(−2 log u) sin 2πv [Box and Muller 1958], u and v the open uniforms of
/// the two words.
///
///   Properties  (2) relative errors below kNormalError.
///               (3) neither is 0, and both are within ±√(106 log 2) (1 + kNormalError) < 8.6.
[[nodiscard]] Pair normal_pair(std::uint64_t radius_bits, std::uint64_t angle_bits);

// ---- shared with the vectors --------------------------------------------------------------------

// 52 bits k behind these bits are 1 + k 2⁻⁵².
inline constexpr std::uint64_t kOneBits = std::bit_cast<std::uint64_t>(1.0);
inline constexpr std::uint64_t kMantissa = 0x000F'FFFF'FFFF'FFFF;
inline constexpr std::uint64_t kRootHalfBits = 0x3FE6'A09E'667F'3BCD;
inline constexpr double kLog2 = 0x1.62e42fefa39efp-1;

// 52 bits k behind these bits are 2⁵² + k.
inline constexpr std::uint64_t kTwo52Bits = std::bit_cast<std::uint64_t>(0x1p52);

// 50 bits k, shifted left by one, behind these bits are 1/2 + (k + 1/2) 2⁻⁵².
inline constexpr std::uint64_t kHalfBits = std::bit_cast<std::uint64_t>(0.5) | 1U;
inline constexpr std::uint64_t kQuarterMask = 0x0007'FFFF'FFFF'FFFE;

// Lowest power first. With these coefficients 2 + z Q errs by 0.02ε of itself, 1 + z C by 0.2ε and
// S by 0.5ε, if nothing else were rounded.
inline constexpr std::array<double, 7> kLogTerms = {
    0x1.5555555555592p-1, 0x1.999999997feedp-2, 0x1.24924941e092bp-2, 0x1.c71c52166eb2ap-3,
    0x1.74663c4d2c13ep-3, 0x1.39a1fc326f6c1p-3, 0x1.2f02e032f87bcp-3};
inline constexpr std::array<double, 7> kCosineTerms = {
    -0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5aaep+6, -0x1.55d3c7e3c9285p+6, 0x1.e1f50683681ebp+5,
    -0x1.a6d1ec7e55cfep+4, 0x1.f9cc40df98769p+2, -0x1.b263d1228b902p+0};
inline constexpr std::array<double, 7> kSineTerms = {
    0x1.921fb54442d18p+2, -0x1.4abbce625be41p+5, 0x1.466bc67758700p+6, -0x1.32d2cce2d5361p+6,
    0x1.50782fca38bb2p+5, -0x1.e30063a02ae97p+3, 0x1.e3eed5cea8451p+1};

}  // namespace dewpoint::transforms
