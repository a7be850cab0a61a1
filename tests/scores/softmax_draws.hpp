// Softmax statistics over many draws, directly and from the top scores.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dewpoint/scores/score_law.hpp"
#include "dewpoint/scores/top_scores.hpp"
#include "support/kolmogorov_smirnov.hpp"

namespace dewpoint::scores::test {

/// One column of draws per statistic.
struct SoftmaxDraws {
  std::vector<double> log_partition, largest_weight, participation, mean_gap;

  void add(double log_z, double largest, double squares, double gap) {
    log_partition.push_back(log_z);
    largest_weight.push_back(largest);
    participation.push_back(squares);
    mean_gap.push_back(gap);
  }
};

/// p-values of the statistics, one by one.
inline std::array<double, 4> same_law(const SoftmaxDraws& a, const SoftmaxDraws& b) {
  using dewpoint::test::same_law_p;
  return {same_law_p(a.log_partition, b.log_partition),
          same_law_p(a.largest_weight, b.largest_weight),
          same_law_p(a.participation, b.participation), same_law_p(a.mean_gap, b.mean_gap)};
}

/// base^exponent by squaring.
inline double whole_power(double base, int exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

/// Direct draws of n scores at β = unit · power, for several powers at the cost of one exponential.
inline std::vector<SoftmaxDraws> direct_draws(const ScoreLaw& law, std::size_t n, double unit,
                                              const std::vector<int>& powers, int draws,
                                              std::uint64_t seed, std::string_view name) {
  std::vector<SoftmaxDraws> columns(powers.size());
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<double> depths =
        law.sample(n, Stream(seed, name, static_cast<std::uint64_t>(draw)));
    const double least = *std::min_element(depths.begin(), depths.end());
    std::vector<std::array<double, 3>> sums(powers.size());
    for (const double depth : depths) {
      const double gap = depth - least, base = std::exp(-unit * gap);
      for (std::size_t s = 0; s < powers.size(); ++s) {
        const double weight = whole_power(base, powers[s]);
        sums[s][0] += weight;
        sums[s][1] += weight * weight;
        sums[s][2] += weight * gap;
      }
    }
    for (std::size_t s = 0; s < powers.size(); ++s) {
      const auto [first, second, gaps] = sums[s];
      columns[s].add(unit * powers[s] * (law.origin() - least) + std::log(first), 1.0 / first,
                     second / (first * first), gaps / first);
    }
  }
  return columns;
}

/// Draws of the top scores alone, shared by every β and every k at most the number drawn.
inline std::vector<TopScores> top_draws(const TopLaw& law, double log_scores, std::size_t count,
                                        int draws, std::uint64_t seed, std::string_view name) {
  std::vector<TopScores> tops;
  for (int draw = 0; draw < draws; ++draw) {
    const Stream stream(seed, name, static_cast<std::uint64_t>(draw));
    tops.push_back(draw_top_scores(law, log_scores, count, stream));
  }
  return tops;
}

/// The first k of a draw: they are the k largest scores.
inline TopScores first_of(const TopScores& top, std::size_t count) {
  return {top.log_scores, {top.depths.begin(), top.depths.begin() + count}};
}

inline SoftmaxDraws weighed_draws(const TopLaw& law, const std::vector<TopScores>& tops,
                                  std::size_t count, double beta, std::uint64_t seed,
                                  std::string_view name) {
  SoftmaxDraws column;
  for (std::size_t draw = 0; draw < tops.size(); ++draw) {
    const TopSample sample =
        weigh_top_scores(law, first_of(tops[draw], count), beta, Stream(seed, name, draw));
    column.add(sample.log_partition, sample.largest_weight, sample.participation, sample.mean_gap);
  }
  return column;
}

}  // namespace dewpoint::scores::test
