#include "dewpoint/diagnosis/head_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/diagnosis/row_blocks.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/observables/head_observables.hpp"

namespace dewpoint::diagnosis {
namespace {

using observables::HeadObservables;

struct Statistic {
  const char* name;
  double HeadObservables::*value;
  bool without_sink;  // also kept without first key and learned sink
};

constexpr std::array kStatistics = {
    Statistic{"entropy", &HeadObservables::entropy, true},
    Statistic{"effective_keys", &HeadObservables::effective_keys, true},
    Statistic{"effective_share", &HeadObservables::effective_share, true},
    Statistic{"participation", &HeadObservables::participation, true},
    Statistic{"largest_weight", &HeadObservables::largest_weight, true},
    Statistic{"first_mass", &HeadObservables::first_mass, false},
    Statistic{"sink_mass", &HeadObservables::sink_mass, false},
    Statistic{"mean_score", &HeadObservables::mean_score, true},
    Statistic{"score_variance", &HeadObservables::score_variance, true},
    Statistic{"largest_score", &HeadObservables::largest_score, true}};

const std::string kWithoutSink = "_without_sink";

Estimate exactly(double value, std::size_t samples) { return {value, 0.0, samples}; }

Estimate estimate_of(const std::optional<RowQuantile>& quantile) {
  return quantile ? quantile->estimate : Estimate{};
}

// ---- over n and multiplier ------------------------------------------------------------------

/// The observables of every row of a bin; without sink only of rows that have other keys.
std::vector<HeadObservables> observables_of(const HeadBin& bin, std::size_t multiplier,
                                            bool without_sink) {
  std::vector<HeadObservables> all;
  for (const HeadRow* row : bin.rows) {
    const SoftmaxRow& softmax = row->softmax[multiplier];
    if (!without_sink) {
      all.push_back(observables::head_observables(softmax, row->keys));
    } else if (const auto rest = observables::observables_without_sink(softmax, row->keys)) {
      all.push_back(*rest);
    }
  }
  return all;
}

Estimate mean_of(const std::vector<HeadObservables>& all, double HeadObservables::*value,
                 const HeadBin& bin) {
  if (all.empty()) return {};
  std::vector<double> values;
  for (const HeadObservables& row : all) values.push_back(row.*value);
  return block_mean(values, std::min(bin.bootstrap->blocks(), values.size()));
}

void add_softmax_variables(Frame& frame) {
  const std::vector<std::string> over = {"n", "multiplier"};
  for (const Statistic& statistic : kStatistics) frame.add_variable(statistic.name, over);
  frame.add_variable("phase", over);
  for (const Statistic& statistic : kStatistics)
    if (statistic.without_sink) frame.add_variable(statistic.name + kWithoutSink, over);
  frame.add_variable("phase" + kWithoutSink, over);
}

void fill_softmax(Frame& frame, const HeadBin& bin, std::size_t multiplier, std::size_t cell) {
  for (const bool without : {false, true}) {
    const std::string suffix = without ? kWithoutSink : std::string();
    const std::vector<HeadObservables> all = observables_of(bin, multiplier, without);
    for (const Statistic& statistic : kStatistics)
      if (statistic.without_sink || !without)
        frame.variable(statistic.name + suffix).cells[cell] = mean_of(all, statistic.value, bin);
    frame.variable("phase" + suffix).cells[cell] =
        estimate_of(row_quantile(row_phases(bin, multiplier, without), 0.5, *bin.bootstrap));
  }
}

// ---- over n: rows, keys and dew points ------------------------------------------------------

void add_length_variables(Frame& frame) {
  for (const char* name : {"rows", "keys"}) frame.add_variable(name, {"n"});
  for (const std::string& suffix : {std::string(), kWithoutSink})
    for (const char* name :
         {"dew_point", "dew_point_lower", "dew_point_upper", "dew_point_mean", "tied_share"})
      frame.add_variable(name + suffix, {"n"});
  for (const char* name : {"participation_point", "accumulation", "own_key_wins", "key_mean",
                           "key_variance", "dew_point_gaussian"})
    frame.add_variable(name, {"n"});
}

/// Geometric mean over the rows that condense at all.
Estimate geometric_mean(const std::vector<double>& points, const HeadBin& bin) {
  std::vector<double> logarithms;
  for (const double point : points)
    if (std::isfinite(point)) logarithms.push_back(std::log(point));
  if (logarithms.empty()) return {};
  const Estimate mean =
      block_mean(logarithms, std::min(bin.bootstrap->blocks(), logarithms.size()));
  const double value = std::exp(mean.mean);
  return {value, value * mean.standard_error, mean.samples};
}

Estimate tied_share(const std::vector<double>& points, const HeadBin& bin) {
  std::vector<double> tied;
  for (const double point : points)
    if (!std::isnan(point)) tied.push_back(std::isinf(point) ? 1.0 : 0.0);
  return tied.empty() ? Estimate{}
                      : block_mean(tied, std::min(bin.bootstrap->blocks(), tied.size()));
}

void fill_dew_points(Frame& frame, const HeadBin& bin, std::size_t cell) {
  for (const bool without : {false, true}) {
    const std::string suffix = without ? kWithoutSink : std::string();
    const std::vector<double> points = row_dew_points(bin, without);
    const auto quantile = [&](double share) {
      return estimate_of(row_quantile(points, share, *bin.bootstrap));
    };
    frame.variable("dew_point" + suffix).cells[cell] = quantile(0.5);
    frame.variable("dew_point_lower" + suffix).cells[cell] = quantile(0.25);
    frame.variable("dew_point_upper" + suffix).cells[cell] = quantile(0.75);
    frame.variable("dew_point_mean" + suffix).cells[cell] = geometric_mean(points, bin);
    frame.variable("tied_share" + suffix).cells[cell] = tied_share(points, bin);
  }
}

void fill_keys(Frame& frame, const HeadBin& bin, std::size_t cell) {
  std::vector<double> keys, means, variances;
  for (const HeadRow* row : bin.rows) {
    keys.push_back(static_cast<double>(row->keys));
    if (const auto moments = observables::key_moments(row->softmax.front(), row->keys)) {
      means.push_back(moments->mean);
      variances.push_back(moments->variance);
    }
  }
  const double mean_keys = block_mean(keys, keys.size()).mean;
  frame.variable("rows").cells[cell] =
      exactly(static_cast<double>(bin.rows.size()), bin.rows.size());
  frame.variable("keys").cells[cell] = exactly(mean_keys, bin.rows.size());
  if (means.empty()) return;
  const std::size_t blocks = std::min(bin.bootstrap->blocks(), means.size());
  const Estimate variance = block_mean(variances, blocks);
  frame.variable("key_mean").cells[cell] = block_mean(means, blocks);
  frame.variable("key_variance").cells[cell] = variance;
  if (variance.mean <= 0.0 || mean_keys < 17.0) return;
  const double predicted = gaussian_dew_point(mean_keys - 1.0) / std::sqrt(variance.mean);
  frame.variable("dew_point_gaussian").cells[cell] = {
      predicted, 0.5 * predicted * variance.standard_error / variance.mean, variance.samples};
}

// ---- over n: companions from whole rows of scores -------------------------------------------

double row_participation(std::span<const double> scores, double beta) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double partition = 0.0, squares = 0.0;
  for (const double score : scores) {
    const double weight = std::exp(beta * (score - largest));
    partition += weight;
    squares += weight * weight;
  }
  return squares / (partition * partition);
}

/// β_PR of rows of different lengths. Its error is that of the mean of Σw² at β_PR over the slope
/// of that mean, which a step of kStep to either side shows.
Estimate participation_estimate(const std::vector<std::span<const double>>& rows,
                                const RunContext& context) {
  constexpr double kStep = 0.05;
  const double beta = observables::participation_point(rows, context);
  if (std::isinf(beta)) return {beta, std::numeric_limits<double>::quiet_NaN(), rows.size()};
  std::vector<double> here;
  double rise = 0.0;
  for (const std::span<const double> row : rows) {
    here.push_back(row_participation(row, beta));
    rise += row_participation(row, beta * std::exp(kStep)) -
            row_participation(row, beta * std::exp(-kStep));
  }
  const double slope = rise / (2.0 * kStep * static_cast<double>(rows.size()));
  const Estimate mean = block_mean(here, independent_blocks(here));
  return {beta, beta * mean.standard_error / slope, rows.size()};
}

Estimate accumulation_estimate(const std::vector<std::span<const double>>& rows,
                               const Bootstrap& options) {
  std::vector<double> scales;
  for (const std::span<const double> row : rows)
    scales.push_back(observables::accumulation_scale(row).value());
  const RowBootstrap bootstrap(rows.size(), options, independent_blocks(scales));
  return estimate_of(row_quantile(scales, 0.5, bootstrap));
}

void fill_companions(Frame& frame, const HeadBin& bin, std::size_t cell, const HeadOptions& options,
                     const RunContext& context) {
  std::vector<std::span<const double>> rows;
  std::vector<double> own;
  for (const ScoreRow* row : bin.scores) {
    if (without_first_key(*row).size() < 3) continue;
    rows.push_back(without_first_key(*row));
    own.push_back(own_key_wins(*row) ? 1.0 : 0.0);
  }
  if (rows.empty()) return;
  frame.variable("participation_point").cells[cell] = participation_estimate(rows, context);
  frame.variable("accumulation").cells[cell] = accumulation_estimate(rows, options.bootstrap);
  frame.variable("own_key_wins").cells[cell] = block_mean(own, independent_blocks(own));
}

// log β with E w_max = 1/2 for 2^k Gaussian scores, k = 4 to 24.
constexpr int kFirstPower = 4;
constexpr std::array kGaussianHalf = {0.7901, 0.9979, 1.1530, 1.2757, 1.3767, 1.4624, 1.5366,
                                      1.6019, 1.6602, 1.7128, 1.7608, 1.8047, 1.8453, 1.8831,
                                      1.9183, 1.9512, 1.9823, 2.0116, 2.0393, 2.0656, 2.0907};

}  // namespace

