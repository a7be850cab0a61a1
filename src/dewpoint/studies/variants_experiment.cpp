#include "dewpoint/studies/variants_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/variants_question.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/simplex_sink.hpp"
#include "dewpoint/theory/simplex_window.hpp"

namespace dewpoint::studies {
namespace {

using attention::LayerForm;
using attention::Softmax;
using experiments::DewSample;
using experiments::variant_dew_of;
using experiments::VariantDew;
using experiments::VariantsQuestion;

const std::vector<std::string> kMeasured = {"dew_point",       "dew_mean",       "log_dew_point",
                                            "dew_in_log_keys", "visible",        "without_dew",
                                            "best_key",        "largest_weight", "weight_bound"};
const std::vector<std::string> kPredicted = {"dew_point_theory"};

// ---- theory -------------------------------------------------------------------------------------

// The dew point of a softmax over v keys among which the query itself is.
double own_dew_point(const VariantDew& q, double visible) {
  const double log_v = std::log(visible), rho = q.cloud.rho;
  if (visible < 3.0) return kUnknown;
  const auto dimension = static_cast<int>(q.cloud.d);
  if (q.cloud.law == "sphere") return theory::sphere_critical_inverse_temperature(log_v, dimension);
  if (q.cloud.law == "simplex") return theory::row_dew_point(visible, rho).value_or(kUnknown);
  const bool known = q.cloud.common == tokens::Common::fixed && visible <= 1e9 && rho <= 0.99 &&
                     2 <= dimension && dimension <= 4096;
  if (!known) return kUnknown;
  const auto scale = theory::annealed_critical_scale(log_v, dimension, rho);
  return scale ? *scale * log_v / (1.0 - rho) : kUnknown;
}

double own_dew_point(const VariantDew& q, const Softmax& softmax, double visible) {
  const std::size_t kept = softmax.kept(static_cast<std::size_t>(visible));
  if (softmax.largest_kept() > 0) {
    return q.cloud.law == "simplex" ? own_dew_point(q, static_cast<double>(kept)) : kUnknown;
  }
  const double dew = own_dew_point(q, visible);
  if (!softmax.sink_logit() || std::isnan(dew)) return dew;
  const double gap = std::log(visible - 1.0) / dew;
  return theory::sink_even_beta(std::log(visible), std::max(1.0 - gap, 0.0), *softmax.sink_logit());
}

// Keys that are all alike: the best of v random energies.
double foreign_dew_point(const VariantDew& q, const Softmax& softmax, double visible) {
  const bool known =
      q.cloud.law == "sphere" && softmax == Softmax::plain() && visible >= 3.0 && q.cloud.d >= 2;
  if (!known) return kUnknown;
  const SphereGap scores(static_cast<int>(q.cloud.d));
  const auto edge = theory::tilted_mean_beta(scores, std::log(visible));
  if (!edge) return kUnknown;
  return theory::kMedianDewLoad * *edge * std::sqrt(static_cast<double>(q.form.heads));
}

double dew_point_of(const VariantDew& q, double visible) {
  const auto* softmax = std::get_if<Softmax>(&q.form.attention);
  if (softmax == nullptr) return kUnknown;
  if (q.form.heads > 0) return foreign_dew_point(q, *softmax, visible);
  return q.form.rotary_base > 0.0 ? kUnknown : own_dew_point(q, *softmax, visible);
}

// ---- points -------------------------------------------------------------------------------------

std::vector<double> numbers_of(const DewSample& sample) {
  return {sample.dew_point,       sample.dew_mean,       sample.log_dew_point,
          sample.dew_in_log_keys, sample.visible,        sample.without_dew,
          sample.best_key,        sample.largest_weight, sample.weight_bound};
}

class VariantsExperiment final : public ExperimentOf<VariantsQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "variants"; }
  [[nodiscard]] std::string summary() const override {
    return "where a layer condenses under masks, sinks, top-k, linear attention and heads";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "dew_point"; }

 protected:
  [[nodiscard]] VariantsQuestion completed(VariantsQuestion q) const override {
    return experiments::resolved(std::move(q));
  }
  [[nodiscard]] std::vector<Observable> observed(const VariantsQuestion& /*q*/) const override {
    return scalars(kMeasured);
  }
  [[nodiscard]] std::vector<Observable> predicted(const VariantsQuestion& /*q*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const VariantsQuestion& asked) const override;
  [[nodiscard]] bool is_deterministic(const VariantsQuestion& q) const override {
    return !is_random(q.cloud, q.form);
  }
  [[nodiscard]] double cost(const VariantsQuestion& q) const override {
    return experiments::variant_dew_work(variant_dew_of(q, 0));
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const VariantsQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override {
    std::vector<std::vector<double>> numbers;
    for (const VariantsQuestion& q : tile) {
      numbers.push_back(
          numbers_of(experiments::sample_variant_dew(variant_dew_of(q, seed), replica, context)));
    }
    return numbers;
  }
};

// The rows in the middle see the median number of keys, and a dew point only grows with them.
std::vector<double> VariantsExperiment::forecast(const VariantsQuestion& asked) const {
  const VariantDew q = variant_dew_of(asked, 0);
  const auto queries = experiments::last_queries(q.cloud.n, q.rows);
  const auto at = [&](std::size_t place) {
    const std::size_t visible = q.form.mask.visible(queries[place], q.cloud.n).size();
    return dew_point_of(q, static_cast<double>(visible));
  };
  return {0.5 * (at((queries.size() - 1) / 2) + at(queries.size() / 2))};
}

}  // namespace

const Experiment& variants_experiment() {
  static const VariantsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
