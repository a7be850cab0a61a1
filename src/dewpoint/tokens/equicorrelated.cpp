#include "dewpoint/tokens/equicorrelated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::tokens {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// Streams differ between dimensions, so that panels for several d are independent; they do not
// depend on n, so that a larger cloud contains the smaller one.
std::string stream_name(const char* what, std::size_t d) {
  return std::string("tokens/") + what + "/d=" + std::to_string(d);
}

std::vector<double> draw_common(std::size_t d, Common common, std::uint64_t seed,
                                std::uint64_t replica) {
  std::vector<double> z(d);
  Stream(seed, stream_name("common", d), replica).normals(0, z);
  const double length =
      common == Common::fixed ? std::sqrt(dot(z, z)) : std::sqrt(static_cast<double>(d));
  for (double& x : z) x /= length;
  return z;
}

// z_i of some tokens.
Matrix<double> draw_noise(Range tokens, std::size_t d, std::uint64_t seed, std::uint64_t replica) {
  Matrix<double> z(tokens.size(), d);
  Stream(seed, stream_name("noise", d), replica).normals(tokens.begin * d, {z.data(), z.size()});
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  for (std::size_t k = 0; k < z.size(); ++k) z.data()[k] *= scale;
  return z;
}

// √ρ z_0 + √(1−ρ) z_i; `tokens` holds z_i and is used up.
TokenCloud mixed(Matrix<double> tokens, std::span<const double> common, double rho, Norm norm) {
  const double shared = std::sqrt(rho);
  const double own = std::sqrt(1.0 - rho);
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    const auto x = tokens.row(i);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = shared * common[k] + own * x[k];
  }
  TokenCloud cloud = split_norms(std::move(tokens));
  set_norms(cloud, norm);
  return cloud;
}

}  // namespace

void set_norms(TokenCloud& cloud, Norm norm) {
  if (norm == Norm::unit) set_unit_norms(cloud);
  if (norm == Norm::gauss) {
    for (double& r : cloud.norms) r *= std::sqrt(static_cast<double>(cloud.dimension()));
  }
}

TokenCloud equicorrelated_block(Range tokens, std::size_t d, const EquicorrelatedLaw& law,
                                std::uint64_t seed, std::uint64_t replica) {
  return mixed(draw_noise(tokens, d, seed, replica), draw_common(d, law.common, seed, replica),
               law.rho, law.norm);
}

EquicorrelatedNoise::EquicorrelatedNoise(std::size_t n, std::size_t d, Common common,
                                         std::uint64_t seed, std::uint64_t replica)
    : noise_(draw_noise({0, n}, d, seed, replica)),
      common_(draw_common(d, common, seed, replica)),
      common_square_(dot(common_, common_)),
      squares_(n),
      projections_(n),
      noise32_(n, d) {
  for (std::size_t k = 0; k < noise_.size(); ++k) {
    noise32_.data()[k] = static_cast<float>(noise_.data()[k]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    squares_[i] = dot(noise_.row(i), noise_.row(i));
    projections_[i] = dot(noise_.row(i), common_);
  }
}

void EquicorrelatedNoise::keep_gram() {
  if (size() > kKeptGram || gram_.size() > 0) return;
  gram_ = Matrix<float>(size(), size());
  multiply_abt(noise32_, noise32_, gram_);
}

TokenCloud EquicorrelatedNoise::cloud(double rho, Norm norm) const {
  return mixed(noise_, common_, rho, norm);
}

void EquicorrelatedNoise::gram(Range rows, Range cols, MatrixView<float> out) const {
  if (gram_.size() == 0) {
    multiply_abt(noise32_.view().row_range(rows), noise32_.view().row_range(cols), out);
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(gram_.row(rows.begin + i).data() + cols.begin, cols.size(), out.row(i).data());
  }
}

EquicorrelatedGaps::EquicorrelatedGaps(const EquicorrelatedNoise& noise, double rho)
    : noise_(noise),
      twice_noise_(static_cast<float>(2.0 * (1.0 - rho))),
      square_(noise.size()),
      excess_(noise.size()),
      inverse_(noise.size()) {
  std::vector<double> radius(noise.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < radius.size(); ++i) {
    radius[i] = std::sqrt(rho * noise.common_square() +
                          2.0 * std::sqrt(rho * (1.0 - rho)) * noise.projections()[i] +
                          (1.0 - rho) * noise.squares()[i]);
    mean += radius[i] / static_cast<double>(radius.size());
  }
  for (std::size_t i = 0; i < radius.size(); ++i) {
    square_[i] = static_cast<float>((1.0 - rho) * noise.squares()[i]);
    excess_[i] = static_cast<float>(radius[i] - mean);
    inverse_[i] = static_cast<float>(1.0 / (std::sqrt(2.0) * radius[i]));
  }
}

void EquicorrelatedGaps::gaps(Range rows, Range cols, MatrixView<float> out) const {
  noise_.gram(rows, cols, out);
  const float* square = square_.data() + cols.begin;
  const float* excess = excess_.data() + cols.begin;
  const float* inverse = inverse_.data() + cols.begin;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* line = out.data() + i * out.stride();
    const float own_square = square_[rows.begin + i];
    const float own_excess = excess_[rows.begin + i];
    const float own_inverse = inverse_[rows.begin + i];
    for (std::size_t j = 0; j < cols.size(); ++j) {
      const float distance = own_square + square[j] - twice_noise_ * line[j];
      const float radial = own_excess - excess[j];
      line[j] = std::max((distance - radial * radial) * (own_inverse * inverse[j]), 0.0F);
    }
  }
  for (std::size_t t = std::max(rows.begin, cols.begin); t < std::min(rows.end, cols.end); ++t) {
    out(t - rows.begin, t - cols.begin) = 0.0F;
  }
}

float EquicorrelatedGaps::resolution() const {
  // A gap comes from the difference of numbers of the size of (1−ρ)‖z‖²/r², each rounded a few
  // times.
  float largest = 0.0F;
  for (std::size_t i = 0; i < square_.size(); ++i) {
    largest = std::max(largest, square_[i] * inverse_[i] * inverse_[i]);
  }
  return 8.0F * std::numeric_limits<float>::epsilon() * largest;
}

}  // namespace dewpoint::tokens
