#include "dewpoint/diagnosis/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/diagnosis/participation_table.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- dealing keys ---------------------------------------------------------------------------

void check(MatrixView<const double> scores, const GrowthOptions& options) {
  const std::size_t kept = options.kept.empty() ? 0 : 1;
  if (scores.rows() == 0) throw Error(Code::bad_value, "scores: 0 queries are below 1");
  if (scores.cols() < 3 + kept) {
    throw Error(Code::bad_value,
                fmt::format("scores: {} keys per query are below {}", scores.cols(), 3 + kept));
  }
  if (kept == 0) return;
  DEWPOINT_EXPECTS(options.kept.size() == scores.rows());
  for (const std::size_t column : options.kept) {
    if (column < scores.cols()) continue;
    throw Error(Code::bad_value, fmt::format("keep-column: {} is not one of the columns 0 to {}",
                                             column, scores.cols() - 1));
  }
}

/// The columns of a row that are dealt, in random order.
std::vector<std::size_t> shuffled_columns(std::size_t row, std::size_t columns,
                                          const GrowthOptions& options) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!options.kept.empty()) {
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(options.kept[row]));
  }
  const Stream stream(options.seed, "diagnosis/hands", row);
  for (std::size_t left = order.size(); left > 1; --left) {
    const auto pick = static_cast<std::size_t>(stream.uniform(left) * static_cast<double>(left));
    std::swap(order[left - 1], order[std::min(pick, left - 1)]);
  }
  return order;
}

/// Every row's keys in `hands` equal hands, what is left over set aside.
Matrix<double> deal(MatrixView<const double> scores, std::size_t hands,
                    const GrowthOptions& options) {
  const std::size_t kept = options.kept.empty() ? 0 : 1;
  const std::size_t dealt = (scores.cols() - kept) / hands;
  Matrix<double> table(scores.rows() * hands, dealt + kept);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const std::vector<std::size_t> order = shuffled_columns(i, scores.cols(), options);
    for (std::size_t hand = 0; hand < hands; ++hand) {
      const auto to = table.row(i * hands + hand);
      for (std::size_t j = 0; j < dealt; ++j) to[j] = scores(i, order[hand * dealt + j]);
      if (kept == 1) to[dealt] = scores(i, options.kept[i]);
    }
  }
  return table;
}

std::vector<std::size_t> hand_counts(std::size_t columns, const GrowthOptions& options) {
  const std::size_t kept = options.kept.empty() ? 0 : 1;
  std::vector<std::size_t> counts{1};
  for (std::size_t halving = 1; halving <= options.halvings; ++halving) {
    const std::size_t hands = std::size_t{1} << halving;
    if ((columns - kept) / hands + kept < options.least_keys) break;
    counts.insert(counts.begin(), hands);
  }
  return counts;
}

// ---- scales of one length -------------------------------------------------------------------

std::vector<RowValue> sorted_logarithms(const std::vector<double>& values, std::size_t hands) {
  std::vector<RowValue> logarithms;
  for (std::size_t i = 0; i < values.size(); ++i)
    logarithms.push_back({std::log(values[i]), i / hands});
  std::sort(logarithms.begin(), logarithms.end(),
            [](const RowValue& x, const RowValue& y) { return x.value < y.value; });
  return logarithms;
}

struct Quantile {
  Estimate estimate;
  std::vector<double> replicates;
};

Quantile quantile(const std::vector<RowValue>& sorted, double share,
                  const RowBootstrap& bootstrap) {
  const std::vector<std::uint32_t> once(bootstrap.rows(), 1);
  Quantile result;
  for (std::size_t b = 0; b < bootstrap.replicates(); ++b)
    result.replicates.push_back(weighted_quantile(sorted, share, bootstrap.counts(b)));
  result.estimate = bootstrap.estimate(weighted_quantile(sorted, share, once), result.replicates);
  return result;
}

/// Mean over rows of the mean over a row's hands.
Estimate mean_of_rows(const std::vector<RowValue>& values, std::size_t rows, std::size_t hands) {
  std::vector<double> sums(rows, 0.0);
  for (const RowValue& entry : values) sums[entry.row] += entry.value / static_cast<double>(hands);
  RunningMoments moments;
  for (const double sum : sums) {
    if (std::isinf(sum)) return {kInfinity, std::numeric_limits<double>::quiet_NaN(), rows};
    moments.add(sum);
  }
  return moments.estimate();
}

/// What one length contributes.
struct Length {
  GrowthPoint point;
  std::vector<double> participation_replicates, median_replicates;
};

