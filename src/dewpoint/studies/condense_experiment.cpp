#include "dewpoint/studies/condense_experiment.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::studies {
namespace {

using experiments::kOrderedWeights;

constexpr std::uint64_t kPilotSeed = 1;

const std::vector<std::string> kOverLoad = {"largest_weight",
                                            "log_largest_weight",
                                            "participation",
                                            "rest_weight",
                                            "entropy",
                                            "mean_score",
                                            "log_partition",
                                            "log_partition_deviation",
                                            "log_partition_bound",
                                            "largest_weight_bound",
                                            "retrieval_signal"};
const std::vector<std::string> kOfPlanted = {"planted_weight", "log_planted_weight",
                                             "median_planted_weight", "largest_noise_weight"};
const std::vector<std::string> kPredicted = {"participation_theory",
                                             "entropy_theory",
                                             "mean_score_theory",
                                             "log_partition_theory",
                                             "log_partition_deviation_theory",
                                             "retrieval_signal_theory",
                                             "critical_t",
                                             "critical_beta"};

// ---- points ---------------------------------------------------------------------------------

/// Everything but load, planted key and k.
experiments::Condense question_of(const Point& point) {
  experiments::Condense question;
  question.n = {number_of(point, "n")};
  question.loads = {1.0};
  question.deviation = number_of(point, "sigma");
  question.draws = whole_between(point, "draws", 2.0, 1e7);
  if (has(point, "keys-dimension")) {
    question.query_keys = experiments::QueryKeys{whole_between(point, "keys-dimension", 1.0, 1e6),
                                                 !flag_of(point, "unscaled")};
  }
  return question;
}

/// The question of a resolved point.
experiments::Condense whole_question(const Point& point) {
  experiments::Condense question = question_of(point);
  question.loads = {number_of(point, "t")};
  if (has(point, "planted")) question.planted = {number_of(point, "planted")};
  question.top = count_of(point, "top");
  return question;
}

void resolve_query_keys(Point& point) {
  if (has(point, "keys-dimension")) return;
  if (flag_of(point, "unscaled")) {
    require(false, "unscaled", 1.0, "allowed without keys-dimension");
  }
  point.erase("unscaled");
}

void resolve_load(Point& point, const experiments::Condense& question) {
  if (has(point, "beta")) {
    const double beta = number_of(point, "beta");
    const double load = beta / experiments::inverse_temperature(question, question.n[0], 1.0);
    require(load > 0.0 && load <= 1000.0, "beta", beta,
            "a number above 0 and at most 1000 sqrt(2 log n)/sigma");
    point.erase("beta");
    point["t"] = load;
  }
  point.try_emplace("t", 1.0);
}

void resolve_planted(Point& point, experiments::Condense question) {
  if (!has(point, "signal")) return;
  question.signals = {number_of(point, "signal")};
  experiments::check(question);
  point["planted"] = experiments::planted_score(question, question.n[0], 0);
  point.erase("signal");
}

/// The k that the verb would choose for this load alone.
double chosen_top(experiments::TopCounts& counts, experiments::Condense question, double bound) {
  question.bound = bound;
  question.seed = kPilotSeed;
  return static_cast<double>(counts.of(question, question.n[0]));
}

void resolve_top(Point& point, const experiments::Condense& question,
                 experiments::TopCounts& counts) {
  const double n = question.n[0];
  if (!has(point, "top")) {
    point["top"] = chosen_top(counts, question, number_of(point, "bound"));
  }
  const double least = std::min(n, static_cast<double>(kOrderedWeights));
  (void)whole_between(point, "top", least, std::min(n, 1e6));
  point.erase("bound");
}

// ---- theory ---------------------------------------------------------------------------------

/// Means that are exact at finite n. The variance of log Z is a difference: its root is given where
/// the quadrature has it to 1e-3.
void add_exact(std::map<std::string, double>& known, const experiments::Condense& question) {
  const double n = question.n[0];
  const NormalDepth law(question.deviation);
  const auto means = theory::finite_score_means(
      law, {std::log(n), experiments::inverse_temperature(question, n, question.loads[0])});
  known["participation_theory"] = means.participation;
  known["entropy_theory"] = means.entropy;
  known["mean_score_theory"] = -means.depth;
  known["log_partition_theory"] = means.log_partition;
  const double size = 1.0 + std::abs(means.log_partition);
  if (means.log_partition_variance >= 1e3 * theory::kFiniteScoresError * size * size) {
    known["log_partition_deviation_theory"] = std::sqrt(means.log_partition_variance);
  }
}

class CondenseExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "condense"; }
  [[nodiscard]] std::string summary() const override {
    return "softmax over up to 1e300 Gaussian scores: freezing, and finding a planted key";
  }
  [[nodiscard]] int schema() const override { return 3; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const override;
  [[nodiscard]] std::vector<Unit> units() const override { return {{"beta", "critical", "t"}}; }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] Point resolved(const Point& given) const override {
    return resolver()->resolved(given);
  }
  [[nodiscard]] std::unique_ptr<Resolver> resolver() const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override;
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"t"}; }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Parameter>& CondenseExperiment::parameters() const {
  using enum ParameterKind;
  static const std::vector<Parameter> all = {
      {"n", number, Value(1e6), "scores per query, from 2 to 1e300; rounded to a whole number"},
      {"t", number, {}, "load beta/beta_c, in (0, 1000]; 1 where neither t nor beta is given"},
      {"beta", number, {}, "inverse temperature itself, instead of t; above 0"},
      {"signal", number, {}, "plant a key of score s sigma sqrt(2 log n); in [-1e6, 1e6]"},
      {"planted", number, {}, "plant a key of this score, instead of signal; in [-1e100, 1e100]"},
      {"sigma", number, Value(1.0), "standard deviation of a score; in [1e-50, 1e50]"},
      {"keys-dimension",
       whole,
       {},
       "scores <q,k>/sqrt(d) of Gaussian keys and a Gaussian query, new per draw, in this d; in "
       "[1, 1e6]"},
      {"unscaled", flag, Value(false), "with keys-dimension: without the factor 1/sqrt(d)", false},
      {"draws", whole, Value(1000.0), "rows of scores per replica; in [2, 1e7]", false},
      {"top",
       whole,
       {},
       "largest scores drawn one by one, from 8 (or n) to 1e6; none: see bound",
       false},
      {"bound", number, Value(1e-3), "choose top so that the law of log Z is right to this; (0, 1]",
       false}};
  return all;
}

