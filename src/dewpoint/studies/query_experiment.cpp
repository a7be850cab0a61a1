#include "dewpoint/studies/query_experiment.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/studies/many_keys.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::studies {
namespace {

using experiments::TemperatureUnit;

constexpr std::uint64_t kPilotSeed = 1;

const std::vector<std::string> kMeasured = {"participation",
                                            "entropy",
                                            "remainder",
                                            "bias",
                                            "scaled_bias",
                                            "scatter",
                                            "scaled_scatter",
                                            "expected_scatter",
                                            "radial_variance",
                                            "across_variance",
                                            "skewness",
                                            "virial_residual",
                                            "rest_weight",
                                            "log_partition_bound",
                                            "largest_weight_bound",
                                            "exchange"};
const std::vector<std::string> kPredicted = {
    "participation_theory",   "entropy_theory",         "bias_theory",
    "scaled_bias_theory",     "scatter_theory",         "scaled_scatter_theory",
    "radial_variance_theory", "across_variance_theory", "skewness_theory",
    "critical_beta",          "critical_theta",         "critical_edge"};

// ---- points ---------------------------------------------------------------------------------

/// Everything but the temperature and k.
experiments::Query question_of(const Point& point) {
  experiments::Query question;
  question.dimension = static_cast<int>(whole_between(point, "d", 2.0, SphereGap::kMostDimension));
  question.n = {number_of(point, "n")};
  question.draws = whole_between(point, "draws", 2.0, 1e8);
  question.ranks = whole_between(point, "ranks", 1.0, 4096.0);
  return question;
}

/// The question of a resolved point.
experiments::Query whole_question(const Point& point) {
  experiments::Query question = question_of(point);
  question.unit = TemperatureUnit::beta;
  question.temperatures = {number_of(point, "beta")};
  question.top = count_of(point, "top");
  return question;
}

experiments::QueryScales scales_of(const experiments::Query& question) {
  return experiments::query_scales(question.dimension, std::log(question.n[0]));
}

/// The temperature as it was given, checked, and then as β.
void resolve_temperature(Point& point, experiments::Query question) {
  for (const TemperatureUnit unit :
       {TemperatureUnit::theta, TemperatureUnit::edge, TemperatureUnit::beta}) {
    const char* name = experiments::name_of(unit);
    if (!has(point, name)) continue;
    question.unit = unit;
    question.temperatures = {number_of(point, name)};
    point.erase(name);
  }
  question = experiments::resolved(question);
  point["beta"] = experiments::inverse_temperature(question.unit, question.temperatures[0],
                                                   scales_of(question));
}

/// The k that the verb would choose for this β alone.
double chosen_top(experiments::Query question, double beta, double bound) {
  question.unit = TemperatureUnit::beta;
  question.temperatures = {beta};
  question.bound = bound;
  question.draws = 2;
  question.seed = kPilotSeed;
  return experiments::query(question, {.threads = 1, .stop = {}, .progress = {}})
      .means.variable("top_count")
      .cells[0]
      .mean;
}

void resolve_top(Point& point, const experiments::Query& question) {
  const double n = question.n[0], ranks = static_cast<double>(question.ranks);
  const double least = std::min(n, ranks);
  if (has(point, "bound")) {
    const double bound = number_of(point, "bound");
    require(bound > 0.0 && std::isfinite(bound), "bound", bound, "a number above 0");
    point["top"] = std::max(least, chosen_top(question, number_of(point, "beta"), bound));
    point.erase("bound");
  }
  point.try_emplace("top", std::min(n, std::max(64.0, ranks)));
  (void)whole_between(point, "top", least, std::min(n, 1e6));
}

// ---- theory ---------------------------------------------------------------------------------

using Known = std::map<std::string, double>;

void add_exact(Known& known, const experiments::Query& question, double beta) {
  const experiments::QueryScales scales = scales_of(question);
  if (beta * scales.typical_gap > theory::kMostScaledDepth) return;
  const theory::FiniteScoreMeans means =
      theory::finite_score_means(SphereGap(question.dimension), {std::log(question.n[0]), beta});
  const theory::FiniteSphereOutput output = theory::finite_sphere_output(means);
  known["participation_theory"] = means.participation;
  known["entropy_theory"] = means.entropy;
  known["bias_theory"] = output.bias;
  known["scaled_bias_theory"] = scales.unit * output.bias;
  known["scatter_theory"] = output.scatter;
  known["scaled_scatter_theory"] = scales.unit * output.scatter;
  known["across_variance_theory"] = question.n[0] * output.scatter / (question.dimension - 1.0);
}

class QueryExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "query"; }
  [[nodiscard]] std::string summary() const override {
    return "one query over up to 1e300 uniform keys on a sphere: weights and output";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::vector<Unit> units() const override {
    return {{"beta", "star", "theta"}, {"beta", "edge", "edge"}, {"beta", "critical", "edge"}};
  }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override;
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"beta"}; }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& QueryExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"d", whole, Value(5.0), "dimension of query and keys, on the sphere S^(d-1); in [2, 512]"},
      {"n", number, Value(1e6),
       "keys, from 2 to 1e300 (1e145 at d = 2); rounded to a whole number"},
      {"beta", number, {}, "inverse temperature; above 0"},
      {"theta",
       number,
       {},
       "beta/beta*, beta* = (c_d n)^(2/(d-1)), instead of beta; 1 where none is given"},
      {"edge", number, {}, "multiple of beta_edge = n F'(t_n), instead of beta; above 0"},
      {"draws", whole, Value(200.0), "sets of keys per replica; in [2, 1e8]", false},
      {"top",
       whole,
       {},
       "nearest keys drawn one by one, from `ranks` (or n) to 1e6; 64, or n if that is less",
       false},
      {"bound",
       number,
       {},
       "instead: so many that the law of log Z is right to this; above 0",
       false},
      {"ranks", whole, Value(8.0), "ordered weights that are kept; in [1, 4096]", false}};
  return all;
}

