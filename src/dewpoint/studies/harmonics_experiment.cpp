#include "dewpoint/studies/harmonics_experiment.hpp"

#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/studies/typed_experiment.hpp"

namespace dewpoint::studies {
namespace {

using experiments::HarmonicsQuestion;

class HarmonicsExperiment final : public ExperimentOf<HarmonicsQuestion> {
 public:
  [[nodiscard]] std::string name() const override { return "harmonics"; }
  [[nodiscard]] std::string summary() const override {
    return "growth of a ripple in the density of particles that all attend to all";
  }
  [[nodiscard]] int schema() const override { return 1; }
  [[nodiscard]] std::string order_parameter() const override { return "growth"; }

 protected:
  [[nodiscard]] HarmonicsQuestion completed(HarmonicsQuestion question) const override {
    return experiments::resolved(question);
  }
  [[nodiscard]] std::vector<Observable> observed(const HarmonicsQuestion& question) const override {
    return {{"growth", {counted_dimension("step", question.steps)}}};
  }
  [[nodiscard]] std::vector<Observable> predicted(
      const HarmonicsQuestion& question) const override {
    return {{"growth_theory", {counted_dimension("step", question.steps)}}};
  }
  [[nodiscard]] std::vector<double> forecast(const HarmonicsQuestion& question) const override {
    return std::vector<double>(question.steps, theory::harmonic_growth(harmonic_step(question)));
  }
  [[nodiscard]] bool is_deterministic(const HarmonicsQuestion&) const override { return true; }
  [[nodiscard]] double cost(const HarmonicsQuestion& question) const override {
    const auto particles = static_cast<double>(*question.particles);
    return static_cast<double>(question.steps) * particles * particles;
  }
  [[nodiscard]] std::vector<std::vector<double>> sample(std::span<const HarmonicsQuestion> tile,
                                                        std::uint64_t /*seed*/,
                                                        std::uint64_t /*replica*/,
                                                        const RunContext& context) const override {
    std::vector<std::vector<double>> values;
    for (const HarmonicsQuestion& question : tile) {
      const auto growth = experiments::harmonic_growth(harmonics_of(question), context);
      values.push_back(growth.front().factors);
    }
    return values;
  }
};

}  // namespace

theory::HarmonicStep harmonic_step(const HarmonicsQuestion& question) {
  return {question.sphere ? 3 : 2, static_cast<int>(question.degree), question.beta,
          1.0 - question.residual};
}

const Experiment& harmonics_experiment() {
  static const HarmonicsExperiment experiment;
  return experiment;
}

}  // namespace dewpoint::studies
