#include "dewpoint/studies/output_experiment.hpp"

#include <cmath>

#include "dewpoint/experiments/output_question.hpp"
#include "dewpoint/studies/many_keys.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::studies {
namespace {

using experiments::OutputQuestion;

const std::vector<std::string> kPredicted = {"gap_theory",
                                             "parallel_variance_theory",
                                             "tangential_variance_theory",
                                             "tangential_square_theory",
                                             "participation_theory",
                                             "entropy_theory",
                                             "critical_beta",
                                             "critical_edge"};

struct Measured {
  const char* name;
  Estimate experiments::KeyOutputMoments::*value;
};
constexpr Measured kMeasured[] = {
    {"gap", &experiments::KeyOutputMoments::gap},
    {"parallel_variance", &experiments::KeyOutputMoments::parallel_variance},
    {"tangential_variance", &experiments::KeyOutputMoments::tangential_variance},
    {"tangential_square", &experiments::KeyOutputMoments::tangential_square},
    {"participation", &experiments::KeyOutputMoments::participation},
    {"largest_weight", &experiments::KeyOutputMoments::largest_weight},
    {"entropy", &experiments::KeyOutputMoments::entropy}};

/// In units of 30 ns, that of a normal number: drawing a key, and adding it to three sums.
double work_of_key(const scores::KeyLaw& law) {
  const auto dimension = static_cast<double>(law.dimension());
  double normals = dimension;
  if (const auto* keys = dynamic_cast<const scores::SubsphereKeys*>(&law)) {
    normals = 1.0 + keys->shape().intrinsic + (keys->shape().noise > 0.0 ? dimension : 0.0);
  }
  const bool rejects = dynamic_cast<const scores::VonMisesFisherKeys*>(&law) != nullptr;
  return 1.5 + 0.2 * dimension + normals + (rejects ? 10.0 : 0.0);
}

// ---- theory ---------------------------------------------------------------------------------

using Known = std::map<std::string, double>;

struct Place {
  double n, log_n, beta;
  std::size_t dimension;
  bool uniform;
};

void add_exact(Known& known, const Place& place, const experiments::KeyScores& scores) {
  const double typical = scores.depth->quantile(-place.log_n);
  if (!(place.beta > 0.0) || place.beta * std::abs(typical) > theory::kMostScaledDepth) return;
  const auto means = theory::finite_score_means(*scores.depth, {place.log_n, place.beta});
  known["gap_theory"] = 1.0 - scores.origin + means.depth;
  known["participation_theory"] = means.participation;
  known["entropy_theory"] = means.entropy;
  if (!place.uniform) return;
  const double scatter = theory::finite_sphere_output(means).scatter;
  known["tangential_square_theory"] = scatter;
  known["tangential_variance_theory"] =
      place.n * scatter / (static_cast<double>(place.dimension) - 1.0);
}

class OutputExperiment final : public ExperimentOf<OutputQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "output"; }
  [[nodiscard]] std::string summary() const override {
    return "what one query reads from n keys of any law: gap, variances, weights";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::vector<Unit> units() const override {
    return {{"beta", "edge", "edge"}, {"beta", "critical", "edge"}};
  }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] std::vector<std::string> ladder() const override { return {"beta"}; }

 protected:
  [[nodiscard]] OutputQuestion completed(OutputQuestion question) const override {
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(const OutputQuestion&) const override {
    std::vector<Observable> all;
    for (const Measured& measured : kMeasured) all.push_back({measured.name});
    return all;
  }
  [[nodiscard]] std::vector<Observable> predicted(const OutputQuestion&) const override {
    return scalars(kPredicted);
  }
  [[nodiscard]] std::vector<double> forecast(const OutputQuestion& question) const override;
  [[nodiscard]] double cost(const OutputQuestion& question) const override {
    return static_cast<double>(question.draws) * static_cast<double>(question.n) *
           work_of_key(*scores::key_law(question.keys));
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const OutputQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<double> OutputExperiment::forecast(const OutputQuestion& question) const {
  const auto law = scores::key_law(question.keys);
  const auto n = static_cast<double>(question.n);
  const Place place{n, std::log(n), *question.beta, law->dimension(),
                    dynamic_cast<const scores::SphereKeys*>(law.get()) != nullptr};
  Known known;
  if (const auto scores = experiments::scores_of(question.keys)) {
    add_exact(known, place, *scores);
    known["critical_beta"] = theory::edge_beta(*scores->depth, place.log_n);
    known["critical_edge"] = 1.0;
  }
  if (!place.uniform) return in_order(kPredicted, known);
  if (const auto keys = many_keys({static_cast<int>(place.dimension), place.beta, place.log_n})) {
    known["parallel_variance_theory"] = keys->parallel_variance;
  }
  return in_order(kPredicted, known);
}

/// Only one output is asked for, the one along the query: the covariance of all would cost D².
std::vector<std::vector<double>> OutputExperiment::sample(std::span<const OutputQuestion> tile,
                                                          std::uint64_t seed, std::uint64_t replica,
                                                          const RunContext& context) const {
  const auto law = scores::key_law(tile.front().keys);
  experiments::KeyOutput output = experiments::output_of(tile);
  output.values = Matrix<double>(1, law->dimension());
  output.values(0, 0) = 1.0;
  output.seed = seed_of_replica(seed, replica);
  std::vector<std::vector<double>> values;
  for (const auto& moments : experiments::key_output(*law, output, context)) {
    values.emplace_back();
    for (const Measured& measured : kMeasured) {
      values.back().push_back((moments.*measured.value).mean);
    }
  }
  return values;
}

}  // namespace

const Experiment& output_experiment() {
  static const OutputExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
