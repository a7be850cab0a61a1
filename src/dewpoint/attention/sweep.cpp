#include "dewpoint/attention/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/core/blas.hpp"

namespace dewpoint::attention {
namespace {

// Rows per strip: enough for BLAS to reach its speed; weights, gaps and factor of a strip
// (3 · 256 · n floats) stay in the last-level cache up to n of a few thousand.
constexpr std::size_t kStrip = 256;

Matrix<float> padded_strip(std::size_t n) { return {kStrip, padded(n)}; }

// A strip of weights that climbs the ladder.
class Climber {
 public:
  Climber(std::size_t n) : n_(n), log_n_(std::log(static_cast<double>(n))) {}

  void start(const GapSource& source, Range rows) {
    rows_ = rows.size();
    const MatrixView<float> gaps = view(gaps_);
    source.gaps(rows, {0, n_}, gaps.block({0, rows_}, {0, n_}));
    for (std::size_t i = 0; i < rows_; ++i) {
      gaps(i, rows.begin + i) = kFarGap;  // the token itself is added in finish_rows
      std::fill(gaps_.row(i).begin() + static_cast<std::ptrdiff_t>(n_), gaps_.row(i).end(),
                kFarGap);
    }
    kernels::exp_gaps(gaps, beta(1.0 / kRungsPerGamma), view(factor_));
    at_ = kNowhere;
  }

  // Weights of this strip at γ, and the moments of their rows. γ must not decrease between starts.
  MatrixView<const float> climb(double gamma, std::span<RowMoments> moments) {
    const std::optional<int> target = rung(gamma);
    if (!target) {
      at_ = kNowhere;
      return fresh(gamma, moments);
    }
    const int anchor = *target - *target % kRungsPerAnchor;
    if (at_ < anchor || at_ > *target) {
      kernels::exp_gaps(view(gaps_), beta(static_cast<double>(anchor) / kRungsPerGamma),
                        view(weights_));
      at_ = anchor;
    }
    for (; at_ + 1 < *target; ++at_) kernels::multiply(view(weights_), view(factor_));
    if (at_ < *target) {
      kernels::multiply_with_moments(view(weights_), view(factor_), view(gaps_), moments);
      ++at_;
    } else {
      kernels::row_moments(view(weights_), view(gaps_), moments);
    }
    return real(weights_);
  }

 private:
  MatrixView<const float> fresh(double gamma, std::span<RowMoments> moments) {
    kernels::exp_gaps(view(gaps_), beta(gamma), view(weights_));
    kernels::row_moments(view(weights_), view(gaps_), moments);
    return real(weights_);
  }
  [[nodiscard]] float beta(double gamma) const {
    return kernel_inverse_temperature(gamma * log_n_);
  }
  MatrixView<float> view(Matrix<float>& m) const { return m.view().row_range({0, rows_}); }
  MatrixView<const float> real(const Matrix<float>& m) const {
    return m.view().block({0, rows_}, {0, n_});
  }

  static constexpr int kNowhere = -1;

  std::size_t n_;
  double log_n_;
  std::size_t rows_ = 0;
  int at_ = kNowhere;  // the rung that weights_ stands on
  Matrix<float> gaps_ = padded_strip(n_);
  Matrix<float> factor_ = padded_strip(n_);
  Matrix<float> weights_ = padded_strip(n_);
};

std::vector<std::size_t> ascending_order(std::span<const double> gammas) {
  std::vector<std::size_t> order(gammas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gammas[a] < gammas[b]; });
  return order;
}

// α (x_i − mean x), the part of the output that no temperature changes.
Matrix<float> residual_part(const TokenCloud& tokens, double alpha,
                            const std::vector<double>& mean_token) {
  Matrix<float> part(tokens.size(), tokens.dimension());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t k = 0; k < tokens.dimension(); ++k) {
      const double x = tokens.norms[i] * tokens.directions(i, k);
      part(i, k) = static_cast<float>(alpha * (x - mean_token[k]));
    }
  }
  return part;
}

// Adds each token's weight 1 on itself, which the strips leave out (see layer.cpp), and turns sums
// Σ_{j≠i} w_ij o_j into deviations of x'_i, in place.
void finish_rows(const CentredCloud& cloud, const Matrix<float>* residual, Matrix<float>& sums,
                 std::vector<RowMoments>& moments) {
  const std::size_t d = sums.cols();
  for (std::size_t i = 0; i < sums.rows(); ++i) {
    moments[i] += {1.0, 0.0, 0.0, 1.0};
    const auto share = static_cast<float>(1.0 / moments[i].partition);
    const float* self = cloud.offsets().data() + i * d;
    float* row = sums.data() + i * d;
    for (std::size_t k = 0; k < d; ++k) row[k] = (row[k] + self[k]) * share;
    if (residual == nullptr) continue;
    const float* extra = residual->data() + i * d;
    for (std::size_t k = 0; k < d; ++k) row[k] += extra[k];
  }
}

}  // namespace

std::optional<int> rung(double gamma) {
  const double k = gamma * kRungsPerGamma;
  if (k != std::floor(k) || k < 0.0 || k > 1e6) return std::nullopt;
  return static_cast<int>(k);
}

std::vector<SweepCell> sweep(const TokenCloud& tokens, const GapSource& gaps,
                             std::span<const double> gammas, double residual,
                             const RunContext& context) {
  const std::size_t n = tokens.size();
  const std::size_t d = tokens.dimension();
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  const std::vector<std::size_t> order = ascending_order(gammas);

  std::vector<Matrix<float>> sums(gammas.size(), Matrix<float>(n, d));
  std::vector<std::vector<RowMoments>> moments(gammas.size(), std::vector<RowMoments>(n));
  Climber climber(n);
  for (std::size_t begin = 0; begin < n; begin += kStrip) {
    const Range rows{begin, std::min(n, begin + kStrip)};
    climber.start(gaps, rows);
    for (const std::size_t g : order) {
      context.throw_if_stopped();
      const auto weights =
          climber.climb(gammas[g], std::span(moments[g]).subspan(begin, rows.size()));
      multiply_ab(weights, cloud.offsets(), sums[g].view().row_range(rows));
    }
  }

  std::vector<double> base = cloud.centre();
  Matrix<float> extra;
  if (residual != 0.0) {
    const std::vector<double> mean_token = mean_of_tokens(tokens);
    for (std::size_t k = 0; k < d; ++k) base[k] += residual * mean_token[k];
    extra = residual_part(tokens, residual, mean_token);
  }
  std::vector<SweepCell> cells;
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    finish_rows(cloud, residual == 0.0 ? nullptr : &extra, sums[g], moments[g]);
    cells.push_back(
        {gammas[g], CentredCloud::of_deviations(base, sums[g].view()), std::move(moments[g])});
    sums[g] = {};
  }
  return cells;
}

}  // namespace dewpoint::attention
