#include "dewpoint/studies/dew_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/critical_scales.hpp"

namespace dewpoint::studies {
namespace {

const std::vector<std::string> kMeasured = {"beta_dew_median", "beta_dew_lower", "beta_dew_upper",
                                            "log_beta_dew",    "beta_pr",        "accumulation",
                                            "rest_bound"};
const std::vector<std::string> kPredicted = {"beta_dew_median_theory", "log_beta_dew_theory",
                                             "beta_pr_theory"};

scores::LawText text_of(const Point& point) {
  return {word_of(point, "law"), scores::score_law_names()};
}

experiments::DewCurve question_of(const Point& point) {
  experiments::DewCurve question;
  question.n = {number_of(point, "n")};
  question.draws = whole_between(point, "draws", 2.0, 1e7);
  question.top = whole_between(point, "top", 3.0, 1e6);
  return question;
}

class DewExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "dew"; }
  [[nodiscard]] std::string summary() const override {
    return "dew point of a law of scores over the number of keys";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "beta_dew_median"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& /*point*/) const override {
    return scalars(kMeasured);
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] bool deterministic(const Point& point) const override {
    const std::string law = text_of(point).name();
    return law == "simplex" || law == "clustered";
  }
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& DewExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"law", word, Value("gaussian:sigma=1"),
       "law of the scores: gaussian:sigma=1, sphere:d=5, vmf:d=5,kappa=5,angle=0.3, "
       "subsphere:dim=2,ambient=16, gaussian-keys:d=64, simplex:rho=0.5, "
       "clustered:inner=0.8,outer=0.2,size=16"},
      {"n", number, Value(1e6), "keys, from 3 to 1e300; rounded to a whole number"},
      {"draws", whole, Value(200.0), "queries per replica; in [2, 1e7]", false},
      {"top", whole, Value(256.0), "best keys that are drawn one by one; in [3, 1e6]", false}};
  return all;
}

Point DewExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  const auto law = scores::score_law(word_of(point, "law"));
  point["law"] = law->name();
  point["n"] = experiments::whole_length(number_of(point, "n"));
  experiments::check(question_of(point), *law);
  point["top"] = std::min(number_of(point, "top"), number_of(point, "n"));
  return point;
}

std::vector<double> DewExperiment::predict(const Point& point) const {
  const scores::LawText law = text_of(point);
  if (law.name() != "simplex") return in_order(kPredicted, {});
  const double gap = 1.0 - law.number("rho"), log_n = std::log(number_of(point, "n"));
  const double dew = theory::simplex_annealed_beta(log_n, gap);
  return in_order(kPredicted, {{"beta_dew_median_theory", dew},
                               {"log_beta_dew_theory", std::log(dew)},
                               {"beta_pr_theory", theory::simplex_participation_beta(log_n, gap)}});
}

std::vector<std::vector<double>> DewExperiment::measure(std::span<const Point> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const Point& point : tile) {
    experiments::DewCurve question = question_of(point);
    question.seed = seed_of_replica(seed, replica);
    const auto law = scores::score_law(word_of(point, "law"));
    const Frame frame = experiments::dew_curve(*law, question, context);
    values.emplace_back();
    for (const std::string& name : kMeasured) {
      values.back().push_back(frame.variable(name).cells[0].mean);
    }
  }
  return values;
}

// In units of 0.6 µs, that of a Gaussian score; quantiles of other laws are searched for.
double DewExperiment::work(const Point& point) const {
  const std::string law = text_of(point).name();
  const double score = law == "vmf" ? 30.0 : law == "sphere" || law == "subsphere" ? 5.0 : 1.0;
  return number_of(point, "draws") * number_of(point, "top") * score;
}

}  // namespace

const Experiment& dew_experiment() {
  static const DewExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