void measure_dew(Length& length, MatrixView<const double> table, const RowBootstrap& bootstrap,
                 const RunContext& context) {
  GrowthPoint& point = length.point;
  const std::vector<double> dew = observables::dew_points(table, context);
  const std::vector<RowValue> sorted = sorted_logarithms(dew, point.hands);
  const auto tied =
      std::count_if(dew.begin(), dew.end(), [](double beta) { return std::isinf(beta); });
  point.tied_share = static_cast<double>(tied) / static_cast<double>(dew.size());
  Quantile median = quantile(sorted, 0.5, bootstrap);
  point.log_dew_lower = quantile(sorted, 0.25, bootstrap).estimate;
  point.log_dew_median = median.estimate;
  point.log_dew_upper = quantile(sorted, 0.75, bootstrap).estimate;
  point.log_dew_mean = mean_of_rows(sorted, bootstrap.rows(), point.hands);
  length.median_replicates = std::move(median.replicates);
}

void measure_participation(Length& length, MatrixView<const double> table,
                           const RowBootstrap& bootstrap, const RunContext& context) {
  const double log_beta = std::log(observables::participation_point(table, context));
  auto& replicates = length.participation_replicates;
  if (std::isinf(log_beta)) {
    replicates.assign(bootstrap.replicates(), kInfinity);
  } else {
    ParticipationTable curve(table, length.point.hands, log_beta, context);
    for (std::size_t b = 0; b < bootstrap.replicates(); ++b)
      replicates.push_back(curve.log_root(bootstrap.counts(b)));
  }
  length.point.log_participation = bootstrap.estimate(log_beta, replicates);
}

Length measure_length(MatrixView<const double> table, std::size_t hands,
                      const RowBootstrap& bootstrap, const RunContext& context) {
  const RunContext silent{context.threads, context.stop, {}};
  Length length{};
  length.point.keys = table.cols();
  length.point.hands = hands;
  measure_dew(length, table, bootstrap, silent);
  measure_participation(length, table, bootstrap, silent);
  std::vector<double> scales(table.rows());
  parallel_for(table.rows(), silent, [&](std::size_t i) {
    scales[i] = observables::accumulation_scale(std::span<const double>(table.row(i))).value();
  });
  length.point.log_accumulation =
      quantile(sorted_logarithms(scales, hands), 0.5, bootstrap).estimate;
  return length;
}

}  // namespace

Growth measure_growth(MatrixView<const double> scores, const GrowthOptions& options,
                      const RowBootstrap& bootstrap, const RunContext& context) {
  check(scores, options);
  DEWPOINT_EXPECTS(bootstrap.rows() == scores.rows());
  const std::vector<std::size_t> counts = hand_counts(scores.cols(), options);
  Growth growth{{},
                Matrix<double>(bootstrap.replicates(), counts.size()),
                Matrix<double>(bootstrap.replicates(), counts.size())};
  for (std::size_t level = 0; level < counts.size(); ++level) {
    context.throw_if_stopped();
    const bool whole = counts[level] == 1;
    const Matrix<double> dealt = whole ? Matrix<double>() : deal(scores, counts[level], options);
    const Length length =
        measure_length(whole ? scores : dealt.view(), counts[level], bootstrap, context);
    growth.points.push_back(length.point);
    for (std::size_t b = 0; b < bootstrap.replicates(); ++b) {
      growth.participation_replicates(b, level) = length.participation_replicates[b];
      growth.median_replicates(b, level) = length.median_replicates[b];
    }
    if (context.progress) {
      context.progress(static_cast<double>(level) + 1.0, static_cast<double>(counts.size()));
    }
  }
  return growth;
}

Estimate growth_slope(const Growth& growth, Scale scale, std::size_t from, std::size_t to,
                      const RowBootstrap& bootstrap) {
  DEWPOINT_EXPECTS(from != to && from < growth.points.size() && to < growth.points.size());
  const GrowthPoint &first = growth.points[from], &last = growth.points[to];
  const bool pooled = scale == Scale::participation;
  const double distance =
      std::log(static_cast<double>(last.keys)) - std::log(static_cast<double>(first.keys));
  const double rise = pooled ? last.log_participation.mean - first.log_participation.mean
                             : last.log_dew_median.mean - first.log_dew_median.mean;
  const Matrix<double>& redrawn =
      pooled ? growth.participation_replicates : growth.median_replicates;
  std::vector<double> slopes;
  for (std::size_t b = 0; b < redrawn.rows(); ++b)
    slopes.push_back((redrawn(b, to) - redrawn(b, from)) / distance);
  return bootstrap.estimate(rise / distance, slopes);
}

Matrix<double> without_columns(MatrixView<const double> scores,
                               const std::vector<std::size_t>& columns) {
  DEWPOINT_EXPECTS(columns.size() == scores.rows() && scores.cols() >= 2);
  Matrix<double> rest(scores.rows(), scores.cols() - 1);
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const auto from = scores.row(i);
    const auto gap = from.begin() + static_cast<std::ptrdiff_t>(columns[i]);
    std::copy(gap + 1, from.end(), std::copy(from.begin(), gap, rest.row(i).begin()));
  }
  return rest;
}

}  // namespace dewpoint::diagnosis
