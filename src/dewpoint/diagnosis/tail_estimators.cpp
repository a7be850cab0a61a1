#include "dewpoint/diagnosis/tail_estimators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <functional>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

void check_top(MatrixView<const double> scores, std::size_t top, std::size_t least) {
  if (scores.rows() == 0) throw Error(Code::bad_value, "scores: 0 queries are below 1");
  if (top >= least && top < scores.cols()) return;
  throw Error(Code::bad_value,
              fmt::format("top: {} is not at least {} and less than the {} keys of a query", top,
                          least, scores.cols()));
}

void check_finite(MatrixView<const double> scores) {
  for (std::size_t i = 0; i < scores.rows(); ++i)
    for (std::size_t j = 0; j < scores.cols(); ++j)
      if (!std::isfinite(scores(i, j))) {
        throw Error(Code::bad_value,
                    fmt::format("scores({}, {}): {} is not finite", i, j, scores(i, j)));
      }
}

/// The best `count` scores of a row, decreasing.
std::vector<double> best_scores(std::span<const double> row, std::size_t count) {
  std::vector<double> best(count);
  std::partial_sort_copy(row.begin(), row.end(), best.begin(), best.end(), std::greater<>());
  return best;
}

// ---- Pareto edge ----------------------------------------------------------------------------

/// Probability-weighted moments of each row.
struct RowExcesses {
  std::vector<double> mean;      // a_0
  std::vector<double> weighted;  // a_1
  std::size_t top;
};

struct Pareto {
  double shape, scale, log_edge_beta;
};

Pareto pareto(double mean, double weighted, std::size_t top) {
  const double rest = mean - 2.0 * weighted;
  const double shape = 2.0 - mean / rest, scale = 2.0 * mean * weighted / rest;
  const double count = static_cast<double>(top) + 1.0;
  return {shape, scale, std::lgamma(count - shape) - std::lgamma(count) - std::log(scale)};
}

Pareto pareto(const RowExcesses& rows, std::span<const std::uint32_t> counts) {
  return pareto(weighted_mean(rows.mean, counts), weighted_mean(rows.weighted, counts), rows.top);
}

void fill_moments(RowExcesses& rows, std::size_t row, std::span<const double> best) {
  const auto count = static_cast<double>(rows.top);
  double mean = 0.0, weighted = 0.0;
  for (std::size_t i = 0; i < rows.top; ++i) {
    const double excess = best[i] - best[rows.top];
    mean += excess / count;
    weighted += static_cast<double>(i) / (count - 1.0) * excess / count;
  }
  rows.mean[row] = mean;
  rows.weighted[row] = weighted;
}

std::string refusal_of(const EdgeFit& fit, const Pareto& all) {
  if (fit.tied_share > 0.5) {
    return fmt::format(
        "{:.0f}% of neighbouring top scores are equal: the scores have atoms and no density at "
        "their edge",
        100.0 * fit.tied_share);
  }
  if (!(all.scale > 0.0) || !std::isfinite(all.log_edge_beta)) {
    return "the excesses over the threshold fit no Pareto law of finite mean";
  }
  return {};
}

void add_errors(EdgeFit& fit, const RowExcesses& deep, const RowExcesses& shallow,
                const RowBootstrap& bootstrap) {
  const std::vector<std::uint32_t> once(bootstrap.rows(), 1);
  const Pareto all = pareto(deep, once), few = pareto(shallow, once);
  std::vector<double> shapes, scales, edges, changes;
  for (std::size_t b = 0; b < bootstrap.replicates(); ++b) {
    const Pareto redrawn = pareto(deep, bootstrap.counts(b));
    shapes.push_back(redrawn.shape);
    scales.push_back(redrawn.scale);
    edges.push_back(redrawn.log_edge_beta);
    changes.push_back(redrawn.log_edge_beta - pareto(shallow, bootstrap.counts(b)).log_edge_beta);
  }
  fit.shape = bootstrap.estimate(all.shape, shapes);
  fit.scale = bootstrap.estimate(all.scale, scales);
  fit.log_edge_beta = bootstrap.estimate(all.log_edge_beta, edges);
  fit.depth_change = bootstrap.estimate(all.log_edge_beta - few.log_edge_beta, changes);
}

}  // namespace

