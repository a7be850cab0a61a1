#include "dewpoint/experiments/train_layers_question.hpp"

#include <utility>

namespace dewpoint::experiments {

TrainLayersQuestion resolved(TrainLayersQuestion q) {
  require_named(q.chain);
  q.model = resolved(std::move(q.model));
  q.learning.adam = resolved(q.learning.adam);
  const LayerQuestion run = run_of(q, 0);
  check(run);
  if (run.shape.scaling.empty()) {
    q.model.scaling.reset();
  } else {
    q.model.scaling = run.shape.scaling;
  }
  q.chain = sorted(std::move(q.chain));
  return q;
}

LayerQuestion run_of(const TrainLayersQuestion& q, std::uint64_t seed) {
  LayerQuestion run;
  run.chain = chain_of(q.chain);
  run.shape = shape_of(q.model, q.s);
  run.shape.vocabulary = run.chain.vocabulary();
  run.deviation = deviation_of(q.model);
  run.context = q.s;
  run.sequences = q.sequences;
  run.batch = q.batch;
  run.adam = adam_of(q.learning.adam);
  run.steps = q.learning.steps;
  run.every = q.learning.record_every;
  run.seed = seed;
  return run;
}

}  // namespace dewpoint::experiments
