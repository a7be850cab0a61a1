// The exponential of weights, for the kernels: included by each of them once per instruction set
// (Highway's scheme for headers, hence the toggled guard).
//
// SPDX-License-Identifier: Apache-2.0
#if defined(DEWPOINT_CORE_EXP_NONPOSITIVE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEWPOINT_CORE_EXP_NONPOSITIVE_INL_HPP
#undef DEWPOINT_CORE_EXP_NONPOSITIVE_INL_HPP
#else
#define DEWPOINT_CORE_EXP_NONPOSITIVE_INL_HPP
#endif

#include <hwy/highway.h>

#include "dewpoint/core/wide_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

// exp(x) for x ≤ 0; exactly 1 at 0 and exactly 0 below the smallest normal float. With
// k = round(x / ln 2) and r = x − k ln 2, |r| ≤ ln2/2: exp(x) = 2^k p(r), p(0) = 1, p of degree 5
// with relative error 9.3e-8 (minimax, fitted for this file). ln 2 is a single float: k times its
// error, 1.9e-9 k, is far below the rounding of x, 4e-8 k, that every caller brings along.
// Highway's own Exp is three times as exact, also serves positive arguments and denormal results,
// and takes more than twice as long (benchmarks/core/exp_bench.cpp).
HWY_INLINE Vec exp_nonpositive(Tag f, Vec x) {
  const hn::RebindToSigned<Tag> i;
  const auto magic = hn::Set(f, 12582912.0F);  // 1.5 · 2²³: adding it rounds to an integer
  const auto is_zero = hn::Lt(x, hn::Set(f, -87.33654F));  // log of the smallest normal float
  const auto shifted = hn::MulAdd(x, hn::Set(f, 1.44269504F), magic);
  const auto k = hn::Sub(shifted, magic);
#if HWY_NATIVE_FMA
  const auto r = hn::NegMulAdd(k, hn::Set(f, 0.693147181F), x);
#else  // k ln 2 would be rounded: ln 2 in two parts, the first with few enough bits to be exact
  auto r = hn::NegMulAdd(k, hn::Set(f, 0.693359375F), x);
  r = hn::NegMulAdd(k, hn::Set(f, -2.12194440e-4F), r);
#endif

  auto p = hn::Set(f, 8.290272206e-03F);
  p = hn::MulAdd(p, r, hn::Set(f, 4.189816117e-02F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.666763872e-01F));
  p = hn::MulAdd(p, r, hn::Set(f, 4.999914765e-01F));
  p = hn::MulAdd(p, r, hn::Set(f, 9.999997020e-01F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.0F));

  // p · 2^k by adding k to the exponent field: the low bits of `shifted` hold k.
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(i, shifted));
  const auto scaled = hn::BitCast(f, hn::Add(hn::BitCast(i, p), exponent));
  return hn::IfThenZeroElse(is_zero, scaled);
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