EdgeFit fit_edge(MatrixView<const double> scores, std::size_t top, const RowBootstrap& bootstrap,
                 const RunContext& context) {
  check_top(scores, top, 4);
  check_finite(scores);
  DEWPOINT_EXPECTS(bootstrap.rows() == scores.rows());
  const std::size_t rows = scores.rows(), few = std::max<std::size_t>(top / 4, 2);
  RowExcesses deep{std::vector<double>(rows), std::vector<double>(rows), top};
  RowExcesses shallow{std::vector<double>(rows), std::vector<double>(rows), few};
  std::vector<double> ties(rows);
  parallel_for(rows, context, [&](std::size_t i) {
    const std::vector<double> best = best_scores(scores.row(i), top + 1);
    fill_moments(deep, i, best);
    fill_moments(shallow, i, best);
    for (std::size_t j = 0; j < top; ++j) ties[i] += best[j] == best[j + 1] ? 1.0 : 0.0;
  });
  const std::vector<std::uint32_t> once(rows, 1);
  EdgeFit fit;
  fit.top = top;
  fit.tied_share = weighted_mean(ties, once) / static_cast<double>(top);
  fit.refusal = refusal_of(fit, pareto(deep, once));
  if (fit.refusal.empty()) add_errors(fit, deep, shallow, bootstrap);
  return fit;
}

// ---- known endpoint -------------------------------------------------------------------------

namespace {

/// h and log T_(k+1) of one row.
struct RowGaps {
  double mean_log_ratio, log_threshold;
};

RowGaps row_gaps(std::span<const double> row, double supremum, std::size_t top) {
  const std::vector<double> best = best_scores(row, top + 1);
  const double log_threshold = std::log(supremum - best[top]);
  double sum = 0.0;
  for (std::size_t i = 0; i < top; ++i) sum += log_threshold - std::log(supremum - best[i]);
  return {sum / static_cast<double>(top), log_threshold};
}

/// Variance of ψ(k+1) h − log T_(k+1) in units of 1/a².
double row_variance(double top) {
  const double digamma = boost::math::digamma(top + 1.0);
  return digamma * digamma / top + boost::math::trigamma(top + 1.0);
}

}  // namespace

EndpointFit fit_known_endpoint(MatrixView<const double> scores, double supremum, std::size_t top) {
  check_top(scores, top, 1);
  check_finite(scores);
  const auto rows = static_cast<double>(scores.rows()), count = static_cast<double>(top);
  if (rows * count <= 2.0) {
    throw Error(Code::bad_value, "top: 1 key of 2 queries or fewer is too little");
  }
  EndpointFit fit;
  fit.top = top;
  RunningMoments ratios, log_betas;
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i);
    const double largest = *std::max_element(row.begin(), row.end());
    if (!(largest < supremum)) {
      fit.refusal = fmt::format("query {} has a score of {:.6g}, not below the endpoint {:.6g}", i,
                                largest, supremum);
      return fit;
    }
    const RowGaps gaps = row_gaps(row, supremum, top);
    ratios.add(gaps.mean_log_ratio);
    log_betas.add(boost::math::digamma(count + 1.0) * gaps.mean_log_ratio - gaps.log_threshold);
  }
  const double exponent = (rows * count - 1.0) / (rows * count * ratios.mean());
  const double variance = row_variance(count) / (exponent * exponent);
  fit.exponent = {exponent, exponent / std::sqrt(rows * count - 2.0), scores.rows()};
  fit.log_critical_beta = {log_betas.mean(), std::sqrt(variance / rows), scores.rows()};
  fit.dispersion = log_betas.variance() / variance;
  return fit;
}

