#include "dewpoint/training/condensation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/training/leading_pair.hpp"

namespace dewpoint::training {
namespace {

Matrix<double> transposed(const Matrix<double>& matrix) {
  Matrix<double> result(matrix.cols(), matrix.rows());
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t k = 0; k < matrix.cols(); ++k) result(k, i) = matrix(i, k);
  }
  return result;
}

// ---- order ------------------------------------------------------------------------------------

struct Unit {
  std::size_t index;
  double angle;  // in the plane, from −π to π
};

/// Inner products of all units with a direction, turned so that their sum is ≥ 0.
std::vector<double> projections(const Matrix<double>& units, const std::vector<double>& direction) {
  std::vector<double> result(units.rows());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = inner(units.row(i), direction);
  if (std::accumulate(result.begin(), result.end(), 0.0) < 0.0) {
    for (double& value : result) value = -value;
  }
  return result;
}

/// Where the order begins: behind the widest gap between neighbours whose middle lies in the lower
/// half of the plane, so that a bundle is not cut and the bundle of the positive axis comes first.
std::size_t after_widest_gap(const std::vector<Unit>& sorted) {
  std::size_t begin = 0;
  double widest = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double before =
        i == 0 ? sorted.back().angle - 2.0 * std::numbers::pi : sorted[i - 1].angle;
    const double gap = sorted[i].angle - before;
    if (gap > widest && std::sin(before + 0.5 * gap) < 0.0) {
      widest = gap;
      begin = i;
    }
  }
  return begin;
}

std::vector<std::size_t> unit_order(const Matrix<double>& units, const LeadingPair& plane) {
  const std::vector<double> x = projections(units, plane.vectors[0]);
  const std::vector<double> y = projections(units, plane.vectors[1]);
  std::vector<Unit> sorted;
  std::vector<std::size_t> zeros;
  for (std::size_t i = 0; i < units.rows(); ++i) {
    if (x[i] == 0.0 && y[i] == 0.0) {
      zeros.push_back(i);
    } else {
      sorted.push_back({i, std::atan2(y[i], x[i])});
    }
  }
  std::ranges::stable_sort(sorted, {}, &Unit::angle);
  const auto begin = static_cast<std::ptrdiff_t>(after_widest_gap(sorted));
  std::rotate(sorted.begin(), sorted.begin() + begin, sorted.end());
  std::vector<std::size_t> order;
  for (const Unit& unit : sorted) order.push_back(unit.index);
  order.insert(order.end(), zeros.begin(), zeros.end());
  return order;
}

// ---- cosines ----------------------------------------------------------------------------------

/// Each of length 1, or 0 as it was, in the given order. Scaled by the largest entry first, so that
/// no square under- or overflows.
Matrix<double> directions(const Matrix<double>& units, const std::vector<std::size_t>& order) {
  Matrix<double> result(units.rows(), units.cols());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = units.row(order[i]);
    const auto to = result.row(i);
    double largest = 0.0;
    for (const double entry : from) largest = std::max(largest, std::abs(entry));
    if (largest == 0.0) continue;
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = from[k] / largest;
    const double length = std::sqrt(inner(to, to));
    for (double& entry : to) entry /= length;
  }
  return result;
}

/// Exactly symmetric, within [−1, 1], and 1 with itself: what rounding of the product may break.
Matrix<double> all_cosines(const Matrix<double>& directions) {
  const std::size_t units = directions.rows();
  Matrix<double> cosines(units, units);
  multiply_abt(directions, directions, cosines);
  for (std::size_t i = 0; i < units; ++i) {
    cosines(i, i) = cosines(i, i) == 0.0 ? 0.0 : 1.0;
    for (std::size_t j = 0; j < i; ++j) {
      cosines(i, j) = cosines(j, i) = std::clamp(cosines(i, j), -1.0, 1.0);
    }
  }
  return cosines;
}

double mean_modulus(const Matrix<double>& cosines) {
  const std::size_t units = cosines.rows();
  if (units < 2) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  for (std::size_t i = 0; i < units; ++i) {
    for (std::size_t j = 0; j < i; ++j) sum += std::abs(cosines(i, j));
  }
  return sum / (0.5 * static_cast<double>(units) * static_cast<double>(units - 1));
}

double block_mean(const Matrix<double>& cosines, Range rows, Range columns) {
  double sum = 0.0;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    for (std::size_t j = columns.begin; j < columns.end; ++j) sum += cosines(i, j);
  }
  return sum / static_cast<double>(rows.size() * columns.size());
}

Matrix<double> averaged(Matrix<double> cosines) {
  const std::size_t units = cosines.rows();
  if (units <= kMostUnits) return cosines;
  const auto part = [units](std::size_t b) {
    return Range{b * units / kMostUnits, (b + 1) * units / kMostUnits};
  };
  Matrix<double> result(kMostUnits, kMostUnits);
  for (std::size_t a = 0; a < kMostUnits; ++a) {
    for (std::size_t b = 0; b < kMostUnits; ++b) {
      result(a, b) = block_mean(cosines, part(a), part(b));
    }
  }
  return result;
}

Condensation::Block block_of(std::string name, const Matrix<double>& units) {
  Matrix<double> gram(units.cols(), units.cols());
  add_atb(units, units, gram);
  const LeadingPair plane = leading_pair(gram);
  Matrix<double> cosines = all_cosines(directions(units, unit_order(units, plane)));
  Condensation::Block block;
  block.matrix = std::move(name);
  block.mean_modulus = mean_modulus(cosines);
  block.rank_one = plane.trace == 0.0 ? 0.0 : plane.values[0] / plane.trace;
  block.cosines = averaged(std::move(cosines));
  return block;
}

}  // namespace

Condensation condensation_of(double time, const Parameters<double>& parameters) {
  Condensation result;
  result.time = time;
  result.blocks.push_back(block_of("W0", transposed(parameters.embedding)));
  result.blocks.push_back(block_of("W1", parameters.unembedding));
  result.blocks.push_back(block_of("WQ", parameters.query));
  result.blocks.push_back(block_of("WK", parameters.key));
  return result;
}

}  // namespace dewpoint::training
