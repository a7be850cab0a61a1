#include "dewpoint/studies/train_scaling_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string_view>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/longer_contexts.hpp"
#include "dewpoint/experiments/scaled_training.hpp"
#include "dewpoint/studies/corpus_parameters.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/shape_parameters.hpp"

namespace dewpoint::studies {
namespace {

using experiments::HeadPhases;
using experiments::kLengthFactors;
using experiments::ScaledQuestion;
using experiments::ScaledRecord;
using transformer::Look;

// Tokens of the windows of one validation loss, the same for all laws: losses of single tokens
// deviate by about 3 nats, so their mean is known to 3/√16384 = 0.02.
constexpr std::size_t kValidationTokens = 16384;

// ---- questions ----------------------------------------------------------------------------------

std::vector<std::string> evaluation_laws(const Point& point) {
  std::istringstream words(word_of(point, "evaluations"));
  std::vector<std::string> laws;
  for (std::string law; words >> law;) laws.push_back(law);
  return laws;
}

ScaledQuestion question_at(const Point& point) {
  ScaledQuestion question;
  experiments::TextQuestion& text = question.text;
  text.corpus = corpus_at(point);
  text.shape = shape_at(point);
  text.deviation = deviation_at(point);
  text.context = whole_between(point, "s", 8.0, 1e4);
  text.shape.scaling = transformer::scaling_text(word_of(point, "law"), text.context);
  text.batch = std::max<std::size_t>(whole_between(point, "tokens", 1.0, 1e7) / text.context, 1);
  text.targets = transformer::Targets::all;
  text.adam.rate = number_of(point, "rate");
  text.steps = whole_between(point, "steps", 1.0, 1e9);
  text.every = text.validate_every = whole_between(point, "record_every", 1.0, 1e9);
  text.validation_windows = std::max<std::size_t>(kValidationTokens / text.context, 1);
  for (const std::string& law : evaluation_laws(point)) {
    question.evaluations.push_back(transformer::scaling_text(law, text.context));
  }
  return question;
}

std::vector<Field> model_parameters() {
  std::vector<Field> all =
      shape_parameters({.width = 128, .layers = 2, .heads = 4, .residual = true, .causal = true});
  for (Field& parameter : all) {
    const std::string_view name = parameter.name;
    if (name == "value") parameter.standard = Value("matrix");
    if (name == "norm") parameter.standard = Value("pre");
    if (name == "start") parameter.standard = Value(4.0);
    if (name == "causal") parameter.meaning = "attend to earlier tokens only; true";
    // What is seen in a head is kept over layers and heads.
    if (name == "layers" || name == "heads") parameter.axis = false;
  }
  return all;
}

std::vector<Field> all_parameters() {
  using enum Kind;
  std::vector<Field> all = corpus_parameters();
  all.push_back({"s", whole, Value(128.0), "context length of training; in [8, 1e4]"});
  all.push_back({"tokens", whole, Value(4096.0), "tokens per step, in contexts of s tokens"});
  all.push_back({"law", word, Value("constant"),
                 "multiplier of the logits, a name of dewpoint scale explain; n0 is s"});
  all.push_back({"evaluations", word, Value("constant log-n llama-4 yarn"),
                 "laws for longer contexts beside that of training, blanks between them", false});
  for (Field& one : model_parameters()) all.push_back(std::move(one));
  all.push_back({"rate", number, Value(1e-3), "learning rate of Adam"});
  all.push_back({"target", number, Value(5.0), "validation loss whose step is asked for", false});
  all.push_back({"steps", whole, Value(2000.0), "steps of Adam", false});
  all.push_back({"record_every", whole, Value(100.0), "steps between two looks", false});
  return all;
}

// ---- numbers ------------------------------------------------------------------------------------

Dimension evaluation_dimension(const Point& point) {
  Dimension laws{"evaluation", {}, {"own"}};
  for (const std::string& law : evaluation_laws(point)) laws.labels.push_back(law);
  for (std::size_t k = 0; k < laws.labels.size(); ++k) {
    laws.coordinates.push_back(static_cast<double>(k));
  }
  return laws;
}

/// The values of all looks one after the other; `none` where the run had ended.
template <class Seen, class Numbers>
void append_looks(std::vector<double>& values, const std::vector<Seen>& seen, std::size_t looks,
                  const std::vector<double>& none, Numbers numbers_of) {
  for (std::size_t i = 0; i < looks; ++i) {
    const std::vector<double> here = i < seen.size() ? numbers_of(seen[i]) : none;
    values.insert(values.end(), here.begin(), here.end());
  }
}

void append_steps(std::vector<double>& values, const ScaledRecord& record, std::size_t looks) {
  for (double Look::*field : {&Look::validation_loss, &Look::loss, &Look::gradient_size}) {
    append_looks(values, record.looks, looks, {kUnknown},
                 [&](const Look& look) { return std::vector{look.*field}; });
  }
}

void append_heads(std::vector<double>& values, const ScaledRecord& record, std::size_t looks,
                  std::size_t heads) {
  const std::vector<double> none(heads, kUnknown);
  for (auto field : {&HeadPhases::entropy, &HeadPhases::largest_weight, &HeadPhases::phase}) {
    append_looks(values, record.heads, looks, none,
                 [&](const HeadPhases& seen) { return seen.*field; });
  }
}

// Phases are compared as ratios, so their mean is the geometric one.
double mean_phase(const HeadPhases& seen) {
  double sum = 0.0;
  for (const double phase : seen.phase) sum += std::log(phase);
  return std::exp(sum / static_cast<double>(seen.phase.size()));
}

double mean_entropy(const HeadPhases& seen) {
  const double sum = std::accumulate(seen.entropy.begin(), seen.entropy.end(), 0.0);
  return sum / static_cast<double>(seen.entropy.size());
}

void append_means(std::vector<double>& values, const ScaledRecord& record, std::size_t looks) {
  for (double (*mean)(const HeadPhases&) : {mean_entropy, mean_phase}) {
    append_looks(values, record.heads, looks, {kUnknown},
                 [&](const HeadPhases& seen) { return std::vector{mean(seen)}; });
  }
}

void append_longer(std::vector<double>& values, const ScaledRecord& record) {
  for (const double base : {0.0, record.longer.front().front()}) {
    for (const std::vector<double>& of_law : record.longer) {
      for (const double loss : of_law) values.push_back(loss - base);
    }
  }
}

std::vector<double> values_of(const Point& point, const ScaledRecord& record) {
  const std::size_t looks = look_dimension(point).coordinates.size();
  std::vector<double> values = {record.diverged ? kUnknown : record.looks.back().validation_loss,
                                experiments::steps_to(record.looks, number_of(point, "target")),
                                static_cast<double>(experiments::spikes_in(record.batch_losses)),
                                record.diverged ? 1.0 : 0.0};
  append_steps(values, record, looks);
  append_means(values, record, looks);
  append_heads(values, record, looks, count_of(point, "layers") * count_of(point, "heads"));
  append_longer(values, record);
  return values;
}

class TrainScalingExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "train-scaling"; }
  [[nodiscard]] std::string summary() const override {
    return "small transformers learn a text under a law of the logits, and read on beyond it";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override {
    static const std::vector<Field> all = all_parameters();
    return all;
  }
  [[nodiscard]] std::string order_parameter() const override { return "validation_loss"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

Point TrainScalingExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  (void)corpus_at(point);
  point["branch"] = shape_at(point).branch;
  experiments::check(question_at(point));
  return point;
}

std::vector<Observable> TrainScalingExperiment::observables(const Point& point) const {
  std::vector<Observable> all =
      scalars({"validation_loss", "steps_to_target", "spikes", "diverged"});
  const Dimension steps = look_dimension(point);
  const Dimension layers = counted_dimension("layer", count_of(point, "layers"));
  const Dimension heads = counted_dimension("head", count_of(point, "heads"));
  const Dimension factors{"factor", {kLengthFactors.begin(), kLengthFactors.end()}};
  for (const char* name : {"loss", "batch_loss", "gradient_norm", "mean_entropy", "mean_phase"}) {
    all.push_back({name, {steps}});
  }
  for (const char* name : {"entropy", "largest_weight", "phase"}) {
    all.push_back({name, {steps, layers, heads}});
  }
  for (const char* name : {"longer_loss", "longer_change"}) {
    all.push_back({name, {evaluation_dimension(point), factors}});
  }
  return all;
}

std::vector<std::vector<double>> TrainScalingExperiment::measure(std::span<const Point> tile,
                                                                 std::uint64_t seed,
                                                                 std::uint64_t replica,
                                                                 const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const Point& point : tile) {
    ScaledQuestion question = question_at(point);
    question.text.seed = seed;
    const auto corpus =
        shelved_corpus(question.text.corpus, experiments::least_tokens(question.text));
    all.push_back(values_of(point, experiments::scaled_run(question, corpus, replica, context)));
  }
  return all;
}

// In operations of a step: the logits, and for every layer the projections of every row and its
// products with the rows before it. Evaluation is some hundred steps' worth of the last.
double TrainScalingExperiment::work(const Point& point) const {
  const double m = number_of(point, "width"), rows = number_of(point, "tokens");
  const double s = number_of(point, "s"), layers = number_of(point, "layers");
  const double vocabulary = std::max(number_of(point, "vocabulary"), 2.0);
  const double step = 6.0 * rows * m * vocabulary + layers * rows * m * (18.0 * m + 12.0 * s);
  return number_of(point, "steps") * step + 100.0 * layers * rows * m * 12.0 * s;
}

}  // namespace

const Experiment& train_scaling_experiment() {
  static const TrainScalingExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