// ---- heat capacity --------------------------------------------------------------------------

namespace {

struct RowHeat {
  double capacity, participation;
};

RowHeat row_heat(std::span<const double> row, double largest, double beta) {
  double partition = 0.0, squares = 0.0, first = 0.0, second = 0.0;
  for (const double score : row) {
    const double exponent = beta * (largest - score);
    const double weight = std::exp(-exponent);
    if (weight == 0.0) continue;  // an infinite exponent would spoil the products
    partition += weight;
    squares += weight * weight;
    first += exponent * weight;
    second += exponent * exponent * weight;
  }
  const double mean = first / partition;
  return {std::max(0.0, second / partition - mean * mean), squares / (partition * partition)};
}

/// |d log C/d log β| between neighbours, at most `steepest`, and enough keys at both.
bool level(const HeatCapacity& heat, std::size_t from, const PlateauRule& rule) {
  const double rise = std::log(heat.capacity[from + 1].mean / heat.capacity[from].mean);
  const double step = std::log(heat.betas[from + 1] / heat.betas[from]);
  return std::abs(rise) <= rule.steepest * step &&
         std::min(heat.effective_keys[from], heat.effective_keys[from + 1]) >= rule.least_keys;
}

Range widest_level_stretch(const HeatCapacity& heat, const PlateauRule& rule) {
  Range widest{0, 1};
  for (std::size_t begin = 0; begin + 1 < heat.betas.size();) {
    std::size_t end = begin + 1;
    while (end < heat.betas.size() && level(heat, end - 1, rule)) ++end;
    const auto width = [&](const Range& r) { return heat.betas[r.end - 1] / heat.betas[r.begin]; };
    if (width({begin, end}) > width(widest)) widest = {begin, end};
    begin = end;
  }
  return widest;
}

}  // namespace

HeatCapacity heat_capacity(MatrixView<const double> scores, std::span<const double> betas,
                           const PlateauRule& rule, const RunContext& context) {
  if (scores.rows() == 0 || scores.cols() < 2) {
    throw Error(Code::bad_value, fmt::format("scores: {} queries of {} keys are below 1 of 2",
                                             scores.rows(), scores.cols()));
  }
  check_finite(scores);
  const std::size_t rows = scores.rows(), points = betas.size();
  Matrix<double> capacity(rows, points), participation(rows, points);
  parallel_for(rows, context, [&](std::size_t i) {
    const auto row = scores.row(i);
    const double largest = *std::max_element(row.begin(), row.end());
    for (std::size_t b = 0; b < points; ++b) {
      const RowHeat heat = row_heat(row, largest, betas[b]);
      capacity(i, b) = heat.capacity;
      participation(i, b) = heat.participation;
    }
  });

  HeatCapacity result;
  result.betas.assign(betas.begin(), betas.end());
  for (std::size_t b = 0; b < points; ++b) {
    RunningMoments mean, keys;
    for (std::size_t i = 0; i < rows; ++i) {
      mean.add(capacity(i, b));
      keys.add(participation(i, b));
    }
    result.capacity.push_back(mean.estimate());
    result.effective_keys.push_back(1.0 / keys.mean());
  }

  if (points == 0) return result;
  const Range stretch = widest_level_stretch(result, rule);
  if (betas[stretch.end - 1] < rule.width * betas[stretch.begin]) return result;
  RunningMoments plateau;
  for (std::size_t i = 0; i < rows; ++i) {
    RunningMoments row;
    for (std::size_t b = stretch.begin; b < stretch.end; ++b) row.add(capacity(i, b));
    plateau.add(row.mean());
  }
  result.plateau = Plateau{plateau.estimate(), betas[stretch.begin], betas[stretch.end - 1]};
  return result;
}

}  // namespace dewpoint::diagnosis
