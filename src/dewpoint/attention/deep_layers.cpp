#include "dewpoint/attention/deep_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A gap of this share of ½‖e_i‖² + ½‖e_j‖² has lost four bits to cancellation.
constexpr double kCancelled = 1.0 / 16.0;

// Below this a, the relative error aΔ/2 of expm1(−aΔ) ≈ −aΔ is less than rounding: Δ ≤ 8.
constexpr double kLinear = 0x1p-56;

// 2^exponent; 0 below the range of doubles.
double power_of_two(double exponent) {
  return std::ldexp(1.0, static_cast<int>(std::clamp(exponent, -4000.0, 4000.0)));
}

double half_square_distance(std::span<const double> a, std::span<const double> b) {
  std::array<double, 4> part{};
  std::size_t k = 0;
  for (; k + 4 <= a.size(); k += 4) {
    for (std::size_t l = 0; l < 4; ++l) part[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
  }
  for (; k < a.size(); ++k) part[0] += (a[k] - b[k]) * (a[k] - b[k]);
  return 0.5 * ((part[0] + part[1]) + (part[2] + part[3]));
}

// A vector as direction and length; the direction of 0 is 0.
struct Polar {
  std::vector<double> direction;
  double length;
};

Polar polar(std::vector<double> v) {
  const double length = std::sqrt(inner(v, v));
  for (double& x : v) x = length > 0.0 ? x / length : 0.0;
  return {std::move(v), length};
}

// ‖v + scale · d‖
double length_of_sum(std::span<const double> v, double scale, std::span<const double> d) {
  double square = 0.0;
  for (std::size_t k = 0; k < v.size(); ++k) {
    const double coordinate = v[k] + scale * d[k];
    square += coordinate * coordinate;
  }
  return std::sqrt(square);
}

std::size_t strip_count(std::size_t n) { return (n + kDeepStrip - 1) / kDeepStrip; }

Range strip_range(std::size_t strip, std::size_t n) {
  return {strip * kDeepStrip, std::min(n, (strip + 1) * kDeepStrip)};
}

}  // namespace

// ---- tokens ---------------------------------------------------------------------------------

DeepTokens::DeepTokens(const TokenCloud& tokens) {
  const std::vector<double> origin(tokens.dimension(), 0.0);
  *this = of_deviations(origin, tokens.directions, 0.0, tokens.norms);
  norms_ = tokens.norms;
}

DeepTokens DeepTokens::of_deviations(std::span<const double> base, Matrix<double> deviations,
                                     double exponent, std::vector<double> lengths) {
  DEWPOINT_EXPECTS(deviations.rows() > 0 && lengths.size() == deviations.rows());
  DEWPOINT_EXPECTS(base.size() == deviations.cols());
  const double scale = power_of_two(exponent);
  const std::vector<double> mean = column_means(deviations);
  std::vector<double> v(base.begin(), base.end());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] += scale * mean[k];
  auto [u, c] = polar(v);

  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    const auto row = deviations.row(i);
    for (std::size_t k = 0; k < v.size(); ++k) row[k] -= mean[k];
    const double m = length_of_sum(v, scale, row);
    if (m == 0.0) {
      throw Error(Code::bad_value,
                  fmt::format("layer: token {} becomes 0, which has no direction", i));
    }
    const double excess = 2.0 * c * inner(row, u) + scale * inner(row, row);
    for (std::size_t k = 0; k < v.size(); ++k) row[k] = (row[k] - excess / (c + m) * u[k]) / m;
    lengths[i] *= m;
  }

  DeepTokens tokens;
  tokens.centre_ = std::move(u);
  tokens.offsets_ = std::move(deviations);
  tokens.norms_ = std::move(lengths);
  tokens.exponent_ = exponent;
  tokens.settle();
  return tokens;
}

// Moves a power of two from the offsets to the exponent, so that the longest is about 1.
void DeepTokens::settle() {
  double longest = 0.0;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    longest = std::max(longest, std::abs(offsets_.data()[i]));
  }
  const int shift = longest > 0.0 ? std::ilogb(longest) : 0;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    offsets_.data()[i] = std::ldexp(offsets_.data()[i], -shift);
  }
  exponent_ = std::max(exponent_ + shift, kLeastExponent);
  half_squares_.resize(size());
  for (std::size_t i = 0; i < size(); ++i) {
    half_squares_[i] = 0.5 * inner(offsets_.row(i), offsets_.row(i));
  }
  largest_half_square_ = *std::max_element(half_squares_.begin(), half_squares_.end());
}

double DeepTokens::log_gap(std::size_t i, std::size_t j) const {
  const double gap = half_square_distance(offsets_.row(i), offsets_.row(j));
  return std::log(gap) + 2.0 * std::numbers::ln2 * exponent_;
}

void DeepTokens::gaps(Range rows, Range cols, MatrixView<double> out) const {
  multiply_abt(offsets().row_range(rows), offsets().row_range(cols), out);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto line = out.row(i);
    const double own = half_squares_[rows.begin + i];
    for (std::size_t j = 0; j < line.size(); ++j) {
      const double both = own + half_squares_[cols.begin + j];
      line[j] = both - line[j];
      if (line[j] < kCancelled * both) {
        line[j] = half_square_distance(offsets_.row(rows.begin + i), offsets_.row(cols.begin + j));
      }
    }
  }
}

