// Compiled once per instruction set: foreach_target.h includes this file again for each.
// Vectors have at most 32 bytes here, so AVX-512 would be AVX2 again; SSSE3 would be SSE4 again.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL | HWY_SSSE3)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dewpoint/training/adam_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

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

// What a block of rows hands from one part of the pass to the next; [n][kBlockRows] each.
template <class Real>
struct BlockScratch {
  Real* query_factors;    // Σ_k W0_ki G_kj, j < e
  Real* key_factors;      // W0_ji − W0_ei, j < e
  Real* query_products;   // D_j · WQ_i
  Real* key_products;     // H_j · WK_i
  Real* outer_slopes;     // the gradient of W0 and W1: 2d
  Real* new_differences;  // W0_ji − W0_ei of the new W0
  Real* gradient_row;     // columns: where a gradient grows that is too long to unroll

  BlockScratch(Real* memory, std::size_t vocabulary)
      : query_factors(memory),
        key_factors(query_factors + vocabulary * kBlockRows),
        query_products(key_factors + vocabulary * kBlockRows),
        key_products(query_products + vocabulary * kBlockRows),
        outer_slopes(key_products + vocabulary * kBlockRows),
        new_differences(outer_slopes + 2 * vocabulary * kBlockRows),
        gradient_row(memory + 8 * vocabulary * kBlockRows) {}
};

// The outer weights of one block: entry k of row r at [k · stride + r].
template <class Real>
struct OuterBlock {
  Real* weights;
  Real* first;
  Real* second;
  std::size_t stride;
};

template <class Real>
HWY_INLINE OuterBlock<Real> outer_block(const AdamPass<Real>& pass, std::size_t row) {
  const std::size_t table = 2 * pass.vocabulary * pass.rows;
  return {pass.outer + row, pass.outer + table + row, pass.outer + 2 * table + row, pass.rows};
}

// The factors of the basis rows in the gradients of WQ and WK, from the old W0.
template <class Real>
HWY_INLINE void factors(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                        const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t last = pass.vocabulary - 1;
  for (std::size_t r = 0; r < kBlockRows; r += hn::Lanes(f)) {
    const auto origin = hn::LoadU(f, outer.weights + last * outer.stride + r);
    for (std::size_t j = 0; j < last; ++j) {
      auto sum = hn::Zero(f);
      for (std::size_t k = 0; k < pass.vocabulary; ++k) {
        const auto slope = hn::Set(f, pass.attention[k * pass.vocabulary + j]);
        sum = hn::MulAdd(slope, hn::LoadU(f, outer.weights + k * outer.stride + r), sum);
      }
      hn::StoreU(sum, f, at.query_factors + j * kBlockRows + r);
      const auto own = hn::LoadU(f, outer.weights + j * outer.stride + r);
      hn::StoreU(hn::Sub(own, origin), f, at.key_factors + j * kBlockRows + r);
    }
  }
}

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

// θ ← θ − step · m'/(√v' + κ ε) of one vector, given the root.
template <class Real>
HWY_INLINE void finish(Vec<Real> root, Vec<Real> epsilon, Vec<Real> step, Real* HWY_RESTRICT at) {
  const Tag<Real> f;
  const auto ratio = hn::Div(hn::Load(f, at + kLine<Real>), hn::Add(root, epsilon));
  hn::Store(hn::NegMulAdd(step, ratio, hn::Load(f, at)), f, at);
}

// One row of WQ or WK: the gradient from kCount basis rows and their factors, the products of its
// old weights with them, and Adam. With kContinued the gradient starts from what project() left.
template <std::size_t kCount, bool kContinued, class Real>
class RowStep {
 public:
  HWY_INLINE RowStep(const AdamPass<Real>& pass, const Real* basis, const Real* factor,
                     const Real* start)
      : pass_(pass), basis_(basis), start_(start) {
    const Tag<Real> f;
    for (std::size_t k = 0; k < kCount; ++k) {
      factor_[k] = hn::Set(f, factor[k * kBlockRows]);
      product_[k] = hn::Zero(f);
    }
  }

