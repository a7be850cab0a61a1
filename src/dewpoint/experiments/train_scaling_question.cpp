#include "dewpoint/experiments/train_scaling_question.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace dewpoint::experiments {
namespace {

// Tokens of the windows of one validation loss, the same for all laws: losses of single tokens
// deviate by about 3 nats, so their mean is known to 3/√16384 = 0.02.
constexpr std::size_t kValidationTokens = 16384;

}  // namespace

TrainScalingQuestion resolved(TrainScalingQuestion q) {
  q.source = resolved(std::move(q.source));
  q.model = resolved(std::move(q.model));
  q.learning.adam = resolved(q.learning.adam);
  check(run_of(q, 0));
  return q;
}

std::vector<std::string> evaluations_of(const TrainScalingQuestion& question) {
  std::istringstream words(question.evaluations);
  std::vector<std::string> laws;
  for (std::string law; words >> law;) laws.push_back(law);
  return laws;
}

ScaledQuestion run_of(const TrainScalingQuestion& q, std::uint64_t seed) {
  ScaledQuestion run;
  TextQuestion& text = run.text;
  text.corpus = corpus_of(q.source);
  text.shape = shape_of(q.model, q.s);
  text.deviation = deviation_of(q.model);
  text.context = q.s;
  text.batch = std::max<std::size_t>(q.tokens / q.s, 1);
  text.targets = transformer::Targets::all;
  text.adam = adam_of(q.learning.adam);
  text.steps = q.learning.steps;
  text.every = text.validate_every = q.learning.record_every;
  text.validation_windows = std::max<std::size_t>(kValidationTokens / q.s, 1);
  text.seed = seed;
  for (const std::string& law : evaluations_of(q)) {
    run.evaluations.push_back(transformer::scaling_text(law, q.s));
  }
  return run;
}

}  // namespace dewpoint::experiments
