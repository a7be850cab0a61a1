#include "dewpoint/scores/top_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::uint64_t kFirstRestNormal = std::uint64_t{1} << 62;

/// log(e^x + e^y).
double log_add(double x, double y) {
  const double larger = std::max(x, y);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(-std::abs(x - y)));
}

/// e^{log_ratio} ratio − 1 over e^{log_count}, where e^{log_ratio} may exceed a double; zero when
/// the difference is lost in rounding.
double relative_covariance(double log_ratio, double ratio, double log_count) {
  const double difference = std::exp(log_ratio - log_count) * ratio - std::exp(-log_count);
  return std::abs(difference) < 16.0 * kEpsilon * std::exp(-log_count) ? 0.0 : difference;
}

void fill_covariance(RestMoments& moments, const std::array<TiltedDepth, 4>& tilted) {
  const TiltedDepth &one = tilted[0], &two = tilted[1], &three = tilted[2], &four = tilted[3];
  const double n = moments.log_count;
  // Depths relative to their mean; with a mean of zero they are all zero.
  const auto relative = [&](double depth) { return one.mean > 0.0 ? depth / one.mean : 1.0; };
  const double spread = relative(two.root_mean_square);
  const double ratio = two.log_mass - 2.0 * one.log_mass;
  const double mixed = three.log_mass - two.log_mass - one.log_mass;
  auto& c = moments.covariance;
  c[0][0] = relative_covariance(ratio, 1.0, n);
  c[0][1] = c[1][0] = relative_covariance(mixed, 1.0, n);
  c[1][1] = relative_covariance(four.log_mass - 2.0 * two.log_mass, 1.0, n);
  c[0][2] = c[2][0] = relative_covariance(ratio, relative(two.mean), n);
  c[1][2] = c[2][1] = relative_covariance(mixed, relative(three.mean), n);
  c[2][2] = relative_covariance(ratio, spread * spread, n);
}

/// The least of the three bounds, in units of the weight at the cut. The relative variance of R_1
/// is v/((N − k) m²).
double normal_distance(const RestMoments& moments, double log_cube) {
  const double variance = moments.covariance[0][0];
  if (variance <= 0.0) return 0.0;
  const double mass = std::exp(moments.log_mass);
  const double log_variance = std::log(variance) + moments.log_count + 2.0 * moments.log_mass;
  const double by_moments = std::exp(log_add(log_cube, 3.0 * moments.log_mass) - log_variance);
  const double by_deviation = 2.0 * std::exp(0.5 * (moments.log_count + log_variance));
  return std::min({by_moments, std::max(mass, 1.0 - mass), by_deviation});
}

/// Three Gaussian numbers of the given covariance. What rounding leaves negative on the diagonal
/// of the Cholesky factor is zero, and so is its column.
std::array<double, 3> correlated(const double (&covariance)[3][3], const Stream& stream) {
  double factor[3][3] = {};
  std::array<double, 3> values{};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column <= row; ++column) {
      double left = covariance[row][column];
      for (int k = 0; k < column; ++k) left -= factor[row][k] * factor[column][k];
      if (column == row) {
        const bool lost = left <= 64.0 * kEpsilon * covariance[row][row];
        factor[row][row] = lost ? 0.0 : std::sqrt(left);
      } else if (factor[column][column] > 0.0) {
        factor[row][column] = left / factor[column][column];
      }
      values[row] += factor[row][column] * stream.normal(kFirstRestNormal + column);
    }
  }
  return values;
}

/// Sums over scores in units of the largest: logarithms of Σe and Σe², and the mean of x under e.
struct Sums {
  double log_first = -kInfinity;
  double log_second = -kInfinity;
  double mean_gap = 0.0;
};

Sums sums_over_top(const std::vector<double>& depths, double beta) {
  double first = 0.0, second = 0.0, gaps = 0.0;
  for (const double depth : depths) {
    const double gap = depth - depths.front(), weight = std::exp(-beta * gap);
    first += weight;
    second += weight * weight;
    gaps += weight * gap;
  }
  return {std::log(first), std::log(second), gaps / first};
}