  HWY_INLINE void run(Real* HWY_RESTRICT row, Real* HWY_RESTRICT product) {
    const Tag<Real> f;
    const auto epsilon = hn::Set(f, pass_.scalars.epsilon);
    const auto step = hn::Set(f, pass_.scalars.step);
    const std::size_t columns = pass_.columns;
    const std::size_t lanes = hn::Lanes(f);
    Vec<Real> root[kGroupVectors<Real>];
    for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) root[n] = begin(row, n * lanes);
    for (std::size_t j = kGroup<Real>; j < columns; j += kGroup<Real>) {
      Real* const before = row + place<Real>(j - kGroup<Real>);
      for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) {
        finish<Real>(root[n], epsilon, step, before + place<Real>(n * lanes));
        root[n] = begin(row, j + n * lanes);
      }
    }
    Real* const end = row + place<Real>(columns - kGroup<Real>);
    for (std::size_t n = 0; n < kGroupVectors<Real>; ++n) {
      finish<Real>(root[n], epsilon, step, end + place<Real>(n * lanes));
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      product[k * kBlockRows] = hn::GetLane(hn::SumOfLanes(f, product_[k]));
    }
  }

 private:
  // New moments of the vector at column j. Returns √v'.
  HWY_INLINE Vec<Real> begin(Real* HWY_RESTRICT row, std::size_t j) {
    const Tag<Real> f;
    Real* const at = row + place<Real>(j);
    const auto weight = hn::Load(f, at);
    const auto origin = hn::Load(f, basis_ + j);
    auto gradient = hn::Mul(factor_[0], origin);
    if (kContinued) gradient = hn::Add(gradient, hn::Load(f, start_ + j));
    product_[0] = hn::MulAdd(weight, origin, product_[0]);
    for (std::size_t k = 1; k < kCount; ++k) {
      const auto direction = hn::Load(f, basis_ + k * pass_.columns + j);
      gradient = hn::MulAdd(factor_[k], direction, gradient);
      product_[k] = hn::MulAdd(weight, direction, product_[k]);
    }
    Real* const first = at + kLine<Real>;
    Real* const second = first + kLine<Real>;
    const auto new_second = hn::MulAdd(hn::Set(f, pass_.scalars.second_decay), hn::Load(f, second),
                                       hn::Mul(gradient, gradient));
    const auto new_first =
        hn::MulAdd(hn::Set(f, pass_.scalars.first_decay), hn::Load(f, first), gradient);
    hn::Store(new_first, f, first);
    hn::Store(new_second, f, second);
    return hn::Sqrt(new_second);
  }

  const AdamPass<Real>& pass_;
  const Real* HWY_RESTRICT basis_;
  const Real* HWY_RESTRICT start_;
  Vec<Real> factor_[kCount];
  Vec<Real> product_[kCount];
};

// kCount sums over the rows of a block, each weight times the factor of its sum and row, which is
// at [sum · factor_stride + row]. kWide vectors at a time share the factors.
template <std::size_t kCount, class Real>
HWY_INLINE void add_block(const AdamPass<Real>& pass, const Real* HWY_RESTRICT block,
                          const Real* HWY_RESTRICT factor, std::size_t factor_stride,
                          Real* HWY_RESTRICT sums) {
  const Tag<Real> f;
  constexpr std::size_t kWide = kCount > 4 ? 1 : 2;
  const std::size_t lanes = hn::Lanes(f);
  for (std::size_t j = 0; j < pass.columns; j += kWide * lanes) {
    Vec<Real> sum[kCount][kWide];
    for (std::size_t k = 0; k < kCount; ++k) {
      for (std::size_t n = 0; n < kWide; ++n) {
        sum[k][n] = hn::Load(f, sums + k * pass.columns + j + n * lanes);
      }
    }
    const Real* HWY_RESTRICT row = block + place<Real>(j);
    for (std::size_t r = 0; r < kBlockRows; ++r, row += pass.row_stride) {
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
        hn::Store(sum[k][n], f, sums + k * pass.columns + j + n * lanes);
      }
    }
  }
}

// The gradient of the outer weights of a block.
template <class Real>
HWY_INLINE void outer_gradient(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                               const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t d = pass.vocabulary;
  for (std::size_t r = 0; r < kBlockRows; r += hn::Lanes(f)) {
    auto last_key = hn::Zero(f);
    for (std::size_t k = 0; k < d; ++k) {
      auto embedding = last_key;
      if (k + 1 < d) {
        embedding = hn::LoadU(f, at.key_products + k * kBlockRows + r);
        last_key = hn::Sub(last_key, embedding);
      }
      for (std::size_t j = 0; j + 1 < d; ++j) {
        const auto product = hn::LoadU(f, at.query_products + j * kBlockRows + r);
        embedding = hn::MulAdd(hn::Set(f, pass.attention[k * d + j]), product, embedding);
      }
      auto unembedding = hn::Zero(f);
      for (std::size_t c = 0; c < d; ++c) {
        const auto own = hn::LoadU(f, outer.weights + c * outer.stride + r);
        const auto partner = hn::LoadU(f, outer.weights + (d + c) * outer.stride + r);
        embedding = hn::MulAdd(hn::Set(f, pass.value[k * d + c]), partner, embedding);
        unembedding = hn::MulAdd(hn::Set(f, pass.value[c * d + k]), own, unembedding);
      }
      hn::StoreU(embedding, f, at.outer_slopes + k * kBlockRows + r);
      hn::StoreU(unembedding, f, at.outer_slopes + (d + k) * kBlockRows + r);
    }
  }
}

