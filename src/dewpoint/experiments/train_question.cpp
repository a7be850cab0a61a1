#include "dewpoint/experiments/train_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/stored_question.hpp"
#include "dewpoint/store/new_study.hpp"

namespace dewpoint::experiments {
namespace {

constexpr const char* kPersistentChain = "lambda";  // the chain that has a λ

bool is_named(const std::string& chain) {
  const auto& names = training::chain_names();
  return std::find(names.begin(), names.end(), chain) != names.end();
}

template <class Member>
void refuse(const Member& given, const char* name, const char* why) {
  const auto value = question::value_of(given);
  if (!value || *value == question::Value(false)) return;
  throw Error(Code::bad_value,
              fmt::format("{}: {} is given, but {}", name, question::value_text(*value), why));
}

void refuse_of_flow(const TrainQuestion& q) {
  refuse(q.time, "time", "adam and descent count steps");
  refuse(q.rtol, "rtol", "only a flow has tolerances");
  refuse(q.atol, "atol", "only a flow has tolerances");
  refuse(q.method, "method", "only a flow has a method");
}

void refuse_of_steps(const TrainQuestion& q) {
  refuse(q.steps, "steps", "a flow has no steps; give time");
  refuse(q.adam.rate, "rate", "a flow has no learning rate; give rtol");
}

void refuse_of_adam(const TrainQuestion& q) {
  refuse(q.adam.beta1, "beta1", "only adam has it; optimiser is another");
  refuse(q.adam.beta2, "beta2", "only adam has it; optimiser is another");
  refuse(q.adam.eps, "eps", "only adam has it; optimiser is another");
  refuse(q.double_precision, "double", "descent and flow are in double already");
}

template <class T>
void fill(std::optional<T>& member, const T& standard) {
  if (!member) member = standard;
}

void fill_data(TrainQuestion& q, const TrainingQuestion& standard) {
  fill(q.data, standard.data);
  fill(q.s, standard.context);
  fill(q.sequences, standard.sequences);
  fill(q.batch, standard.batch);
  fill(q.m, standard.width);
  fill(q.init, standard.deviation);
  if (*q.init == 0.0) q.init = 1.0 / static_cast<double>(*q.m);
}

void fill_optimiser(TrainQuestion& q, const TrainingQuestion& standard) {
  if (q.optimiser == Optimiser::flow) {
    fill(q.rtol, standard.flow.relative_tolerance);
    fill(q.atol, standard.flow.absolute_tolerance);
    fill(q.method, standard.flow.method);
    fill(q.time, standard.until);
  } else {
    fill(q.adam.rate, standard.adam.rate);
    fill(q.steps, static_cast<std::size_t>(standard.until));
  }
  if (q.optimiser == Optimiser::adam) {
    fill(q.adam.beta1, standard.adam.first_decay);
    fill(q.adam.beta2, standard.adam.second_decay);
    fill(q.adam.eps, standard.adam.epsilon);
    fill(q.double_precision, false);
  } else {
    q.double_precision.reset();
  }
  fill(q.record_every, standard.every);
  fill(q.rise, standard_thresholds(q.optimiser).rise);
}

void drop_idle(TrainQuestion& q) {
  if (q.chain.chain != kPersistentChain) q.chain.lambda.reset();
  if (q.score_scale == 1.0) q.score_scale.reset();
  if (*q.data == TrainingData::population) q.s.reset();
  if (*q.data == TrainingData::sampled) return;
  q.sequences.reset();
  q.batch.reset();
}

template <class T, class Given>
void take(T& target, const std::optional<Given>& given) {
  if (given) target = static_cast<T>(*given);
}

TrainingQuestion run_of(const TrainQuestion& q, training::Chain chain) {
  TrainingQuestion run = standard_question(q.optimiser);
  run.chain = std::move(chain);
  take(run.data, q.data);
  take(run.context, q.s);
  take(run.sequences, q.sequences);
  take(run.batch, q.batch);
  take(run.width, q.m);
  take(run.deviation, q.init);
  run.residual = q.residual;
  take(run.score_scale, q.score_scale);
  take(run.adam.rate, q.adam.rate);
  take(run.adam.first_decay, q.adam.beta1);
  take(run.adam.second_decay, q.adam.beta2);
  take(run.adam.epsilon, q.adam.eps);
  if (q.double_precision.value_or(false)) run.precision = training::Precision::double_;
  take(run.until, q.steps);
  take(run.until, q.time);
  take(run.every, q.record_every);
  take(run.flow.relative_tolerance, q.rtol);
  take(run.flow.absolute_tolerance, q.atol);
  take(run.flow.method, q.method);
  return run;
}

}  // namespace

training::Chain chain_of(const ChainQuestion& question) {
  if (!is_named(question.chain) && std::filesystem::exists(question.chain)) {
    return training::read_chain(question.chain);
  }
  return training::named_chain(question.chain, question.pi.values, question.lambda.value_or(0.0));
}

void require_named(const ChainQuestion& question) {
  static const question::Field chain{"chain", question::Kind::word,   {}, "",
                                     true,    training::chain_names()};
  expect_allowed(chain, question::Value(question.chain));
}

ChainQuestion sorted(ChainQuestion question) {
  std::sort(question.pi.values.begin(), question.pi.values.end(), std::greater<>());
  return question;
}

TrainQuestion resolved(TrainQuestion q) {
  const training::Chain chain = chain_of(q.chain);
  return resolved(std::move(q), chain);
}

TrainQuestion resolved(TrainQuestion q, const training::Chain& chain) {
  q.optimiser == Optimiser::flow ? refuse_of_steps(q) : refuse_of_flow(q);
  if (q.optimiser != Optimiser::adam) refuse_of_adam(q);
  const TrainingQuestion standard = standard_question(q.optimiser);
  fill_data(q, standard);
  fill_optimiser(q, standard);
  if (!is_named(q.chain.chain)) q.chain.pi.values = chain.stationary;
  check(run_of(q, chain));
  q.chain = sorted(std::move(q.chain));
  drop_idle(q);
  return q;
}

void refuse_idle(const TrainQuestion& q) {
  const TrainingData data = q.data.value_or(standard_question(q.optimiser).data);
  if (data != TrainingData::sampled) {
    refuse(q.sequences, "sequences", "none are drawn; data = sampled draws them");
  }
  if (data == TrainingData::population) {
    refuse(q.s, "s",
           "the population is the limit of long contexts; data = sampled or exact has a length");
  }
}

Training training_of(const TrainQuestion& question, std::uint64_t seed) {
  training::Chain chain = chain_of(question.chain);
  const TrainQuestion complete = resolved(question, chain);
  return training_of(complete, std::move(chain), seed);
}

Training training_of(const TrainQuestion& complete, training::Chain chain, std::uint64_t seed) {
  Training training{complete, run_of(complete, std::move(chain)),
                    standard_thresholds(complete.optimiser)};
  training.run.seed = seed;
  take(training.thresholds.rise, complete.rise);
  training.thresholds.start = kStartOfRise * training.thresholds.rise;
  return training;
}

store::StudyRecord train_study(const Training& training, const TrainingRun& run,
                               const training::Stages& stages, const std::string& command) {
  store::StudyRecord study = store::begin_study(kTrain, training.run.seed, command);
  study.parameters = stored_parameters(training.asked);
  study.frames = training_frames(training.run, run, stages);
  study.attachments = run.attachments();
  return study;
}

}  // namespace dewpoint::experiments
