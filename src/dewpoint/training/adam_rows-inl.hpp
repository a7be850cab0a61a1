// Adam over single rows of WQ and WK, for adam_kernels.cpp, which includes this file once per
// instruction set (Highway's scheme for headers, hence the toggled guard).
//
// SPDX-License-Identifier: Apache-2.0
#if defined(DEWPOINT_TRAINING_ADAM_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEWPOINT_TRAINING_ADAM_ROWS_INL_HPP
#undef DEWPOINT_TRAINING_ADAM_ROWS_INL_HPP
#else
#define DEWPOINT_TRAINING_ADAM_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "dewpoint/training/adam_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::training::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
using Tag = hn::CappedTag<Real, 32 / sizeof(Real)>;
template <class Real>
using Vec = hn::Vec<Tag<Real>>;

// A group of lines is in the making at a time: its roots are taken while the quotients of the group
// before it are.
template <class Real>
constexpr std::size_t kGroupVectors = kGroup<Real> / hn::MaxLanes(Tag<Real>());

// The share of one basis row in the gradient of one row of WQ or WK, added to `gradient`, and the
// product of the old weights with it. For vocabularies beyond those that are unrolled.
template <class Real>
HWY_INLINE void project(const AdamPass<Real>& pass, const Real* HWY_RESTRICT row,
                        const Real* HWY_RESTRICT direction, Real factor, Real* HWY_RESTRICT product,
                        Real* HWY_RESTRICT gradient) {
  const Tag<Real> f;
  const auto scale = hn::Set(f, factor);
  auto sum = hn::Zero(f);
  for (std::size_t line = 0; line < pass.columns; line += kLine<Real>, row += 3 * kLine<Real>) {
    for (std::size_t j = 0; j < kLine<Real>; j += hn::Lanes(f)) {
      const auto along = hn::Load(f, direction + line + j);
      sum = hn::MulAdd(hn::Load(f, row + j), along, sum);
      const auto before = hn::Load(f, gradient + line + j);
      hn::Store(hn::MulAdd(scale, along, before), f, gradient + line + j);
    }
  }
  *product = hn::GetLane(hn::SumOfLanes(f, sum));
}

// Where column j of a row is, j a multiple of the vector: weight, m' and v' are a line apart.
template <class Real>
HWY_INLINE std::size_t place(std::size_t j) {
  return j / kLine<Real> * (3 * kLine<Real>)+j % kLine<Real>;
}

// Copies of the scalars that no store can change behind the compiler's back.
template <class Real>
struct Constants {
  Vec<Real> first_decay, second_decay, epsilon, step;

  HWY_INLINE explicit Constants(const AdamScalars<Real>& scalars)
      : first_decay(hn::Set(Tag<Real>(), scalars.first_decay)),
        second_decay(hn::Set(Tag<Real>(), scalars.second_decay)),
        epsilon(hn::Set(Tag<Real>(), scalars.epsilon)),
        step(hn::Set(Tag<Real>(), scalars.step)) {}
};

// New moments of one vector. Returns √v'.
template <class Real>
HWY_INLINE Vec<Real> begin(const Constants<Real>& c, Vec<Real> gradient, Real* HWY_RESTRICT at) {
  const Tag<Real> f;
  Real* const first = at + kLine<Real>;
  Real* const second = first + kLine<Real>;
  const auto square = hn::Mul(gradient, gradient);
  const auto new_second = hn::MulAdd(c.second_decay, hn::Load(f, second), square);
  hn::Store(hn::MulAdd(c.first_decay, hn::Load(f, first), gradient), f, first);
  hn::Store(new_second, f, second);
  return hn::Sqrt(new_second);
}

// θ ← θ − step · m'/(√v' + κ ε) of one vector, given the root.
template <class Real>
HWY_INLINE void finish(const Constants<Real>& c, Vec<Real> root, Real* HWY_RESTRICT at) {
  const Tag<Real> f;
  const auto ratio = hn::Div(hn::Load(f, at + kLine<Real>), hn::Add(root, c.epsilon));
  hn::Store(hn::NegMulAdd(c.step, ratio, hn::Load(f, at)), f, at);
}

// kCount basis rows, their factors in the gradient of one row of weights, and the products of the
// old weights with them. With kContinued the gradient starts from what project() left.
template <std::size_t kCount, bool kContinued, class Real>
struct Basis {
  const Real* HWY_RESTRICT rows;
  const Real* HWY_RESTRICT start;
  std::size_t columns;
  Vec<Real> factor[kCount];
  Vec<Real> product[kCount];

