#include "dewpoint/training/embedding_paths.hpp"

#include <algorithm>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/training/leading_pair.hpp"

namespace dewpoint::training {
namespace {

/// Row t d + i: token i at time t, less the mean of all rows.
Matrix<double> centred_points(std::span<const Record> records) {
  const std::size_t tokens = records[0].embedding.rows(), width = records[0].embedding.cols();
  Matrix<double> points(records.size() * tokens, width);
  for (std::size_t t = 0; t < records.size(); ++t) {
    const Matrix<double>& rows = records[t].embedding;
    DEWPOINT_EXPECTS(rows.rows() == tokens && rows.cols() == width);
    std::copy_n(rows.data(), rows.size(), points.row(t * tokens).data());
  }
  const std::vector<double> mean = column_means(points);
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const auto row = points.row(i);
    for (std::size_t k = 0; k < width; ++k) row[k] -= mean[k];
  }
  return points;
}

/// Turns a direction so that a point's coordinate along it is ≥ 0.
void orient(std::vector<double>& direction, std::span<const double> point) {
  if (inner(point, direction) >= 0.0) return;
  for (double& entry : direction) entry = -entry;
}

}  // namespace

EmbeddingPaths embedding_paths(std::span<const Record> records) {
  EmbeddingPaths paths;
  if (records.empty()) return paths;
  const Matrix<double> points = centred_points(records);
  Matrix<double> gram(points.cols(), points.cols());
  add_atb(points, points, gram);
  LeadingPair plane = leading_pair(gram);
  const std::size_t end_of_first = points.rows() - records.back().embedding.rows();
  for (std::size_t c = 0; c < 2; ++c) {
    orient(plane.vectors[c], points.row(end_of_first));
    if (plane.trace > 0.0) paths.explained[c] = plane.values[c] / plane.trace;
  }
  paths.coordinates.reserve(2 * points.rows());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    for (const auto& direction : plane.vectors) {
      paths.coordinates.push_back(inner(points.row(i), direction));
    }
  }
  return paths;
}

}  // namespace dewpoint::training
