// One step of Adam over all weights in one pass over memory.
//
// The loss does not change when a row of Φ moves as a whole, so the rows of G = ∂L/∂Φ sum to zero,
// and one token (the last, called e here) can serve as origin. With d − 1 instead of d directions,
//
//     TQ = W0 WQ                       d x m       the queries of the tokens
//     D_j = (W0_j − W0_e) WK           j < e       their keys, as seen from token e
//     Φ_lj − Φ_le = TQ_l · D_j
//     H_j = Σ_l G_lj TQ_l              j < e
//
//     ∂L/∂WQ row i = Σ_j (Σ_k W0_ki G_kj) D_j       ∂L/∂WK row i = Σ_j (W0_ji − W0_ei) H_j
//     ∂L/∂W0_ki = Σ_c (∂L/∂M)_kc W1_ic + Σ_j G_kj (D_j · WQ_i) + H_k · WK_i,    H_e = −Σ_j H_j
//
// everything that row i of WQ and WK, column i of W0 and row i of W1 need is known at row i. A
// block of kBlockRows rows is read from memory once: moments, denominators and the products D·WQ_i,
// H·WK_i first; then the outer weights; then the inner weights, which are added at once, with the
// new W0, to the next step's TQ and D. No gradient matrix exists.
//
// Moments are kept without the factors (1 − β), m' = m/(1 − β₁), v' = v/(1 − β₂): with
// κ² = (1 − β₂ᵗ)/(1 − β₂) the step of adam() reads
//
//     m' ← β₁ m' + g,  v' ← β₂ v' + g²,  θ ← θ − rate κ (1 − β₁)/(1 − β₁ᵗ) · m'/(√v' + κ ε).
//
// Square root and quotient are those of IEEE 754, and vectors are at most 32 bytes: processors with
// AVX2 and with AVX-512 give the same bytes.
//
// Memory. A line is 64 bytes of one kind. Row i of WQ and WK is one piece,
//
//     WQ | m' | v' of columns 0..line−1,  WQ | m' | v' of the next,  ...,  then WK in the same way,
//
// and the outer weights are 2d rows over i: W0_0 .. W0_e, then W1 by columns; three such tables,
// weights, m', v'. Padding is zero and stays zero.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace dewpoint::training {

template <class Real>
struct AdamScalars {
  Real first_decay;   // β₁
  Real second_decay;  // β₂
  Real epsilon;       // κ ε, above 0
  Real step;          // rate κ (1 − β₁)/(1 − β₁ᵗ)
};

/// Rows that share a pass; the number of rows is padded to a multiple.
inline constexpr std::size_t kBlockRows = 8;

template <class Real>
inline constexpr std::size_t kLine = 64 / sizeof(Real);

/// Columns that are in the making at a time; the number of columns is padded to a multiple.
template <class Real>
inline constexpr std::size_t kGroup = 2 * kLine<Real>;

template <class Real>
struct AdamPass {
  std::size_t vocabulary;   // d
  std::size_t rows;         // m, padded to a multiple of kBlockRows
  std::size_t columns;      // m, padded to a multiple of kGroup<Real>
  std::size_t row_stride;   // from row to row of `inner`, at least 6 columns
  Real* inner;              // WQ, WK and their moments
  Real* outer;              // W0, W1 and their moments: 3 x 2d x rows
  const Real* attention;    // G: d x d
  const Real* value;        // ∂L/∂M: d x d
  const Real* query_basis;  // D: (d − 1) x columns
  const Real* key_basis;    // H: (d − 1) x columns
  Real* query_sums;         // += new TQ: d x columns
  Real* key_sums;           // += new D: (d − 1) x columns
  Real* value_sums;         // += new M, in kBlockRows partial sums each: d x d x kBlockRows
  Real* scratch;            // scratch_size() numbers
  AdamScalars<Real> scalars;

  [[nodiscard]] std::size_t scratch_size() const { return columns + 8 * vocabulary * kBlockRows; }
};

/// The whole step. Pointers are aligned to a line; nothing overlaps.
void adam_pass(const AdamPass<float>& pass);
void adam_pass(const AdamPass<double>& pass);

/// out = Σ_l factors[l · stride] rows_l: a combination of `count` rows of `columns` numbers.
void combine_rows(const float* rows, std::size_t count, std::size_t columns, const float* factors,
                  std::size_t stride, float* out);
void combine_rows(const double* rows, std::size_t count, std::size_t columns, const double* factors,
                  std::size_t stride, double* out);

/// Σ_j a_j b_j over whole lines, in as many partial sums as a vector has lanes.
[[nodiscard]] double dot_rows(const float* a, const float* b, std::size_t columns);
[[nodiscard]] double dot_rows(const double* a, const double* b, std::size_t columns);

}  // namespace dewpoint::training
