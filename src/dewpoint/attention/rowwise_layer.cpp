#include "dewpoint/attention/rowwise_layer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/core/blas.hpp"

namespace dewpoint::attention {
namespace {

// Rows of a strip: enough for BLAS to reach its speed, fewer where n is so large that a strip would
// take more than 64 MiB. A rule of n alone.
std::size_t strip_rows(std::size_t n) {
  return std::clamp<std::size_t>((std::size_t{1} << 24) / n, 16, 256);
}

// A weight exp(−x) is 0 from here on.
constexpr float kZeroExponent = 88.0F;

// Strips are dealt to this many groups, each worked off in order by one thread: a rule of the
// problem alone, so that the order of every sum is fixed.
constexpr std::size_t kGroups = 8;

// The rows of some queries, one strip at a time, in memory that is used again.
class StripMaker {
 public:
  StripMaker(const CentredCloud& cloud, const Mask& mask, double inverse_temperature)
      : cloud_(cloud),
        mask_(mask),
        beta_(kernel_inverse_temperature(inverse_temperature)),
        near_(trusts_products(cloud, inverse_temperature)
                  ? 0.0F
                  : kZeroExponent / beta_ + 2.0F * cloud.resolution()),
        queries_(strip_rows(cloud.size()), cloud.dimension()),
        gaps_(strip_rows(cloud.size()), padded(cloud.size())),
        weights_(strip_rows(cloud.size()), padded(cloud.size())),
        mixed_(strip_rows(cloud.size()), cloud.dimension()) {}

  // The moments are written to `moments`, which must live as long as the strip.
  AttentionStrip make(std::span<const std::size_t> queries, std::span<RowMoments> moments) {
    const std::size_t n = cloud_.size();
    const Range rows{0, queries.size()};
    const auto gaps = gaps_.view().row_range(rows);
    const auto weights = weights_.view().row_range(rows);
    const auto mixed = mixed_.view().row_range(rows);
    fill_gaps(queries, gaps);
    kernels::exp_gaps(gaps, beta_, weights);
    kernels::row_moments(weights, gaps, moments);
    multiply_ab(weights.block(rows, {0, n}), cloud_.offsets(), mixed);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      moments[q] += {1.0, 0.0, 0.0, 1.0};  // the query itself
      const auto share = static_cast<float>(1.0 / moments[q].partition);
      const auto self = cloud_.offsets().row(queries[q]);
      const auto row = mixed.row(q);
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = (row[k] + self[k]) * share;
    }
    return {queries, gaps, weights, moments.first(queries.size()), mixed};
  }

 private:
  void fill_gaps(std::span<const std::size_t> queries, MatrixView<float> gaps) {
    const std::size_t n = cloud_.size();
    const auto offsets = queries_.view().row_range({0, queries.size()});
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto row = cloud_.offsets().row(queries[q]);
      std::copy(row.begin(), row.end(), offsets.row(q).begin());
    }
    multiply_abt(offsets, cloud_.offsets(), gaps.block({0, queries.size()}, {0, n}));
    for (std::size_t q = 0; q < queries.size(); ++q) finish_gaps(queries[q], gaps.row(q));
  }

  void finish_gaps(std::size_t query, std::span<float> row) const {
    const float half = cloud_.half_squares()[query];
    const float* other = cloud_.half_squares().data();
    float* gap = row.data();
    for (std::size_t i = 0; i < cloud_.size(); ++i) {
      gap[i] = std::max(half + other[i] - gap[i], 0.0F);
    }
    for (std::size_t i = 0; i < cloud_.size() && near_ > 0.0F; ++i) {
      if (gap[i] < near_) gap[i] = cloud_.near_gap(query, i);
    }
    const Range visible = mask_.visible(query, cloud_.size());
    std::fill_n(gap, visible.begin, kFarGap);
    std::fill(gap + visible.end, gap + row.size(), kFarGap);
    gap[query] = kFarGap;
  }

  const CentredCloud& cloud_;
  const Mask& mask_;
  float beta_;
  float near_;  // gaps below it are taken one by one
  Matrix<float> queries_;
  Matrix<float> gaps_;
  Matrix<float> weights_;
  Matrix<float> mixed_;
};

double square(double x) { return x * x; }

// All strips of one layer, and where their results go.
class Rowwise {
 public:
  Rowwise(const TokenCloud& tokens, const Layer& parameters, const Mask& mask,
          std::vector<std::size_t> queries, const std::optional<NormOptions>& norm)
      : tokens_(tokens),
        parameters_(parameters),
        mask_(mask),
        cloud_(CentredCloud::of_unit_vectors(tokens.directions)),
        strip_rows_(strip_rows(tokens.size())),
        strips_((queries.size() + strip_rows_ - 1) / strip_rows_) {
    if (norm) geometry_.emplace(cloud_, tokens.norms, *norm);
    result_.layer.base = cloud_.centre();
    result_.layer.deviations = Matrix<double>(queries.size(), tokens.dimension());
    result_.layer.moments.resize(queries.size());
    if (norm) result_.rows.resize(queries.size());
    result_.layer.rows = std::move(queries);
  }

