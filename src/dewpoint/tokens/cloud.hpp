// Clouds of tokens by name: the laws that an experiment can draw its tokens from.
//
//   name             tokens
//   equicorrelated   x_i = √ρ z_0 + √(1−ρ) z_i with Gaussian z: mean correlation ρ, for large d
//                    almost a simplex ([CAS], Eq 25)
//   simplex          exactly ⟨y_i, y_j⟩ = ρ for all pairs; d ≥ n
//   two-level        exactly ρ between clusters and ρ_inner within; d ≥ n + clusters + 1
//   clustered        the Gaussian version of two-level, for any d
//   sphere           uniform on the unit sphere
//   half-sphere      uniform on the half with first coordinate ≥ 0
//   PATH.npy         rows of a NumPy file
//
// Random laws are functions of (seed, replica): any cloud can be made again anywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint::tokens {

/// What the norms ‖x_i‖ are; directions do not depend on it.
enum class Norm {
  unit,         // 1
  gauss_per_d,  // those of Gaussian z ~ N(0, I/d): mean square 1
  gauss,        // those of Gaussian z ~ N(0, I): mean square d
};

/// The common vector z_0 of equicorrelated and clustered clouds.
enum class Common {
  random,  // Gaussian, as in the paper: its length varies from cloud to cloud
  fixed,   // random direction, length 1: the same physics with about a hundred times fewer replicas
};

/// Beyond these a count is a mistake.
inline constexpr std::size_t kMostTokens = 1'000'000'000'000;
inline constexpr std::size_t kMostDimensions = std::size_t{1} << 24;

/// Norms of a file that are kept: their fourth powers, which gradients have, stay within floats.
inline constexpr double kLeastNorm = 1e-9;
inline constexpr double kLargestNorm = 1e9;

struct CloudParameters {
  std::string law = "equicorrelated";  // a name of the table above
  std::size_t n = 512;                 // tokens
  std::size_t d = 0;                   // dimension; 0: 64, or the least that an exact law needs
  double rho = 0.5;                    // correlation of two tokens (of different clusters)
  double rho_inner = 0.8;              // correlation within a cluster
  std::size_t cluster_size = 16;       // tokens per cluster; must divide n
  Norm norm = Norm::unit;
  Common common = Common::random;
  /// In the place of a file: its rows. `law` is then only what messages call them.
  std::shared_ptr<const Matrix<double>> rows = nullptr;
};

/// Every law name, in the order of the table, for help texts and completions.
[[nodiscard]] const std::vector<std::string>& law_names();

/// The same parameters with d filled in and, for a file or rows, n and d of that. Throws
/// Error{bad_value} naming the field, its value and what is allowed.
[[nodiscard]] CloudParameters resolved(CloudParameters parameters);

/// Whether the law has no randomness (simplex, two-level, file): one replica tells all.
[[nodiscard]] bool is_deterministic(const CloudParameters& parameters);
/// Whether the tokens come in clusters of cluster_size (two-level, clustered).
[[nodiscard]] bool has_clusters(const CloudParameters& parameters);
/// Whether the law has a correlation ρ to sweep over.
[[nodiscard]] bool has_correlation(const CloudParameters& parameters);

/// The cloud of one replica. `parameters` must be resolved.
[[nodiscard]] TokenCloud make_cloud(const CloudParameters& parameters, std::uint64_t seed,
                                    std::uint64_t replica);

/// Their names, as they are asked for.
[[nodiscard]] const std::vector<std::pair<std::string, Norm>>& words_of(Norm);
[[nodiscard]] const std::vector<std::pair<std::string, Common>>& words_of(Common);

}  // namespace dewpoint::tokens
