#include "cli/train_question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "cli/query_keys.hpp"
#include "cli/study_parameters.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {
namespace {

using experiments::Optimiser;
using experiments::TrainingData;
using training::FlowMethod;
using training::Precision;

constexpr const char* kPersistent = "lambda";  // the chain that has a λ

const std::map<std::string, FlowMethod> kMethods = {
    {"auto", FlowMethod::automatic}, {"adams", FlowMethod::adams}, {"bdf", FlowMethod::bdf}};

template <class Word>
std::vector<std::string> keys_of(const std::map<std::string, Word>& names) {
  std::vector<std::string> keys;
  for (const auto& [name, word] : names) keys.push_back(name);
  return keys;
}

std::string method_name(FlowMethod method) {
  return std::find_if(kMethods.begin(), kMethods.end(),
                      [&](const auto& one) { return one.second == method; })
      ->first;
}

void take(std::size_t& target, const char* field, const std::optional<double>& given, double least,
          double most) {
  if (given) target = whole_number(field, *given, least, most);
}

void take(double& target, const std::optional<double>& given) {
  if (given) target = *given;
}

void refuse(bool given, const char* field, const char* reason) {
  if (given) throw Error(Code::bad_value, fmt::format("{}: {}", field, reason));
}

void take_duration(experiments::TrainingQuestion& run, const TrainOptions& options) {
  const bool flow = run.optimiser == Optimiser::flow;
  refuse(flow && options.steps, "steps", "a flow has no steps; give --time");
  refuse(!flow && options.time, "time", "adam and descent count --steps");
  refuse(flow && options.rate, "rate", "a flow has no learning rate; give --rtol");
  refuse(!flow && options.relative_tolerance, "rtol", "only a flow has tolerances");
  refuse(!flow && options.absolute_tolerance, "atol", "only a flow has tolerances");
  take(run.until, flow ? options.time : options.steps);
  take(run.every, options.every);
}

// What would be taken and have no effect.
void refuse_idle(const experiments::TrainingQuestion& run, const TrainOptions& options) {
  const bool adam = run.optimiser == Optimiser::adam;
  const char* const only_adam = "only adam has it; --optimiser is another";
  refuse(!adam && options.first_decay, "beta1", only_adam);
  refuse(!adam && options.second_decay, "beta2", only_adam);
  refuse(!adam && options.epsilon, "eps", only_adam);
  refuse(!adam && options.double_precision, "double", "descent and flow are in double already");
  refuse(run.optimiser != Optimiser::flow && options.method, "method", "only a flow has a method");
  refuse(run.data != TrainingData::sampled && options.sequences, "sequences",
         "none are drawn; --data sampled draws them");
  refuse(run.data == TrainingData::population && options.context, "s",
         "the population is the limit of long contexts; --data sampled or exact has a length");
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

void ChainOptions::add_to(CLI::App& verb) {
  verb.add_option("--pi", stationary, "Stationary law of the tokens, comma-separated")
      ->delimiter(',')
      ->default_str("0.75,0.19,0.05,0.01");
  verb.add_option("--lambda", persistence, "How often a token repeats, for the chain lambda")
      ->capture_default_str();
  verb.add_option("--chain", name,
                  "lambda, metropolis, birth-death, cycle, or a file with a row-stochastic matrix")
      ->capture_default_str();
}

training::Chain chain_of(const ChainOptions& options) {
  const auto& names = training::chain_names();
  const bool named = std::find(names.begin(), names.end(), options.name) != names.end();
  if (!named && std::filesystem::exists(options.name)) return training::read_chain(options.name);
  return training::named_chain(options.name, options.stationary, options.persistence);
}

void TrainOptions::add_to(CLI::App& verb) {
  chain.add_to(verb);
  verb.add_option("--data", data,
                  "sampled sequences, their exact expectation, or the population limit of long "
                  "contexts; default sampled, population for a flow")
      ->check(CLI::IsMember(keys_of(experiments::training_data_names())));
  verb.add_option("--s,--context", context, "Context length [19; 32 of a text]");
  verb.add_option("--sequences", sequences, "Sequences that are drawn [100000]");
  verb.add_option("--batch", batch, "Sequences per step, 0 for all [0; 256 of a text]");
  verb.add_option("--m,--width", width, "Width of the model [256; 16 for a flow]");
  verb.add_option("--init", deviation, "Deviation of the initial weights [1/m; 0.001 for a flow]");
  verb.add_flag("--residual", residual, "Add what goes into a layer to what comes out of it");
  verb.add_option("--optimiser", optimiser, "adam, descent (plain gradient descent) or flow")
      ->check(CLI::IsMember(keys_of(experiments::optimiser_names())))
      ->capture_default_str();
  verb.add_option("--rate", rate, "Learning rate [1.5e-4; 0.1 for descent]");
  verb.add_option("--beta1", first_decay, "Decay of Adam's first moment [0.9]");
  verb.add_option("--beta2", second_decay, "Decay of Adam's second moment [0.999]");
  verb.add_option("--eps", epsilon, "Adam's epsilon [1e-8]");
  verb.add_flag("--double", double_precision, "Adam in double instead of single precision");
  verb.add_option("--steps", steps, "Steps [3000; 20000 on a text]");
  verb.add_option("--time", time, "Time of a flow [200]");
  verb.add_option("--record-every,--every", every,
                  "Steps, or time, between two records [5; 0.25 of a flow; 50 on a text]");
  verb.add_option("--rtol", relative_tolerance, "Relative tolerance of a flow [1e-8]");
  verb.add_option("--atol", absolute_tolerance, "Absolute tolerance of a flow [1e-12]");
  verb.add_option("--method", method, "Method of a flow: auto (Adams, then BDF), adams or bdf")
      ->check(CLI::IsMember(keys_of(kMethods)))
      ->default_str("auto");
  verb.add_option(
      "--rise", rise,
      "How far attention must rise to count as a cycle [0.1; descent 0.02; flow 0.005]");
}

TrainQuestion question_of(const TrainOptions& options, std::uint64_t seed) {
  const Optimiser optimiser = experiments::optimiser_names().at(options.optimiser);
  TrainQuestion question{experiments::standard_question(optimiser), 0.0,
                         experiments::standard_thresholds(optimiser)};
  experiments::TrainingQuestion& run = question.run;
  run.chain = chain_of(options.chain);
  question.persistence = options.chain.persistence;
  run.seed = seed;
  if (options.data) run.data = experiments::training_data_names().at(*options.data);
  take(run.context, "s", options.context, 1.0, 1e4);
  take(run.sequences, "sequences", options.sequences, 1.0, 1e8);
  take(run.batch, "batch", options.batch, 0.0, 1e8);
  take(run.width, "m", options.width, 1.0, 8192.0);
  take(run.deviation, options.deviation);
  run.residual = options.residual;
  take(run.adam.rate, options.rate);
  take(run.adam.first_decay, options.first_decay);
  take(run.adam.second_decay, options.second_decay);
  take(run.adam.epsilon, options.epsilon);
  take(run.flow.relative_tolerance, options.relative_tolerance);
  take(run.flow.absolute_tolerance, options.absolute_tolerance);
  if (options.method) run.flow.method = kMethods.at(*options.method);
  if (options.double_precision) run.precision = Precision::double_;
  refuse_idle(run, options);
  take_duration(run, options);
  take(question.thresholds.rise, options.rise);
  question.thresholds.start = experiments::kStartOfRise * question.thresholds.rise;
  refuse(!(question.thresholds.rise > 0.0 && question.thresholds.rise < 1.0), "rise",
         "is not in (0, 1)");
  experiments::check(run);
  return question;
}

TextPairs parameters_of(const TrainQuestion& question) {
  const experiments::TrainingQuestion& run = question.run;
  TextPairs all = {{"chain", run.chain.name}};
  const auto add = [&](const char* name, const auto& value) {
    all.emplace_back(name, fmt::format("{}", value));
  };
  if (run.chain.name == kPersistent) add("lambda", question.persistence);
  add("pi", fmt::format("{}", fmt::join(run.chain.stationary, ",")));
  add("data", experiments::name_of(run.data));
  if (run.data != TrainingData::population) add("s", run.context);
  if (run.data == TrainingData::sampled) {
    add("sequences", run.sequences);
    add("batch", run.batch);
  }
  add("m", run.width);
  add("init", run.deviation > 0.0 ? run.deviation : 1.0 / static_cast<double>(run.width));
  add("residual", run.residual);
  add("optimiser", experiments::name_of(run.optimiser));
  if (run.optimiser == Optimiser::flow) {
    add("rtol", run.flow.relative_tolerance);
    add("atol", run.flow.absolute_tolerance);
    add("method", method_name(run.flow.method));
  } else {
    add("rate", run.adam.rate);
  }
  if (run.optimiser == Optimiser::adam) {
    add("beta1", run.adam.first_decay);
    add("beta2", run.adam.second_decay);
    add("eps", run.adam.epsilon);
    add("precision", run.precision == Precision::single_ ? "single" : "double");
  }
  add("until", run.until);
  add("record-every", run.every);
  add("rise", question.thresholds.rise);
  return all;
}

TrainQuestion question_from(const store::StudyRecord& study, const std::string& file) {
  const StudyParameters parameters(study, file);
  const auto optimiser = parameters.word("optimiser", experiments::optimiser_names());
  TrainQuestion question{experiments::standard_question(optimiser), 0.0,
                         experiments::standard_thresholds(optimiser)};
  experiments::TrainingQuestion& run = question.run;
  run.chain = chain_from(study, parameters.text("chain"));
  if (run.chain.name == kPersistent) question.persistence = parameters.number("lambda");
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
    run.flow.method = parameters.word("method", kMethods);
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
