#include "dewpoint/studies/limit_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/experiments/critical_limit.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/critical_sphere.hpp"

namespace dewpoint::studies {
namespace {

const std::vector<std::string> kPredicted = {"participation_theory", "critical_theta"};

/// Beyond, the quadrature takes as long as a batch.
constexpr double kMostPredictedExponent = 10.0;

constexpr double kMostWeights = 1e8;  // held in memory, draws times top

/// All weights that are drawn are asked for, for the sum of their squares.
experiments::CriticalLimit question_of(const Point& point) {
  experiments::CriticalLimit question;
  question.theta = number_of(point, "theta");
  question.exponent = number_of(point, "exponent");
  question.draws = whole_between(point, "draws", 2.0, 1e7);
  question.top = whole_between(point, "top", 1.0, 1e6);
  question.ranks = question.top;
  require(static_cast<double>(question.draws * question.top) <= kMostWeights, "draws",
          static_cast<double>(question.draws),
          fmt::format("at most {} weights over top = {}", kMostWeights, question.top));
  return question;
}

/// The domain of theory/critical_sphere.hpp: beyond it one key has everything, or no key anything.
void check_place(double theta, double exponent) {
  require(exponent >= theory::kLeastExponent && exponent <= theory::kMostExponent, "exponent",
          exponent, fmt::format("in [{}, {}]", theory::kLeastExponent, theory::kMostExponent));
  const double least = theory::kLeastTheta * exponent;
  require(theta >= least && theta <= theory::kMostTheta, "theta", theta,
          fmt::format("in [{}, {}] at exponent {}", least, theory::kMostTheta, exponent));
}

class LimitExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "limit"; }
  [[nodiscard]] std::string summary() const override {
    return "limit law of attention weights at criticality, drawn from its definition";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    return {{"largest_weight"},
            {"participation"},
            {"weight", {counted_dimension("rank", count_of(point, "ranks"))}}};
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override {
    return number_of(point, "draws") * (20.0 + number_of(point, "top"));
  }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& LimitExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"theta", number, Value(1.0), "beta/beta*; in [0.005 a, 1000]"},
      {"exponent", number, {}, "a of P(gap <= t) ~ t^a; in [0.5, 100]; 1 where d is not given"},
      {"d", whole, {}, "dimension, instead: a = (d - 1)/2; in [2, 201]"},
      {"draws", whole, Value(1000.0),
       "draws per replica; at least 2, and with top at most 1e8 weights", false},
      {"top", whole, Value(512.0), "keys that are drawn one by one; in [1, 1e6]", false},
      {"ranks", whole, Value(8.0), "ordered weights that are kept; at most top", false}};
  return all;
}

Point LimitExperiment::resolved(const Point& given) const {
  require_one_of(given, {"exponent", "d"});
  Point point = with_defaults(given, parameters());
  if (has(point, "d")) {
    const auto dimension = static_cast<double>(whole_between(point, "d", 2.0, 201.0));
    point["exponent"] = 0.5 * (dimension - 1.0);
    point.erase("d");
  }
  point.try_emplace("exponent", 1.0);
  const experiments::CriticalLimit question = question_of(point);
  check_place(question.theta, question.exponent);
  (void)whole_between(point, "ranks", 1.0, static_cast<double>(question.top));
  return point;
}

std::vector<double> LimitExperiment::predict(const Point& point) const {
  const double theta = number_of(point, "theta"), exponent = number_of(point, "exponent");
  std::map<std::string, double> known = {{"critical_theta", exponent}};
  if (exponent <= kMostPredictedExponent) {
    known["participation_theory"] = theory::critical_sphere_means({theta, exponent}).participation;
  }
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> LimitExperiment::measure(std::span<const Point> tile,
                                                          std::uint64_t seed, std::uint64_t replica,
                                                          const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const Point& point : tile) {
    experiments::CriticalLimit question = question_of(point);
    question.seed = seed_of_replica(seed, replica);
    const Matrix<double> weights = experiments::critical_limit_weights(question, context);
    RunningMoments participation;
    std::vector<RunningMoments> ordered(count_of(point, "ranks"));
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