class CondenseResolver final : public Resolver {
 public:
  explicit CondenseResolver(const std::vector<Parameter>& parameters) : parameters_(parameters) {}
  [[nodiscard]] Point resolved(const Point& given) override;

 private:
  const std::vector<Parameter>& parameters_;
  experiments::TopCounts counts_;
};

std::unique_ptr<Resolver> CondenseExperiment::resolver() const {
  return std::make_unique<CondenseResolver>(parameters());
}

Point CondenseResolver::resolved(const Point& given) {
  require_one_of(given, {"t", "beta"});
  require_one_of(given, {"signal", "planted"});
  require_one_of(given, {"top", "bound"});
  Point point = with_defaults(given, parameters_);
  point["n"] = whole_length(number_of(point, "n"));
  resolve_query_keys(point);
  experiments::Condense question = question_of(point);
  question.bound = number_of(point, "bound");
  experiments::check(question);
  resolve_load(point, question);
  resolve_planted(point, question);
  question.loads = {number_of(point, "t")};
  if (has(point, "planted")) question.planted = {number_of(point, "planted")};
  experiments::check(question);
  resolve_top(point, question, counts_);
  return point;
}

std::vector<Observable> CondenseExperiment::observables(const Point& point) const {
  std::vector<Observable> all = scalars(kOverLoad);
  all.push_back({"ordered_weight", {counted_dimension("rank", kOrderedWeights)}});
  if (!has(point, "planted")) return all;
  for (const std::string& name : kOfPlanted) all.push_back({name});
  return all;
}

std::vector<double> CondenseExperiment::predict(const Point& point) const {
  const experiments::Condense question = whole_question(point);
  std::map<std::string, double> known;
  if (!question.query_keys) add_exact(known, question);
  known["retrieval_signal_theory"] = theory::retrieval_signal(question.loads[0]);
  known["critical_t"] = 1.0;
  known["critical_beta"] = experiments::inverse_temperature(question, question.n[0], 1.0);
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> CondenseExperiment::measure(std::span<const Point> tile,
                                                             std::uint64_t seed,
                                                             std::uint64_t replica,
                                                             const RunContext& context) const {
  experiments::Condense question = whole_question(tile.front());
  question.loads.clear();
  for (const Point& point : tile) question.loads.push_back(number_of(point, "t"));
  question.seed = seed_of_replica(seed, replica);
  const Frame frame = experiments::condense(question, context);
  std::vector<std::vector<double>> values(tile.size());
  for (std::size_t t = 0; t < tile.size(); ++t) {
    const auto add = [&](const std::string& name, std::size_t cell) {
      values[t].push_back(frame.variable(name).cells[cell].mean);
    };
    for (const std::string& name : kOverLoad) add(name, t);
    for (std::size_t r = 0; r < kOrderedWeights; ++r)
      add("ordered_weight", t * kOrderedWeights + r);
    if (question.planted.empty()) continue;
    for (const std::string& name : kOfPlanted) add(name, t);
  }
  return values;
}

// In units of 50 ns: of a row, of each score of the top, and of each coordinate of a query.
double CondenseExperiment::work(const Point& point) const {
  double row = 40.0 + number_of(point, "top");
  if (has(point, "keys-dimension")) row += 0.6 * number_of(point, "keys-dimension");
  return number_of(point, "draws") * row;
}

}  // namespace

const Experiment& condense_experiment() {
  static const CondenseExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
