#include <array>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/plain_weights.hpp"
#include "dewpoint/training/step_trainer.hpp"
#include "dewpoint/training/trainer_state.hpp"

namespace dewpoint::training {
namespace {

// The formulas of AdamOptions, one after the other, on whole matrices.
class PlainAdam final : public StepTrainer {
 public:
  PlainAdam(const TokenLoss& loss, const Parameters<double>& start, const AdamOptions& options)
      : loss_(loss),
        options_(options),
        weights_(start),
        first_(start.vocabulary(), start.width()),
        second_(start.vocabulary(), start.width()) {}

  [[nodiscard]] Parameters<double> parameters() const override { return weights_; }

  [[nodiscard]] std::vector<std::byte> state() const override {
    StateWriter writer(shape(), done());
    for (const auto* part : {&weights_, &first_, &second_}) add(writer, *part);
    return writer.take();
  }

  void restore(std::span<const std::byte> state) override {
    StateReader reader(state, shape(), 3 * byte_count(weights_));
    set_done(reader.done());
    for (auto* part : {&weights_, &first_, &second_}) take(reader, *part);
  }

 private:
  [[nodiscard]] bool step(std::uint64_t done) override {
    TokenMaps slope(weights_.vocabulary());
    if (!std::isfinite(loss_.slope(done, token_maps(weights_), slope))) return false;
    const Parameters<double> gradient = weight_gradient(weights_, slope);
    const auto t = static_cast<double>(done + 1);
    const double first_rest = 1.0 - std::pow(options_.first_decay, t);
    const double second_rest = 1.0 - std::pow(options_.second_decay, t);
    const auto g = matrices(gradient);
    const auto theta = matrices(weights_);
    const auto m = matrices(first_);
    const auto v = matrices(second_);
    for (std::size_t n = 0; n < theta.size(); ++n) {
      for (std::size_t e = 0; e < theta[n].size(); ++e) {
        const double slope_here = g[n][e];
        m[n][e] = options_.first_decay * m[n][e] + (1.0 - options_.first_decay) * slope_here;
        v[n][e] = options_.second_decay * v[n][e] +
                  (1.0 - options_.second_decay) * slope_here * slope_here;
        const double denominator = std::sqrt(v[n][e]) / std::sqrt(second_rest) + options_.epsilon;
        theta[n][e] -= options_.rate / first_rest * m[n][e] / denominator;
      }
    }
    return is_finite(token_maps(weights_));
  }

  [[nodiscard]] TrainerShape shape() const {
    return {TrainerKind::plain_adam, sizeof(double), weights_.vocabulary(), weights_.width()};
  }

  const TokenLoss& loss_;
  AdamOptions options_;
  Parameters<double> weights_;
  Parameters<double> first_;
  Parameters<double> second_;
};

}  // namespace

void check(const AdamOptions& options) {
  DEWPOINT_EXPECTS(options.rate > 0.0 && std::isfinite(options.rate));
  DEWPOINT_EXPECTS(options.first_decay > 0.0 && options.first_decay < 1.0);
  DEWPOINT_EXPECTS(options.second_decay > 0.0 && options.second_decay < 1.0);
  DEWPOINT_EXPECTS(options.epsilon >= 1e-30 && std::isfinite(options.epsilon));
  static_cast<void>(options);
}

std::unique_ptr<Trainer> plain_adam(const TokenLoss& loss, const Parameters<double>& start,
                                    const AdamOptions& options) {
  check(options);
  DEWPOINT_EXPECTS(start.vocabulary() == loss.vocabulary());
  return std::make_unique<PlainAdam>(loss, start, options);
}

}  // namespace dewpoint::training