/// A draw of the sums over the rest, seen from the largest score.
Sums sums_over_rest(const RestMoments& moments, double cut_gap, double beta, const Stream& stream) {
  if (std::isinf(moments.log_count)) return {};
  const std::array<double, 3> shift = correlated(moments.covariance, stream);
  const double log_first =
      moments.log_count + moments.log_mass + std::log(std::max(0.0, 1.0 + shift[0]));
  const double log_second =
      moments.log_count + moments.log_square + std::log(std::max(0.0, 1.0 + shift[1]));
  if (std::isinf(log_first)) return {};
  const double depth = moments.mean_depth * std::max(0.0, 1.0 + shift[2]) / (1.0 + shift[0]);
  return {log_first - beta * cut_gap, std::min(log_first, log_second) - 2.0 * beta * cut_gap,
          cut_gap + depth};
}

struct Bounds {
  double log_partition = kInfinity;
  double largest_weight = kInfinity;
};

/// The bounds of the header, minimised over r separately.
Bounds bounds(const RestMoments& moments, double log_top, double log_cut_weight) {
  if (std::isinf(moments.log_count) || moments.distance == 0.0) return {0.0, 0.0};
  const double log_distance = std::log(moments.distance) + log_cut_weight;
  const double log_mean = moments.log_count + moments.log_mass + log_cut_weight;
  const double crowding =  // m²/((N − k) E e²), the effective number of scores in the rest
      std::exp(moments.log_count + 2.0 * moments.log_mass - moments.log_square);
  Bounds least;
  for (const double r : {0.0, 0.25, 0.5, 0.75, 0.875}) {
    const double log_sum = log_add(log_top, std::log(r) + log_mean);
    const double felt = r == 0.0 ? 0.0 : 2.0 * std::exp(-0.5 * (1.0 - r) * (1.0 - r) * crowding);
    least.log_partition = std::min(least.log_partition,
                                   std::exp(log_distance - log_sum) + felt * (log_sum - log_top));
    least.largest_weight = std::min(
        least.largest_weight, std::exp(log_distance - 2.0 * log_sum) + felt * std::exp(-log_top));
  }
  return least;
}

// ---- choosing k -----------------------------------------------------------------------------

/// The k that is tried for a power of two: all scores, if they are fewer.
std::size_t tried_count(std::size_t power, double log_scores) {
  const double all = std::round(std::exp(log_scores));
  return all < static_cast<double>(power) ? static_cast<std::size_t>(all) : power;
}

Stream pilot_stream(std::uint64_t seed, std::size_t pilot) {
  return Stream(seed, "scores/top-count", pilot);
}

/// What weigh_top_scores() says of it, to the last bit, without everything else that it says.
double log_partition_bound(const TopLaw& law, const TopScores& top, double beta) {
  RestMoments moments{};
  moments.log_count = log_rest_count(top);
  if (std::isinf(moments.log_count)) return 0.0;
  const double cut = top.depths.back(), cut_gap = cut - top.depths.front();
  moments.log_mass = law.log_rest_mass(cut, beta);
  moments.log_square = law.log_rest_mass(cut, 2 * beta);
  moments.covariance[0][0] =
      relative_covariance(moments.log_square - 2.0 * moments.log_mass, 1.0, moments.log_count);
  moments.distance = normal_distance(moments, law.log_rest_mass(cut, 3 * beta));
  double above = 0.0;
  for (const double depth : top.depths) above += std::exp(-beta * (depth - top.depths.front()));
  return bounds(moments, std::log(above), -beta * cut_gap).log_partition;
}

}  // namespace

TopScores draw_top_scores(const TopLaw& law, double log_scores, std::size_t count,
                          const Stream& stream) {
  DEWPOINT_EXPECTS(count >= 1 &&
                   std::log(static_cast<double>(count) - 0.5) < std::max(log_scores, 0.0));
  if (log_scores > law.most_log_scores()) {
    throw Error(Code::bad_value,
                fmt::format("log n: {} is not at most {}, beyond which the gaps of {} vanish",
                            log_scores, law.most_log_scores(), law.name()));
  }
  return {log_scores, law.top_depths(log_scores, count, stream)};
}

double log_rest_count(const TopScores& top) {
  const auto count = static_cast<double>(top.depths.size());
  const double share = count * std::exp(-top.log_scores);
  return share > 1.0 - 0.5 / (count + 1.0) ? -kInfinity : top.log_scores + std::log1p(-share);
}

