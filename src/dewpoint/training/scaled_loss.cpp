#include "dewpoint/training/scaled_loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

void multiply(const Matrix<double>& by, double scale, Matrix<double>& result) {
  std::transform(by.data(), by.data() + by.size(), result.data(),
                 [&](double x) { return scale * x; });
}

class ScaledLoss final : public TokenLoss {
 public:
  ScaledLoss(std::unique_ptr<TokenLoss> loss, double scale)
      : loss_(std::move(loss)),
        scale_(scale),
        at_(loss_->vocabulary()),
        along_(loss_->vocabulary()) {}

  [[nodiscard]] double scale() const { return scale_; }

  [[nodiscard]] std::size_t vocabulary() const override { return loss_->vocabulary(); }
  double slope(std::uint64_t step, const TokenMaps& at, TokenMaps& slope) const override {
    const double loss = loss_->slope(step, scaled(at, at_), slope);
    multiply(slope.attention, scale_, slope.attention);
    return loss;
  }
  void slope_change(const TokenMaps& at, const TokenMaps& along, TokenMaps& change) const override {
    loss_->slope_change(scaled(at, at_), scaled(along, along_), change);
    multiply(change.attention, scale_, change.attention);
  }
  [[nodiscard]] std::vector<double> group_losses(const TokenMaps& at) const override {
    return loss_->group_losses(scaled(at, at_));
  }
  [[nodiscard]] std::vector<double> group_weights() const override {
    return loss_->group_weights();
  }

 private:
  const TokenMaps& scaled(const TokenMaps& maps, TokenMaps& result) const {
    multiply(maps.attention, scale_, result.attention);
    multiply(maps.value, 1.0, result.value);
    return result;
  }

  std::unique_ptr<TokenLoss> loss_;
  double scale_;
  mutable TokenMaps at_, along_;  // workspace
};

}  // namespace

std::unique_ptr<TokenLoss> scaled_loss(std::unique_ptr<TokenLoss> loss, double scale) {
  DEWPOINT_EXPECTS(std::isfinite(scale) && scale > 0.0);
  if (scale == 1.0) return loss;
  return std::make_unique<ScaledLoss>(std::move(loss), scale);
}

double score_scale(const TokenLoss& loss) {
  const auto* scaled = dynamic_cast<const ScaledLoss*>(&loss);
  return scaled == nullptr ? 1.0 : scaled->scale();
}

Matrix<double> scores(const TokenLoss& loss, const TokenMaps& maps) {
  Matrix<double> scores = maps.attention;
  multiply(scores, score_scale(loss), scores);
  return scores;
}

}  // namespace dewpoint::training
