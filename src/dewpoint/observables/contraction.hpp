// How much a layer shrinks the angles between tokens.
//
// The contraction (λ of [CAS], Eq 26 with i < j) compares gaps 1 − cos before and after:
//
//     λ = 2/(n(n−1)) Σ_{i<j} Δ'_ij / Δ_ij,   Δ = 1 − ⟨y_i, y_j⟩,   Δ' = 1 − ⟨y'_i, y'_j⟩.
//
// 0: every pair has collapsed; 1: angles are unchanged. Both gaps come from centred offsets
// (core/centred_cloud.hpp), so λ keeps its digits however far the outputs have collapsed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::observables {

struct Contraction {
  double contraction = 0.0;  // λ, over the pairs whose input gap is resolved; NaN: there are none
  double smallest_cosine = 0.0;  // min over pairs of ⟨y'_i, y'_j⟩
  double mean_cosine = 0.0;
  double largest_cosine = 0.0;
  std::size_t unresolved_pairs = 0;  // input gap below GapSource::resolution(): left out of λ

  /// Standard error of λ as an estimate for a larger population of tokens of which these are a
  /// sample (jackknife over tokens); only filled by contraction_of_sample.
  double sampling_error = 0.0;
};

/// λ and the output cosines for each of several outputs of the same inputs; the input gaps are
/// computed once. O(n² d) per output, memory O(n), equal bytes for any number of threads.
[[nodiscard]] std::vector<Contraction> contractions(const GapSource& inputs,
                                                    std::span<const CentredCloud* const> outputs,
                                                    const RunContext& context = {});
/// Outputs of size 0, of which one had no direction: every number is NaN.
[[nodiscard]] Contraction contraction(const GapSource& inputs, const CentredCloud& outputs,
                                      const RunContext& context = {});

/// The same where the tokens are a random sample of a population of `population` tokens, with the
/// standard error of that sampling: λ is a U-statistic, and leaving out token i changes it to
/// (r λ − 2 h_i)/(r − 2) with h_i the mean ratio of token i's pairs, so that
///
///     error² = (1 − r/population) · (r − 1)/r · 4/(r − 2)² · Σ_i (h_i − λ)².
[[nodiscard]] Contraction contraction_of_sample(const GapSource& inputs,
                                                const CentredCloud& outputs, std::size_t population,
                                                const RunContext& context = {});

/// λ by the definition, in double, from unit-vector gaps computed pair by pair. Rows of both
/// matrices are the offsets of unit vectors from any common point.
[[nodiscard]] double reference_contraction(MatrixView<const double> inputs,
                                           MatrixView<const double> outputs);

/// Offsets in double for reference_contraction: directions of base + deviations_i minus a common
/// vector, by the same stable formula as CentredCloud::of_deviations.
[[nodiscard]] Matrix<double> reference_offsets(std::span<const double> base,
                                               MatrixView<const double> deviations);

}  // namespace dewpoint::observables
