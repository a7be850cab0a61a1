#include "dewpoint/transformer/row_norm.hpp"

#include <cmath>

#include "dewpoint/transformer/row_kernels.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::transformer {

template <class Real>
Real normalise_row(std::span<const Real> row, std::span<Real> normed) {
  const Real mean = dot(row, row) / static_cast<Real>(row.size());
  const Real factor = Real{1} / std::sqrt(mean + static_cast<Real>(kNormEpsilon));
  for (std::size_t k = 0; k < row.size(); ++k) normed[k] = factor * row[k];
  return factor;
}

template <class Real>
void retreat_norm(std::span<const Real> normed, Real factor, std::span<Real> slope) {
  const Real along = dot(normed, std::span<const Real>(slope)) / static_cast<Real>(normed.size());
  for (std::size_t k = 0; k < slope.size(); ++k) slope[k] = factor * (slope[k] - along * normed[k]);
}

template float normalise_row(std::span<const float>, std::span<float>);
template double normalise_row(std::span<const double>, std::span<double>);
template void retreat_norm(std::span<const float>, float, std::span<float>);
template void retreat_norm(std::span<const double>, double, std::span<double>);

}  // namespace dewpoint::transformer
