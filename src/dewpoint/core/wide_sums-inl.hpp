// Float32 vectors whose sums move on to float64, for the kernels: included by each of them once per
// instruction set (Highway's scheme for headers, hence the toggled guard).
//
// SPDX-License-Identifier: Apache-2.0
#if defined(DEWPOINT_CORE_WIDE_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEWPOINT_CORE_WIDE_SUMS_INL_HPP
#undef DEWPOINT_CORE_WIDE_SUMS_INL_HPP
#else
#define DEWPOINT_CORE_WIDE_SUMS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;
inline constexpr hn::ScalableTag<double> kWide{};
using WideVec = hn::Vec<hn::ScalableTag<double>>;

// Sums are kept in float32 for at most kShort additions per lane and then moved to float64, so that
// their rounding stays near one unit in the last place even where all terms are equal (a simplex)
// and nothing averages out.
inline constexpr std::size_t kShort = 8;

HWY_INLINE WideVec widen(Vec v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(kWide, v);
#else
  const hn::Half<Tag> half;
  return hn::Add(hn::PromoteTo(kWide, hn::LowerHalf(half, v)),
                 hn::PromoteTo(kWide, hn::UpperHalf(half, v)));
#endif
}

HWY_INLINE double reduce(WideVec v) { return hn::GetLane(hn::SumOfLanes(kWide, v)); }

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
