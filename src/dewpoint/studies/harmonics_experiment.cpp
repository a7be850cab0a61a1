#include "dewpoint/studies/harmonics_experiment.hpp"

#include <cmath>

#include "dewpoint/experiments/backward_heat.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::studies {
namespace {

experiments::HarmonicGrowth question_of(const Point& point) {
  experiments::HarmonicGrowth question;
  question.manifold =
      flag_of(point, "sphere") ? experiments::Manifold::sphere : experiments::Manifold::circle;
  question.particles = whole_between(point, "particles", 16.0, 1e5);
  question.attention_share = 1.0 - number_of(point, "residual");
  question.steps = whole_between(point, "steps", 1.0, 1000.0);
  question.inverse_temperatures = {number_of(point, "beta")};
  question.degrees = {whole_between(point, "degree", 1.0, theory::kMostHarmonicDegree)};
  return question;
}

class HarmonicsExperiment final : public Experiment {
 public:
  [[nodiscard]] std::string name() const override { return "harmonics"; }
  [[nodiscard]] std::string summary() const override {
    return "growth of a ripple in the density of particles that all attend to all";
  }
  [[nodiscard]] int schema() const override { return 1; }
  [[nodiscard]] const std::vector<Field>& parameters() const override;
  [[nodiscard]] std::string order_parameter() const override { return "growth"; }
  [[nodiscard]] Point resolved(const Point& given) const override;
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const override {
    return {{"growth", {counted_dimension("step", count_of(point, "steps"))}}};
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& point) const override {
    return {{"growth_theory", {counted_dimension("step", count_of(point, "steps"))}}};
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const override;
  [[nodiscard]] bool deterministic(const Point& /*point*/) const override { return true; }
  [[nodiscard]] double work(const Point& point) const override {
    const double particles = number_of(point, "particles");
    return number_of(point, "steps") * particles * particles;
  }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const override;
};

const std::vector<Field>& HarmonicsExperiment::parameters() const {
  using enum Kind;
  static const std::vector<Field> all = {
      {"beta", number, Value(50.0), "inverse temperature; above 0, resolved by the particles"},
      {"degree", whole, Value(2.0), "degree of the harmonic; in [1, 64]"},
      {"residual", number, Value(0.0),
       "share r of the residual in q' = N(r q + (1 - r) ATT(q)); "
       "in [0, 1)"},
      {"sphere", flag, Value(false), "particles on S^2 instead of the circle", false},
      {"particles", whole, {}, "in [16, 1e5]; 3000, or 6000 on the sphere"},
      {"steps", whole, Value(1.0), "attention steps; in [1, 1000]", false}};
  return all;
}

Point HarmonicsExperiment::resolved(const Point& given) const {
  Point point = with_defaults(given, parameters());
  point.try_emplace("particles", flag_of(point, "sphere") ? 6000.0 : 3000.0);
  const double residual = number_of(point, "residual");
  require(residual >= 0.0 && residual < 1.0, "residual", residual, "in [0, 1)");
  experiments::check(question_of(point));
  return point;
}

std::vector<double> HarmonicsExperiment::predict(const Point& point) const {
  const experiments::HarmonicGrowth question = question_of(point);
  const theory::HarmonicStep step{question.manifold == experiments::Manifold::circle ? 2 : 3,
                                  static_cast<int>(question.degrees[0]),
                                  question.inverse_temperatures[0], question.attention_share};
  return std::vector<double>(question.steps, theory::harmonic_growth(step));
}

std::vector<std::vector<double>> HarmonicsExperiment::measure(std::span<const Point> tile,
                                                              std::uint64_t /*seed*/,
                                                              std::uint64_t /*replica*/,
                                                              const RunContext& context) const {
  std::vector<std::vector<double>> values;
  for (const Point& point : tile) {
    values.push_back(experiments::harmonic_growth(question_of(point), context).front().factors);
  }
  return values;
}

}  // namespace

const Experiment& harmonics_experiment() {
  static const HarmonicsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