RestMoments rest_moments(const TopLaw& law, const TopScores& top, double inverse_temperature) {
  DEWPOINT_EXPECTS(inverse_temperature >= 0.0);
  RestMoments moments{};
  moments.log_count = log_rest_count(top);
  if (std::isinf(moments.log_count)) return moments;
  std::array<TiltedDepth, 4> tilted{};
  for (int p = 0; p < 4; ++p) {
    tilted[p] = law.rest(top.depths.back(), (p + 1) * inverse_temperature);
  }
  moments.log_mass = tilted[0].log_mass;
  moments.log_square = tilted[1].log_mass;
  moments.mean_depth = tilted[0].mean;
  fill_covariance(moments, tilted);
  moments.distance = normal_distance(moments, tilted[2].log_mass);
  return moments;
}

TopSample weigh_top_scores(const TopLaw& law, const TopScores& top, double inverse_temperature,
                           const Stream& stream) {
  const double beta = inverse_temperature;
  const double cut_gap = top.depths.back() - top.depths.front();
  const RestMoments moments = rest_moments(law, top, beta);
  const Sums above = sums_over_top(top.depths, beta);
  const Sums below = sums_over_rest(moments, cut_gap, beta, stream);
  const Bounds bound = bounds(moments, above.log_first, -beta * cut_gap);

  TopSample sample{};
  sample.top_score = law.origin() - top.depths.front();
  sample.log_relative_partition = log_add(above.log_first, below.log_first);
  sample.log_partition = beta * sample.top_score + sample.log_relative_partition;
  sample.largest_weight = std::exp(-sample.log_relative_partition);
  sample.log_participation =
      log_add(above.log_second, below.log_second) - 2.0 * sample.log_relative_partition;
  sample.participation = std::exp(sample.log_participation);
  sample.rest_weight = std::exp(below.log_first - sample.log_relative_partition);
  sample.mean_gap =
      (1.0 - sample.rest_weight) * above.mean_gap + sample.rest_weight * below.mean_gap;
  sample.log_partition_bound = bound.log_partition;
  sample.largest_weight_bound = bound.largest_weight;
  return sample;
}

std::optional<std::size_t> choose_top_count(const TopLaw& law, double log_scores,
                                            double inverse_temperature,
                                            const TopCountSearch& search, std::uint64_t seed) {
  DEWPOINT_EXPECTS(search.pilots >= 1 && search.bound > 0.0);
  for (std::size_t power = 1; power <= search.most; power *= 2) {
    const std::size_t count = tried_count(power, log_scores);
    double sum = 0.0;
    for (std::size_t pilot = 0; pilot < search.pilots; ++pilot) {
      const Stream stream = pilot_stream(seed, pilot);
      const TopScores top = draw_top_scores(law, log_scores, count, stream);
      sum += weigh_top_scores(law, top, inverse_temperature, stream).log_partition_bound;
    }
    if (sum <= search.bound * static_cast<double>(search.pilots)) return count;
  }
  return std::nullopt;
}

TopCountChoice::TopCountChoice(std::shared_ptr<const TopLaw> law, double log_scores,
                               const TopCountSearch& search, std::uint64_t seed)
    : law_(std::move(law)), log_scores_(log_scores), search_(search), seed_(seed) {
  DEWPOINT_EXPECTS(search.pilots >= 1 && search.bound > 0.0);
}

std::optional<std::size_t> TopCountChoice::of(double inverse_temperature) {
  for (std::size_t power = 1; power <= search_.most; power *= 2) {
    const std::size_t count = tried_count(power, log_scores_);
    if (is_enough(count, inverse_temperature)) return count;
  }
  return std::nullopt;
}

// No bound is negative: a sum that is too large stays so.
bool TopCountChoice::is_enough(std::size_t count, double inverse_temperature) {
  const double most = search_.bound * static_cast<double>(search_.pilots);
  double sum = 0.0;
  for (std::size_t number = 0; number < search_.pilots && sum <= most; ++number) {
    sum += log_partition_bound(*law_, pilot(number, count), inverse_temperature);
  }
  return sum <= most;
}

const TopScores& TopCountChoice::pilot(std::size_t number, std::size_t count) {
  std::vector<TopScores>& drawn = pilots_[count];
  while (drawn.size() <= number) {
    drawn.push_back(draw_top_scores(*law_, log_scores_, count, pilot_stream(seed_, drawn.size())));
  }
  return drawn[number];
}

std::size_t TopCountChoice::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const auto& [count, drawn] : pilots_) {
    bytes += drawn.size() * (sizeof(TopScores) + count * sizeof(double));
  }
  return bytes;
}

}  // namespace dewpoint::scores
