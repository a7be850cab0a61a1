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

  // Gaps of this strip, kFarGap where a token meets itself and in the padding.
  [[nodiscard]] MatrixView<const float> gaps() const { return gaps_.view().row_range({0, rows_}); }

  // Weights of this strip at γ, padded, and the moments of their rows. γ must not decrease between
  // starts.
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
    return view(weights_);
  }

 private:
  MatrixView<const float> fresh(double gamma, std::span<RowMoments> moments) {
    kernels::exp_gaps(view(gaps_), beta(gamma), view(weights_));
    kernels::row_moments(view(weights_), view(gaps_), moments);
    return view(weights_);
  }
  [[nodiscard]] float beta(double gamma) const {
    return kernel_inverse_temperature(gamma * log_n_);
  }
  MatrixView<float> view(Matrix<float>& m) const { return m.view().row_range({0, rows_}); }

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

// Turns sums Σ_{j≠i} w_ij o_j of a strip into μ_i = Σ_j A_ij o_j, in place: adds each token's
// weight 1 on itself, which the strips leave out (see layer.cpp).
void finish_strip(const CentredCloud& cloud, Range rows, MatrixView<float> sums,
                  std::span<RowMoments> moments) {
  const std::size_t d = sums.cols();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    moments[i] += {1.0, 0.0, 0.0, 1.0};
    const auto share = static_cast<float>(1.0 / moments[i].partition);
    const float* self = cloud.offsets().data() + (rows.begin + i) * d;
    float* row = sums.data() + i * d;
    for (std::size_t k = 0; k < d; ++k) row[k] = (row[k] + self[k]) * share;
  }
}

void add(const Matrix<float>& part, Matrix<float>& total) {
  for (std::size_t k = 0; k < total.size(); ++k) total.data()[k] += part.data()[k];
}

// One cell while its strips come in.
struct OpenCell {
  Matrix<float> mixed;
  std::vector<RowMoments> moments;
  std::optional<JacobianNormSum> norm;
  std::vector<NormRow> norm_rows;
};

class Sweep {
 public:
  Sweep(const CentredCloud& cloud, std::span<const double> gammas, const NormGeometry* geometry)
      : cloud_(cloud), gammas_(gammas), order_(ascending_order(gammas)) {
    const std::size_t n = cloud.size();
    tokens_.resize(n);
    std::iota(tokens_.begin(), tokens_.end(), std::size_t{0});
    const double strips = std::ceil(static_cast<double>(n) / static_cast<double>(kStrip));
    for (const double gamma : gammas) {
      cells_.push_back({Matrix<float>(n, cloud.dimension()), std::vector<RowMoments>(n), {}, {}});
      if (geometry == nullptr) continue;
      cells_.back().norm.emplace(*geometry, gamma * std::log(static_cast<double>(n)), strips);
    }
  }

  void run(const GapSource& gaps, const RunContext& context) {
    Climber climber(cloud_.size());
    for (std::size_t begin = 0; begin < cloud_.size(); begin += kStrip) {
      const Range rows{begin, std::min(cloud_.size(), begin + kStrip)};
      climber.start(gaps, rows);
      for (const std::size_t g : order_) {
        context.throw_if_stopped();
        add_strip(rows, climber, gammas_[g], cells_[g]);
      }
    }
  }

  // The outputs of cell g; gives its memory back.
  SweepCell close(std::size_t g, std::span<const double> base, const Matrix<float>* residual) {
    OpenCell cell = std::move(cells_[g]);
    if (residual != nullptr) add(*residual, cell.mixed);
    std::optional<JacobianNorm> norm;
    if (cell.norm) {
      norm = jacobian_norm_of(cell.norm_rows, cell.norm->columns(), cloud_.dimension());
    }
    return {gammas_[g], CentredCloud::of_deviations(base, cell.mixed.view()),
            std::move(cell.moments), std::move(norm)};
  }

 private:
  void add_strip(Range rows, Climber& climber, double gamma, OpenCell& cell) {
    const auto moments = std::span(cell.moments).subspan(rows.begin, rows.size());
    const auto mixed = cell.mixed.view().row_range(rows);
    const auto weights = climber.climb(gamma, moments);
    multiply_ab(weights.block({0, rows.size()}, {0, cloud_.size()}), cloud_.offsets(), mixed);
    finish_strip(cloud_, rows, mixed, moments);
    if (!cell.norm) return;
    const auto added = cell.norm->add({std::span(tokens_).subspan(rows.begin, rows.size()),
                                       climber.gaps(), weights, moments, mixed},
                                      workspace_);
    cell.norm_rows.insert(cell.norm_rows.end(), added.begin(), added.end());
  }

  const CentredCloud& cloud_;
  std::span<const double> gammas_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> tokens_;  // 0, 1, ..., n − 1
  std::vector<OpenCell> cells_;
  NormWorkspace workspace_;
};

}  // namespace

std::optional<int> rung(double gamma) {
  const double k = gamma * kRungsPerGamma;
  if (k != std::floor(k) || k < 0.0 || k > 1e6) return std::nullopt;
  return static_cast<int>(k);
}

std::vector<SweepCell> sweep(const TokenCloud& tokens, const GapSource& gaps,
                             std::span<const double> gammas, const SweepOptions& options,
                             const RunContext& context) {
  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  std::optional<NormGeometry> geometry;
  if (options.norm) geometry.emplace(cloud, tokens.norms, *options.norm);
  Sweep run(cloud, gammas, geometry ? &*geometry : nullptr);
  run.run(gaps, context);

  std::vector<double> base = cloud.centre();
  Matrix<float> residual;
  if (options.residual != 0.0) {
    const std::vector<double> mean_token = mean_of_tokens(tokens);
    for (std::size_t k = 0; k < base.size(); ++k) base[k] += options.residual * mean_token[k];
    residual = residual_part(tokens, options.residual, mean_token);
  }
  std::vector<SweepCell> cells;
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    cells.push_back(run.close(g, base, options.residual == 0.0 ? nullptr : &residual));
  }
  return cells;
}

}  // namespace dewpoint::attention
