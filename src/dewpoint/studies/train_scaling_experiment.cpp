#include "dewpoint/studies/train_scaling_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/longer_contexts.hpp"
#include "dewpoint/experiments/train_scaling_question.hpp"
#include "dewpoint/studies/older_names.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/text_studies.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::HeadPhases;
using experiments::kLengthFactors;
using experiments::ScaledRecord;
using experiments::TrainScalingQuestion;
using transformer::Look;

// ---- numbers ------------------------------------------------------------------------------------

Dimension evaluation_dimension(const TrainScalingQuestion& question) {
  Dimension laws = numbered_dimension("evaluation", 1);
  laws.labels = {"own"};
  for (const std::string& law : experiments::evaluations_of(question)) {
    laws.coordinates.push_back(static_cast<double>(laws.labels.size()));
    laws.labels.push_back(law);
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

std::vector<double> values_of(const TrainScalingQuestion& question, const ScaledRecord& record) {
  const std::size_t looks = look_dimension(question.learning).coordinates.size();
  std::vector<double> values = {record.diverged ? kUnknown : record.looks.back().validation_loss,
                                experiments::steps_to(record.looks, question.target),
                                static_cast<double>(experiments::spikes_in(record.batch_losses)),
                                record.diverged ? 1.0 : 0.0};
  append_steps(values, record, looks);
  append_means(values, record, looks);
  append_heads(values, record, looks, question.model.layers * question.model.heads);
  append_longer(values, record);
  return values;
}

class TrainScalingExperiment final : public ExperimentOf<TrainScalingQuestion>,
                                     public KeyedByOlderNames {
 public:
  [[nodiscard]] std::string name() const override { return "train-scaling"; }
  [[nodiscard]] std::string summary() const override {
    return "small transformers learn a text under a law of the logits, and read on beyond it";
  }
  [[nodiscard]] int schema() const override { return 2; }
  [[nodiscard]] std::string order_parameter() const override { return "validation_loss"; }

 protected:
  [[nodiscard]] TrainScalingQuestion completed(TrainScalingQuestion question) const override {
    return experiments::resolved(std::move(question));
  }
  [[nodiscard]] std::vector<Observable> observed(
      const TrainScalingQuestion& question) const override;
  [[nodiscard]] double cost(const TrainScalingQuestion& question) const override;
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const TrainScalingQuestion> tile,
                                                        std::uint64_t seed, std::uint64_t replica,
                                                        const RunContext& context) const override;
};

std::vector<Observable> TrainScalingExperiment::observed(
    const TrainScalingQuestion& question) const {
  std::vector<Observable> all =
      scalars({"validation_loss", "steps_to_target", "spikes", "diverged"});
  const Dimension steps = look_dimension(question.learning);
  const Dimension layers = counted_dimension("layer", question.model.layers);
  const Dimension heads = counted_dimension("head", question.model.heads);
  const Dimension factors{"factor", {kLengthFactors.begin(), kLengthFactors.end()}};
  for (const char* name : {"loss", "batch_loss", "gradient_norm", "mean_entropy", "mean_phase"}) {
    all.push_back({name, {steps}});
  }
  for (const char* name : {"entropy", "largest_weight", "phase"}) {
    all.push_back({name, {steps, layers, heads}});
  }
  for (const char* name : {"longer_loss", "longer_change"}) {
    all.push_back({name, {evaluation_dimension(question), factors}});
  }
  return all;
}

std::vector<std::vector<double>> TrainScalingExperiment::sample(
    std::span<const TrainScalingQuestion> tile, std::uint64_t seed, std::uint64_t replica,
    const RunContext& context) const {
  std::vector<std::vector<double>> all;
  for (const TrainScalingQuestion& question : tile) {
    const experiments::ScaledQuestion asked = run_of(question, seed);
    const auto corpus = shelved_corpus(asked.text.corpus, experiments::least_tokens(asked.text));
    all.push_back(values_of(question, experiments::scaled_run(asked, corpus, replica, context)));
  }
  return all;
}

// In operations of a step: the logits, and for every layer the projections of every row and its
// products with the rows before it. Evaluation is some hundred steps' worth of the last.
double TrainScalingExperiment::cost(const TrainScalingQuestion& question) const {
  const auto m = static_cast<double>(question.model.m), s = static_cast<double>(question.s);
  const auto rows = static_cast<double>(question.tokens);
  const auto layers = static_cast<double>(question.model.layers);
  const double vocabulary = std::max(static_cast<double>(*question.source.vocabulary), 2.0);
  const double step = 6.0 * rows * m * vocabulary + layers * rows * m * (18.0 * m + 12.0 * s);
  return static_cast<double>(question.learning.steps) * step + 100.0 * layers * rows * m * 12.0 * s;
}

}  // namespace

const Experiment& train_scaling_experiment() {
  static const TrainScalingExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
