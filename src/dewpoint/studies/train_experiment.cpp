#include "dewpoint/studies/train_experiment.hpp"

#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/studies/chain_parameters.hpp"
#include "dewpoint/studies/parameter_checks.hpp"

namespace dewpoint::studies {
namespace {

using experiments::Optimiser;
using experiments::TrainingData;
using experiments::TrainingQuestion;

TrainingQuestion question_of(const Point& point) {
  TrainingQuestion question = experiments::standard_question(
      experiments::optimiser_names().at(word_of(point, "optimiser")));
  const bool flow = question.optimiser == Optimiser::flow;
  question.chain = chain_at(point);
  question.data = experiments::training_data_names().at(word_of(point, "data"));
  question.context = whole_between(point, "s", 1.0, 1e4);
  question.sequences = whole_between(point, "sequences", 1.0, 1e8);
  question.batch = whole_between(point, "batch", 0.0, 1e8);
  question.width = whole_between(point, "m", 1.0, 8192.0);
  question.deviation = number_of(point, "init");
  question.residual = flag_of(point, "residual");
  if (!flow) question.adam.rate = number_of(point, "rate");
  question.until = number_of(point, flow ? "time" : "steps");
  question.every = number_of(point, "record_every");
  return question;
}

training::StageThresholds thresholds_of(const Point& point) {
  training::StageThresholds thresholds;
  thresholds.rise = number_of(point, "rise");
  thresholds.start = experiments::kStartOfRise * thresholds.rise;
  return thresholds;
}

class TrainExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "train"; }
  [[nodiscard]] std::string summary() const override {
    return "stages of training one attention layer on a Markov chain";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "peak"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override;
  [[nodiscard]] std::vector<Observable> predictions(const Point& /*point*/) const override {
    return scalars({"final_loss_theory"});
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override {
    return {experiments::best_loss(question_of(point))};
  }
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& TrainExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = chain_parameters(
      {{"data",
        word,
        {},
        "sampled, exact or population; sampled, population for a flow",
        true,
        {"sampled", "exact", "population"}},
       {"s", whole, Value(19.0), "context length; in [1, 1e4]"},
       {"sequences", whole, Value(1e5), "sequences that are drawn; in [1, 1e8]"},
       {"batch", whole, Value(0.0), "sequences per step; 0 for all"},
       {"m", whole, {}, "width; 256, or 16 for a flow"},
       {"init", number, {}, "deviation of the initial weights; 1/m, or 0.001 for a flow"},
       {"residual", flag, Value(false), "add the embedding of the last token"},
       {"optimiser",
        word,
        Value("adam"),
        "adam, descent or flow",
        true,
        {"adam", "descent", "flow"}},
       {"rate", number, {}, "learning rate; 1.5e-4, or 0.1 for descent"},
       {"steps", whole, {}, "steps of adam and descent; 3000"},
       {"time", number, {}, "time of a flow; 200"},
       {"record_every", number, {}, "between two looks at the stages; 5 steps, or 0.25 of a flow"},
       {"rise", number, {}, "what counts as a cycle; 0.1, descent 0.02, flow 0.005"}});
  return all;
}

Point TrainExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  const Optimiser optimiser = experiments::optimiser_names().at(word_of(point, "optimiser"));
  const TrainingQuestion standard = experiments::standard_question(optimiser);
  const bool flow = optimiser == Optimiser::flow;
  const auto refuse = [&](const char* name, const char* instead) {
    if (has(point, name)) require(false, name, number_of(point, name), instead);
  };
  refuse(flow ? "steps" : "time", flow ? "for a flow: give time" : "for steps: give steps");
  if (flow) refuse("rate", "for a flow, which has none");
  const auto fill = [&](const char* name, const Value& value) { point.try_emplace(name, value); };
  fill("data", Value(experiments::name_of(standard.data)));
  fill("m", Value(static_cast<double>(standard.width)));
  fill("init", Value(standard.deviation));
  if (number_of(point, "init") == 0.0) point["init"] = 1.0 / number_of(point, "m");
  fill(flow ? "time" : "steps", Value(standard.until));
  if (!flow) fill("rate", Value(standard.adam.rate));
  fill("record_every", Value(standard.every));
  fill("rise", Value(experiments::standard_thresholds(optimiser).rise));
  const TrainingQuestion question = question_of(point);
  sort_law(point);
  const double rise = number_of(point, "rise");
  require(rise > 0.0 && rise < 1.0, "rise", rise, "in (0, 1)");
  experiments::check(question);
  return point;
}

std::vector<Observable> TrainExperiment::observables(const Point& point) const {
  const Dimension token = token_dimension(chain_at(point));
  Dimension cycle{"cycle", {}, {}};
  cycle.coordinates.assign(token.coordinates.begin(), token.coordinates.end() - 1);
  std::vector<Observable> all = scalars({"final_loss", "condensation", "focus", "peak",
                                         "peak_value", "half_dilution", "new_direction", "cycles"});
  for (const char* name : {"cycle_start", "cycle_peak", "cycle_peak_value", "cycle_half"}) {
    all.push_back({name, {cycle}});
  }
  all.push_back({"retraction", {token}});
  return all;
}

std::vector<std::vector<double>> TrainExperiment::measure(std::span<const Point> tile,
                                                          std::uint64_t seed, std::uint64_t replica,
                                                          const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const Point& point : tile) {
    TrainingQuestion question = question_of(point);
    question.seed = seed;
    experiments::TrainingRun run(question, replica, context);
    run.advance({context.threads, context.stop, {}});
    if (run.diverged()) throw experiments::divergence(question, run);
    const auto numbers = experiments::training_numbers(
        run.records(), training::find_stages(run.records(), thresholds_of(point)));
    std::vector<double> values = numbers.scalars;
    for (const auto* more :
         {&numbers.start, &numbers.peak, &numbers.peak_value, &numbers.half, &numbers.retraction}) {
      values.insert(values.end(), more->begin(), more->end());
    }
    all.push_back(std::move(values));
  }
  return all;
}

// In weights that are read and written, about a nanosecond each.
double TrainExperiment::work(const Point& point) const {
  const double m = number_of(point, "m");
  const bool flow = word_of(point, "optimiser") == "flow";
  const double steps = flow ? 50.0 * number_of(point, "time") : number_of(point, "steps");
  return steps * (m * m + 1e4) + 1e7;
}

}  // namespace

const Experiment& train_experiment() {
  static const TrainExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
