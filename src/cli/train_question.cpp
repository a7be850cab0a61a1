#include "cli/train_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/study_parameters.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using experiments::Optimiser;
using experiments::TrainingData;
using training::Precision;

template <class Word>
std::vector<std::string> keys_of(const std::map<std::string, Word>& names) {
  std::vector<std::string> keys;
  for (const auto& [name, word] : names) keys.push_back(name);
  return keys;
}

// ---- a study's chain ----------------------------------------------------------------------------

training::Chain chain_from(const store::StudyRecord& study, const std::string& name) {
  const Frame& data = study.frame("data");
  const std::size_t d = data.dimension("token").coordinates.size();
  Matrix<double> transition(d, d);
  const auto& cells = data.variable("transition").cells;
  for (std::size_t i = 0; i < cells.size(); ++i) transition.data()[i] = cells[i].mean;
  training::Chain chain = training::chain_of(std::move(transition), "frame 'data'");
  for (std::size_t k = 0; k < d; ++k) {
    chain.stationary[k] = data.variable("stationary").cells[k].mean;
    for (std::size_t j = 0; j < d; ++j) chain.transition(k, j) = cells[k * d + j].mean;
  }
  chain.name = name;
  return chain;
}

}  // namespace

void add_chain_options(CLI::App& verb, ChainOptions& o) {
  verb.add_option("--pi", o.stationary, "Stationary law of the tokens, comma-separated")
      ->delimiter(',')
      ->default_str("0.75,0.19,0.05,0.01");
  verb.add_option("--lambda", o.persistence, "How often a token repeats, for the chain lambda")
      ->capture_default_str();
  verb.add_option("--chain", o.name,
                  "lambda, metropolis, birth-death, cycle, or a file with a row-stochastic matrix")
      ->capture_default_str();
}

void add_train_options(CLI::App& verb, TrainOptions& o) {
  add_chain_options(verb, o.chain);
  verb.add_option("--data", o.data,
                  "sampled sequences, their exact expectation, or the population limit of long "
                  "contexts; default sampled, population for a flow")
      ->check(CLI::IsMember(keys_of(experiments::training_data_names())));
  verb.add_option("--s,--context", o.context, "Context length [19; 32 of a text]");
  verb.add_option("--sequences", o.sequences, "Sequences that are drawn [100000]");
  verb.add_option("--batch", o.batch, "Sequences per step, 0 for all [0; 256 of a text]");
  verb.add_option("--m,--width", o.width, "Width of the model [256; 16 for a flow]");
  verb.add_option("--init", o.deviation,
                  "Deviation of the initial weights [1/m; 0.001 for a flow]");
  verb.add_flag("--residual", o.residual, "Add what goes into a layer to what comes out of it");
  verb.add_option("--optimiser", o.optimiser, "adam, descent (plain gradient descent) or flow")
      ->check(CLI::IsMember(keys_of(experiments::optimiser_names())))
      ->capture_default_str();
  verb.add_option("--rate", o.rate, "Learning rate [1.5e-4; 0.1 for descent]");
  verb.add_option("--beta1", o.first_decay, "Decay of Adam's first moment [0.9]");
  verb.add_option("--beta2", o.second_decay, "Decay of Adam's second moment [0.999]");
  verb.add_option("--eps", o.epsilon, "Adam's epsilon [1e-8]");
  verb.add_flag("--double", o.double_precision, "Adam in double instead of single precision");
  verb.add_option("--steps", o.steps, "Steps [3000; 20000 on a text]");
  verb.add_option("--time", o.time, "Time of a flow [200]");
  verb.add_option("--record-every,--every", o.every,
                  "Steps, or time, between two records [5; 0.25 of a flow; 50 on a text]");
  verb.add_option("--rtol", o.relative_tolerance, "Relative tolerance of a flow [1e-8]");
  verb.add_option("--atol", o.absolute_tolerance, "Absolute tolerance of a flow [1e-12]");
  verb.add_option("--method", o.method, "Method of a flow: auto (Adams, then BDF), adams or bdf")
      ->check(CLI::IsMember(keys_of(experiments::flow_method_names())))
      ->default_str("auto");
  verb.add_option(
      "--rise", o.rise,
      "How far attention must rise to count as a cycle [0.1; descent 0.02; flow 0.005]");
}

TrainQuestion question_from(const store::StudyRecord& study, const std::string& file) {
  const StudyParameters parameters(study, file);
  const auto optimiser = parameters.word("optimiser", experiments::optimiser_names());
  TrainQuestion question{experiments::standard_question(optimiser), 0.0,
                         experiments::standard_thresholds(optimiser)};
  experiments::TrainingQuestion& run = question.run;
  run.chain = chain_from(study, parameters.text("chain"));
  if (run.chain.name == experiments::kPersistentChain)
    question.persistence = parameters.number("lambda");
  run.seed = study.seed;
  run.data = parameters.word("data", experiments::training_data_names());
  if (run.data != TrainingData::population) run.context = parameters.count("s");
  if (run.data == TrainingData::sampled) {
    run.sequences = parameters.count("sequences");
    run.batch = parameters.count("batch");
  }
  run.width = parameters.count("m");
  run.deviation = parameters.number("init");
  run.residual = parameters.flag("residual");
  if (optimiser == Optimiser::flow) {
    run.flow.relative_tolerance = parameters.number("rtol");
    run.flow.absolute_tolerance = parameters.number("atol");
    run.flow.method = parameters.word("method", experiments::flow_method_names());
  } else {
    run.adam.rate = parameters.number("rate");
  }
  if (optimiser == Optimiser::adam) {
    run.adam.first_decay = parameters.number("beta1");
    run.adam.second_decay = parameters.number("beta2");
    run.adam.epsilon = parameters.number("eps");
    run.precision =
        parameters.text("precision") == "single" ? Precision::single_ : Precision::double_;
  }
  run.until = parameters.number("until");
  run.every = parameters.number("record-every");
  question.thresholds.rise = parameters.number("rise");
  question.thresholds.start = experiments::kStartOfRise * question.thresholds.rise;
  experiments::check(run);
  return question;
}

}  // namespace dewpoint::cli
