#include "dewpoint/studies/query_experiment.hpp"

#include <cmath>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/experiments/query_question.hpp"
#include "dewpoint/studies/many_keys.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::studies {
namespace {

using experiments::query_of;
using experiments::QueryQuestion;

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

experiments::QueryScales scales_of(const QueryQuestion& question) {
  return experiments::query_scales(static_cast<int>(question.d), std::log(question.n));
}

// ---- theory ---------------------------------------------------------------------------------

using Known = std::map<std::string, double>;

void add_exact(Known& known, const QueryQuestion& question) {
  const experiments::QueryScales scales = scales_of(question);
  const double beta = *question.beta;
  if (beta * scales.typical_gap > theory::kMostScaledDepth) return;
  const auto dimension = static_cast<int>(question.d);
  const theory::FiniteScoreMeans means =
      theory::finite_score_means(SphereGap(dimension), {std::log(question.n), beta});
  const theory::FiniteSphereOutput output = theory::finite_sphere_output(means);
  known["participation_theory"] = means.participation;
  known["entropy_theory"] = means.entropy;
  known["bias_theory"] = output.bias;
  known["scaled_bias_theory"] = scales.unit * output.bias;
  known["scatter_theory"] = output.scatter;
  known["scaled_scatter_theory"] = scales.unit * output.scatter;
  known["across_variance_theory"] = question.n * output.scatter / (dimension - 1.0);
}

class QueryExperiment final : public ExperimentOf<QueryQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "query"; }
  [[nodiscard]] std::string summary() const override {
    return "one query over up to 1e300 uniform keys on a sphere: weights and output";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override {
    return {{"beta", "star", "theta"}, {"beta", "edge", "edge"}, {"beta", "critical", "edge"}};
  }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"beta"}; }

 protected:
  [[nodiscard]] QueryQuestion completed(QueryQuestion question) const override;
  [[nodiscard]] std::vector<Observable> observed(const QueryQuestion& question) const override;
  [[nodiscard]] std::vector<Observable> predicted(const QueryQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const QueryQuestion& question) const override;
  [[nodiscard]] double cost(const QueryQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const QueryQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

/// With the k that the verb would choose for this β alone.
QueryQuestion QueryExperiment::completed(QueryQuestion question) const {
  question = experiments::resolved(std::move(question));
  experiments::Query query = query_of(question);
  query.seed = kPilotSeed;
  question.top = experiments::top_count(query, question.n);
  question.bound.reset();
  return question;
}

std::vector<Observable> QueryExperiment::observed(const QueryQuestion& question) const {
  std::vector<Observable> all = scalars(kMeasured);
  all.push_back({"weight", {counted_dimension("rank", question.ranks)}});
  return all;
}

std::vector<double> QueryExperiment::forecast(const QueryQuestion& question) const {
  const experiments::QueryScales scales = scales_of(question);
  Known known;
  add_exact(known, question);
  if (const auto law =
          many_keys({static_cast<int>(question.d), *question.beta, std::log(question.n)})) {
    known["radial_variance_theory"] = law->parallel_variance;
    known["skewness_theory"] = law->skewness;
  }
  known["critical_beta"] = scales.edge;
  known["critical_theta"] = scales.edge / scales.unit;
  known["critical_edge"] = 1.0;
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> QueryExperiment::sample(std::span<const QueryQuestion> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const {
  experiments::Query query = query_of(tile.front());
  query.temperatures.clear();
  for (const QueryQuestion& question : tile) query.temperatures.push_back(*question.beta);
  query.seed = seed_of_replica(seed, replica);
  const Frame frame = experiments::query(query, context).means;
  const auto& weights = frame.variable("weight").cells;
  std::vector<std::vector<double>> values(tile.size());
  for (std::size_t t = 0; t < tile.size(); ++t) {
    for (const std::string& name : kMeasured) {
      values[t].push_back(frame.variable(name).cells[t].mean);
    }
    for (std::size_t rank = 0; rank < query.ranks; ++rank) {
      const bool there = static_cast<double>(rank) < query.n[0];
      values[t].push_back(there ? weights[t * query.ranks + rank].mean : 0.0);
    }
  }
  return values;
}

// In units of half a microsecond: of a draw, of each key of the top, and of each of its
// coordinates.
double QueryExperiment::cost(const QueryQuestion& question) const {
  const double key = 1.0 + 0.07 * static_cast<double>(question.d);
  return static_cast<double>(question.draws) * (30.0 + static_cast<double>(*question.top) * key);
}

}  // namespace

const Experiment& query_experiment() {
  static const QueryExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
