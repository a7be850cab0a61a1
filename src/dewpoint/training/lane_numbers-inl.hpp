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
  static HWY_INLINE Number exponential(Number x) { return hn::Exp(Tag(), x); }
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
  static HWY_INLINE Number logarithm(const Number& a) {
    return {Base::logarithm(a.x), hn::Div(a.change, a.x)};
  }
};

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
