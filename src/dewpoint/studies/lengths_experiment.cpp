#include "dewpoint/studies/lengths_experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/phase_parameters.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kPhaseObservables;
using experiments::PhasePoint;

constexpr const char* kCritical = "critical";
constexpr double kMostLength = 0x1p32;
constexpr double kMostNormTokens = static_cast<double>(experiments::kStreamedTokens - 1);

const std::vector<std::string> kMeasured = {
    "contraction",    "mean_cosine",   "entropy",   "normalised_entropy",
    "largest_weight", "participation", "self_mass", "effective_rank",
    "beta",           "phase"};
const std::vector<std::string> kPredicted = {"contraction_theory",        "entropy_theory",
                                             "normalised_entropy_theory", "largest_weight_theory",
                                             "participation_theory",      "self_mass_theory"};

bool asks_for_norm(const Point& point) { return word_of(point, "eta") != "none"; }

std::vector<std::string> with_norm(std::vector<std::string> names, const Point& point,
                                   const char* norm) {
  if (asks_for_norm(point)) names.emplace_back(norm);
  return names;
}

// ---- parameters ---------------------------------------------------------------------------------

std::string law_names() {
  std::vector<std::string> names;
  for (const scaling::NamedSchedule& known : scaling::named_schedules())
    names.push_back(known.name);
  return fmt::format("multiplier of the scores: {}, or {}, which follows the transition",
                     fmt::join(names, ", "), kCritical);
}

std::vector<Field> all_parameters() {
  using enum Kind;
  std::vector<Field> parameters = known_cloud_parameters(4096, {"alpha"});
  parameters.push_back({"law", word, std::string("constant"), law_names()});
  parameters.push_back({"n0", whole, 4096.0, "tokens at which every law is critical; at least 3"});
  parameters.push_back(
      {"strength", number, 1.0, "factor of beta at every length, > 0; 1: critical at n0"});
  parameters.push_back({"rows", whole, 1024.0,
                        fmt::format("queries sampled where there are more than {} tokens, and "
                                    "outputs of an effective rank; at least 3",
                                    kAllRowsTokens),
                        false});
  for (Field& parameter : norm_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back({"eta-most", whole, static_cast<double>(kAllRowsTokens),
                        "most tokens at which the Jacobian norm is measured", false});
  return parameters;
}

// ---- temperatures -------------------------------------------------------------------------------

double critical_beta(const Point& point, double n) {
  if (word_of(point, "tokens") == "sphere") {
    const auto dimension = static_cast<int>(count_of(point, "d"));
    return theory::sphere_critical_inverse_temperature(std::log(n), dimension);
  }
  return theory::simplex_annealed_beta(std::log(n), 1.0 - number_of(point, "rho"));
}

// Of the law as it is critical at n0.
double calibrated_beta(const Point& point) {
  const double n = number_of(point, "n"), n0 = number_of(point, "n0");
  const std::string& law = word_of(point, "law");
  if (law == kCritical) return critical_beta(point, n);
  const scaling::Schedule schedule = scaling::named_schedule(law, n0);
  return critical_beta(point, n0) * scaling::multiplier(schedule, n) /
         scaling::multiplier(schedule, n0);
}

double beta_of(const Point& point) {
  const double strength = has(point, "strength") ? number_of(point, "strength") : 1.0;
  return strength * calibrated_beta(point);
}

std::string completed_law(const std::string& law, std::size_t dimension, double n0) {
  if (law == kCritical) return law;
  std::string text = law == "power" ? fmt::format("power:d={}", dimension) : law;
  try {
    (void)scaling::named_schedule(text, n0);
  } catch (const Error& error) {
    throw Error(Code::bad_value, fmt::format("law: {}", error.what()));
  }
  return text;
}

// ---- points -------------------------------------------------------------------------------------

PhasePoint phase_point_of(const Point& point, std::uint64_t seed) {
  PhasePoint p;
  p.cloud = cloud_of(point);
  p.inverse_temperature = beta_of(point);
  p.residual = number_of(point, "alpha");
  p.rank_rows = count_of(point, "rows");
  p.rows = p.cloud.n > kAllRowsTokens ? std::min(p.rank_rows, p.cloud.n) : 0;
  p.norm = norm_of(point);
  if (p.norm && number_of(point, "n") > number_of(point, "eta-most")) p.norm.reset();
  p.seed = seed;
  return p;
}

// What does not matter is no part of a point.
void drop_irrelevant(Point& point) {
  drop_unknown_to_cloud(point);
  if (number_of(point, "strength") == 1.0) point.erase("strength");
  if (asks_for_norm(point)) return;
  for (const char* name : {"eta-error", "eta-probes", "eta-most"}) point.erase(name);
}

void check(const Point& point) {
  (void)whole_between(point, "n", 3.0, kMostLength);
  (void)whole_between(point, "n0", 3.0, kMostLength);
  (void)whole_between(point, "rows", 3.0, 1e6);
  const double strength = number_of(point, "strength");
  require(strength > 0.0 && std::isfinite(strength), "strength", strength, "a finite number > 0");
  if (asks_for_norm(point)) (void)whole_between(point, "eta-most", 0.0, kMostNormTokens);
}

double named(const experiments::PhaseValues& values, std::string_view name) {
  const auto* found = std::find(kPhaseObservables.begin(), kPhaseObservables.end(), name);
  DEWPOINT_EXPECTS(found != kPhaseObservables.end());
  return values[static_cast<std::size_t>(found - kPhaseObservables.begin())];
}

std::vector<double> numbers_of(const Point& point, const experiments::PointSample& sample) {
  const double n = number_of(point, "n"), beta = beta_of(point);
  std::map<std::string, double> known = {
      {"effective_rank", sample.effective_rank},
      {"beta", beta},
      {"phase", beta / critical_beta(point, n)},
      {"normalised_entropy", named(sample.values, "entropy") / std::log(n)}};
  for (const char* name : {"contraction", "mean_cosine", "entropy", "largest_weight",
                           "participation", "self_mass", "jacobian_norm"}) {
    known[name] = named(sample.values, name);
  }
  return in_order(with_norm(kMeasured, point, "jacobian_norm"), known);
}

class LengthsExperiment final : public Experiment {
 public:
  LengthsExperiment() : parameters_(all_parameters()) {}

  [[nodiscard]] std::string name() const override { return "lengths"; }
  [[nodiscard]] std::string summary() const override {
    return "one layer over context lengths under the multipliers that models use";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override { return parameters_; }
  [[nodiscard]] std::string order_parameter() const override { return "contraction"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    return scalars(with_norm(kMeasured, point, "jacobian_norm"));
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& point) const override {
    return scalars(with_norm(kPredicted, point, "jacobian_norm_theory"));
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] bool deterministic(const Point& point) const override {
    return is_deterministic_cloud(point) && !experiments::samples_rows(phase_point_of(point, 0));
  }
  [[nodiscard]] double work(const Point& point) const override {
    return experiments::phase_point_work(phase_point_of(point, 0));
  }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
  [[nodiscard]] std::size_t parts(const Point& point) const override {
    const PhasePoint p = phase_point_of(point, 0);
    return experiments::streams_rows(p) ? experiments::streamed_parts(p) : 1;
  }
  [[nodiscard]] std::vector<double> measure_part(const Point& point, std::uint64_t seed,
                                                 std::uint64_t replica, std::size_t part,
                                                 const RunContext& context) const override {
    return experiments::streamed_part(phase_point_of(point, seed), replica, part, context);
  }
  [[nodiscard]] std::vector<double> join(
      const Point& point, std::uint64_t seed, std::uint64_t replica,
      const std::vector<std::vector<double>>& parts) const override {
    return numbers_of(point,
                      experiments::join_streamed(phase_point_of(point, seed), replica, parts));
  }

 private:
  std::vector<Field> parameters_;
};

Point LengthsExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters_);
  check(point);
  const tokens::CloudParameters cloud = tokens::resolved(cloud_of(point));
  point["d"] = static_cast<double>(cloud.d);
  if (cloud.law == "sphere") (void)whole_between(point, "d", 2.0, 1e6);
  point["law"] = completed_law(word_of(point, "law"), cloud.d, number_of(point, "n0"));
  drop_irrelevant(point);
  (void)experiments::resolved(phase_point_of(point, 0));
  return point;
}

