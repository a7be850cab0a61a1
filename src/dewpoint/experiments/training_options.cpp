#include "dewpoint/experiments/training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/store/new_study.hpp"

namespace dewpoint::experiments {
namespace {

using training::FlowMethod;
using training::Precision;

std::string method_name(FlowMethod method) {
  const auto& names = flow_method_names();
  return std::find_if(names.begin(), names.end(),
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

void take_duration(TrainingQuestion& run, const TrainOptions& options) {
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
void refuse_idle(const TrainingQuestion& run, const TrainOptions& options) {
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

}  // namespace

training::Chain chain_of(const ChainOptions& options) {
  const auto& names = training::chain_names();
  const bool named = std::find(names.begin(), names.end(), options.name) != names.end();
  if (!named && std::filesystem::exists(options.name)) return training::read_chain(options.name);
  return training::named_chain(options.name, options.stationary, options.persistence);
}

TrainQuestion question_of(const TrainOptions& options, std::uint64_t seed) {
  const Optimiser optimiser = optimiser_names().at(options.optimiser);
  TrainQuestion question{standard_question(optimiser), 0.0, standard_thresholds(optimiser)};
  TrainingQuestion& run = question.run;
  run.chain = chain_of(options.chain);
  question.persistence = options.chain.persistence;
  run.seed = seed;
  if (options.data) run.data = training_data_names().at(*options.data);
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
  if (options.method) run.flow.method = flow_method_names().at(*options.method);
  if (options.double_precision) run.precision = Precision::double_;
  refuse_idle(run, options);
  take_duration(run, options);
  take(question.thresholds.rise, options.rise);
  question.thresholds.start = kStartOfRise * question.thresholds.rise;
  refuse(!(question.thresholds.rise > 0.0 && question.thresholds.rise < 1.0), "rise",
         "is not in (0, 1)");
  check(run);
  return question;
}

TextPairs parameters_of(const TrainQuestion& question) {
  const TrainingQuestion& run = question.run;
  TextPairs all = {{"chain", run.chain.name}};
  const auto add = [&](const char* name, const auto& value) {
    all.emplace_back(name, fmt::format("{}", value));
  };
  if (run.chain.name == kPersistentChain) add("lambda", question.persistence);
  add("pi", fmt::format("{}", fmt::join(run.chain.stationary, ",")));
  add("data", name_of(run.data));
  if (run.data != TrainingData::population) add("s", run.context);
  if (run.data == TrainingData::sampled) {
    add("sequences", run.sequences);
    add("batch", run.batch);
  }
  add("m", run.width);
  add("init", run.deviation > 0.0 ? run.deviation : 1.0 / static_cast<double>(run.width));
  add("residual", run.residual);
  add("optimiser", name_of(run.optimiser));
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

store::StudyRecord train_study(const TrainQuestion& question, const TrainingRun& run,
                               const training::Stages& stages, const std::string& command) {
  store::StudyRecord study = store::begin_study(kTrain, question.run.seed, command);
  study.parameters = parameters_of(question);
  study.frames = training_frames(question.run, run, stages);
  study.attachments = run.attachments();
  return study;
}

const std::map<std::string, FlowMethod>& flow_method_names() {
  static const std::map<std::string, FlowMethod> names = {
      {"auto", FlowMethod::automatic}, {"adams", FlowMethod::adams}, {"bdf", FlowMethod::bdf}};
  return names;
}

}  // namespace dewpoint::experiments
