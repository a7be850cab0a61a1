#include "dewpoint/diagnosis/head_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/growth.hpp"
#include "dewpoint/diagnosis/row_blocks.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr std::size_t kLeastCommonKeys = 8;

// ---- who wins -------------------------------------------------------------------------------

std::optional<double> own_share(const std::vector<const ScoreRow*>& rows) {
  if (rows.empty()) return {};
  const auto won = std::count_if(rows.begin(), rows.end(),
                                 [](const ScoreRow* row) { return own_key_wins(*row); });
  return static_cast<double>(won) / static_cast<double>(rows.size());
}

/// The law under what is known of the winner, if anything is.
GrowthVerdict judge(const GrowthData& data, std::optional<double> own_wins) {
  if (!own_wins) return judge_growth(data);
  if (*own_wins >= kWinnerShare) return judge_growth(data, GrowthPrior::fixed());
  GrowthVerdict verdict = judge_growth(data, GrowthPrior::tail());
  if (*own_wins > 1.0 - kWinnerShare) {
    verdict.law.reset();
    verdict.reason = fmt::format(
        "the query's own key wins in {:.0f}% of the rows: two laws at once", 100.0 * *own_wins);
  }
  return verdict;
}

// ---- along the rows -------------------------------------------------------------------------

struct BinScale {
  double log_n, log_beta, variance;
};

std::optional<BinScale> bin_scale(const HeadBin& bin) {
  if (bin.rows.size() < kLeastGrowthRows) return {};
  std::vector<double> logarithms = row_dew_points(bin, true);
  for (double& value : logarithms) value = std::log(value);
  const auto median = row_quantile(logarithms, 0.5, *bin.bootstrap);
  if (!median) return {};
  double log_n = 0.0;
  for (const HeadRow* row : bin.rows)
    log_n += std::log(static_cast<double>(row->keys)) / static_cast<double>(bin.rows.size());
  const double error = median->estimate.standard_error;
  return BinScale{log_n, median->estimate.mean, error * error};
}

/// Slope of the last bins, at most four, by least squares with their errors.
Estimate last_slope(const std::vector<BinScale>& scales) {
  const std::size_t used = std::min<std::size_t>(scales.size(), 4);
  const std::span<const BinScale> last(scales.end() - static_cast<std::ptrdiff_t>(used),
                                       scales.end());
  double weight = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const BinScale& scale : last) {
    const double w = 1.0 / (scale.variance + kFormError * kFormError);
    weight += w;
    x += w * scale.log_n;
    y += w * scale.log_beta;
    xx += w * scale.log_n * scale.log_n;
    xy += w * scale.log_n * scale.log_beta;
  }
  const double spread = weight * xx - x * x;
  return {(weight * xy - x * y) / spread, std::sqrt(weight / spread), used};
}

// ---- by thinning ----------------------------------------------------------------------------

/// Columns of a row that stay when others are left out, the own one among them.
std::vector<std::size_t> chosen_columns(std::size_t columns, std::size_t wanted,
                                        std::optional<std::size_t> own, const Stream& stream) {
  const std::size_t others = columns - (own ? 1 : 0), drawn = wanted - (own ? 1 : 0);
  std::vector<std::size_t> chosen = sample_without_replacement(others, drawn, stream);
  if (!own) return chosen;
  for (std::size_t& column : chosen) column += column >= *own ? 1 : 0;
  chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), *own), *own);
  return chosen;
}

/// Column of the query's own key once the text's first key is gone.
std::optional<std::size_t> own_column(const ScoreRow& row) {
  const std::size_t gone = row.first_key == 0 ? 1 : 0;
  if (row.position < row.first_key + gone) return {};
  const std::size_t column = row.position - row.first_key - gone;
  if (column >= without_first_key(row).size()) return {};
  return column;
}

