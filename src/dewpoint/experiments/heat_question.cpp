#include "dewpoint/experiments/heat_question.hpp"

#include <cmath>

namespace dewpoint::experiments {

double HeatQuestion::gradient() const { return kappa * std::sin(angle); }

std::vector<HeatDrift> heat_drift(std::span<const HeatQuestion> tile, std::uint64_t seed,
                                  const RunContext& context) {
  const HeatQuestion& first = tile.front();
  const scores::VonMisesFisherKeys law(static_cast<int>(first.d),
                                       {{first.kappa, first.angle, 1.0}});
  std::vector<double> gradient(law.dimension(), 0.0);
  gradient[1] = first.gradient();
  KeyOutput output;
  output.keys = first.n;
  output.draws = first.draws;
  output.seed = seed;
  for (const HeatQuestion& question : tile) output.inverse_temperatures.push_back(*question.beta);
  return heat_drift(law, gradient, output, context);
}

}  // namespace dewpoint::experiments
