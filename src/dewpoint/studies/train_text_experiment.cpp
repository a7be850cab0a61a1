#include "dewpoint/studies/train_text_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/train_text_question.hpp"
#include "dewpoint/experiments/training_run.hpp"
#include "dewpoint/studies/older_names.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/text_studies.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::TextNumbers;
using experiments::TrainTextQuestion;

/// Places in the probe: 1 is the most frequent token.
Dimension place_dimension(const TrainTextQuestion& question) {
  return counted_dimension("place", question.probe ? experiments::names_in(*question.probe).size()
                                                   : experiments::kProbeTokens);
}

void refuse_of_single_runs(bool given, const char* name) {
  if (!given) return;
  throw Error(Code::bad_value,
              fmt::format("{}: is for a single run, dewpoint train --corpus; leave it out", name));
}

template <class Number>
void append(std::vector<double>& values, const std::vector<transformer::Look>& looks,
            Number number) {
  std::transform(looks.begin(), looks.end(), std::back_inserter(values), number);
}

std::vector<double> values_of(const TrainTextQuestion& question,
                              const std::vector<transformer::Look>& looks) {
  const TextNumbers numbers = experiments::text_numbers(looks);
  std::vector<double> values = {
      numbers.final_loss,    numbers.validation_loss, numbers.focus_peak,      numbers.focus_step,
      numbers.dilution_step, numbers.final_focus,     numbers.final_self_share};
  append(values, looks, transformer::focus_of);
  append(values, looks, transformer::self_share_of);
  append(values, looks, [](const transformer::Look& look) { return look.loss; });
  append(values, looks, [](const transformer::Look& look) { return look.rank_one; });
  std::vector<double> retractions = numbers.retraction;
  retractions.resize(place_dimension(question).coordinates.size(), kUnknown);
  values.insert(values.end(), retractions.begin(), retractions.end());
  return values;
}

class TrainTextExperiment final : public ExperimentOf<TrainTextQuestion>, public KeyedByOlderNames {
 public:
  [[nodiscard]] std::string name() const override { return "train-text"; }
  [[nodiscard]] std::string summary() const override {
    return "focus and dilution in training a small transformer on a text";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "focus_peak"; }

 protected:
  [[nodiscard]] TrainTextQuestion completed(TrainTextQuestion question) const override {
    refuse_of_single_runs(question.validate_every.has_value(), "validate-every");
    refuse_of_single_runs(question.sentence.has_value(), "sentence");
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(const TrainTextQuestion& question) const override;
  [[nodiscard]] double cost(const TrainTextQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const TrainTextQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<Observable> TrainTextExperiment::observed(const TrainTextQuestion& question) const {
  std::vector<Observable> all =
      scalars({"final_loss", "validation_loss", "focus_peak", "focus_step", "dilution_step",
               "final_focus", "final_self_share"});
  for (const char* name : {"focus", "self_share", "loss", "rank_one"}) {
    all.push_back({name, {look_dimension(question.learning)}});
  }
  all.push_back({"retractions", {place_dimension(question)}});
  return all;
}

std::vector<std::vector<double>> TrainTextExperiment::sample(
    std::span<const TrainTextQuestion> tile, std::uint64_t seed, std::uint64_t replica,
    const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const TrainTextQuestion& question : tile) {
    experiments::TextQuestion asked = run_of(question, seed);
    asked.validate_every = asked.steps;  // a study keeps the last one alone
    experiments::TextRun run(asked, shelved_corpus(asked.corpus, experiments::least_tokens(asked)),
                             replica);
    run.advance({context.threads, context.stop, {}});
    if (run.diverged()) {
      throw Error(Code::bad_value,
                  fmt::format("rate: {:g} with start {:g} diverges at step {}: the loss is more "
                              "than {:g} times that of guessing; try smaller ones",
                              asked.adam.rate, question.model.start, *run.diverged() + 1,
                              experiments::kDiverged));
    }
    all.push_back(values_of(question, {run.looks().begin(), run.looks().end()}));
  }
  return all;
}

// In operations: the logits of every question, and six products of every row with a matrix of
// m x m per layer; without a mask a context has no more rows than different tokens.
double TrainTextExperiment::cost(const TrainTextQuestion& question) const {
  const auto m = static_cast<double>(question.model.m);
  const auto contexts = static_cast<double>(question.batch);
  const double rows = contexts * static_cast<double>(question.s);
  const double questions = question.loss == transformer::Targets::all ? rows : contexts;
  const double vocabulary = std::max(static_cast<double>(*question.source.vocabulary), 2.0);
  const double step = 6.0 * questions * m * vocabulary +
                      12.0 * rows * m * m * static_cast<double>(question.model.layers) +
                      30.0 * m * vocabulary;
  return static_cast<double>(question.learning.steps) * step;
}

}  // namespace

const Experiment& train_text_experiment() {
  static const TrainTextExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
