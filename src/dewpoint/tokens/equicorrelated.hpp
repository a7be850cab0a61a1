// Equicorrelated Gaussian tokens at every correlation ρ from one draw of noise.
//
//     x_i(ρ) = √ρ z_0 + √(1−ρ) z_i
//
// All ρ share z (common random numbers), and one Gram matrix K = z zᵀ gives every gap:
//
//     Δ_ij = [(1−ρ) ‖z_i − z_j‖² − (r_i − r_j)²] / (2 r_i r_j),   r_i = ‖x_i(ρ)‖,
//
// without cancellation for any ρ < 1. Whoever sweeps over ρ has the Gram matrix kept up to
// n = kKeptGram; beyond, it is made again strip by strip: a rule of n alone, so that a cell's bytes
// never depend on what else was asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::tokens {

/// The noise of one replica: z_0 and z_1..z_n, each N(0, I/d) (z_0 of length 1 if fixed).
class EquicorrelatedNoise {
 public:
  EquicorrelatedNoise(std::size_t n, std::size_t d, Common common, std::uint64_t seed,
                      std::uint64_t replica);

  [[nodiscard]] std::size_t size() const { return noise_.rows(); }
  [[nodiscard]] std::size_t dimension() const { return noise_.cols(); }

  /// Makes K once and keeps it, up to kKeptGram tokens: for many ρ.
  void keep_gram();

  /// The tokens at one ρ.
  [[nodiscard]] TokenCloud cloud(double rho, Norm norm) const;

  /// K_ij for some rows and columns.
  void gram(Range rows, Range cols, MatrixView<float> out) const;

  [[nodiscard]] MatrixView<const double> noise() const { return noise_; }        // z_i, rows
  [[nodiscard]] const std::vector<double>& common() const { return common_; }    // z_0
  [[nodiscard]] double common_square() const { return common_square_; }          // ‖z_0‖²
  [[nodiscard]] const std::vector<double>& squares() const { return squares_; }  // ‖z_i‖²
  [[nodiscard]] const std::vector<double>& projections() const {
    return projections_;
  }  // ⟨z_i, z_0⟩

 private:
  Matrix<double> noise_;
  std::vector<double> common_;
  double common_square_ = 0.0;
  std::vector<double> squares_;
  std::vector<double> projections_;
  Matrix<float> noise32_;
  Matrix<float> gram_;  // n x n when it is kept, else empty
};

/// What an equicorrelated cloud is besides its noise.
struct EquicorrelatedLaw {
  double rho = 0.5;
  Norm norm = Norm::unit;
  Common common = Common::random;
};

/// Tokens [begin, end) of EquicorrelatedNoise::cloud, bit for bit, without the others.
[[nodiscard]] TokenCloud equicorrelated_block(Range tokens, std::size_t d,
                                              const EquicorrelatedLaw& law, std::uint64_t seed,
                                              std::uint64_t replica);

/// Norms of Gaussian tokens with mean square 1 become what is asked for.
void set_norms(TokenCloud& cloud, Norm norm);

/// Largest n whose Gram matrix is kept (16 MiB).
inline constexpr std::size_t kKeptGram = 2048;

/// The gaps of EquicorrelatedNoise::cloud(ρ).
class EquicorrelatedGaps final : public GapSource {
 public:
  EquicorrelatedGaps(const EquicorrelatedNoise& noise, double rho);

  [[nodiscard]] std::size_t size() const override { return noise_.size(); }
  void gaps(Range rows, Range cols, MatrixView<float> out) const override;
  [[nodiscard]] float resolution() const override;

 private:
  const EquicorrelatedNoise& noise_;
  float twice_noise_;           // 2 (1−ρ)
  std::vector<float> square_;   // (1−ρ) ‖z_i‖²
  std::vector<float> excess_;   // r_i − mean r
  std::vector<float> inverse_;  // 1 / (√2 r_i)
};

}  // namespace dewpoint::tokens
