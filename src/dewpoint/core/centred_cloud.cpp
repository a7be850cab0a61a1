#include "dewpoint/core/centred_cloud.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/token_cloud.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint {
namespace {

std::vector<double> column_means(MatrixView<const float> rows) {
  std::vector<double> mean(rows.cols(), 0.0);
  kernels::add_columns(rows, mean);
  for (double& m : mean) m /= static_cast<double>(rows.rows());
  return mean;
}

// A vector as direction and length; a zero vector keeps the direction 0.
struct Polar {
  std::vector<double> direction;
  double length;
};

Polar polar(std::span<const double> base, const std::vector<double>& mean) {
  Polar v{mean, 0.0};
  for (std::size_t k = 0; k < mean.size(); ++k) v.direction[k] += base[k];
  v.length = std::sqrt(inner(v.direction, v.direction));
  for (double& x : v.direction) x = v.length > 0.0 ? x / v.length : 0.0;
  return v;
}

// Squares of coordinates neither overflow nor are lost to underflow where their sum lies here.
bool square_is_safe(double square) { return square > 0x1p-900 && square < 0x1p900; }

// 2^e is the size of the largest coordinate.
int largest_exponent(std::span<const double> row) {
  double largest = 0.0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  return std::ilogb(largest);
}

void shift_exponents(std::span<double> row, int by) {
  for (double& x : row) x = std::ldexp(x, by);
}

std::vector<float> to_float(const std::vector<double>& v) { return {v.begin(), v.end()}; }

}  // namespace

TokenCloud split_norms(Matrix<double> tokens) {
  TokenCloud cloud;
  cloud.norms.resize(tokens.rows());
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    const auto row = tokens.row(i);
    const int scale = square_is_safe(inner(row, row)) ? 0 : largest_exponent(row);
    if (scale != 0) shift_exponents(row, -scale);
    const double norm = std::sqrt(inner(row, row));
    for (double& x : row) x /= norm;
    cloud.norms[i] = std::ldexp(norm, scale);
  }
  cloud.directions = std::move(tokens);
  return cloud;
}

void set_unit_norms(TokenCloud& cloud) { std::fill(cloud.norms.begin(), cloud.norms.end(), 1.0); }

// Moves the centre to the mean of the points: products of offsets then have no common part that is
// rounded again and again.
CentredCloud::CentredCloud(std::vector<double> centre, Matrix<float> offsets)
    : centre_(std::move(centre)),
      offsets_(std::move(offsets)),
      half_squares_(padded(offsets_.rows()), kFarGap) {
  const std::vector<float> shift = to_float(column_means(offsets_.view()));
  for (std::size_t k = 0; k < shift.size(); ++k) centre_[k] += static_cast<double>(shift[k]);
  kernels::recentre_rows(offsets_, shift, half_squares_);
}

CentredCloud CentredCloud::of_unit_vectors(MatrixView<const double> rows) {
  std::vector<double> centre = column_means(rows);
  Matrix<float> offsets(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto from = rows.row(i);
    const auto to = offsets.row(i);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<float>(from[k] - centre[k]);
  }
  return {std::move(centre), std::move(offsets)};
}

CentredCloud CentredCloud::of_deviations(std::span<const double> base,
                                         MatrixView<const float> deviations) {
  const std::vector<double> mean = column_means(deviations);
  Polar v = polar(base, mean);
  Matrix<float> offsets(deviations.rows(), deviations.cols());
  kernels::normalise_rows(deviations, to_float(mean), to_float(v.direction),
                          static_cast<float>(v.length), offsets);
  return {std::move(v.direction), std::move(offsets)};
}

CentredCloud CentredCloud::of_deviations(std::span<const double> base,
                                         MatrixView<const double> deviations) {
  const std::vector<double> mean = column_means(deviations);
  Polar v = polar(base, mean);
  const double c = v.length;
  Matrix<float> offsets(deviations.rows(), deviations.cols());
  std::vector<double> deviation(mean.size());
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) deviation[k] = deviations(i, k) - mean[k];
    const double excess = 2.0 * c * inner(deviation, v.direction) + inner(deviation, deviation);
    const double length = std::sqrt(std::max(c * c + excess, 0.0));
    if (!(length > 0.0)) return {};
    const double pull = -excess / (c + length);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      offsets(i, k) = static_cast<float>((deviation[k] + pull * v.direction[k]) / length);
    }
  }
  return {std::move(v.direction), std::move(offsets)};
}

CentredCloud CentredCloud::subset(std::span<const std::size_t> rows) const {
  Matrix<float> offsets(rows.size(), dimension());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(offsets_.row(rows[i]).data(), dimension(), offsets.row(i).data());
  }
  return {centre_, std::move(offsets)};
}

void CentredCloud::gaps(Range rows, Range cols, MatrixView<float> out) const {
  multiply_abt(offsets().row_range(rows), offsets().row_range(cols), out);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* line = out.data() + i * out.stride();
    const float own = half_squares_[rows.begin + i];
    const float* other = half_squares_.data() + cols.begin;
    for (std::size_t j = 0; j < cols.size(); ++j)
      line[j] = std::max(own + other[j] - line[j], 0.0F);
  }
  for (std::size_t t = std::max(rows.begin, cols.begin); t < std::min(rows.end, cols.end); ++t) {
    out(t - rows.begin, t - cols.begin) = 0.0F;
  }
}

float CentredCloud::near_gap(std::size_t i, std::size_t j) const {
  const auto a = offsets_.row(i), b = offsets_.row(j);
  float sum = 0.0F;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return 0.5F * sum;
}

float CentredCloud::resolution() const {
  // A gap is the difference of two numbers of the size of the largest ½‖o‖², each rounded a few
  // times on its way through a product of length d.
  const float largest = *std::max_element(
      half_squares_.begin(), half_squares_.begin() + static_cast<std::ptrdiff_t>(size()));
  return 8.0F * std::numeric_limits<float>::epsilon() * largest;
}

double CentredCloud::mean_gap() const {
  // Σ_{i<j} ½‖o_i − o_j‖² = ½ (n Σ‖o‖² − ‖Σo‖²), and Σo = 0 since the centre is the mean.
  double halves = 0.0;
  for (std::size_t i = 0; i < size(); ++i) halves += static_cast<double>(half_squares_[i]);
  return 2.0 * halves / (static_cast<double>(size()) - 1.0);
}

}  // namespace dewpoint
