#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/console.hpp"
#include "cli/sl_studies.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/experiments/sample_statistics.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::cli {
namespace {

using Values = std::vector<double>;

constexpr double kTheta = 1.0;
constexpr std::size_t kRanks = 8;
const Values kDimensions{3, 5, 8};
const Values kLengths{1e3, 1e6, 1e15};

Values probabilities() {
  Values p;
  for (int percent = 2; percent <= 98; percent += 4) p.push_back(0.01 * percent);
  return p;
}

Values ranks() {
  Values all;
  for (std::size_t k = 1; k <= kRanks; ++k) all.push_back(static_cast<double>(k));
  return all;
}

void set_quantiles(Variable& variable, std::size_t block, const Values& draws) {
  const Values p = probabilities();
  for (std::size_t i = 0; i < p.size(); ++i) {
    variable.cells[block * p.size() + i] = experiments::quantile_of(draws, p[i]);
  }
}

Frame measured_weights(std::size_t draws, std::uint64_t seed, const RunContext& context) {
  Frame frame("critical_weights");
  frame.add_dimension("d", kDimensions);
  frame.add_dimension("n", kLengths);
  frame.add_dimension("probability", probabilities());
  frame.add_dimension("rank", ranks());
  frame.add_variable("largest_weight", {"d", "n", "probability"});
  frame.add_variable("weight", {"d", "n", "rank"});
  for (std::size_t d = 0; d < kDimensions.size(); ++d) {
    experiments::Query question;
    question.dimension = static_cast<int>(kDimensions[d]);
    question.n = kLengths;
    question.temperatures = {kTheta};
    question.draws = draws;
    question.ranks = kRanks;
    question.keep_draws = true;
    question.seed = seed;
    const auto [means, kept] = experiments::query(question, context);
    const auto& cells = means.variable("weight").cells;  // (n, θ, rank) with one θ
    std::copy(
        cells.begin(), cells.end(),
        frame.variable("weight").cells.begin() + static_cast<std::ptrdiff_t>(d * cells.size()));
    const auto& largest = kept.variable("largest_weight").cells;
    for (std::size_t k = 0; k < kLengths.size(); ++k) {
      Values values;
      for (std::size_t i = 0; i < draws; ++i) values.push_back(largest[k * draws + i].mean);
      set_quantiles(frame.variable("largest_weight"), d * kLengths.size() + k, values);
    }
  }
  return frame;
}

Frame limit_weights(std::size_t draws, std::uint64_t seed, const RunContext& context) {
  Frame frame("limit_weights");
  frame.add_dimension("d", kDimensions);
  frame.add_dimension("probability", probabilities());
  frame.add_dimension("rank", ranks());
  frame.add_variable("largest_weight", {"d", "probability"});
  frame.add_variable("weight", {"d", "rank"});
  for (std::size_t d = 0; d < kDimensions.size(); ++d) {
    const Matrix<double> weights = experiments::critical_limit_weights(
        {kTheta, 0.5 * (kDimensions[d] - 1.0), draws, 2048, kRanks, seed}, context);
    Values largest;
    for (std::size_t i = 0; i < draws; ++i) largest.push_back(weights(i, 0));
    set_quantiles(frame.variable("largest_weight"), d, largest);
    const std::vector<Estimate> means = experiments::column_means(weights);
    std::copy(means.begin(), means.end(),
              frame.variable("weight").cells.begin() + static_cast<std::ptrdiff_t>(d * kRanks));
  }
  return frame;
}

// |E w_1 − limit|/limit. Distances that are not far above the error of the quadrature are left out.
double distance_to_limit(int dimension, double n) {
  const double log_n = std::log(n);
  const double limit = theory::critical_sphere_largest_weight({kTheta, 0.5 * (dimension - 1.0)});
  const double finite = theory::finite_largest_weight(
      SphereGap(dimension), {log_n, kTheta * theory::sphere_unit(log_n, dimension)});
  const double relative = std::abs(finite / limit - 1.0);
  return relative > 20.0 * theory::kFiniteLargestWeightError ? relative : kUnknown;
}

// The curvature of the sphere costs 1/β* ~ n^{−2/(d−1)}, and the count of n keys, which is not
// Poisson's, 1/n. The larger of the two remains.
double limiting_power(double dimension) { return -std::min(1.0, 2.0 / (dimension - 1.0)); }

// The power of n through the last distance that is known, as far as distances are known.
Values power_law(const Values& lengths, const Values& distances, double power) {
  Values law(lengths.size(), kUnknown);
  std::optional<std::size_t> last;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    if (std::isnan(distances[i])) continue;
    if (!last) last = i;
    law[i] = distances[*last] * std::pow(lengths[i] / lengths[*last], power);
  }
  return law;
}

Frame convergence(const RunContext& context) {
  Frame frame("convergence");
  const Values dimensions{3, 5, 9, 17},
      lengths{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
  frame.add_dimension("d", dimensions);
  frame.add_dimension("n", lengths);
  for (const char* name : {"distance", "law"}) frame.add_variable(name, {"d", "n"});
  frame.add_variable("power", {"d"});
  const std::size_t count = lengths.size();
  Values distances(dimensions.size() * count);
  parallel_for(distances.size(), context, [&](std::size_t i) {
    distances[i] = distance_to_limit(static_cast<int>(dimensions[i / count]), lengths[i % count]);
  });
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const auto first = distances.begin() + static_cast<std::ptrdiff_t>(d * count);
    const Values row(first, first + static_cast<std::ptrdiff_t>(count));
    const double power = limiting_power(dimensions[d]);
    const Values law = power_law(lengths, row, power);
    frame.variable("power").cells[d] = exact_value(power);
    for (std::size_t i = 0; i < count; ++i) {
      frame.variable("distance").cells[d * count + i] = exact_value(row[i]);
      frame.variable("law").cells[d * count + i] = exact_value(law[i]);
    }
  }
  return frame;
}

}  // namespace

store::StudyRecord critical_weights_study(const StudyEffort& effort) {
  const std::size_t draws = effort.quick ? 2000 : 20'000;
  store::StudyRecord study = begin_study("critical weights", effort.seed, effort.command);
  study.parameters = {{"theta", "1"}};
  ProgressLine progress("critical weights");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  study.frames = {measured_weights(draws, effort.seed, context),
                  limit_weights(10 * draws, effort.seed, context), convergence(context)};
  return study;
}

}  // namespace dewpoint::cli
