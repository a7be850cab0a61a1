#include "dewpoint/experiments/train_text_question.hpp"

#include <fmt/format.h>

#include <utility>

namespace dewpoint::experiments {

TrainTextQuestion resolved(TrainTextQuestion q) {
  q.source = resolved(std::move(q.source));
  q.model = resolved(std::move(q.model));
  q.learning.adam = resolved(q.learning.adam);
  const TextQuestion run = run_of(q, 0);
  check(run);
  if (run.shape.scaling.empty()) {
    q.model.scaling.reset();
  } else {
    q.model.scaling = run.shape.scaling;
  }
  if (q.validate_every == TextQuestion{}.validate_every) q.validate_every.reset();
  return q;
}

TrainTextQuestion filled(TrainTextQuestion q) {
  q.learning.adam = filled(q.learning.adam);
  if (!q.validate_every) q.validate_every = TextQuestion{}.validate_every;
  return q;
}

TextQuestion run_of(const TrainTextQuestion& q, std::uint64_t seed) {
  TextQuestion run;
  run.corpus = corpus_of(q.source);
  run.shape = shape_of(q.model, q.s);
  run.deviation = deviation_of(q.model);
  run.context = q.s;
  run.batch = q.batch;
  run.targets = q.loss;
  run.adam = adam_of(q.learning.adam);
  run.steps = q.learning.steps;
  run.every = q.learning.record_every;
  run.validate_every = q.validate_every.value_or(run.validate_every);
  if (q.probe) run.probe = names_in(*q.probe);
  run.sentence = q.sentence.value_or("");
  run.seed = seed;
  return run;
}

std::vector<std::string> names_in(const std::string& probe) {
  std::vector<std::string> names{""};
  for (std::size_t i = 0; i < probe.size(); ++i) {
    if (probe[i] == ',') {
      names.emplace_back();
    } else {
      if (probe[i] == '\\' && i + 1 < probe.size()) ++i;
      names.back() += probe[i];
    }
  }
  for (const std::string& name : names) {
    if (!name.empty()) continue;
    throw Error(Code::bad_value,
                fmt::format("probe: '{}' has an empty name; a comma is written as \\,", probe));
  }
  return names;
}

}  // namespace dewpoint::experiments
