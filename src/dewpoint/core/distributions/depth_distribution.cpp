#include "dewpoint/core/distributions/depth_distribution.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

NormalDepth::NormalDepth(double deviation) : deviation_(deviation) {
  DEWPOINT_EXPECTS(deviation > 0.0);
}

double NormalDepth::lowest() const { return -kInfinity; }
double NormalDepth::highest() const { return kInfinity; }
double NormalDepth::log_cdf(double depth) const { return normal::log_cdf(depth / deviation_); }

double NormalDepth::log_survival(double depth) const {
  return normal::log_upper_tail(depth / deviation_);
}

double NormalDepth::log_density(double depth) const {
  return normal::log_density(depth / deviation_) - std::log(deviation_);
}

double NormalDepth::quantile(double log_probability) const {
  return -deviation_ * normal::upper_quantile(log_probability);
}

ScaledDepth::ScaledDepth(std::shared_ptr<const DepthDistribution> depth, double factor)
    : depth_(std::move(depth)), factor_(factor) {
  DEWPOINT_EXPECTS(depth_ != nullptr && factor > 0.0);
}

double ScaledDepth::lowest() const { return factor_ * depth_->lowest(); }
double ScaledDepth::highest() const { return factor_ * depth_->highest(); }
double ScaledDepth::log_cdf(double depth) const { return depth_->log_cdf(depth / factor_); }

double ScaledDepth::log_survival(double depth) const {
  return depth_->log_survival(depth / factor_);
}

double ScaledDepth::log_density(double depth) const {
  return depth_->log_density(depth / factor_) - std::log(factor_);
}

double ScaledDepth::quantile(double log_probability) const {
  return factor_ * depth_->quantile(log_probability);
}

}  // namespace dewpoint
