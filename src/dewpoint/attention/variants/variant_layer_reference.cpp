#include <cmath>
#include <complex>

#include "dewpoint/attention/variants/variant_layer.hpp"
#include "dewpoint/attention/variants/variant_reference.hpp"

namespace dewpoint::attention {
namespace {

template <class Scalar>
Matrix<Scalar> directions_of(const Matrix<Scalar>& tokens) {
  Matrix<Scalar> result = tokens;
  for (std::size_t i = 0; i < result.rows(); ++i) {
    Scalar square{};
    for (const Scalar& x : result.row(i)) square += x * x;
    for (Scalar& x : result.row(i)) x /= std::sqrt(square);
  }
  return result;
}

// Columns of y W, W = I if there is none.
template <class Scalar>
Matrix<Scalar> projected(const Matrix<Scalar>& rows, const Matrix<double>& matrix, Range columns) {
  Matrix<Scalar> result(rows.rows(), columns.size());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::size_t column = columns.begin + k;
      if (matrix.size() == 0) result(i, k) = rows(i, column);
      for (std::size_t l = 0; l < matrix.rows(); ++l) {
        result(i, k) += rows(i, l) * matrix(l, column);
      }
    }
  }
  return result;
}

// R_j of row j, if positions are rotated.
template <class Scalar>
Matrix<Scalar> turned(const Matrix<Scalar>& rows, std::optional<double> base) {
  Matrix<Scalar> result = rows;
  const std::size_t planes = base ? rows.cols() / 2 : 0;
  for (std::size_t j = 0; j < rows.rows(); ++j) {
    for (std::size_t a = 0; a < planes; ++a) {
      const double angle = static_cast<double>(j) * rotary_frequency(*base, rows.cols(), a);
      const Scalar x = rows(j, a), y = rows(j, a + planes);
      result(j, a) = std::cos(angle) * x - std::sin(angle) * y;
      result(j, a + planes) = std::sin(angle) * x + std::cos(angle) * y;
    }
  }
  return result;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> reference_variant_layer(const Matrix<Scalar>& tokens,
                                       const LayerVariant& parameters) {
  const Projections& maps = parameters.projections;
  const Matrix<Scalar> y = directions_of(tokens);
  Matrix<Scalar> result(tokens.rows(), tokens.cols());
  for (std::size_t h = 0; h < maps.heads; ++h) {
    const Range columns = columns_of_head(maps, tokens.cols(), h);
    const auto queries = turned(projected(y, maps.queries, columns), maps.rotary_base);
    const auto keys = turned(projected(y, maps.keys, columns), maps.rotary_base);
    const auto values = projected(y, maps.values, columns);
    const auto outputs = reference_outputs<Scalar>({queries, keys, values}, parameters.attention);
    for (std::size_t i = 0; i < outputs.rows(); ++i) {
      for (std::size_t k = 0; k < outputs.cols(); ++k) {
        const std::size_t column = columns.begin + k;
        result(i, column) = outputs(i, k) + parameters.residual * tokens(i, column);
      }
    }
  }
  return result;
}

template Matrix<double> reference_variant_layer(const Matrix<double>&, const LayerVariant&);
template Matrix<std::complex<double>> reference_variant_layer(const Matrix<std::complex<double>>&,
                                                              const LayerVariant&);

}  // namespace dewpoint::attention
