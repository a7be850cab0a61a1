#include "dewpoint/studies/limit_experiment.hpp"

#include <fmt/format.h>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/experiments/limit_question.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/critical_sphere.hpp"

namespace dewpoint::studies {
namespace {

using experiments::LimitQuestion;

const std::vector<std::string> kPredicted = {"participation_theory", "critical_theta"};

/// Beyond, the quadrature takes as long as a batch.
constexpr double kMostPredictedExponent = 10.0;

class LimitExperiment final : public ExperimentOf<LimitQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "limit"; }
  [[nodiscard]] std::string summary() const override {
    return "limit law of attention weights at criticality, drawn from its definition";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }

 protected:
  [[nodiscard]] LimitQuestion completed(LimitQuestion question) const override;
  [[nodiscard]] std::vector<Observable> observed(const LimitQuestion& question) const override {
    return {{"largest_weight"},
            {"participation"},
            {"weight", {counted_dimension("rank", question.law.ranks)}}};
  }
  [[nodiscard]] std::vector<Observable> predicted(const LimitQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const LimitQuestion& question) const override;
  [[nodiscard]] double cost(const LimitQuestion& question) const override {
    return static_cast<double>(question.law.draws) * (20.0 + static_cast<double>(question.law.top));
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const LimitQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

/// In the domain of theory/critical_sphere.hpp: below it, no key has any weight.
LimitQuestion LimitExperiment::completed(LimitQuestion question) const {
  question = experiments::resolved(question);
  const double least = theory::kLeastTheta * question.law.exponent;
  require(question.law.theta >= least, "theta", question.law.theta,
          fmt::format("at least {} at exponent {}", least, question.law.exponent));
  return question;
}

std::vector<double> LimitExperiment::forecast(const LimitQuestion& question) const {
  const double theta = question.law.theta, exponent = question.law.exponent;
  std::map<std::string, double> known = {{"critical_theta", exponent}};
  if (exponent <= kMostPredictedExponent) {
    known["participation_theory"] = theory::critical_sphere_means({theta, exponent}).participation;
  }
  return in_order(kPredicted, known);
}

/// All weights that are drawn are asked for, for the sum of their squares.
std::vector<std::vector<double>> LimitExperiment::sample(std::span<const LimitQuestion> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const LimitQuestion& question : tile) {
    experiments::CriticalLimit law = question.law;
    law.ranks = law.top;
    law.seed = seed_of_replica(seed, replica);
    const Matrix<double> weights = experiments::critical_limit_weights(law, context);
    RunningMoments participation;
    std::vector<RunningMoments> ordered(question.law.ranks);
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      participation.add(inner(weights.row(i), weights.row(i)));
      for (std::size_t k = 0; k < ordered.size(); ++k) ordered[k].add(weights(i, k));
    }
    values.push_back({ordered.front().mean(), participation.mean()});
    for (const RunningMoments& moments : ordered) values.back().push_back(moments.mean());
  }
  return values;
}

}  // namespace

const Experiment& limit_experiment() {
  static const LimitExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
