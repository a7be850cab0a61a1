#include "dewpoint/studies/heat_experiment.hpp"

#include <cmath>

#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/key_scales.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::studies {
namespace {

using experiments::HeatQuestion;

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

double log_density(const HeatQuestion& question) {
  return theory::log_von_mises_fisher_density(static_cast<int>(question.d), question.kappa,
                                              question.angle);
}

/// log β*, where a few keys are left and noise is no longer Gaussian.
double log_unit(const HeatQuestion& question) {
  const auto law = theory::sphere_keys(static_cast<int>(question.d), log_density(question));
  return theory::log_key_unit(law, std::log(static_cast<double>(question.n)));
}

class HeatExperiment final : public ExperimentOf<HeatQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "heat"; }
  [[nodiscard]] std::string summary() const override {
    return "drift of a query up the density of its keys, and the noise that drowns it";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override { return {{"beta", "critical", "heat"}}; }
  [[nodiscard]] std::string order_parameter() const override { return "noise_to_signal"; }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"beta"}; }

 protected:
  [[nodiscard]] HeatQuestion completed(HeatQuestion question) const override {
    return studies::resolved(question);
  }
  [[nodiscard]] std::vector<Observable> observed(const HeatQuestion&) const override {
    std::vector<Observable> all;
    for (const Measured& measured : kMeasured) all.push_back({measured.name});
    return all;
  }
  [[nodiscard]] std::vector<Observable> predicted(const HeatQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const HeatQuestion& question) const override;
  [[nodiscard]] double cost(const HeatQuestion& question) const override {
    return static_cast<double>(question.draws) * static_cast<double>(question.n) *
           (12.0 + static_cast<double>(question.d));
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const HeatQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<double> HeatExperiment::forecast(const HeatQuestion& question) const {
  const double beta = *question.beta, signal = question.gradient() / beta;
  const auto exact = theory::population_output(
      {static_cast<int>(question.d), beta, question.kappa, question.angle});
  std::map<std::string, double> known = {{"drift_theory", exact.across},
                                         {"relative_drift_theory", exact.across / signal},
                                         {"gap_theory", 1.0 - exact.along},
                                         {"critical_heat", 1.0}};
  const theory::DriftQuery query = drift_query(question);
  const double scale = std::exp(theory::log_heat_scale(query));
  if (scale > 0.0) known["critical_beta"] = scale;
  if (std::log(beta) <= log_unit(question)) {
    const double ratio = theory::noise_to_signal_law(query, beta);
    known["noise_to_signal_theory"] = ratio;
    known["noise_squared_theory"] = ratio * signal * signal;
  }
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> HeatExperiment::sample(std::span<const HeatQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const auto& drift : experiments::heat_drift(tile, seed_of_replica(seed, replica), context)) {
    values.emplace_back();
    for (const Measured& measured : kMeasured) {
      values.back().push_back((drift.*measured.value).mean);
    }
  }
  return values;
}

}  // namespace

theory::DriftQuery drift_query(const HeatQuestion& question) {
  return {static_cast<int>(question.d), std::log(static_cast<double>(question.n)),
          log_density(question), question.gradient()};
}

HeatQuestion resolved(HeatQuestion q) {
  if (q.beta) return q;
  const double heat = q.heat.value_or(1.0);
  q.beta = heat * std::exp(theory::log_heat_scale(drift_query(q)));
  require(*q.beta > 0.0 && *q.beta <= experiments::kMostHeatBeta, "heat", heat,
          "above 0 with beta <= 1e11");
  q.heat.reset();
  return q;
}

const Experiment& heat_experiment() {
  static const HeatExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
