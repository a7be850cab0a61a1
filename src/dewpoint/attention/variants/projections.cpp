#include "dewpoint/attention/variants/projections.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::attention {
namespace {

Matrix<double> random_orthogonal(std::size_t d, const Stream& stream) {
  Matrix<double> normal(d, d);
  stream.normals(0, {normal.data(), normal.size()});
  return orthonormal_factor(normal);
}

void check_heads(std::size_t heads, std::size_t d) {
  if (heads > 0 && d % heads == 0) return;
  throw Error(
      Code::bad_value,
      fmt::format("projections: {} heads do not divide the dimension {} of the tokens", heads, d));
}

// Columns of y W, or of y itself.
Matrix<double> projected(MatrixView<const double> rows, const Matrix<double>& matrix,
                         Range columns) {
  Matrix<double> result(rows.rows(), columns.size());
  if (matrix.size() == 0) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto from = rows.row(i).subspan(columns.begin, columns.size());
      std::ranges::copy(from, result.row(i).begin());
    }
  } else {
    multiply_ab(rows, matrix.view().block({0, matrix.rows()}, columns), result);
  }
  return result;
}

void add_transposed(const Matrix<double>& gradient, const Matrix<double>& matrix, Range columns,
                    Matrix<double>& sum) {
  if (matrix.size() > 0) {
    add_abt(gradient, matrix.view().block({0, matrix.rows()}, columns), sum);
    return;
  }
  for (std::size_t i = 0; i < sum.rows(); ++i) {
    const auto to = sum.row(i).subspan(columns.begin, columns.size());
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += gradient(i, k);
  }
}

}  // namespace

Projections random_projections(std::size_t d, std::size_t heads, std::uint64_t seed,
                               std::uint64_t replica, std::size_t layer) {
  check_heads(heads, d);
  const auto draw = [&](std::string name) {
    if (layer > 0) name += fmt::format("/{}", layer);
    return random_orthogonal(d, Stream(seed, name, replica));
  };
  return {heads, draw("attention/projections/queries"), draw("attention/projections/keys"),
          draw("attention/projections/values"), std::nullopt};
}

void check(const Projections& projections, std::size_t d) {
  check_heads(projections.heads, d);
  const auto fits = [&](const Matrix<double>& matrix) {
    return projections.queries.size() == 0 ? matrix.size() == 0
                                           : matrix.rows() == d && matrix.cols() == d;
  };
  DEWPOINT_EXPECTS(fits(projections.queries) && fits(projections.keys) && fits(projections.values));
  if (!projections.rotary_base) return;
  const double base = *projections.rotary_base;
  if (!(base > 0.0) || !std::isfinite(base)) {
    throw Error(Code::bad_value, fmt::format("rope: base {} is not a finite number above 0", base));
  }
  if (d / projections.heads % 2 == 1) {
    throw Error(Code::bad_value,
                fmt::format("rope: {} coordinates of a head do not pair up to planes; the number "
                            "must be even",
                            d / projections.heads));
  }
}

Range columns_of_head(const Projections& projections, std::size_t d, std::size_t h) {
  const std::size_t width = d / projections.heads;
  return {h * width, (h + 1) * width};
}

double rotary_frequency(double base, std::size_t dimension, std::size_t a) {
  return std::pow(base, -2.0 * static_cast<double>(a) / static_cast<double>(dimension));
}

void rotate_rows(MatrixView<double> rows, double base, Turn turn) {
  const std::size_t planes = rows.cols() / 2;
  for (std::size_t a = 0; a < planes; ++a) {
    const double frequency = rotary_frequency(base, rows.cols(), a);
    for (std::size_t j = 0; j < rows.rows(); ++j) {
      const double angle = frequency * static_cast<double>(j);
      const double cosine = std::cos(angle);
      const double sine = turn == Turn::forward ? std::sin(angle) : -std::sin(angle);
      const double x = rows(j, a), y = rows(j, a + planes);
      rows(j, a) = x * cosine - y * sine;
      rows(j, a + planes) = y * cosine + x * sine;
    }
  }
}

AttentionMatrices project(const Projections& projections, std::size_t head,
                          MatrixView<const double> rows) {
  const Range columns = columns_of_head(projections, rows.cols(), head);
  AttentionMatrices result{projected(rows, projections.queries, columns),
                           projected(rows, projections.keys, columns),
                           projected(rows, projections.values, columns)};
  if (const auto base = projections.rotary_base) {
    rotate_rows(result.queries, *base, Turn::forward);
    rotate_rows(result.keys, *base, Turn::forward);
  }
  return result;
}

void add_unprojected(const Projections& projections, std::size_t head, AttentionMatrices gradient,
                     Matrix<double>& sum) {
  const Range columns = columns_of_head(projections, sum.cols(), head);
  if (const auto base = projections.rotary_base) {
    rotate_rows(gradient.queries, *base, Turn::back);
    rotate_rows(gradient.keys, *base, Turn::back);
  }
  add_transposed(gradient.queries, projections.queries, columns, sum);
  add_transposed(gradient.keys, projections.keys, columns, sum);
  add_transposed(gradient.values, projections.values, columns, sum);
}

}  // namespace dewpoint::attention