TokenCloud DeepTokens::cloud() const {
  const double scale = power_of_two(exponent_);
  TokenCloud cloud{Matrix<double>(size(), dimension()), norms_};
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t k = 0; k < dimension(); ++k) {
      cloud.directions(i, k) = centre_[k] + scale * offsets_(i, k);
    }
  }
  return cloud;
}

// ---- one layer ------------------------------------------------------------------------------

namespace {

// What a row of weights adds up to: plain weights exp(−aΔ), or Q/a.
struct RowTotal {
  bool plain;
  double total;
};

// One layer on its way: everything that does not depend on the row.
class LayerStep {
 public:
  LayerStep(const DeepTokens& tokens, const Layer& parameters, const Mask& mask)
      : tokens_(&tokens), mask_(&mask), mean_(column_means(tokens.offsets())) {
    DEWPOINT_EXPECTS(parameters.inverse_temperature >= 0.0 && parameters.residual >= 0.0);
    for (double norm : tokens.norms()) kappa_.push_back(parameters.residual * norm);
    choose_scale(parameters.inverse_temperature);
  }

  [[nodiscard]] DeepTokens run(const RunContext& context) const {
    Matrix<double> deviations(tokens_->size(), tokens_->dimension());
    parallel_for(strip_count(tokens_->size()), context, [&](std::size_t strip) {
      const Range rows = strip_range(strip, tokens_->size());
      fill(rows, deviations.view().row_range(rows));
    });
    const double scale = power_of_two(tokens_->exponent());
    std::vector<double> base = tokens_->centre(), lengths;
    for (std::size_t k = 0; k < base.size(); ++k) base[k] += scale * mean_[k];
    for (double kappa : kappa_) lengths.push_back(1.0 + kappa);
    return DeepTokens::of_deviations(base, std::move(deviations), tokens_->exponent() + shift_,
                                     std::move(lengths));
  }

 private:
  // Deviations come in units of 2^(k + shift): a mask moves tokens by the size of their offsets,
  // the residual by κ of that, the rest of attention by a of it; the largest decides.
  void choose_scale(double inverse_temperature) {
    int exponent = 0;
    const double mantissa = std::frexp(inverse_temperature, &exponent);
    const double order = exponent + 2.0 * tokens_->exponent();
    const double kappa = *std::max_element(kappa_.begin(), kappa_.end());
    const double residual_order = kappa > 0.0 ? std::ilogb(kappa) : -kInfinity;
    shift_ = mask_->hides_nothing() ? std::min(0.0, std::max(order, residual_order)) : 0.0;
    slope_ = mantissa * power_of_two(order);
    attention_unit_ = mantissa * power_of_two(order - shift_);
  }

  // The keys that some row of a strip sees.
  [[nodiscard]] Range keys(Range rows) const {
    return {mask_->visible(rows.begin, tokens_->size()).begin,
            mask_->visible(rows.end - 1, tokens_->size()).end};
  }

  void fill(Range rows, MatrixView<double> deviations) const {
    const Range cols = keys(rows);
    Matrix<double> weights(rows.size(), cols.size());
    tokens_->gaps(rows, cols, weights);
    std::vector<RowTotal> totals;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      totals.push_back(weigh(weights.row(i), rows.begin + i, cols));
    }
    add_ab(weights, tokens_->offsets().row_range(cols), deviations);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      finish(rows.begin + i, totals[i], deviations.row(i));
    }
  }

  // Replaces the gaps of a query by weights.
  [[nodiscard]] RowTotal weigh(std::span<double> row, std::size_t query, Range cols) const {
    RowTotal result{false, 0.0};
    const double widest = *std::max_element(row.begin(), row.end());
    result.plain = !mask_->hides_nothing() || slope_ * widest > 1.0;
    if (result.plain) {
      const Range seen = mask_->visible(query, tokens_->size());
      for (std::size_t j = 0; j < row.size(); ++j) {
        const bool visible = seen.begin <= cols.begin + j && cols.begin + j < seen.end;
        row[j] = visible ? std::exp(-slope_ * row[j]) : 0.0;
      }
    } else {
      for (double& x : row) x = slope_ > kLinear ? std::expm1(-slope_ * x) / slope_ : -x;
    }
    for (double x : row) result.total += x;
    return result;
  }

  // (δ_i + κ_i (e_i − ē))/(1 + κ_i) from the weighted sum of offsets, in place.
  void finish(std::size_t token, const RowTotal& row, std::span<double> sums) const {
    const double kappa = kappa_[token], residual = in_new_units(kappa);
    const double unit =
        row.plain ? in_new_units(1.0 / row.total)
                  : attention_unit_ / (static_cast<double>(tokens_->size()) + slope_ * row.total);
    const auto offset = tokens_->offsets().row(token);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double attention = unit * (sums[k] - row.total * mean_[k]);
      sums[k] = (attention + residual * (offset[k] - mean_[k])) / (1.0 + kappa);
    }
  }

  // value · 2^−shift, which may be 0 for a shift beyond the range of doubles.
  [[nodiscard]] double in_new_units(double value) const {
    return std::ldexp(value, static_cast<int>(std::min(-shift_, 4000.0)));
  }

  const DeepTokens* tokens_;
  const Mask* mask_;
  std::vector<double> mean_;     // ē
  std::vector<double> kappa_;    // α‖x_i‖
  double shift_ = 0.0;           // the new exponent minus the old one
  double slope_ = 0.0;           // a = β 4^k; 0 below the range of doubles
  double attention_unit_ = 0.0;  // a in the new units
};

}  // namespace

