#include "dewpoint/core/centred_cloud.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/token_cloud.hpp"

namespace dewpoint {
namespace {

// Inner product with eight partial sums, so that the compiler may use vectors.
template <class T>
T inner(const T* a, const T* b, std::size_t n) {
  std::array<T, 8> part{};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    for (std::size_t l = 0; l < 8; ++l) part[l] += a[k + l] * b[k + l];
  }
  for (; k < n; ++k) part[0] += a[k] * b[k];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

template <class T>
std::vector<double> column_means(MatrixView<const T> rows) {
  std::vector<double> mean(rows.cols(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const T* row = rows.data() + i * rows.stride();
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += static_cast<double>(row[k]);
  }
  for (double& m : mean) m /= static_cast<double>(rows.rows());
  return mean;
}

// Makes the mean of the points centre + offsets_i their centre: products of offsets then have no
// common part to be rounded again and again.
void move_to_mean(std::vector<double>& centre, Matrix<float>& offsets) {
  const std::vector<double> mean = column_means<float>(offsets.view());
  const std::vector<float> shift(mean.begin(), mean.end());
  for (std::size_t k = 0; k < centre.size(); ++k) centre[k] += static_cast<double>(shift[k]);
  for (std::size_t i = 0; i < offsets.rows(); ++i) {
    float* row = offsets.data() + i * shift.size();
    for (std::size_t k = 0; k < shift.size(); ++k) row[k] -= shift[k];
  }
}

// Divides by the length; returns the length. A zero vector is left alone.
double normalise(std::vector<double>& v) {
  const double length = std::sqrt(inner(v.data(), v.data(), v.size()));
  if (length > 0.0) {
    for (double& x : v) x /= length;
  }
  return length;
}

template <class T>
std::pair<std::vector<double>, Matrix<float>> offsets_of_deviations(
    std::span<const double> base, MatrixView<const T> deviations) {
  const std::size_t d = deviations.cols();
  const std::vector<double> mean = column_means(deviations);
  std::vector<double> centre(d);
  for (std::size_t k = 0; k < d; ++k) centre[k] = base[k] + mean[k];
  const T c = static_cast<T>(normalise(centre));
  const std::vector<T> shift(mean.begin(), mean.end());
  const std::vector<T> u(centre.begin(), centre.end());

  Matrix<float> offsets(deviations.rows(), d);
  std::vector<T> deviation(d);
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    const T* row = deviations.data() + i * deviations.stride();
    for (std::size_t k = 0; k < d; ++k) deviation[k] = row[k] - shift[k];
    const T excess = T{2} * c * inner(deviation.data(), u.data(), d) +
                     inner(deviation.data(), deviation.data(), d);
    const T length = std::sqrt(std::max(c * c + excess, T{0}));
    const T pull = -excess / (c + length);
    const T scale = T{1} / length;
    float* out = offsets.data() + i * d;
    for (std::size_t k = 0; k < d; ++k) {
      out[k] = static_cast<float>((deviation[k] + pull * u[k]) * scale);
    }
  }
  move_to_mean(centre, offsets);
  return {std::move(centre), std::move(offsets)};
}

}  // namespace

TokenCloud split_norms(Matrix<double> tokens) {
  TokenCloud cloud;
  cloud.norms.resize(tokens.rows());
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    const auto row = tokens.row(i);
    cloud.norms[i] = std::sqrt(inner(row.data(), row.data(), row.size()));
    for (double& x : row) x /= cloud.norms[i];
  }
  cloud.directions = std::move(tokens);
  return cloud;
}

void set_unit_norms(TokenCloud& cloud) { std::fill(cloud.norms.begin(), cloud.norms.end(), 1.0); }

CentredCloud::CentredCloud(std::vector<double> centre, Matrix<float> offsets)
    : centre_(std::move(centre)),
      offsets_(std::move(offsets)),
      half_squares_(padded(offsets_.rows()), kFarGap) {
  const std::size_t d = dimension();
  std::vector<double> wide(d);
  for (std::size_t i = 0; i < size(); ++i) {
    std::copy_n(offsets_.data() + i * d, d, wide.begin());
    half_squares_[i] = static_cast<float>(0.5 * inner(wide.data(), wide.data(), d));
  }
}

CentredCloud CentredCloud::of_unit_vectors(MatrixView<const double> rows) {
  std::vector<double> centre = column_means(rows);
  Matrix<float> offsets(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      offsets(i, k) = static_cast<float>(rows(i, k) - centre[k]);
    }
  }
  return {std::move(centre), std::move(offsets)};
}

CentredCloud CentredCloud::of_deviations(std::span<const double> base,
                                         MatrixView<const float> deviations) {
  auto [centre, offsets] = offsets_of_deviations(base, deviations);
  return {std::move(centre), std::move(offsets)};
}

CentredCloud CentredCloud::of_deviations(std::span<const double> base,
                                         MatrixView<const double> deviations) {
  auto [centre, offsets] = offsets_of_deviations(base, deviations);
  return {std::move(centre), std::move(offsets)};
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

float CentredCloud::resolution() const {
  // A gap is the difference of two numbers of the size of the largest ½‖o‖², each rounded a few
  // times on its way through a product of length d.
  const float largest = *std::max_element(
      half_squares_.begin(), half_squares_.begin() + static_cast<std::ptrdiff_t>(size()));
  return 8.0F * std::numeric_limits<float>::epsilon() * largest;
}

double CentredCloud::mean_gap() const {
  std::vector<double> sum(dimension(), 0.0);
  double squares = 0.0;
  for (std::size_t i = 0; i < size(); ++i) {
    const float* row = offsets_.data() + i * dimension();
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const auto x = static_cast<double>(row[k]);
      sum[k] += x;
      squares += x * x;
    }
  }
  // Σ_{i<j} ½‖o_i − o_j‖² = ½ (n Σ‖o‖² − ‖Σo‖²)
  const auto n = static_cast<double>(size());
  return (n * squares - inner(sum.data(), sum.data(), sum.size())) / (n * (n - 1.0));
}

}  // namespace dewpoint