double gaussian_dew_point(double keys) {
  const double power = std::clamp(std::log2(keys), double{kFirstPower},
                                  double{kFirstPower} + kGaussianHalf.size() - 1.0);
  const auto node =
      std::min(static_cast<std::size_t>(power) - kFirstPower, kGaussianHalf.size() - 2);
  const double left = std::log(static_cast<double>(node + kFirstPower));
  const double right = std::log(static_cast<double>(node + kFirstPower + 1));
  const double share = (std::log(power) - left) / (right - left);
  const double log_half = (1.0 - share) * kGaussianHalf[node] + share * kGaussianHalf[node + 1];
  const double beyond = 0.5 * std::log(std::max(1.0, std::log2(keys) / power));
  return std::exp(log_half + beyond + kEmpiricalMedianShift);
}

Frame head_statistics(const std::vector<HeadBin>& bins, const HeadOptions& options,
                      const RunContext& context) {
  const RunContext silent{context.threads, context.stop, {}};
  Frame frame("head");
  frame.add_dimension("n", {options.bins.ends.begin(), options.bins.ends.end()});
  frame.add_labelled_dimension("multiplier", options.multipliers);
  add_softmax_variables(frame);
  add_length_variables(frame);
  const std::size_t multipliers = options.multipliers.size();
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    context.throw_if_stopped();
    fill_companions(frame, bins[bin], bin, options, silent);
    if (bins[bin].rows.empty()) continue;
    fill_keys(frame, bins[bin], bin);
    fill_dew_points(frame, bins[bin], bin);
    for (std::size_t k = 0; k < multipliers; ++k)
      fill_softmax(frame, bins[bin], k, bin * multipliers + k);
  }
  return frame;
}

}  // namespace dewpoint::diagnosis