Point QueryExperiment::resolved(const Point& given) const {
  require_one_of(given, {"beta", "theta", "edge"});
  require_one_of(given, {"top", "bound"});
  Point point = with_defaults(given, parameters());
  point["n"] = whole_length(number_of(point, "n"));
  const experiments::Query question = question_of(point);
  resolve_temperature(point, question);
  resolve_top(point, question);
  return point;
}

std::vector<Observable> QueryExperiment::observables(const Point& point) const {
  std::vector<Observable> all = scalars(kMeasured);
  all.push_back({"weight", {counted_dimension("rank", count_of(point, "ranks"))}});
  return all;
}

std::vector<double> QueryExperiment::predict(const Point& point) const {
  const experiments::Query question = whole_question(point);
  const experiments::QueryScales scales = scales_of(question);
  Known known;
  add_exact(known, question, question.temperatures[0]);
  const double beta = question.temperatures[0], log_n = std::log(question.n[0]);
  if (const auto law = many_keys({question.dimension, beta, log_n})) {
    known["radial_variance_theory"] = law->parallel_variance;
    known["skewness_theory"] = law->skewness;
  }
  known["critical_beta"] = scales.edge;
  known["critical_theta"] = scales.edge / scales.unit;
  known["critical_edge"] = 1.0;
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> QueryExperiment::measure(std::span<const Point> tile,
                                                          std::uint64_t seed, std::uint64_t replica,
                                                          const RunContext& context) const {
  experiments::Query question = whole_question(tile.front());
  question.temperatures.clear();
  for (const Point& point : tile) question.temperatures.push_back(number_of(point, "beta"));
  question.seed = seed_of_replica(seed, replica);
  const Frame frame = experiments::query(question, context).means;
  const auto& weights = frame.variable("weight").cells;
  std::vector<std::vector<double>> values(tile.size());
  for (std::size_t t = 0; t < tile.size(); ++t) {
    for (const std::string& name : kMeasured) {
      values[t].push_back(frame.variable(name).cells[t].mean);
    }
    for (std::size_t rank = 0; rank < question.ranks; ++rank) {
      const bool there = static_cast<double>(rank) < question.n[0];
      values[t].push_back(there ? weights[t * question.ranks + rank].mean : 0.0);
    }
  }
  return values;
}

// In units of half a microsecond: of a draw, of each key of the top, and of each of its
// coordinates.
double QueryExperiment::work(const Point& point) const {
  const double key = 1.0 + 0.07 * number_of(point, "d");
  return number_of(point, "draws") * (30.0 + number_of(point, "top") * key);
}

}  // namespace

const Experiment& query_experiment() {
  static const QueryExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