std::vector<double> LengthsExperiment::predict(const Point& point) const {
  const std::vector<std::string> names = with_norm(kPredicted, point, "jacobian_norm_theory");
  if (!has(point, "rho")) return in_order(names, {});
  const double log_n = std::log(number_of(point, "n")), rho = number_of(point, "rho");
  const double beta = beta_of(point), alpha = number_of(point, "alpha");
  const auto w = theory::simplex_weights(log_n, beta, rho);
  const double entropy = -w.self * w.log_self - w.others * w.log_per_token;
  return in_order(
      names, {{"contraction_theory",
               std::exp(theory::simplex_output(log_n, beta, rho, alpha).log_contraction)},
              {"entropy_theory", entropy},
              {"normalised_entropy_theory", entropy / log_n},
              {"largest_weight_theory", w.self},
              {"participation_theory", w.self * w.self + w.others * w.per_token},
              {"self_mass_theory", w.self},
              {"jacobian_norm_theory",
               theory::simplex_gradient(log_n, beta, rho, {number_of(point, "d"), 1.0, alpha})}});
}

std::vector<std::vector<double>> LengthsExperiment::measure(std::span<const Point> tile,
                                                            std::uint64_t seed,
                                                            std::uint64_t replica,
                                                            const RunContext& context) const {
  std::vector<std::vector<double>> numbers;
  for (const Point& point : tile) {
    const PhasePoint p = phase_point_of(point, seed);
    numbers.push_back(numbers_of(point, experiments::sample_point(p, replica, context)));
  }
  return numbers;
}

}  // namespace

const Experiment& lengths_experiment() {
  static const LengthsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