GrowthData data_of(const Growth& growth, Scale scale, const RowBootstrap& bootstrap) {
  GrowthData data;
  const bool pooled = scale == Scale::participation;
  for (const GrowthPoint& point : growth.points) {
    data.log_n.push_back(std::log(static_cast<double>(point.keys)));
    data.log_beta.push_back((pooled ? point.log_participation : point.log_dew_median).mean);
  }
  data.covariance =
      bootstrap.covariance(pooled ? growth.participation_replicates : growth.median_replicates);
  data.replicates = std::min(bootstrap.replicates(), bootstrap.blocks());
  return data;
}

}  // namespace

std::optional<HeadGrowth> growth_along_rows(const std::vector<HeadBin>& bins,
                                            const ContextBins& ends) {
  std::vector<BinScale> scales;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (ends.ends[i] < kLeastGrowthKeys) continue;
    if (const auto scale = bin_scale(bins[i])) scales.push_back(*scale);
  }
  if (scales.size() < 3) return {};
  GrowthData data;
  data.covariance = Matrix<double>(scales.size(), scales.size());
  HeadGrowth growth;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    data.log_n.push_back(scales[i].log_n);
    data.log_beta.push_back(scales[i].log_beta);
    data.covariance(i, i) = scales[i].variance;
    growth.lengths.push_back(std::exp(scales[i].log_n));
  }
  growth.verdict = judge(data, own_share(longest_bin(bins)->scores));
  growth.slope = last_slope(scales);
  return growth;
}

std::optional<ThinnedRows> thinned_rows(const HeadBin& bin, std::size_t most_keys,
                                        std::uint64_t seed) {
  const auto& rows = bin.scores;
  if (rows.size() < kLeastThinnedBlocks) return {};
  std::size_t common = most_keys;
  bool all_own = true;
  for (const ScoreRow* row : rows) {
    common = std::min(common, without_first_key(*row).size());
    all_own = all_own && own_column(*row).has_value();
  }
  if (common < kLeastCommonKeys) return {};
  ThinnedRows thinned{Matrix<double>(rows.size(), common), {}, own_share(rows).value()};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const double> scores = without_first_key(*rows[i]);
    const auto own = all_own ? own_column(*rows[i]) : std::nullopt;
    const auto columns = chosen_columns(scores.size(), common, own,
                                        Stream(seed, "diagnosis/common keys", rows[i]->position));
    for (std::size_t j = 0; j < common; ++j) thinned.scores(i, j) = scores[columns[j]];
    if (own)
      thinned.kept.push_back(static_cast<std::size_t>(
          std::lower_bound(columns.begin(), columns.end(), *own) - columns.begin()));
  }
  return thinned;
}

std::optional<HeadGrowth> growth_by_thinning(const ThinnedRows& rows, const Bootstrap& options,
                                             const RunContext& context) {
  const std::size_t blocks =
      independent_blocks(observables::dew_points(rows.scores.view(), context));
  if (blocks < kLeastThinnedBlocks) return {};
  const RowBootstrap bootstrap(rows.scores.rows(), options, blocks);
  GrowthOptions dealing;
  dealing.kept = rows.kept;
  dealing.seed = options.seed;
  const Growth growth = measure_growth(rows.scores, dealing, bootstrap, context);
  if (growth.points.size() < 3) return {};
  const bool tied = std::isinf(growth.points.back().log_participation.mean);
  const Scale scale = tied ? Scale::dew_median : Scale::participation;
  const std::size_t lengths = growth.points.size();
  HeadGrowth result;
  result.verdict = judge(data_of(growth, scale, bootstrap), rows.own_wins);
  result.slope = growth_slope(growth, scale, lengths < 4 ? 0 : lengths - 4, lengths - 1, bootstrap);
  for (const GrowthPoint& point : growth.points)
    result.lengths.push_back(static_cast<double>(point.keys));
  return result;
}

double log_growth_shape(GrowthLaw law, const LawFit& fit, double log_n) {
  const double length = log_n + fit.offset.mean;
  DEWPOINT_EXPECTS(length > 0.0);
  if (law == GrowthLaw::logarithm) return std::log(length);
  if (law == GrowthLaw::root_logarithm) return 0.5 * std::log(length);
  const double x = length / fit.exponent.mean;
  return x + 0.5 * std::log(-std::expm1(-x));
}

}  // namespace dewpoint::diagnosis
