#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/scaling_collapse.hpp"

namespace dewpoint::diagnosis {
namespace {

/// One size, moved.
struct MovedCurve {
  std::vector<double> x, y, weight;  // weight: 1/σ²
};

/// In units of a size amid the others, which changes no S and keeps large exponents from overflow.
MovedCurve moved(const SizeCurve& curve, const CollapseScales& scales, double unit) {
  const double stretch = std::pow(curve.size / unit, scales.width_exponent);
  const double lift = std::pow(curve.size / unit, -scales.height_exponent);
  MovedCurve result;
  for (std::size_t j = 0; j < curve.x.size(); ++j) {
    const double error = lift * curve.y[j].standard_error;
    result.x.push_back((curve.x[j] - scales.critical) * stretch);
    result.y.push_back(lift * curve.y[j].mean);
    result.weight.push_back(1.0 / (error * error));
  }
  return result;
}

/// A straight line fitted to what other sizes lend at one X, seen from there: distances are X' − X,
/// heights Y' − Y.
class LentLine {
 public:
  void lend(double distance, double height, double weight) {
    weight_ += weight;
    distance_ += weight * distance;
    height_ += weight * height;
    square_ += weight * distance * distance;
    product_ += weight * distance * height;
  }
  [[nodiscard]] bool empty() const { return weight_ == 0.0; }

  /// (Y − Ŷ)²/(σ² + σ̂²)
  [[nodiscard]] double misfit(double own_variance) const {
    const double determinant = weight_ * square_ - distance_ * distance_;
    const double height = (square_ * height_ - distance_ * product_) / determinant;
    return height * height / (own_variance + square_ / determinant);
  }

 private:
  double weight_ = 0.0, distance_ = 0.0, height_ = 0.0, square_ = 0.0, product_ = 0.0;
};

/// `lender` lends its neighbours of every point of `curve` that lies within its range. Both are
/// sorted, so its places are passed once.
void lend_neighbours(const MovedCurve& lender, const MovedCurve& curve,
                     std::vector<LentLine>& lines) {
  std::size_t left = 0;
  for (std::size_t j = 0; j < curve.x.size(); ++j) {
    if (curve.x[j] < lender.x.front() || curve.x[j] > lender.x.back()) continue;
    while (left + 2 < lender.x.size() && lender.x[left + 1] <= curve.x[j]) ++left;
    for (const std::size_t k : {left, left + 1})
      lines[j].lend(lender.x[k] - curve.x[j], lender.y[k] - curve.y[j], lender.weight[k]);
  }
}

}  // namespace

CollapseQuality collapse_quality(std::span<const SizeCurve> curves, const CollapseScales& scales) {
  DEWPOINT_EXPECTS(!curves.empty());
  const double unit = std::sqrt(curves.front().size * curves.back().size);
  std::vector<MovedCurve> all;
  for (const SizeCurve& curve : curves) all.push_back(moved(curve, scales, unit));
  CollapseQuality quality;
  double sum = 0.0;
  for (const MovedCurve& curve : all) {
    std::vector<LentLine> lines(curve.x.size());
    for (const MovedCurve& lender : all)
      if (&lender != &curve) lend_neighbours(lender, curve, lines);
    for (std::size_t j = 0; j < lines.size(); ++j) {
      if (lines[j].empty()) continue;
      sum += lines[j].misfit(1.0 / curve.weight[j]);
      ++quality.compared;
    }
    quality.points += lines.size();
  }
  const auto least = kLeastCompared * static_cast<double>(quality.points);
  if (static_cast<double>(quality.compared) >= least)
    quality.mean = sum / static_cast<double>(quality.compared);
  return quality;
}

}  // namespace dewpoint::diagnosis
