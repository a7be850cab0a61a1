#include <cmath>

#include "cli/console.hpp"
#include "cli/sl_studies.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::cli {
namespace {

using Values = std::vector<double>;

// Von Mises-Fisher keys on S², the query at an angle from their centre.
constexpr int kDimension = 3;
constexpr double kConcentration = 2.0;
constexpr double kAngle = 0.7;
const Values kHeatLengths{1e4, 1e5};

double gradient() { return kConcentration * std::sin(kAngle); }

theory::DriftQuery drift_query(double n) {
  return {kDimension, std::log(n),
          theory::log_von_mises_fisher_density(kDimension, kConcentration, kAngle), gradient()};
}

double heat_beta(double n) { return std::exp(theory::log_heat_scale(drift_query(n))); }

std::vector<experiments::HeatDrift> drift(double n, const Values& betas, std::size_t draws,
                                          std::uint64_t seed, const RunContext& context) {
  const auto keys = scores::key_law("vmf:d=3,kappa=2,angle=0.7");
  const double slope[kDimension] = {0.0, gradient(), 0.0};
  experiments::KeyOutput question;
  question.keys = static_cast<std::size_t>(n);
  question.draws = draws;
  question.inverse_temperatures = betas;
  question.seed = seed;
  return experiments::heat_drift(*keys, slope, question, context);
}

Frame drift_theory(double n) {
  const Values betas = parse_grid("beta", "4:1000:101:log");
  Frame frame("heat_drift_theory");
  frame.add_dimension("beta", betas);
  for (const char* name : {"population", "first", "second"}) frame.add_variable(name, {"beta"});
  frame.add_variable("heat_beta").cells[0] = exact_value(heat_beta(n));
  for (std::size_t i = 0; i < betas.size(); ++i) {
    const theory::VonMisesFisherQuery query{kDimension, betas[i], kConcentration, kAngle};
    const auto set = [&](const char* name, double across) {
      frame.variable(name).cells[i] = exact_value(betas[i] * across / gradient());
    };
    set("population", theory::population_output(query).across);
    set("first", theory::population_output_expansion(query, 1).across);
    set("second", theory::population_output_expansion(query, 2).across);
  }
  return frame;
}

// Frames "heat_drift" of the longest context and "heat_noise" of all.
std::vector<Frame> measured_drift(std::size_t draws, std::uint64_t seed,
                                  const RunContext& context) {
  const Values betas = parse_grid("beta", "5:500:9:log");
  Frame one("heat_drift"), noise("heat_noise");
  one.add_dimension("beta", betas);
  one.add_variable("across", {"beta"});
  noise.add_dimension("n", kHeatLengths);
  noise.add_dimension("beta", betas);
  noise.add_variable("noise_to_signal", {"n", "beta"});
  noise.add_variable("relative_beta", {"n", "beta"});
  for (std::size_t k = 0; k < kHeatLengths.size(); ++k) {
    const auto found = drift(kHeatLengths[k], betas, draws, seed, context);
    for (std::size_t i = 0; i < betas.size(); ++i) {
      const std::size_t cell = k * betas.size() + i;
      noise.variable("noise_to_signal").cells[cell] = found[i].noise_to_signal;
      noise.variable("relative_beta").cells[cell] =
          exact_value(betas[i] / heat_beta(kHeatLengths[k]));
      one.variable("across").cells[i] = found[i].relative_drift;
    }
  }
  return {one, noise};
}

Frame noise_law() {
  const Values places = parse_grid("relative_beta", "0.01:10:31:log");
  Frame frame("heat_noise_theory");
  frame.add_dimension("relative_beta", places);
  Variable& law = frame.add_variable("law", {"relative_beta"});
  for (std::size_t i = 0; i < places.size(); ++i) {
    law.cells[i] =
        exact_value(theory::noise_to_signal_law(drift_query(1e5), places[i] * heat_beta(1e5)));
  }
  return frame;
}

Frame harmonics(const RunContext& context) {
  const Values betas{20, 50, 200}, degrees{1, 2, 3, 5, 8}, dimensions{2, 3};
  Frame frame("harmonics");
  frame.add_dimension("d", dimensions);
  frame.add_dimension("degree", degrees);
  frame.add_dimension("beta", betas);
  frame.add_variable("growth", {"d", "degree", "beta"});
  frame.add_variable("rate", {"d", "degree", "beta"});
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    experiments::HarmonicGrowth question;
    question.manifold = k == 0 ? experiments::Manifold::circle : experiments::Manifold::sphere;
    question.particles = k == 0 ? 3000 : 6000;
    question.inverse_temperatures = betas;
    for (const double degree : degrees) {
      question.degrees.push_back(static_cast<std::size_t>(degree));
    }
    for (const auto& found : experiments::harmonic_growth(question, context)) {
      const auto degree = static_cast<double>(found.degree);
      std::size_t place = k * degrees.size();
      while (degrees[place - k * degrees.size()] != degree) ++place;
      place *= betas.size();
      while (betas[place % betas.size()] != found.inverse_temperature) ++place;
      frame.variable("growth").cells[place] = exact_value(found.factors.front());
      frame.variable("rate").cells[place] =
          exact_value(degree * (degree + dimensions[k] - 2.0) / found.inverse_temperature);
    }
  }
  return frame;
}

// The three guesses depend on x = ℓ(ℓ + d − 2)/β alone: ℓ = 1 on the circle at β = 1/x.
Frame harmonics_theory() {
  const Values rates = parse_grid("rate", "0.005:8:121:log");
  Frame frame("harmonics_theory");
  frame.add_dimension("rate", rates);
  for (const char* name : {"regularised", "heat", "deconvolution"}) {
    frame.add_variable(name, {"rate"});
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const theory::HarmonicStep step{2, 1, 1.0 / rates[i]};
    frame.variable("regularised").cells[i] = exact_value(theory::regularised_growth_law(step));
    frame.variable("heat").cells[i] = exact_value(theory::heat_growth_law(step));
    frame.variable("deconvolution").cells[i] = exact_value(theory::deconvolution_growth(step));
  }
  return frame;
}

}  // namespace

store::StudyRecord backward_heat_study(const StudyEffort& effort) {
  store::StudyRecord study = begin_study("backward heat", effort.seed, effort.command);
  study.parameters = {{"keys", "vmf:d=3,kappa=2,angle=0.7"}};
  ProgressLine progress("backward heat");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  study.frames = measured_drift(effort.quick ? 100 : 1000, effort.seed, context);
  study.frames.push_back(drift_theory(kHeatLengths.back()));
  study.frames.push_back(noise_law());
  study.frames.push_back(harmonics(context));
  study.frames.push_back(harmonics_theory());
  return study;
}

}  // namespace dewpoint::cli
