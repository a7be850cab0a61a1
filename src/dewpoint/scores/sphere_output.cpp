#include "dewpoint/scores/sphere_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kSums = OutputRestMoments::kSums;

// Addresses of normal numbers. Those of the rest begin where weigh_top_scores takes its three, so
// that both see the same draw.
constexpr std::uint64_t kFirstDirection = std::uint64_t{1} << 61;
constexpr std::uint64_t kFirstRest = std::uint64_t{1} << 62;
constexpr std::uint64_t kFirstRestAcross = std::uint64_t{1} << 63;

/// A term of a sum, x^i v^j e^p.
struct Term {
  int x, v, e;
};
constexpr std::array<Term, kSums> kTerms = {
    {{0, 0, 1}, {0, 0, 2}, {1, 0, 1}, {0, 1, 2}, {0, 1, 1}}};

/// log E[x^i v^j e^p] from the moments at the tilts β, 2β, 3β, 4β.
double log_mean_of(const Term& term, const std::array<SphereTilt, 4>& tilts) {
  const SphereTilt& tilt = tilts[term.e - 1];
  const double factors[3][3] = {{0.0, tilt.log_v, tilt.log_vv},
                                {tilt.log_x, tilt.log_xv, kInfinity},
                                {tilt.log_xx, kInfinity, kInfinity}};
  return tilt.log_mass + factors[term.x][term.v];
}

Term product(const Term& a, const Term& b) { return {a.x + b.x, a.v + b.v, a.e + b.e}; }

/// e^{log_ratio} − 1 over e^{log_count}, where e^{log_ratio} may exceed a double.
double relative_covariance(double log_ratio, double log_count) {
  if (log_ratio < 1.0) return std::expm1(log_ratio) * std::exp(-log_count);
  return std::exp(log_ratio - log_count) - std::exp(-log_count);
}

/// Gaussian numbers of the given covariance. What rounding leaves negative on the diagonal of the
/// Cholesky factor is zero, and so is its column.
std::array<double, kSums> correlated(const std::array<std::array<double, kSums>, kSums>& covariance,
                                     const Stream& stream) {
  double factor[kSums][kSums] = {};
  std::array<double, kSums> values{};
  for (std::size_t row = 0; row < kSums; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double left = covariance[row][column];
      for (std::size_t k = 0; k < column; ++k) left -= factor[row][k] * factor[column][k];
      if (column == row) {
        const bool lost = left <= 64.0 * kEpsilon * covariance[row][row];
        factor[row][row] = lost ? 0.0 : std::sqrt(left);
      } else if (factor[column][column] > 0.0) {
        factor[row][column] = left / factor[column][column];
      }
      values[row] += factor[row][column] * stream.normal(kFirstRest + column);
    }
  }
  return values;
}

/// Σ w v and Σ w² v over a part of the keys.
struct SineSums {
  double first = 0.0;
  double second = 0.0;
};

/// One draw of R_5 and R_4 where a key at the cut has the weight e^{log_cut_weight}.
SineSums rest_sines(const OutputRestMoments& moments, double log_cut_weight, const Stream& stream) {
  if (std::isinf(moments.log_count)) return {};
  const std::array<double, kSums> shift = correlated(moments.covariance, stream);
  if (shift[0] <= -1.0) return {};  // then there is no rest at all
  return {std::max(0.0, 1.0 + shift[4]) * std::exp(moments.log_mean[4] + log_cut_weight),
          std::max(0.0, 1.0 + shift[3]) * std::exp(moments.log_mean[3] + 2.0 * log_cut_weight)};
}

}  // namespace

SphereOutput::SphereOutput(int dimension)
    : dimension_(dimension), law_(dimension), rest_(dimension) {}

std::vector<double> SphereOutput::direction(std::size_t rank, const Stream& stream) const {
  std::vector<double> omega(static_cast<std::size_t>(dimension_ - 1));
  stream.normals(kFirstDirection + rank * omega.size(), omega);
  double square = 0.0;
  for (const double coordinate : omega) square += coordinate * coordinate;
  for (double& coordinate : omega) coordinate /= std::sqrt(square);
  return omega;
}

OutputRestMoments SphereOutput::rest_moments(const TopScores& top,
                                             double inverse_temperature) const {
  DEWPOINT_EXPECTS(inverse_temperature >= 0.0);
  OutputRestMoments moments{};
  moments.log_count = log_rest_count(top);
  if (std::isinf(moments.log_count)) return moments;
  std::array<SphereTilt, 4> tilts{};
  for (int p = 0; p < 4; ++p) {
    tilts[p] = rest_.moments(top.depths.back(), (p + 1) * inverse_temperature);
  }
  std::array<double, kSums> one{};  // of one key
  for (std::size_t a = 0; a < kSums; ++a) {
    one[a] = log_mean_of(kTerms[a], tilts);
    moments.log_mean[a] = moments.log_count + one[a];
  }
  for (std::size_t a = 0; a < kSums; ++a) {
    for (std::size_t b = 0; b < kSums; ++b) {
      const double log_ratio = log_mean_of(product(kTerms[a], kTerms[b]), tilts) - one[a] - one[b];
      moments.covariance[a][b] = relative_covariance(log_ratio, moments.log_count);
    }
  }
  return moments;
}

void SphereOutput::add_rest(OutputSample& sample, const TopScores& top, double beta,
                            const Stream& stream) const {
  const OutputRestMoments moments = rest_moments(top, beta);
  if (std::isinf(moments.log_count)) return;
  const double log_cut_weight =
      -beta * (top.depths.back() - top.depths.front()) - sample.softmax.log_relative_partition;
  const SineSums rest = rest_sines(moments, log_cut_weight, stream);
  sample.sine_square += rest.first;
  sample.expected_across += rest.second;
  std::vector<double> normals(sample.across.size());
  stream.normals(kFirstRestAcross, normals);
  for (std::size_t c = 0; c < normals.size(); ++c) {
    sample.across[c] += std::sqrt(rest.second / (dimension_ - 1)) * normals[c];
  }
  sample.exchange = std::exp(moments.log_mean[1] + 3.0 * log_cut_weight);
}

void SphereOutput::add_top(OutputSample& sample, const TopScores& top, double beta,
                           const Stream& stream) const {
  for (std::size_t i = 0; i < top.depths.size(); ++i) {
    const double weight = std::exp(-beta * (top.depths[i] - top.depths.front()) -
                                   sample.softmax.log_relative_partition);
    const double square = top.depths[i] * (2.0 - top.depths[i]);
    const std::vector<double> omega = direction(i, stream);
    for (std::size_t c = 0; c < omega.size(); ++c) {
      sample.across[c] += weight * std::sqrt(square) * omega[c];
    }
    sample.weights.push_back(weight);
    sample.sine_square += weight * square;
    sample.expected_across += weight * weight * square;
  }
}

OutputSample SphereOutput::weigh(const TopScores& top, double inverse_temperature,
                                 const Stream& stream) const {
  OutputSample sample{};
  sample.softmax = weigh_top_scores(law_, top, inverse_temperature, stream);
  sample.entropy =
      sample.softmax.log_relative_partition + inverse_temperature * sample.softmax.mean_gap;
  sample.radial_gap = top.depths.front() + sample.softmax.mean_gap;
  sample.across.resize(static_cast<std::size_t>(dimension_ - 1));
  add_top(sample, top, inverse_temperature, stream);
  add_rest(sample, top, inverse_temperature, stream);
  for (const double coordinate : sample.across) sample.across_square += coordinate * coordinate;
  return sample;
}

}  // namespace dewpoint::scores
