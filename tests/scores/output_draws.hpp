// Attention outputs over many draws: of explicit keys on the sphere, and from their top scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/core/run_context.hpp"
#include "dewpoint/scores/sphere_output.hpp"
#include "scores/softmax_draws.hpp"
#include "support/kolmogorov_smirnov.hpp"

namespace dewpoint::scores::test {

/// Largest weight, Σw², 1 − ⟨q, ATT⟩, one coordinate of ATT_⊥, |ATT_⊥|².
inline constexpr std::size_t kOutputStatistics = 5;
using OutputValues = std::array<double, kOutputStatistics>;
using OutputDraws = std::vector<OutputValues>;

inline std::vector<double> column(const OutputDraws& draws, std::size_t statistic) {
  std::vector<double> values;
  for (const OutputValues& draw : draws) values.push_back(draw[statistic]);
  return values;
}

/// p-values of the statistics, one by one.
inline std::vector<double> same_output_law(const OutputDraws& a, const OutputDraws& b) {
  std::vector<double> p_values;
  for (std::size_t s = 0; s < kOutputStatistics; ++s)
    p_values.push_back(dewpoint::test::same_law_p(column(a, s), column(b, s)));
  return p_values;
}

/// n keys of S^{d−1} as rows: normalised Gaussian vectors.
inline std::vector<double> draw_keys(int dimension, std::size_t n, const Stream& stream) {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<double> keys(n * d);
  stream.normals(0, keys);
  for (std::size_t j = 0; j < n; ++j) {
    double square = 0.0;
    for (std::size_t c = 0; c < d; ++c) square += keys[j * d + c] * keys[j * d + c];
    for (std::size_t c = 0; c < d; ++c) keys[j * d + c] /= std::sqrt(square);
  }
  return keys;
}

/// |q − k|²/2 for the query e_1.
inline double gap_of_key(const double* key, std::size_t dimension) {
  double square = (1.0 - key[0]) * (1.0 - key[0]);
  for (std::size_t c = 1; c < dimension; ++c) square += key[c] * key[c];
  return 0.5 * square;
}

/// Attention over explicit keys at weights (base weight)^power.
inline OutputValues attend(const std::vector<double>& keys, const std::vector<double>& gaps,
                           const std::vector<double>& base, int power) {
  const std::size_t n = gaps.size(), d = keys.size() / n;
  double first = 0.0, second = 0.0, largest = 0.0, depth = 0.0;
  std::vector<double> across(d, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const double weight = whole_power(base[j], power);
    if (weight < 1e-30) continue;  // of at most 1e5 keys, below the rounding of the sums
    first += weight;
    second += weight * weight;
    largest = std::max(largest, weight);
    depth += weight * gaps[j];
    for (std::size_t c = 1; c < d; ++c) across[c] += weight * keys[j * d + c];
  }
  double square = 0.0;
  for (const double coordinate : across) square += coordinate * coordinate / (first * first);
  return {largest / first, second / (first * first), depth / first, across[1] / first, square};
}

/// What is compared: n explicit keys at β = unit · power for each power.
struct OutputQuestion {
  int dimension;
  std::size_t n;
  double unit;
  std::vector<int> powers;
};

/// Draws of all keys: one list per power.
inline std::vector<OutputDraws> explicit_outputs(const OutputQuestion& question, std::size_t draws,
                                                 std::uint64_t seed, const std::string& name) {
  std::vector<OutputDraws> result(question.powers.size(), OutputDraws(draws));
  parallel_for(draws, {}, [&](std::size_t draw) {
    const std::vector<double> keys =
        draw_keys(question.dimension, question.n, Stream(seed, name, draw));
    std::vector<double> gaps(question.n), base(question.n);
    for (std::size_t j = 0; j < question.n; ++j)
      gaps[j] = gap_of_key(&keys[j * static_cast<std::size_t>(question.dimension)],
                           static_cast<std::size_t>(question.dimension));
    const double least = *std::min_element(gaps.begin(), gaps.end());
    for (std::size_t j = 0; j < question.n; ++j)
      base[j] = std::exp(-question.unit * (gaps[j] - least));
    for (std::size_t s = 0; s < question.powers.size(); ++s)
      result[s][draw] = attend(keys, gaps, base, question.powers[s]);
  });
  return result;
}

inline OutputValues values_of(const OutputSample& sample) {
  return {sample.weights[0], sample.softmax.participation, sample.radial_gap, sample.across[0],
          sample.across_square};
}

/// Draws of the k nearest keys and the rest.
inline OutputDraws sampled_outputs(const SphereOutput& sphere, double n, double beta,
                                   std::size_t count, std::size_t draws, std::uint64_t seed,
                                   const std::string& name) {
  OutputDraws result(draws);
  parallel_for(draws, {}, [&](std::size_t draw) {
    const Stream stream(seed, name, draw);
    const TopScores top = draw_top_scores(sphere.law(), std::log(n), count, stream);
    result[draw] = values_of(sphere.weigh(top, beta, stream));
  });
  return result;
}

/// β* = (c_d n)^{2/(d−1)}.
inline double critical_unit(int dimension, double n) {
  const SphereGap gap(dimension);
  return std::pow(gap.local_constant() * n, 1.0 / gap.exponent());
}

}  // namespace dewpoint::scores::test