// Adam on the outer weights of a block, their share of M, and the new W0 as seen from its last row.
template <class Real>
HWY_INLINE void outer_update(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                             const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t d = pass.vocabulary;
  const AdamScalars<Real>& s = pass.scalars;
  for (std::size_t r = 0; r < kBlockRows; r += hn::Lanes(f)) {
    for (std::size_t k = 0; k < 2 * d; ++k) {
      const std::size_t place = k * outer.stride + r;
      const auto gradient = hn::LoadU(f, at.outer_slopes + k * kBlockRows + r);
      const auto first =
          hn::MulAdd(hn::Set(f, s.first_decay), hn::LoadU(f, outer.first + place), gradient);
      const auto second = hn::MulAdd(hn::Set(f, s.second_decay), hn::LoadU(f, outer.second + place),
                                     hn::Mul(gradient, gradient));
      const auto ratio = hn::Div(first, hn::Add(hn::Sqrt(second), hn::Set(f, s.epsilon)));
      const auto weight = hn::LoadU(f, outer.weights + place);
      hn::StoreU(first, f, outer.first + place);
      hn::StoreU(second, f, outer.second + place);
      hn::StoreU(hn::NegMulAdd(hn::Set(f, s.step), ratio, weight), f, outer.weights + place);
    }
    const auto origin = hn::LoadU(f, outer.weights + (d - 1) * outer.stride + r);
    for (std::size_t k = 0; k < d; ++k) {
      const auto own = hn::LoadU(f, outer.weights + k * outer.stride + r);
      hn::StoreU(hn::Sub(own, origin), f, at.new_differences + k * kBlockRows + r);
      for (std::size_t c = 0; c < d; ++c) {
        const auto partner = hn::LoadU(f, outer.weights + (d + c) * outer.stride + r);
        Real* const sum = pass.value_sums + (k * d + c) * kBlockRows + r;
        hn::StoreU(hn::MulAdd(own, partner, hn::LoadU(f, sum)), f, sum);
      }
    }
  }
}

// One row of WQ or WK in a block. Basis rows beyond kUnrolled go one by one.
template <std::size_t kUnrolled, class Real>
HWY_INLINE void inner_row(const AdamPass<Real>& pass, Real* row, const Real* basis,
                          const Real* factor, Real* product, Real* gradient) {
  const std::size_t rest = pass.vocabulary - 1 - kUnrolled;
  if (rest == 0) {
    RowStep<kUnrolled, false, Real>(pass, basis, factor, nullptr).run(row, product);
    return;
  }
  for (std::size_t j = 0; j < pass.columns; ++j) gradient[j] = 0;
  for (std::size_t k = 0; k < rest; ++k) {
    project(pass, row, basis + k * pass.columns, factor[k * kBlockRows], product + k * kBlockRows,
            gradient);
  }
  RowStep<kUnrolled, true, Real>(pass, basis + rest * pass.columns, factor + rest * kBlockRows,
                                 gradient)
      .run(row, product + rest * kBlockRows);
}

// Adam on all inner weights of a block.
template <std::size_t kUnrolled, class Real>
HWY_INLINE void inner_update(const AdamPass<Real>& pass, Real* block,
                             const BlockScratch<Real>& at) {
  for (std::size_t r = 0; r < kBlockRows; ++r) {
    Real* const query = block + r * pass.row_stride;
    inner_row<kUnrolled>(pass, query, pass.query_basis, at.query_factors + r, at.query_products + r,
                         at.gradient_row);
    inner_row<kUnrolled>(pass, query + 3 * pass.columns, pass.key_basis, at.key_factors + r,
                         at.key_products + r, at.gradient_row);
  }
}

// The block's share of the next step's TQ and D, with the new W0.
template <std::size_t kUnrolled, class Real>
HWY_INLINE void add_to_sums(const AdamPass<Real>& pass, const Real* block,
                            const OuterBlock<Real>& outer, const BlockScratch<Real>& at) {
  const std::size_t columns = pass.columns;
  const Real* const key = block + 3 * columns;
  add_block<kUnrolled + 1>(pass, block, outer.weights, outer.stride, pass.query_sums);
  add_block<kUnrolled>(pass, key, at.new_differences, kBlockRows, pass.key_sums);
  for (std::size_t k = kUnrolled + 1; k < pass.vocabulary; ++k) {
    add_block<1>(pass, block, outer.weights + k * outer.stride, outer.stride,
                 pass.query_sums + k * columns);
    add_block<1>(pass, key, at.new_differences + (k - 1) * kBlockRows, kBlockRows,
                 pass.key_sums + (k - 1) * columns);
  }
}