  void all(const RunContext& context) {
    ProgressTally tally(context.progress, static_cast<double>(strips_));
    parallel_for(kGroups, {context.threads, context.stop, {}}, [&](std::size_t group) {
      StripMaker maker(cloud_, mask_, parameters_.inverse_temperature);
      auto sum = norm_sum();
      NormWorkspace workspace;
      for (std::size_t s = group; s < strips_; s += kGroups) {
        context.throw_if_stopped();
        one_strip(s, maker, sum, workspace);
        tally.finish(1.0);
      }
      if (sum) columns_[group] = sum->columns();
    });
  }

  RowwiseResult result() && {
    if (geometry_) result_.columns.assign(tokens_.size(), 0.0);
    for (const auto& part : columns_) {
      for (std::size_t i = 0; i < part.size(); ++i) result_.columns[i] += part[i];
    }
    add_residual(tokens_, parameters_.residual, result_.layer);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<JacobianNormSum> norm_sum() const {
    if (!geometry_) return {};
    return JacobianNormSum(*geometry_, parameters_.inverse_temperature,
                           static_cast<double>(strips_));
  }

  void one_strip(std::size_t s, StripMaker& maker, std::optional<JacobianNormSum>& sum,
                 NormWorkspace& workspace) {
    const std::size_t begin = s * strip_rows_;
    const std::size_t count = std::min(strip_rows_, result_.layer.rows.size() - begin);
    const auto strip = maker.make(std::span(result_.layer.rows).subspan(begin, count),
                                  std::span(result_.layer.moments).subspan(begin, count));
    for (std::size_t q = 0; q < count; ++q) {
      const auto row = strip.mixed.row(q);
      std::copy(row.begin(), row.end(), result_.layer.deviations.row(begin + q).begin());
    }
    if (!sum) return;
    const std::vector<NormRow> rows = sum->add(strip, workspace);
    std::copy(rows.begin(), rows.end(), result_.rows.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  const TokenCloud& tokens_;
  Layer parameters_;
  const Mask& mask_;
  CentredCloud cloud_;
  std::size_t strip_rows_;
  std::size_t strips_;
  std::optional<NormGeometry> geometry_;
  std::array<std::vector<double>, kGroups> columns_;
  RowwiseResult result_;
};

}  // namespace

Estimate RowwiseResult::norm(std::span<const double> norms, double residual) const {
  const auto parts = jacobian_norm_of(rows, columns, layer.deviations.cols()).at(norms, residual);
  return {parts.total(), parts.standard_error, rows.size()};
}

Estimate RowwiseResult::norm_of_sample(const TokenCloud& tokens, double residual) const {
  const auto d = static_cast<double>(tokens.dimension());
  RunningMoments means;
  double probe_variance = 0.0;
  for (std::size_t q = 0; q < rows.size(); ++q) {
    const double r = tokens.norms[layer.rows[q]];
    means.add(rows[q].from_keys + rows[q].self / square(r) + 2.0 * residual * rows[q].trace / r);
    probe_variance += rows[q].variance / square(square(r));
  }
  const auto sampled = static_cast<double>(rows.size());
  const double left_out = 1.0 - sampled / static_cast<double>(tokens.size());
  const double variance = left_out * means.variance() / sampled + probe_variance / square(sampled);
  return {means.mean() / d + square(residual), std::sqrt(variance) / d, rows.size()};
}

RowwiseResult rowwise_layer(const TokenCloud& tokens, const Layer& parameters, const Mask& mask,
                            std::vector<std::size_t> queries,
                            const std::optional<NormOptions>& norm, const RunContext& context) {
  Rowwise run(tokens, parameters, mask, std::move(queries), norm);
  run.all(context);
  return std::move(run).result();
}

Estimate jacobian_norm(const TokenCloud& tokens, const Layer& parameters, const Mask& mask,
                       const NormOptions& options, const RunContext& context) {
  if (options.method == NormMethod::hutchinson) {
    return hutchinson_norm(LayerJacobian(tokens, parameters, mask, context), options);
  }
  std::vector<std::size_t> queries(tokens.size());
  std::iota(queries.begin(), queries.end(), std::size_t{0});
  return rowwise_layer(tokens, parameters, mask, std::move(queries), options, context)
      .norm(tokens.norms, parameters.residual);
}

}  // namespace dewpoint::attention
