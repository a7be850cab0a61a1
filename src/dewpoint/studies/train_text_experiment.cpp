#include "dewpoint/studies/train_text_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/text_training.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/studies/corpus_parameters.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/shape_parameters.hpp"

namespace dewpoint::studies {
namespace {

using experiments::TextNumbers;
using experiments::TextQuestion;

TextQuestion text_question_at(const Point& point) {
  TextQuestion question;
  question.corpus = corpus_at(point);
  question.shape = shape_at(point);
  question.deviation = deviation_at(point);
  question.context = whole_between(point, "s", 1.0, 1e5);
  question.batch = whole_between(point, "batch", 1.0, 1e6);
  question.targets =
      word_of(point, "loss") == "all" ? transformer::Targets::all : transformer::Targets::last;
  question.adam.rate = number_of(point, "rate");
  question.steps = whole_between(point, "steps", 1.0, 1e9);
  question.every = whole_between(point, "record_every", 1.0, 1e9);
  question.validate_every = question.steps;  // a study keeps the last one alone
  return question;
}

/// Places in the probe: 1 is the most frequent token.
Dimension place_dimension() { return counted_dimension("place", experiments::kProbeTokens); }

template <class Number>
void append(std::vector<double>& values, const std::vector<transformer::Look>& looks,
            Number number) {
  std::transform(looks.begin(), looks.end(), std::back_inserter(values), number);
}

std::vector<double> values_of(const std::vector<transformer::Look>& looks) {
  const TextNumbers numbers = experiments::text_numbers(looks);
  std::vector<double> values = {
      numbers.final_loss,    numbers.validation_loss, numbers.focus_peak,      numbers.focus_step,
      numbers.dilution_step, numbers.final_focus,     numbers.final_self_share};
  append(values, looks, transformer::focus_of);
  append(values, looks, transformer::self_share_of);
  append(values, looks, [](const transformer::Look& look) { return look.loss; });
  append(values, looks, [](const transformer::Look& look) { return look.rank_one; });
  std::vector<double> retractions = numbers.retraction;
  retractions.resize(experiments::kProbeTokens, kUnknown);
  values.insert(values.end(), retractions.begin(), retractions.end());
  return values;
}

class TrainTextExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "train-text"; }
  [[nodiscard]] std::string summary() const override {
    return "focus and dilution in training a small transformer on a text";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "focus_peak"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override;
  [[nodiscard]] double work(const Point& point) const override;
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

std::vector<Field> text_parameters() {
  using enum Kind;
  std::vector<Field> all = corpus_parameters();
  all.push_back({"s", whole, Value(32.0), "context length; in [1, 1e5]"});
  all.push_back({"batch", whole, Value(256.0), "contexts per step; at least 1"});
  for (Field& one : shape_parameters({})) all.push_back(std::move(one));
  all.push_back({"loss",
                 word,
                 Value("last"),
                 "after the last token of a context, or after all (causal)",
                 true,
                 {"last", "all"}});
  all.push_back({"rate", number, Value(1.5e-4), "learning rate of Adam"});
  all.push_back({"steps", whole, Value(20'000.0), "steps of Adam", false});
  all.push_back({"record_every", whole, Value(50.0), "steps between two looks", false});
  return all;
}

const std::vector<Field>& TrainTextExperiment::parameters() const {
  static const std::vector<Field> all = text_parameters();
  return all;
}

std::vector<Observable> TrainTextExperiment::observables(const Point& point) const {
  std::vector<Observable> all =
      scalars({"final_loss", "validation_loss", "focus_peak", "focus_step", "dilution_step",
               "final_focus", "final_self_share"});
  for (const char* name : {"focus", "self_share", "loss", "rank_one"}) {
    all.push_back({name, {look_dimension(point)}});
  }
  all.push_back({"retractions", {place_dimension()}});
  return all;
}

Point TrainTextExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  (void)corpus_at(point);
  point["branch"] = shape_at(point).branch;
  experiments::check(text_question_at(point));
  return point;
}

std::vector<std::vector<double>> TrainTextExperiment::measure(std::span<const Point> tile,
                                                              std::uint64_t seed,
                                                              std::uint64_t replica,
                                                              const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const Point& point : tile) {
    TextQuestion question = text_question_at(point);
    question.seed = seed;
    experiments::TextRun run(
        question, shelved_corpus(question.corpus, experiments::least_tokens(question)), replica);
    run.advance({context.threads, context.stop, {}});
    if (run.diverged()) {
      throw Error(Code::bad_value,
                  fmt::format("rate: {:g} with start {:g} diverges at step {}: the loss is more "
                              "than {:g} times that of guessing; try smaller ones",
                              question.adam.rate, number_of(point, "start"), *run.diverged() + 1,
                              experiments::kDiverged));
    }
    all.push_back(values_of({run.looks().begin(), run.looks().end()}));
  }
  return all;
}

// In operations: the logits of every question, and six products of every row with a matrix of
// m x m per layer; without a mask a context has no more rows than different tokens.
double TrainTextExperiment::work(const Point& point) const {
  const double m = number_of(point, "width"), contexts = number_of(point, "batch");
  const double rows = contexts * number_of(point, "s");
  const double questions = word_of(point, "loss") == "all" ? rows : contexts;
  const double vocabulary = std::max(number_of(point, "vocabulary"), 2.0);
  const double step = 6.0 * questions * m * vocabulary +
                      12.0 * rows * m * m * number_of(point, "layers") + 30.0 * m * vocabulary;
  return number_of(point, "steps") * step;
}

}  // namespace

const Experiment& train_text_experiment() {
  static const TrainTextExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