template <std::size_t kUnrolled, class Real>
void all_blocks(const AdamPass<Real>& pass) {
  const BlockScratch<Real> at(pass.scratch, pass.vocabulary);
  for (std::size_t row = 0; row < pass.rows; row += kBlockRows) {
    const OuterBlock<Real> outer = outer_block(pass, row);
    Real* const block = pass.inner + row * pass.row_stride;
    factors(pass, outer, at);
    inner_update<kUnrolled>(pass, block, at);
    outer_gradient(pass, outer, at);
    outer_update(pass, outer, at);
    add_to_sums<kUnrolled>(pass, block, outer, at);
  }
}

template <class Real>
HWY_INLINE void any_vocabulary(const AdamPass<Real>& pass) {
  switch (pass.vocabulary) {
    case 2:
      return all_blocks<1>(pass);
    case 3:
      return all_blocks<2>(pass);
    case 4:
      return all_blocks<3>(pass);
    case 5:
      return all_blocks<4>(pass);
    case 6:
      return all_blocks<5>(pass);
    case 7:
      return all_blocks<6>(pass);
    default:
      return all_blocks<7>(pass);
  }
}

template <class Real>
HWY_INLINE void combine(const Real* rows, std::size_t count, std::size_t columns,
                        const Real* factors, std::size_t stride, Real* HWY_RESTRICT out) {
  const Tag<Real> f;
  for (std::size_t j = 0; j < columns; j += hn::Lanes(f)) {
    auto sum = hn::Zero(f);
    for (std::size_t l = 0; l < count; ++l) {
      sum = hn::MulAdd(hn::Set(f, factors[l * stride]), hn::Load(f, rows + l * columns + j), sum);
    }
    hn::Store(sum, f, out + j);
  }
}

template <class Real>
HWY_INLINE double dot(const Real* HWY_RESTRICT a, const Real* HWY_RESTRICT b, std::size_t columns) {
  const Tag<Real> f;
  auto sum = hn::Zero(f);
  for (std::size_t j = 0; j < columns; j += hn::Lanes(f)) {
    sum = hn::MulAdd(hn::Load(f, a + j), hn::Load(f, b + j), sum);
  }
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(f, sum)));
}

void single_pass(const AdamPass<float>& pass) { any_vocabulary(pass); }
void double_pass(const AdamPass<double>& pass) { any_vocabulary(pass); }

void single_combine(const float* rows, std::size_t count, std::size_t columns, const float* factors,
                    std::size_t stride, float* out) {
  combine(rows, count, columns, factors, stride, out);
}
void double_combine(const double* rows, std::size_t count, std::size_t columns,
                    const double* factors, std::size_t stride, double* out) {
  combine(rows, count, columns, factors, stride, out);
}

double single_dot(const float* a, const float* b, std::size_t columns) {
  return dot(a, b, columns);
}
double double_dot(const double* a, const double* b, std::size_t columns) {
  return dot(a, b, columns);
}

}  // namespace
}  // namespace dewpoint::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint::training {
namespace {
HWY_EXPORT(single_pass);
HWY_EXPORT(double_pass);
HWY_EXPORT(single_combine);
HWY_EXPORT(double_combine);
HWY_EXPORT(single_dot);
HWY_EXPORT(double_dot);
}  // namespace

void adam_pass(const AdamPass<float>& pass) { HWY_DYNAMIC_DISPATCH(single_pass)(pass); }
void adam_pass(const AdamPass<double>& pass) { HWY_DYNAMIC_DISPATCH(double_pass)(pass); }

void combine_rows(const float* rows, std::size_t count, std::size_t columns, const float* factors,
                  std::size_t stride, float* out) {
  HWY_DYNAMIC_DISPATCH(single_combine)(rows, count, columns, factors, stride, out);
}
void combine_rows(const double* rows, std::size_t count, std::size_t columns, const double* factors,
                  std::size_t stride, double* out) {
  HWY_DYNAMIC_DISPATCH(double_combine)(rows, count, columns, factors, stride, out);
}

double dot_rows(const float* a, const float* b, std::size_t columns) {
  return HWY_DYNAMIC_DISPATCH(single_dot)(a, b, columns);
}
double dot_rows(const double* a, const double* b, std::size_t columns) {
  return HWY_DYNAMIC_DISPATCH(double_dot)(a, b, columns);
}

}  // namespace dewpoint::training
#endif  // HWY_ONCE
