#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/experiments/training_run.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kMostRecords = 1e5;
constexpr std::size_t kMostMoments = 100;
constexpr std::size_t kMostWidth = 8192;
constexpr std::size_t kMostContext = 10'000;
constexpr std::size_t kMostSequences = 100'000'000;

void require_count(const char* field, std::size_t value, std::size_t least, std::size_t most) {
  require_option(value >= least && value <= most, field, static_cast<double>(value),
                 fmt::format("in [{}, {}]", least, most));
}

void require_positive(const char* field, double value) {
  require_option(std::isfinite(value) && value > 0.0, field, value, "a number above 0");
}

void check_data(const TrainingQuestion& question) {
  if (question.data == TrainingData::population) return;
  require_count("s", question.context, 1, kMostContext);
  if (question.data == TrainingData::exact) return;
  require_count("sequences", question.sequences, 1, kMostSequences);
  require_count("batch", question.batch, 0, question.sequences);
}

void check_batch(const TrainingQuestion& question) {
  if (question.batch == 0) return;
  if (question.data != TrainingData::sampled) {
    throw Error(Code::bad_value,
                fmt::format("batch: {} is only for sampled data; exact and population have no "
                            "sequences to choose from",
                            question.batch));
  }
  if (question.optimiser == Optimiser::flow) {
    throw Error(Code::bad_value,
                fmt::format("batch: {} is only for adam and descent; a flow sees all data at once",
                            question.batch));
  }
}

void check_optimiser(const TrainingQuestion& question) {
  if (question.optimiser == Optimiser::flow) {
    for (const auto& [field, value] : {std::pair{"rtol", question.flow.relative_tolerance},
                                       std::pair{"atol", question.flow.absolute_tolerance}}) {
      require_option(value >= 1e-14 && value <= 1e-2, field, value, "in [1e-14, 0.01]");
    }
    return;
  }
  check_adam(question.adam);
}

void check_duration(const TrainingQuestion& question) {
  const bool steps = question.optimiser != Optimiser::flow;
  const char* until = steps ? "steps" : "time";
  require_positive(until, question.until);
  require_positive("record-every", question.every);
  if (steps) {
    require_option(question.until == std::floor(question.until), until, question.until,
                   "a whole number");
    require_option(question.every == std::floor(question.every), "record-every", question.every,
                   "a whole number of steps");
  }
  require_option(question.until / question.every <= kMostRecords, "record-every", question.every,
                 fmt::format("enough: more than {:g} records", kMostRecords));
  require_option(question.moments.size() <= kMostMoments, "moments",
                 static_cast<double>(question.moments.size()), "at most 100 of them");
  require_option(std::is_sorted(question.moments.begin(), question.moments.end()), "moments",
                 question.moments.empty() ? 0.0 : question.moments.front(),
                 "the least: give them in order");
  for (const double moment : question.moments) {
    require_option(moment >= 0.0 && moment <= question.until, "moments", moment,
                   fmt::format("in [0, {:g}]", question.until));
    if (steps)
      require_option(moment == std::floor(moment), "moments", moment, "a whole number of steps");
  }
}

}  // namespace

const std::vector<std::pair<std::string, Optimiser>>& words_of(Optimiser) {
  static const std::vector<std::pair<std::string, Optimiser>> words = {
      {"adam", Optimiser::adam}, {"descent", Optimiser::descent}, {"flow", Optimiser::flow}};
  return words;
}

const std::vector<std::pair<std::string, TrainingData>>& words_of(TrainingData) {
  static const std::vector<std::pair<std::string, TrainingData>> words = {
      {"sampled", TrainingData::sampled},
      {"exact", TrainingData::exact},
      {"population", TrainingData::population}};
  return words;
}

TrainingQuestion standard_question(Optimiser optimiser) {
  TrainingQuestion question;
  question.optimiser = optimiser;
  if (optimiser == Optimiser::descent) {
    question.adam.rate = 0.1;
    question.precision = training::Precision::double_;
  }
  if (optimiser == Optimiser::flow) {
    question.data = TrainingData::population;
    question.width = 16;
    question.deviation = 1e-3;
    question.until = 200.0;
    question.every = 0.25;
    question.precision = training::Precision::double_;
  }
  return question;
}

training::StageThresholds standard_thresholds(Optimiser optimiser) {
  training::StageThresholds thresholds;
  thresholds.rise = optimiser == Optimiser::adam      ? 0.1
                    : optimiser == Optimiser::descent ? 0.02
                                                      : 0.005;
  thresholds.start = kStartOfRise * thresholds.rise;
  return thresholds;
}

double best_loss(const TrainingQuestion& question) {
  if (question.data == TrainingData::population) return training::entropy_rate(question.chain);
  return training::best_loss(question.chain, question.context);
}

void check(const TrainingQuestion& question) {
  DEWPOINT_EXPECTS(question.chain.vocabulary() >= 2);
  check_data(question);
  check_batch(question);
  require_count("m", question.width, 1, kMostWidth);
  require_option(std::isfinite(question.deviation) && question.deviation >= 0.0, "init",
                 question.deviation, "0 (for 1/m) or above");
  check_optimiser(question);
  check_duration(question);
}

}  // namespace dewpoint::experiments
