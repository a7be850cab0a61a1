#include "dewpoint/studies/lengths_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/lengths_question.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kPhaseObservables;
using experiments::LengthsQuestion;
using experiments::PhasePoint;

const std::vector<std::string> kMeasured = {
    "contraction",    "mean_cosine",   "entropy",   "normalised_entropy",
    "largest_weight", "participation", "self_mass", "effective_rank",
    "beta",           "phase"};
const std::vector<std::string> kPredicted = {"contraction_theory",        "entropy_theory",
                                             "normalised_entropy_theory", "largest_weight_theory",
                                             "participation_theory",      "self_mass_theory"};

std::vector<std::string> with_norm(std::vector<std::string> names, const LengthsQuestion& q,
                                   const char* norm) {
  if (q.norm.eta != experiments::Eta::none) names.emplace_back(norm);
  return names;
}

double critical_beta(const LengthsQuestion& q, double n) {
  if (q.cloud.law == "sphere") {
    return theory::sphere_critical_inverse_temperature(std::log(n), static_cast<int>(q.cloud.d));
  }
  return theory::simplex_annealed_beta(std::log(n), 1.0 - q.cloud.rho.value());
}

// Of the law as it is critical at n0.
double calibrated_beta(const LengthsQuestion& q) {
  const auto n = static_cast<double>(q.cloud.n), n0 = static_cast<double>(q.n0);
  if (q.law == experiments::kCriticalLaw) return critical_beta(q, n);
  const scaling::Schedule schedule = scaling::named_schedule(q.law, n0);
  return critical_beta(q, n0) * scaling::multiplier(schedule, n) /
         scaling::multiplier(schedule, n0);
}

double beta_of(const LengthsQuestion& q) { return q.strength.value_or(1.0) * calibrated_beta(q); }

PhasePoint phase_point_of(const LengthsQuestion& q, std::uint64_t seed) {
  PhasePoint p;
  p.cloud = cloud_of(q.cloud);
  p.inverse_temperature = beta_of(q);
  p.residual = q.alpha;
  p.rank_rows = q.rows;
  p.rows = p.cloud.n > experiments::kAllRowsTokens ? std::min(p.rank_rows, p.cloud.n) : 0;
  p.norm = norm_of(q.norm);
  if (p.cloud.n > q.eta_most.value_or(0)) p.norm.reset();
  p.seed = seed;
  return p;
}

double named(const experiments::PhaseValues& values, std::string_view name) {
  const auto* found = std::find(kPhaseObservables.begin(), kPhaseObservables.end(), name);
  DEWPOINT_EXPECTS(found != kPhaseObservables.end());
  return values[static_cast<std::size_t>(found - kPhaseObservables.begin())];
}

std::vector<double> numbers_of(const LengthsQuestion& q, const experiments::PointSample& sample) {
  const auto n = static_cast<double>(q.cloud.n);
  const double beta = beta_of(q);
  std::map<std::string, double> known = {
      {"effective_rank", sample.effective_rank},
      {"beta", beta},
      {"phase", beta / critical_beta(q, n)},
      {"normalised_entropy", named(sample.values, "entropy") / std::log(n)}};
  for (const char* name : {"contraction", "mean_cosine", "entropy", "largest_weight",
                           "participation", "self_mass", "jacobian_norm"}) {
    known[name] = named(sample.values, name);
  }
  return in_order(with_norm(kMeasured, q, "jacobian_norm"), known);
}

class LengthsExperiment final : public ExperimentOf<LengthsQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "lengths"; }
  [[nodiscard]] std::string summary() const override {
    return "one layer over context lengths under the multipliers that models use";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "contraction"; }

  [[nodiscard]] std::size_t parts(const Point& point) const override {
    const PhasePoint p = phase_point_of(asked(point), 0);
    return experiments::streams_rows(p) ? experiments::streamed_parts(p) : 1;
  }
  [[nodiscard]] std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                 std::uint64_t replica, std::size_t part,
                                                 const RunContext& context) const override {
    return experiments::streamed_part(phase_point_of(asked(point), seed), replica, part, context);
  }
  [[nodiscard]] std::vector<double> join(
      const Point& point, std::uint64_t seed, std::uint64_t replica,
      const std::vector<std::vector<double>>& parts) const override {
    const LengthsQuestion q = asked(point);
    return numbers_of(q, experiments::join_streamed(phase_point_of(q, seed), replica, parts));
  }

 protected:
  [[nodiscard]] LengthsQuestion completed(LengthsQuestion q) const override {
    q = experiments::resolved(std::move(q));
    (void)experiments::resolved(phase_point_of(q, 0));
    return q;
  }
  [[nodiscard]] std::vector<Observable> observed(const LengthsQuestion& q) const override {
    return scalars(with_norm(kMeasured, q, "jacobian_norm"));
  }
  [[nodiscard]] std::vector<Observable> predicted(const LengthsQuestion& q) const override {
    return scalars(with_norm(kPredicted, q, "jacobian_norm_theory"));
  }
  [[nodiscard]] std::vector<double> forecast(const LengthsQuestion& q) const override;
  [[nodiscard]] bool is_deterministic(const LengthsQuestion& q) const override {
    return !is_random(q.cloud) && !experiments::samples_rows(phase_point_of(q, 0));
  }
  [[nodiscard]] double cost(const LengthsQuestion& q) const override {
    return experiments::phase_point_work(phase_point_of(q, 0));
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const LengthsQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override {
    std::vector<std::vector<double>> numbers;
    for (const LengthsQuestion& q : tile) {
      const PhasePoint p = phase_point_of(q, seed);
      numbers.push_back(numbers_of(q, experiments::sample_point(p, replica, context)));
    }
    return numbers;
  }
};

std::vector<double> LengthsExperiment::forecast(const LengthsQuestion& q) const {
  const std::vector<std::string> names = with_norm(kPredicted, q, "jacobian_norm_theory");
  if (!q.cloud.rho) return in_order(names, {});
  const double log_n = std::log(static_cast<double>(q.cloud.n)), rho = *q.cloud.rho;
  const double beta = beta_of(q), alpha = q.alpha;
  const auto w = theory::simplex_weights(log_n, beta, rho);
  const double entropy = -w.self * w.log_self - w.others * w.log_per_token;
  return in_order(
      names,
      {{"contraction_theory",
        std::exp(theory::simplex_output(log_n, beta, rho, alpha).log_contraction)},
       {"entropy_theory", entropy},
       {"normalised_entropy_theory", entropy / log_n},
       {"largest_weight_theory", w.self},
       {"participation_theory", w.self * w.self + w.others * w.per_token},
       {"self_mass_theory", w.self},
       {"jacobian_norm_theory",
        theory::simplex_gradient(log_n, beta, rho, {static_cast<double>(q.cloud.d), 1.0, alpha})}});
}

}  // namespace

const Experiment& lengths_experiment() {
  static const LengthsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
