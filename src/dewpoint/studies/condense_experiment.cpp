#include "dewpoint/studies/condense_experiment.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/experiments/condense_question.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/finite_scores.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::studies {
namespace {

using experiments::condense_of;
using experiments::CondenseQuestion;
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

/// The k of a point: as asked for, or the one that the verb would choose for this load alone.
std::size_t top_of(const CondenseQuestion& asked, experiments::TopCounts& counts) {
  experiments::Condense question = condense_of(asked);
  question.seed = kPilotSeed;
  return counts.of(question, asked.n);
}

/// The numbers of a batch at load number t, in the order of the observables.
std::vector<double> numbers_of(const Frame& frame, const experiments::Condense& question,
                               std::size_t t) {
  std::vector<double> numbers;
  const auto add = [&](const std::string& name, std::size_t cell) {
    numbers.push_back(frame.variable(name).cells[cell].mean);
  };
  for (const std::string& name : kOverLoad) add(name, t);
  for (std::size_t r = 0; r < kOrderedWeights; ++r) add("ordered_weight", t * kOrderedWeights + r);
  if (question.planted.empty()) return numbers;
  for (const std::string& name : kOfPlanted) add(name, t);
  return numbers;
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

class CondenseExperiment final : public ExperimentOf<CondenseQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "condense"; }
  [[nodiscard]] std::string summary() const override {
    return "softmax over up to 1e300 Gaussian scores: freezing, and finding a planted key";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override { return {{"beta", "critical", "t"}}; }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"t"}; }

 protected:
  [[nodiscard]] CondenseQuestion completed(CondenseQuestion question) const override {
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(const CondenseQuestion& question) const override;
  [[nodiscard]] std::vector<Observable> predicted(const CondenseQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const CondenseQuestion& asked) const override;
  [[nodiscard]] double cost(const CondenseQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const CondenseQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<Observable> CondenseExperiment::observed(const CondenseQuestion& question) const {
  std::vector<Observable> all = scalars(kOverLoad);
  all.push_back({"ordered_weight", {counted_dimension("rank", kOrderedWeights)}});
  if (!question.planted) return all;
  for (const std::string& name : kOfPlanted) all.push_back({name});
  return all;
}

std::vector<double> CondenseExperiment::forecast(const CondenseQuestion& asked) const {
  const experiments::Condense question = condense_of(asked);
  std::map<std::string, double> known;
  if (!asked.keys_dimension) add_exact(known, question);
  known["retrieval_signal_theory"] = theory::retrieval_signal(*asked.t);
  known["critical_t"] = 1.0;
  known["critical_beta"] = experiments::inverse_temperature(question, asked.n, 1.0);
  return in_order(kPredicted, known);
}

std::vector<std::vector<double>> CondenseExperiment::sample(std::span<const CondenseQuestion> tile,
                                                            std::uint64_t seed,
                                                            std::uint64_t replica,
                                                            const RunContext& context) const {
  experiments::TopCounts counts;
  std::map<std::size_t, std::vector<std::size_t>> with_top;  // the questions of each k
  for (std::size_t i = 0; i < tile.size(); ++i) with_top[top_of(tile[i], counts)].push_back(i);
  std::vector<std::vector<double>> values(tile.size());
  std::size_t done = 0;
  for (const auto& [top, places] : with_top) {
    experiments::Condense question = condense_of(tile.front());
    question.top = top;
    question.loads.clear();
    for (const std::size_t place : places) question.loads.push_back(*tile[place].t);
    question.seed = seed_of_replica(seed, replica);
    const RunContext part =
        experiments::part_of(context, {done, done + places.size()}, tile.size());
    const Frame frame = experiments::condense(question, part);
    for (std::size_t t = 0; t < places.size(); ++t) {
      values[places[t]] = numbers_of(frame, question, t);
    }
    done += places.size();
  }
  return values;
}

// In units of 50 ns: of a row, of each score of the top, and of each coordinate of a query. Where
// k is chosen it is 8 to 4096; to compare points, the middle of that will do.
double CondenseExperiment::cost(const CondenseQuestion& question) const {
  constexpr std::size_t kEmpiricalTop = 128;
  double row = 40.0 + static_cast<double>(question.top.value_or(kEmpiricalTop));
  row += 0.6 * static_cast<double>(question.keys_dimension.value_or(0));
  return static_cast<double>(question.draws) * row;
}

}  // namespace

const Experiment& condense_experiment() {
  static const CondenseExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
