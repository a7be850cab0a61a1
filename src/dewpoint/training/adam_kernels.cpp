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

#include <algorithm>

#include "dewpoint/training/adam_kernels.hpp"
#include "dewpoint/training/adam_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::training::HWY_NAMESPACE {
namespace {

// Unrolled basis rows at most; larger vocabularies take the rest one by one.
constexpr std::size_t kMostUnrolled = 7;

// d, known to the compiler where all basis rows are unrolled.
template <std::size_t kUnrolled, class Real>
HWY_INLINE std::size_t vocabulary(const AdamPass<Real>& pass) {
  return kUnrolled < kMostUnrolled ? kUnrolled + 1 : pass.vocabulary;
}

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
template <std::size_t kUnrolled, class Real>
HWY_INLINE void factors(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                        const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t d = vocabulary<kUnrolled>(pass);
  const std::size_t last = d - 1;
  for (std::size_t r = 0; r < kBlockRows; r += hn::Lanes(f)) {
    const auto origin = hn::LoadU(f, outer.weights + last * outer.stride + r);
    for (std::size_t j = 0; j < last; ++j) {
      auto sum = hn::Zero(f);
      for (std::size_t k = 0; k < d; ++k) {
        const auto slope = hn::Set(f, pass.attention[k * d + j]);
        sum = hn::MulAdd(slope, hn::LoadU(f, outer.weights + k * outer.stride + r), sum);
      }
      hn::StoreU(sum, f, at.query_factors + j * kBlockRows + r);
      const auto own = hn::LoadU(f, outer.weights + j * outer.stride + r);
      hn::StoreU(hn::Sub(own, origin), f, at.key_factors + j * kBlockRows + r);
    }
  }
}

// The gradient of the outer weights of a block.
template <std::size_t kUnrolled, class Real>
HWY_INLINE void outer_gradient(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                               const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t d = vocabulary<kUnrolled>(pass);
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
template <std::size_t kUnrolled, class Real>
HWY_INLINE void outer_update(const AdamPass<Real>& pass, const OuterBlock<Real>& outer,
                             const BlockScratch<Real>& at) {
  const Tag<Real> f;
  const std::size_t d = vocabulary<kUnrolled>(pass);
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
  const std::size_t rest = vocabulary<kUnrolled>(pass) - 1 - kUnrolled;
  if (rest == 0) {
    step_row<kUnrolled, false>(pass, basis, factor, gradient, row, product);
    return;
  }
  std::fill_n(gradient, pass.columns, Real{0});
  for (std::size_t k = 0; k < rest; ++k) {
    project(pass, row, basis + k * pass.columns, factor[k * kBlockRows], product + k * kBlockRows,
            gradient);
  }
  step_row<kUnrolled, true>(pass, basis + rest * pass.columns, factor + rest * kBlockRows, gradient,
                            row, product + rest * kBlockRows);
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
    factors<kUnrolled>(pass, outer, at);
    inner_update<kUnrolled>(pass, block, at);
    outer_gradient<kUnrolled>(pass, outer, at);
    outer_update<kUnrolled>(pass, outer, at);
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
      return all_blocks<kMostUnrolled>(pass);
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
