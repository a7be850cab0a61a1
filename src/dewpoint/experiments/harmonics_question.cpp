#include "dewpoint/experiments/harmonics_question.hpp"

namespace dewpoint::experiments {

HarmonicsQuestion resolved(HarmonicsQuestion q) {
  q.particles = q.particles.value_or(q.sphere ? 6000 : 3000);
  check(harmonics_of(q));
  return q;
}

HarmonicGrowth harmonics_of(const HarmonicsQuestion& q) {
  HarmonicGrowth growth;
  growth.manifold = q.sphere ? Manifold::sphere : Manifold::circle;
  growth.particles = *q.particles;
  growth.attention_share = 1.0 - q.residual;
  growth.steps = q.steps;
  growth.inverse_temperatures = {q.beta};
  growth.degrees = {q.degree};
  return growth;
}

}  // namespace dewpoint::experiments
