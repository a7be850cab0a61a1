#include "dewpoint/studies/variants_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <variant>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/variant_dew.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/phase_parameters.hpp"
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
using experiments::VariantDew;

constexpr double kMostCloudTokens = 0x1p24;

const std::vector<std::string> kMeasured = {"dew_point",       "dew_mean",       "log_dew_point",
                                            "dew_in_log_keys", "visible",        "without_dew",
                                            "best_key",        "largest_weight", "weight_bound"};
const std::vector<std::string> kPredicted = {"dew_point_theory"};

std::vector<Field> all_parameters() {
  using enum Kind;
  std::vector<Field> parameters =
      known_cloud_parameters(4096, {"mask", "attention", "projections", "rope"});
  parameters.push_back(
      {"size", number, {}, "number in place of a capital letter: mask window:W, attention top:K"});
  parameters.push_back({"rows", whole, 256.0,
                        "queries asked for their dew point, the last ones; at least 3", false});
  return parameters;
}

// ---- names with a letter ------------------------------------------------------------------------

// The place of a number that is a single capital letter: "W" of "dilated:W:4".
std::size_t place_of_letter(const std::string& name) {
  for (std::size_t k = 1; k < name.size(); ++k) {
    const bool alone = name[k - 1] == ':' && (k + 1 == name.size() || name[k + 1] == ':');
    if (alone && std::isupper(static_cast<unsigned char>(name[k])) != 0) return k;
  }
  return std::string::npos;
}

void resolve_size(Point& point) {
  bool stands_for_one = false;
  for (const char* parameter : {"mask", "attention"}) {
    std::string name = word_of(point, parameter);
    const std::size_t place = place_of_letter(name);
    if (place == std::string::npos) continue;
    if (!has(point, "size")) {
      throw Error(Code::bad_value, fmt::format("size: is missing; it stands for {} in {} {}",
                                               name[place], parameter, name));
    }
    point[parameter] = name.replace(place, 1, number_text(number_of(point, "size")));
    stands_for_one = true;
  }
  if (has(point, "size") && !stands_for_one) {
    throw Error(Code::bad_value,
                fmt::format("size: {} stands for nothing; allowed: with a capital letter in mask "
                            "or attention, as window:W",
                            number_text(number_of(point, "size"))));
  }
  point.erase("size");
}

// ---- theory -------------------------------------------------------------------------------------

struct Question {
  tokens::CloudParameters cloud;
  LayerForm form;
};

// The dew point of a softmax over v keys among which the query itself is.
double own_dew_point(const Question& q, double visible) {
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

double own_dew_point(const Question& q, const Softmax& softmax, double visible) {
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
double foreign_dew_point(const Question& q, const Softmax& softmax, double visible) {
  const bool known =
      q.cloud.law == "sphere" && softmax == Softmax::plain() && visible >= 3.0 && q.cloud.d >= 2;
  if (!known) return kUnknown;
  const SphereGap scores(static_cast<int>(q.cloud.d));
  const auto edge = theory::tilted_mean_beta(scores, std::log(visible));
  if (!edge) return kUnknown;
  return theory::kMedianDewLoad * *edge * std::sqrt(static_cast<double>(q.form.heads));
}

double dew_point_of(const Question& q, double visible) {
  const auto* softmax = std::get_if<Softmax>(&q.form.attention);
  if (softmax == nullptr) return kUnknown;
  if (q.form.heads > 0) return foreign_dew_point(q, *softmax, visible);
  return q.form.rotary_base > 0.0 ? kUnknown : own_dew_point(q, *softmax, visible);
}

// ---- points -------------------------------------------------------------------------------------

VariantDew question_of(const Point& point, std::uint64_t seed) {
  return {cloud_of(point), form_of(point), count_of(point, "rows"), seed};
}

std::vector<double> numbers_of(const DewSample& sample) {
  return {sample.dew_point,       sample.dew_mean,       sample.log_dew_point,
          sample.dew_in_log_keys, sample.visible,        sample.without_dew,
          sample.best_key,        sample.largest_weight, sample.weight_bound};
}

class VariantsExperiment final : public Experiment {
 public:
  VariantsExperiment() : parameters_(all_parameters()) {}

  [[nodiscard]] std::string name() const override { return "variants"; }
  [[nodiscard]] std::string summary() const override {
    return "where a layer condenses under masks, sinks, top-k, linear attention and heads";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override { return parameters_; }
  [[nodiscard]] std::string order_parameter() const override { return "dew_point"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& /*point*/) const override {
    return scalars(kMeasured);
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] bool deterministic(const Point& point) const override {
    return is_deterministic_cloud(point) && !form_of(point).is_random();
  }
  [[nodiscard]] double work(const Point& point) const override {
    return experiments::variant_dew_work(question_of(point, 0));
  }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;

 private:
  std::vector<Field> parameters_;
};

Point VariantsExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters_);
  (void)whole_between(point, "n", 3.0, kMostCloudTokens);
  (void)whole_between(point, "rows", 3.0, 1e6);
  const tokens::CloudParameters cloud = tokens::resolved(cloud_of(point));
  point["d"] = static_cast<double>(cloud.d);
  if (cloud.law == "sphere") (void)whole_between(point, "d", 2.0, 1e6);
  resolve_size(point);
  resolve_form(point);
  attention::check(form_of(point), cloud.n, cloud.d);
  drop_unknown_to_cloud(point);
  return point;
}

// The rows in the middle see the median number of keys, and a dew point only grows with them.
std::vector<double> VariantsExperiment::predict(const Point& point) const {
  const Question question{cloud_of(point), form_of(point)};
  const std::size_t n = question.cloud.n;
  const auto queries = experiments::last_queries(n, count_of(point, "rows"));
  const auto at = [&](std::size_t place) {
    const std::size_t visible = question.form.mask.visible(queries[place], n).size();
    return dew_point_of(question, static_cast<double>(visible));
  };
  return {0.5 * (at((queries.size() - 1) / 2) + at(queries.size() / 2))};
}

std::vector<std::vector<double>> VariantsExperiment::measure(std::span<const Point> tile,
                                                             std::uint64_t seed,
                                                             std::uint64_t replica,
                                                             const RunContext& context) const {
  std::vector<std::vector<double>> numbers;
  for (const Point& point : tile) {
    numbers.push_back(
        numbers_of(experiments::sample_variant_dew(question_of(point, seed), replica, context)));
  }
  return numbers;
}

}  // namespace

const Experiment& variants_experiment() {
  static const VariantsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