DeepTokens deep_layer(const DeepTokens& tokens, const Layer& parameters, const Mask& mask,
                      const RunContext& context) {
  return LayerStep(tokens, parameters, mask).run(context);
}

// ---- angles and their contraction -----------------------------------------------------------

namespace {

// Sums over the pairs (i, j), j > i, of a strip of rows i; gaps in units of 4^k.
struct PairSums {
  double gaps = 0.0;
  double smallest = kInfinity;
  double largest = 0.0;
  double squared_cosines = 0.0;
};

PairSums pair_sums(const DeepTokens& tokens, Range rows) {
  const Range cols{rows.begin, tokens.size()};
  const double unit = power_of_two(2.0 * tokens.exponent());
  Matrix<double> gaps(rows.size(), cols.size());
  tokens.gaps(rows, cols, gaps);
  PairSums sums;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (double gap : gaps.row(i).subspan(i + 1)) {
      const double cosine = 1.0 - unit * gap;
      sums.gaps += gap;
      sums.smallest = std::min(sums.smallest, gap);
      sums.largest = std::max(sums.largest, gap);
      sums.squared_cosines += cosine * cosine;
    }
  }
  return sums;
}

struct RatioSums {
  double ratios = 0.0;
  std::size_t unresolved = 0;
};

RatioSums ratio_sums(const DeepTokens& before, const DeepTokens& after, Range rows) {
  const Range cols{rows.begin, before.size()};
  const double resolution = kUnresolvedGap * 2.0 * before.largest_half_square();
  Matrix<double> old_gaps(rows.size(), cols.size()), new_gaps(rows.size(), cols.size());
  before.gaps(rows, cols, old_gaps);
  after.gaps(rows, cols, new_gaps);
  RatioSums sums;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto from = old_gaps.row(i), to = new_gaps.row(i);
    for (std::size_t j = i + 1; j < from.size(); ++j) {
      const bool resolved = from[j] > resolution;
      sums.ratios += resolved ? to[j] / from[j] : 0.0;
      sums.unresolved += resolved ? 0 : 1;
    }
  }
  return sums;
}

// The sums of all strips, in their order.
template <class Sums, class Function>
std::vector<Sums> over_strips(std::size_t n, const RunContext& context, const Function& function) {
  std::vector<Sums> strips(strip_count(n));
  parallel_for(strips.size(), context,
               [&](std::size_t strip) { strips[strip] = function(strip_range(strip, n)); });
  return strips;
}

}  // namespace

DeepAngles deep_angles(const DeepTokens& tokens, const RunContext& context) {
  const double n = static_cast<double>(tokens.size()), pairs = 0.5 * n * (n - 1.0);
  if (tokens.size() == 1) return {-kInfinity, 1.0, 1.0, 1.0, 1.0};
  PairSums all;
  for (const PairSums& strip : over_strips<PairSums>(
           tokens.size(), context, [&](Range rows) { return pair_sums(tokens, rows); })) {
    all.gaps += strip.gaps;
    all.smallest = std::min(all.smallest, strip.smallest);
    all.largest = std::max(all.largest, strip.largest);
    all.squared_cosines += strip.squared_cosines;
  }
  const double unit = power_of_two(2.0 * tokens.exponent());
  return {std::log(all.gaps / pairs) + 2.0 * std::numbers::ln2 * tokens.exponent(),
          1.0 - unit * all.largest, 1.0 - unit * all.gaps / pairs, 1.0 - unit * all.smallest,
          n * n / (n + 2.0 * all.squared_cosines)};
}

DeepContraction deep_contraction(const DeepTokens& before, const DeepTokens& after,
                                 const RunContext& context) {
  DEWPOINT_EXPECTS(before.size() == after.size());
  RatioSums all;
  for (const RatioSums& strip : over_strips<RatioSums>(
           before.size(), context, [&](Range rows) { return ratio_sums(before, after, rows); })) {
    all.ratios += strip.ratios;
    all.unresolved += strip.unresolved;
  }
  const std::size_t pairs = before.size() * (before.size() - 1) / 2 - all.unresolved;
  if (pairs == 0) return {0.0, -kInfinity, all.unresolved};
  const double log_contraction = std::log(all.ratios / static_cast<double>(pairs)) +
                                 2.0 * std::numbers::ln2 * (after.exponent() - before.exponent());
  return {std::exp(log_contraction), log_contraction, all.unresolved};
}

}  // namespace dewpoint::attention
