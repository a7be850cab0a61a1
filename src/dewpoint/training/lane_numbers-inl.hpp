// Vectors of numbers and of dual numbers with one set of names, so that a formula written once
// gives its value or its directional derivative. Included once per instruction set (Highway's
// scheme for headers, hence the toggled guard).
//
// SPDX-License-Identifier: Apache-2.0
#if defined(DEWPOINT_TRAINING_LANE_NUMBERS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEWPOINT_TRAINING_LANE_NUMBERS_INL_HPP
#undef DEWPOINT_TRAINING_LANE_NUMBERS_INL_HPP
#else
#define DEWPOINT_TRAINING_LANE_NUMBERS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

// highway.h must come first.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dewpoint::training::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for x ≤ 88, exactly 0 below the logarithm of the smallest normal number; the relative
// error is below 2⁻²³ (0.74 of that with FMA, 0.95 without, over 3e7 arguments). With k = round(x /
// ln 2) and r = x − k ln 2, |r| ≤ ln2/2, it is 2^k p(r), p of degree 6 with relative error 1.7e-8
// (minimax, fitted for this file). Half the work of Highway's, which also serves denormal results.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exponential_of(Tag f, hn::Vec<Tag> x, float /*real*/) {
  const hn::RebindToSigned<Tag> i;
  const auto magic = hn::Set(f, 12582912.0F);  // 1.5 · 2²³: adding it rounds to an integer
  const auto shifted = hn::MulAdd(x, hn::Set(f, 1.44269504F), magic);
  const auto k = hn::Sub(shifted, magic);
  // ln 2 in two parts, the first with so few bits that k times it is exact
  auto r = hn::NegMulAdd(k, hn::Set(f, 0.693359375F), x);
  r = hn::NegMulAdd(k, hn::Set(f, -2.12194440e-4F), r);
  auto p = hn::Set(f, 1.3843651e-3F);
  p = hn::MulAdd(p, r, hn::Set(f, 8.374157e-3F));
  p = hn::MulAdd(p, r, hn::Set(f, 4.1668e-2F));
  p = hn::MulAdd(p, r, hn::Set(f, 0.16666432F));
  p = hn::MulAdd(p, r, hn::Set(f, 0.49999994F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.0F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.0F));
  // p · 2^k by adding k to the exponent field: the low bits of `shifted` hold k.
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(i, shifted));
  const auto scaled = hn::BitCast(f, hn::Add(hn::BitCast(i, p), exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(f, -87.33654F)), scaled);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> exponential_of(Tag f, hn::Vec<Tag> x, double /*real*/) {
  return hn::Exp(f, x);
}

// Vectors of Real.
template <class Real>
struct Plain {
  using Tag = hn::ScalableTag<Real>;
  using Vec = hn::Vec<Tag>;
  using Number = Vec;

  static HWY_INLINE Number constant(const Real* value, const Real* /*change*/) {
    return hn::Set(Tag(), *value);
  }
  static HWY_INLINE Number zero() { return hn::Zero(Tag()); }
  static HWY_INLINE Vec value(Number x) { return x; }
  static HWY_INLINE Vec result(Number x) { return x; }
  static HWY_INLINE Number with_value(Number /*x*/, Vec value) { return value; }

  static HWY_INLINE Number add(Number x, Number y) { return hn::Add(x, y); }
  static HWY_INLINE Number add_plain(Number x, Vec y) { return hn::Add(x, y); }
  static HWY_INLINE Number subtract(Number x, Number y) { return hn::Sub(x, y); }
  static HWY_INLINE Number subtract_plain(Number x, Vec y) { return hn::Sub(x, y); }
  static HWY_INLINE Number multiply(Number x, Number y) { return hn::Mul(x, y); }
  static HWY_INLINE Number scale(Number x, Vec y) { return hn::Mul(x, y); }
  static HWY_INLINE Number multiply_add(Number x, Number y, Number z) {
    return hn::MulAdd(x, y, z);
  }
  static HWY_INLINE Number reciprocal(Number x) { return hn::Div(hn::Set(Tag(), Real{1}), x); }
  static HWY_INLINE Number exponential(Number x) { return exponential_of(Tag(), x, Real{}); }
  static HWY_INLINE Vec plain_exponential(Vec x) { return exponential(x); }
  static HWY_INLINE Number logarithm(Number x) { return hn::Log(Tag(), x); }
};

// Vectors of pairs (x, ẋ).
template <class Real>
struct Dual {
  using Base = Plain<Real>;
  using Tag = typename Base::Tag;
  using Vec = typename Base::Vec;
  struct Number {
    Vec x;
    Vec change;
  };

  static HWY_INLINE Number constant(const Real* value, const Real* change) {
    return {hn::Set(Tag(), *value), hn::Set(Tag(), *change)};
  }
  static HWY_INLINE Number zero() { return {Base::zero(), Base::zero()}; }
  static HWY_INLINE Vec value(const Number& a) { return a.x; }
  static HWY_INLINE Vec result(const Number& a) { return a.change; }
  static HWY_INLINE Number with_value(const Number& a, Vec value) { return {value, a.change}; }

  static HWY_INLINE Number add(const Number& a, const Number& b) {
    return {hn::Add(a.x, b.x), hn::Add(a.change, b.change)};
  }
  static HWY_INLINE Number add_plain(const Number& a, Vec b) { return {hn::Add(a.x, b), a.change}; }
  static HWY_INLINE Number subtract(const Number& a, const Number& b) {
    return {hn::Sub(a.x, b.x), hn::Sub(a.change, b.change)};
  }
  static HWY_INLINE Number subtract_plain(const Number& a, Vec b) {
    return {hn::Sub(a.x, b), a.change};
  }
  static HWY_INLINE Number multiply(const Number& a, const Number& b) {
    return {hn::Mul(a.x, b.x), hn::MulAdd(a.x, b.change, hn::Mul(a.change, b.x))};
  }
  static HWY_INLINE Number scale(const Number& a, Vec b) {
    return {hn::Mul(a.x, b), hn::Mul(a.change, b)};
  }
  static HWY_INLINE Number multiply_add(const Number& a, const Number& b, const Number& c) {
    return {hn::MulAdd(a.x, b.x, c.x),
            hn::MulAdd(a.x, b.change, hn::MulAdd(a.change, b.x, c.change))};
  }
  static HWY_INLINE Number reciprocal(const Number& a) {
    const Vec inverse = Base::reciprocal(a.x);
    return {inverse, hn::Neg(hn::Mul(hn::Mul(a.change, inverse), inverse))};  // inverse² may be ∞
  }
  static HWY_INLINE Number exponential(const Number& a) {
    const Vec power = Base::exponential(a.x);
    return {power, hn::Mul(power, a.change)};
  }
  static HWY_INLINE Vec plain_exponential(Vec x) { return Base::exponential(x); }
  static HWY_INLINE Number logarithm(const Number& a) {
    return {Base::logarithm(a.x), hn::Div(a.change, a.x)};
  }
};

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