  HWY_INLINE Vec<Real> gradient(std::size_t j, Vec<Real> weight) {
    const Tag<Real> f;
    const auto origin = hn::Load(f, rows + j);
    auto sum = hn::Mul(factor[0], origin);
    if (kContinued) sum = hn::Add(sum, hn::Load(f, start + j));
    product[0] = hn::MulAdd(weight, origin, product[0]);
    for (std::size_t k = 1; k < kCount; ++k) {
      const auto direction = hn::Load(f, rows + k * columns + j);
      sum = hn::MulAdd(factor[k], direction, sum);
      product[k] = hn::MulAdd(weight, direction, product[k]);
    }
    return sum;
  }
};

// Adam on one row of WQ or WK.
template <std::size_t kCount, bool kContinued, class Real>
HWY_NOINLINE void step_row(const AdamPass<Real>& pass, const Real* basis_rows, const Real* factor,
                           const Real* start, Real* HWY_RESTRICT row, Real* HWY_RESTRICT product) {
  const Tag<Real> f;
  const Constants<Real> c(pass.scalars);
  const std::size_t columns = pass.columns;
  const std::size_t lanes = hn::Lanes(f);
  Basis<kCount, kContinued, Real> basis{basis_rows, start, columns, {}, {}};
  for (std::size_t k = 0; k < kCount; ++k) {
    basis.factor[k] = hn::Set(f, factor[k * kBlockRows]);
    basis.product[k] = hn::Zero(f);
  }
  Vec<Real> root[kGroupVectors<Real>];
  for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) {
    Real* const at = row + place<Real>(n * lanes);
    root[n] = begin(c, basis.gradient(n * lanes, hn::Load(f, at)), at);
  }
  for (std::size_t j = kGroup<Real>; j < columns; j += kGroup<Real>) {
    row += 3 * kGroup<Real>;
    for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) {
      Real* const at = row + place<Real>(n * lanes);
      finish(c, root[n], at - 3 * kGroup<Real>);
      root[n] = begin(c, basis.gradient(j + n * lanes, hn::Load(f, at)), at);
    }
  }
  for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) {
    finish(c, root[n], row + place<Real>(n * lanes));
  }
  for (std::size_t k = 0; k < kCount; ++k) {
    product[k * kBlockRows] = hn::GetLane(hn::SumOfLanes(f, basis.product[k]));
  }
}

// kCount sums over the rows of a block, each weight times the factor of its sum and row, which is
// at [sum · factor_stride + row]. kWide vectors at a time share the factors.
template <std::size_t kCount, class Real>
HWY_NOINLINE void add_block(const AdamPass<Real>& pass, const Real* HWY_RESTRICT block,
                            const Real* HWY_RESTRICT factor, std::size_t factor_stride,
                            Real* HWY_RESTRICT sums) {
  const Tag<Real> f;
  constexpr std::size_t kWide = kCount > 4 ? 1 : 2;
  const std::size_t lanes = hn::Lanes(f);
  const std::size_t columns = pass.columns;
  const std::size_t row_stride = pass.row_stride;
  for (std::size_t j = 0; j < columns; j += kWide * lanes) {
    Vec<Real> sum[kCount][kWide];
    for (std::size_t k = 0; k < kCount; ++k) {
      for (std::size_t n = 0; n < kWide; ++n) {
        sum[k][n] = hn::Load(f, sums + k * columns + j + n * lanes);
      }
    }
    const Real* HWY_RESTRICT row = block + place<Real>(j);
    for (std::size_t r = 0; r < kBlockRows; ++r, row += row_stride) {
      Vec<Real> weight[kWide];
      for (std::size_t n = 0; n < kWide; ++n) weight[n] = hn::Load(f, row + n * lanes);
      for (std::size_t k = 0; k < kCount; ++k) {
        const auto scale = hn::Set(f, factor[k * factor_stride + r]);
        for (std::size_t n = 0; n < kWide; ++n) {
          sum[k][n] = hn::MulAdd(weight[n], scale, sum[k][n]);
        }
      }
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      for (std::size_t n = 0; n < kWide; ++n) {
        hn::Store(sum[k][n], f, sums + k * columns + j + n * lanes);
      }
    }
  }
}

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
