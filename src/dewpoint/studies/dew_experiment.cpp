#include "dewpoint/studies/dew_experiment.hpp"

#include <cmath>

#include "dewpoint/experiments/dew_question.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/critical_scales.hpp"

namespace dewpoint::studies {
namespace {

const std::vector<std::string> kMeasured = {"beta_dew_median", "beta_dew_lower", "beta_dew_upper",
                                            "log_beta_dew",    "beta_pr",        "accumulation",
                                            "rest_bound"};
const std::vector<std::string> kPredicted = {"beta_dew_median_theory", "log_beta_dew_theory",
                                             "beta_pr_theory"};

using experiments::DewQuestion;

std::string name_of_law(const DewQuestion& question) {
  return scores::LawText(question.law, scores::score_law_names()).name();
}

class DewExperiment final : public ExperimentOf<DewQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "dew"; }
  [[nodiscard]] std::string summary() const override {
    return "dew point of a law of scores over the number of keys";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "beta_dew_median"; }

 protected:
  [[nodiscard]] DewQuestion completed(DewQuestion question) const override {
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(const DewQuestion&) const override {
    return scalars(kMeasured);
  }
  [[nodiscard]] std::vector<Observable> predicted(const DewQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const DewQuestion& question) const override;
  [[nodiscard]] bool is_deterministic(const DewQuestion& question) const override {
    const std::string law = name_of_law(question);
    return law == "simplex" || law == "clustered";
  }
  [[nodiscard]] double cost(const DewQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const DewQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<double> DewExperiment::forecast(const DewQuestion& question) const {
  const scores::LawText law(question.law, scores::score_law_names());
  if (law.name() != "simplex") return in_order(kPredicted, {});
  const double gap = 1.0 - law.number("rho"), log_n = std::log(question.n);
  const double dew = theory::simplex_annealed_beta(log_n, gap);
  return in_order(kPredicted, {{"beta_dew_median_theory", dew},
                               {"log_beta_dew_theory", std::log(dew)},
                               {"beta_pr_theory", theory::simplex_participation_beta(log_n, gap)}});
}

std::vector<std::vector<double>> DewExperiment::sample(std::span<const DewQuestion> tile,
                                                       std::uint64_t seed, std::uint64_t replica,
                                                       const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const DewQuestion& question : tile) {
    experiments::DewCurve curve = experiments::dew_of(question);
    curve.seed = seed_of_replica(seed, replica);
    const Frame frame = experiments::dew_curve(*scores::score_law(question.law), curve, context);
    values.emplace_back();
    for (const std::string& name : kMeasured) {
      values.back().push_back(frame.variable(name).cells[0].mean);
    }
  }
  return values;
}

// In units of 0.6 µs, that of a Gaussian score; quantiles of other laws are searched for.
double DewExperiment::cost(const DewQuestion& question) const {
  const std::string law = name_of_law(question);
  const double score = law == "vmf" ? 30.0 : law == "sphere" || law == "subsphere" ? 5.0 : 1.0;
  return static_cast<double>(question.draws) * static_cast<double>(question.top) * score;
}

}  // namespace

const Experiment& dew_experiment() {
  static const DewExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
