#include "dewpoint/studies/output_experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/key_output.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/studies/many_keys.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/finite_scores.hpp"

namespace dewpoint::studies {
namespace {

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

// ---- points ---------------------------------------------------------------------------------

std::unique_ptr<scores::KeyLaw> law_of(const Point& point) try {
  return scores::key_law(word_of(point, "keys"));
} catch (const Error& error) {
  throw Error(error.code(), fmt::format("keys: {}", error.what()));
}

/// Only one output is asked for, the one along the query: the covariance of all would cost D².
experiments::KeyOutput question_of(const Point& point, const scores::KeyLaw& law) {
  experiments::KeyOutput question;
  question.keys = whole_between(point, "n", 2.0, 1e9);
  question.draws = whole_between(point, "draws", 2.0, 1e6);
  question.values = Matrix<double>(1, law.dimension());
  question.values(0, 0) = 1.0;
  return question;
}

// ---- the law of one key and of one score
// -------------------------------------------------------------------

struct Scores {
  std::shared_ptr<const DepthDistribution> depth;
  double origin;  // score of depth zero
};

/// Nothing for keys whose scores have no known distribution.
std::optional<Scores> scores_of(const std::string& keys) {
  const scores::LawText text(keys, scores::key_law_names());
  if (text.name() == "gaussian-keys") return Scores{std::make_shared<NormalDepth>(1.0), 0.0};
  if (text.name() == "subsphere" && text.number("noise") > 0.0) return {};
  const auto law = scores::score_law(keys);
  const auto* tail = dynamic_cast<const scores::TailLaw*>(law.get());
  if (tail == nullptr) return {};
  return Scores{tail->distribution(), law->origin()};
}

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

void resolve_temperature(Point& point) {
  require_one_of(point, {"beta", "edge"});
  if (!has(point, "edge")) {
    point.try_emplace("beta", 10.0);
    return;
  }
  const double edge = number_of(point, "edge");
  const auto scores = scores_of(word_of(point, "keys"));
  require(scores.has_value(), "edge", edge,
          fmt::format("known for keys {}; allowed: beta", word_of(point, "keys")));
  require(edge >= 0.0 && std::isfinite(edge), "edge", edge, "a finite number >= 0");
  point["beta"] = edge * theory::edge_beta(*scores->depth, std::log(number_of(point, "n")));
  point.erase("edge");
}

// ---- theory ---------------------------------------------------------------------------------

using Known = std::map<std::string, double>;

struct Place {
  double n, log_n, beta;
  std::size_t dimension;
  bool uniform;
};

void add_exact(Known& known, const Place& place, const Scores& scores) {
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

class OutputExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "output"; }
  [[nodiscard]] std::string summary() const override {
    return "what one query reads from n keys of any law: gap, variances, weights";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::vector<Unit> units() const override {
    return {{"beta", "edge", "edge"}, {"beta", "critical", "edge"}};
  }
  [[nodiscard]] std::string order_parameter() const override { return "participation"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& /*point*/) const override {
    std::vector<Observable> all;
    for (const Measured& measured : kMeasured) all.push_back({measured.name});
    return all;
  }
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

const std::vector<Field>& OutputExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"keys", word, Value("sphere:d=5"),
       "law of the keys: sphere:d=5, vmf:d=5,kappa=5,angle=0.3, subsphere:dim=2,ambient=16, "
       "gaussian-keys:d=64"},
      {"n", whole, Value(1e4), "keys; in [2, 1e9]"},
      {"beta",
       number,
       {},
       "inverse temperature, at least 0; 10 where neither it nor edge is given"},
      {"edge", number, {}, "multiple of beta_edge, the hazard of scores at 1/n, instead of beta"},
      {"draws", whole, Value(20.0), "sets of keys per replica; in [2, 1e6]", false}};
  return all;
}

Point OutputExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  const auto law = law_of(point);
  point["keys"] = law->name();
  experiments::KeyOutput question = question_of(point, *law);
  resolve_temperature(point);
  question.inverse_temperatures = {number_of(point, "beta")};
  experiments::check(question, *law);
  return point;
}

std::vector<double> OutputExperiment::predict(const Point& point) const {
  const auto law = law_of(point);
  const double n = number_of(point, "n");
  const Place place{n, std::log(n), number_of(point, "beta"), law->dimension(),
                    dynamic_cast<const scores::SphereKeys*>(law.get()) != nullptr};
  Known known;
  if (const auto scores = scores_of(word_of(point, "keys"))) {
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

std::vector<std::vector<double>> OutputExperiment::measure(std::span<const Point> tile,
                                                           std::uint64_t seed,
                                                           std::uint64_t replica,
                                                           const RunContext& context) const {
  const auto law = law_of(tile.front());
  experiments::KeyOutput question = question_of(tile.front(), *law);
  for (const Point& point : tile) question.inverse_temperatures.push_back(number_of(point, "beta"));
  question.seed = seed_of_replica(seed, replica);
  std::vector<std::vector<double>> values;
  for (const auto& moments : experiments::key_output(*law, question, context)) {
    values.emplace_back();
    for (const Measured& measured : kMeasured) {
      values.back().push_back((moments.*measured.value).mean);
    }
  }
  return values;
}

double OutputExperiment::work(const Point& point) const {
  return number_of(point, "draws") * number_of(point, "n") * work_of_key(*law_of(point));
}

}  // namespace

const Experiment& output_experiment() {
  static const OutputExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
