// Compiled once per instruction set: foreach_target.h includes this file again for each.
// Vectors have at most 32 bytes here, so AVX-512 would be AVX2 again; SSSE3 would be SSE4 again.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL | HWY_SSSE3)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/transformer/adam_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

#include <limits>

#include "dewpoint/transformer/adam_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::transformer::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// decay · moment + fresh · news, or 0 where that is below the smallest normal number. A NaN is not
// below anything, and stays.
template <class Tag, class Vector, class Real>
HWY_INLINE Vector moment_after(Tag tag, const Real* moment, Real decay, Vector news, Real fresh) {
  const auto sum = hn::Add(hn::Mul(hn::Set(tag, decay), hn::LoadU(tag, moment)),
                           hn::Mul(hn::Set(tag, fresh), news));
  const auto least = hn::Set(tag, std::numeric_limits<Real>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(sum), least), sum);
}

// One vector of entries, from number n on.
template <class Tag, class Real>
HWY_INLINE void update_vector(Tag tag, const AdamFactors<Real>& by, const AdamEntries<Real>& at,
                              std::size_t n) {
  const auto slope = hn::LoadU(tag, at.gradient + n);
  const auto first = moment_after(tag, at.first + n, by.first_decay, slope, by.first_fresh);
  const auto second =
      moment_after(tag, at.second + n, by.second_decay, hn::Mul(slope, slope), by.second_fresh);
  const auto ratio = hn::Div(first, hn::Add(hn::Sqrt(second), hn::Set(tag, by.epsilon)));
  const auto change = hn::Mul(hn::Set(tag, by.step), ratio);
  hn::StoreU(first, tag, at.first + n);
  hn::StoreU(second, tag, at.second + n);
  hn::StoreU(hn::Sub(hn::LoadU(tag, at.weights + n), change), tag, at.weights + n);
}

// Whole vectors, then what is left one by one.
template <class Real>
HWY_INLINE void update(AdamFactors<Real> by, AdamEntries<Real> at) {
  const hn::CappedTag<Real, 32 / sizeof(Real)> wide;
  const hn::CappedTag<Real, 1> one;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t n = 0;
  for (; n + lanes <= at.count; n += lanes) update_vector(wide, by, at, n);
  for (; n < at.count; ++n) update_vector(one, by, at, n);
}

void single_update(const AdamFactors<float>& by, const AdamEntries<float>& at) { update(by, at); }
void double_update(const AdamFactors<double>& by, const AdamEntries<double>& at) { update(by, at); }

}  // namespace
}  // namespace dewpoint::transformer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::transformer {
namespace {
HWY_EXPORT(single_update);
HWY_EXPORT(double_update);
}  // namespace

void adam_update(const AdamFactors<float>& factors, const AdamEntries<float>& entries) {
  HWY_DYNAMIC_DISPATCH(single_update)(factors, entries);
}
void adam_update(const AdamFactors<double>& factors, const AdamEntries<double>& entries) {
  HWY_DYNAMIC_DISPATCH(double_update)(factors, entries);
}

double one_minus_power(double decay, std::uint64_t power) {
  double result = 0.0;
  for (double doubled = 1.0 - decay; power > 0; power >>= 1) {
    if (power & 1) result += (1.0 - result) * doubled;
    doubled *= 2.0 - doubled;
  }
  return result;
}

}  // namespace dewpoint::transformer
#endif  // HWY_ONCE
