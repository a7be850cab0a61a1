#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/plain_weights.hpp"
#include "dewpoint/training/step_trainer.hpp"
#include "dewpoint/training/trainer_state.hpp"

namespace dewpoint::training {
namespace {

class GradientDescent final : public StepTrainer {
 public:
  GradientDescent(const TokenLoss& loss, const Parameters<double>& start, double rate)
      : loss_(loss), rate_(rate), weights_(start) {}

  [[nodiscard]] Parameters<double> parameters() const override { return weights_; }

  [[nodiscard]] std::vector<std::byte> state() const override {
    StateWriter writer(shape(), done());
    add(writer, weights_);
    return writer.take();
  }

  void restore(std::span<const std::byte> state) override {
    StateReader reader(state, shape(), byte_count(weights_));
    set_done(reader.done());
    take(reader, weights_);
  }

 private:
  [[nodiscard]] bool step(std::uint64_t done) override {
    TokenMaps slope(weights_.vocabulary());
    if (!std::isfinite(loss_.slope(done, token_maps(weights_), slope))) return false;
    const Parameters<double> gradient = weight_gradient(weights_, slope);
    const auto g = matrices(gradient);
    const auto theta = matrices(weights_);
    for (std::size_t n = 0; n < theta.size(); ++n) {
      for (std::size_t e = 0; e < theta[n].size(); ++e) theta[n][e] -= rate_ * g[n][e];
    }
    return is_finite(token_maps(weights_));
  }

  [[nodiscard]] TrainerShape shape() const {
    return {TrainerKind::gradient_descent, sizeof(double), weights_.vocabulary(), weights_.width()};
  }

  const TokenLoss& loss_;
  double rate_;
  Parameters<double> weights_;
};

}  // namespace

std::unique_ptr<Trainer> gradient_descent(const TokenLoss& loss, const Parameters<double>& start,
                                          double rate) {
  DEWPOINT_EXPECTS(start.vocabulary() == loss.vocabulary());
  DEWPOINT_EXPECTS(rate > 0.0 && std::isfinite(rate));
  return std::make_unique<GradientDescent>(loss, start, rate);
}

}  // namespace dewpoint::training
