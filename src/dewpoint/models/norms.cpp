#include "dewpoint/models/norms.hpp"

#include <cmath>

namespace dewpoint::models {
namespace {

double mean(std::span<const float> values) {
  double sum = 0.0;
  for (const float x : values) sum += static_cast<double>(x);
  return sum / static_cast<double>(values.size());
}

double mean_square(std::span<const float> values, double centre) {
  double sum = 0.0;
  for (const float x : values) {
    const double deviation = static_cast<double>(x) - centre;
    sum += deviation * deviation;
  }
  return sum / static_cast<double>(values.size());
}

}  // namespace

void normalise(const Norm& norm, std::span<const float> in, std::span<float> out) {
  DEWPOINT_EXPECTS(norm.scale.empty() || in.size() == norm.scale.size());
  DEWPOINT_EXPECTS(out.size() == in.size());
  const double centre = norm.kind == NormKind::layer ? mean(in) : 0.0;
  const double factor = 1.0 / std::sqrt(mean_square(in, centre) + norm.epsilon);
  for (std::size_t k = 0; k < in.size(); ++k) {
    const double scale = norm.scale.empty() ? 1.0 : static_cast<double>(norm.scale[k]);
    const double shift = norm.shift.empty() ? 0.0 : static_cast<double>(norm.shift[k]);
    const double deviation = static_cast<double>(in[k]) - centre;
    out[k] = static_cast<float>(deviation * factor * scale + shift);
  }
}

void normalise(const Norm& norm, MatrixView<const float> in, MatrixView<float> out) {
  DEWPOINT_EXPECTS(in.rows() == out.rows());
  for (std::size_t i = 0; i < in.rows(); ++i) normalise(norm, in.row(i), out.row(i));
}

}  // namespace dewpoint::models
