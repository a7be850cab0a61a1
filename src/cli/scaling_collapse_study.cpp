#include "cli/scaling_collapse_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/study_record.hpp"
#include "cli/study_run.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::cli {
namespace {

constexpr const char* kScaling = "scaling_variable";
constexpr const char* kCurvePlaces = "-4:6:201";
constexpr const char* kMeasuredPlaces = "-4:6:11";

// β (1 − ρ) = c log n = x + log n
double inverse_temperature(double x, double log_n, double rho) { return (x + log_n) / (1.0 - rho); }

Frame empty_frame(const std::string& name, const std::vector<double>& lengths,
                  const std::string& places) {
  Frame frame(name);
  std::vector<std::string> dimensions = {kScaling};
  if (!lengths.empty()) {
    frame.add_dimension("n", lengths);
    dimensions.insert(dimensions.begin(), "n");
  }
  frame.add_dimension(kScaling, parse_grid(kScaling, places));
  frame.add_variable("contraction", dimensions);
  frame.add_variable("jacobian_norm", dimensions);
  return frame;
}

Frame exact_layers(const ScalingCollapse& p) {
  Frame frame = empty_frame("scaling_collapse", p.lengths, kCurvePlaces);
  const auto& places = frame.dimension(kScaling).coordinates;
  for (std::size_t cell = 0; cell < p.lengths.size() * places.size(); ++cell) {
    const double n = p.lengths[cell / places.size()];
    const double beta = inverse_temperature(places[cell % places.size()], std::log(n), p.rho);
    const auto layer = theory::simplex_output(std::log(n), beta, p.rho);
    frame.variable("contraction").cells[cell] = exact_value(std::exp(layer.log_contraction));
    frame.variable("jacobian_norm").cells[cell] =
        exact_value(theory::simplex_gradient(std::log(n), beta, p.rho, {n}));
  }
  return frame;
}

Frame limit_of_layers(const ScalingCollapse& p) {
  Frame frame = empty_frame("crossover", {}, kCurvePlaces);
  const theory::GradientSetting setting{std::numeric_limits<double>::infinity()};
  const auto& places = frame.dimension(kScaling).coordinates;
  for (std::size_t k = 0; k < places.size(); ++k) {
    frame.variable("contraction").cells[k] =
        exact_value(theory::simplex_crossover(places[k], p.rho).contraction);
    frame.variable("jacobian_norm").cells[k] =
        exact_value(theory::simplex_gradient_crossover(places[k], setting));
  }
  return frame;
}

// One length, along γ.
Frame measured_layers(const ScalingCollapse& p, std::size_t n, const std::vector<double>& places,
                      int threads) {
  const double log_n = std::log(static_cast<double>(n));
  studies::StudyText study;
  study.experiment = "phase";
  study.seed = p.seed;
  study.fixed = {{"tokens", std::string("simplex")},
                 {"n", static_cast<double>(n)},
                 {"rho", p.rho},
                 {"eta", std::string("auto")}};
  study.grid = {{"gamma", {}}};
  for (const double x : places) {
    study.grid[0].values.push_back(inverse_temperature(x, log_n, p.rho) / log_n);
  }
  return run_in_memory(study, threads, {}, "scaling collapse").frames.at(0);
}

Frame measured_layers(const ScalingCollapse& p, int threads) {
  const std::vector<double> lengths(p.measured_lengths.begin(), p.measured_lengths.end());
  Frame frame = empty_frame("scaling_collapse_measured", lengths, kMeasuredPlaces);
  const auto& places = frame.dimension(kScaling).coordinates;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const Frame map = measured_layers(p, p.measured_lengths[k], places, threads);
    for (const char* name : {"contraction", "jacobian_norm"}) {
      const auto& cells = map.variable(name).cells;
      std::copy(cells.begin(), cells.end(),
                frame.variable(name).cells.begin() + static_cast<std::ptrdiff_t>(k * cells.size()));
    }
  }
  return frame;
}

}  // namespace

store::StudyRecord scaling_collapse_study(const ScalingCollapse& p, int threads,
                                          const std::string& command) {
  store::StudyRecord study = begin_study("scaling collapse", p.seed, command);
  study.parameters = {{"tokens", "simplex"},
                      {"n", fmt::format("{}", fmt::join(p.lengths, ","))},
                      {"d", "n"},
                      {"rho", fmt::format("{}", p.rho)}};
  study.frames = {exact_layers(p), limit_of_layers(p), measured_layers(p, threads)};
  return study;
}

}  // namespace dewpoint::cli
