#include "dewpoint/studies/heat_experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/key_scales.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::studies {
namespace {

constexpr double kMostBeta = 1e11;
constexpr double kMostConcentration = scores::VonMisesFisherKeys::kMostConcentration;

const std::vector<std::string> kPredicted = {
    "drift_theory", "relative_drift_theory", "noise_squared_theory", "noise_to_signal_theory",
    "gap_theory",   "critical_beta",         "critical_heat"};

struct Measured {
  const char* name;
  Estimate experiments::HeatDrift::*value;
};
constexpr Measured kMeasured[] = {{"drift", &experiments::HeatDrift::along_gradient},
                                  {"relative_drift", &experiments::HeatDrift::relative_drift},
                                  {"noise_squared", &experiments::HeatDrift::noise},
                                  {"noise_to_signal", &experiments::HeatDrift::noise_to_signal},
                                  {"gap", &experiments::HeatDrift::gap}};

/// Where the query is, checked.
struct Place {
  int dimension;
  double kappa, angle, n;

  [[nodiscard]] double gradient() const { return kappa * std::sin(angle); }
  [[nodiscard]] theory::DriftQuery drift() const {
    return {dimension, std::log(n), theory::log_von_mises_fisher_density(dimension, kappa, angle),
            gradient()};
  }
  /// log β*, where a few keys are left and noise is no longer Gaussian.
  [[nodiscard]] double log_unit() const {
    const auto law = theory::sphere_keys(
        dimension, theory::log_von_mises_fisher_density(dimension, kappa, angle));
    return theory::log_key_unit(law, std::log(n));
  }
  [[nodiscard]] double heat_scale() const { return std::exp(theory::log_heat_scale(drift())); }
};

Place place_of(const Point& point) {
  const Place place{static_cast<int>(whole_between(point, "d", 2.0, theory::kMostSphereDimension)),
                    number_of(point, "kappa"), number_of(point, "angle"),
                    static_cast<double>(whole_between(point, "n", 2.0, 1e9))};
  require(place.kappa > 0.0 && place.kappa <= kMostConcentration, "kappa", place.kappa,
          fmt::format("in (0, {}]", kMostConcentration));
  require(place.angle > 0.0 && place.angle < std::numbers::pi, "angle", place.angle, "in (0, pi)");
  return place;
}

experiments::KeyOutput question_of(const Point& point) {
  experiments::KeyOutput question;
  question.keys = whole_between(point, "n", 2.0, 1e9);
  question.draws = whole_between(point, "draws", 2.0, 1e6);
  return question;
}

class HeatExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "heat"; }
  [[nodiscard]] std::string summary() const override {
    return "drift of a query up the density of its keys, and the noise that drowns it";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::vector<Unit> units() const override { return {{"beta", "critical", "heat"}}; }
  [[nodiscard]] std::string order_parameter() const override { return "noise_to_signal"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& /*point*/) const override {
    std::vector<Observable> all;
    for (const Measured& measured : kMeasured) all.push_back({measured.name});
    return all;
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override {
    return number_of(point, "draws") * number_of(point, "n") * (12.0 + number_of(point, "d"));
  }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"beta"}; }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& HeatExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"d", whole, Value(5.0), "dimension of query and keys; in [2, 512]"},
      {"kappa", number, Value(5.0), "concentration of the keys; in (0, 1e4]"},
      {"angle", number, Value(1.0), "angle between query and centre of the keys; in (0, pi)"},
      {"n", whole, Value(1e4), "keys; in [2, 1e9]"},
      {"beta", number, {}, "inverse temperature; in (0, 1e11]"},
      {"heat", number, {}, "beta/beta_heat, instead of beta; 1 where neither is given"},
      {"draws", whole, Value(20.0), "sets of keys per replica; in [2, 1e6]", false}};
  return all;
}

Point HeatExperiment::resolved(const Point& given) const {
  require_one_of(given, {"beta", "heat"});
  Point point = with_defaults(given, parameters());
  const Place place = place_of(point);
  (void)question_of(point);
  if (!has(point, "beta")) {
    const double heat = has(point, "heat") ? number_of(point, "heat") : 1.0;
    const double beta = heat * place.heat_scale();
    require(beta > 0.0 && beta <= kMostBeta, "heat", heat, "above 0 with beta <= 1e11");
    point["beta"] = beta;
    point.erase("heat");
  }
  const double beta = number_of(point, "beta");
  require(beta > 0.0 && beta <= kMostBeta, "beta", beta, "in (0, 1e11]");
  return point;
}

std::vector<double> HeatExperiment::predict(const Point& point) const {
  const Place place = place_of(point);
  const double beta = number_of(point, "beta"), signal = place.gradient() / beta;
  const auto exact = theory::population_output({place.dimension, beta, place.kappa, place.angle});
  std::map<std::string, double> known = {{"drift_theory", exact.across},
                                         {"relative_drift_theory", exact.across / signal},
                                         {"gap_theory", 1.0 - exact.along},
                                         {"critical_heat", 1.0}};
  const double scale = place.heat_scale();
  if (scale > 0.0) known["critical_beta"] = scale;
  if (std::log(beta) <= place.log_unit()) {
    const double ratio = theory::noise_to_signal_law(place.drift(), beta);
    known["noise_to_signal_theory"] = ratio;
    known["noise_squared_theory"] = ratio * signal * signal;
  }
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> HeatExperiment::measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const {
  const Place place = place_of(tile.front());
  const scores::VonMisesFisherKeys law(place.dimension, {{place.kappa, place.angle, 1.0}});
  std::vector<double> gradient(law.dimension(), 0.0);
  gradient[1] = place.gradient();
  experiments::KeyOutput question = question_of(tile.front());
  for (const Point& point : tile) question.inverse_temperatures.push_back(number_of(point, "beta"));
  question.seed = seed_of_replica(seed, replica);
  std::vector<std::vector<double>> values;
  for (const auto& drift : experiments::heat_drift(law, gradient, question, context)) {
    values.emplace_back();
    for (const Measured& measured : kMeasured) {
      values.back().push_back((drift.*measured.value).mean);
    }
  }
  return values;
}

}  // namespace

const Experiment& heat_experiment() {
  static const HeatExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
