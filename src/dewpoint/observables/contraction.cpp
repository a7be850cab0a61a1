#include "dewpoint/observables/contraction.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint::observables {
namespace {

using kernels::PairSums;

constexpr std::size_t kStrip = 64;

Range strip_range(std::size_t strip, std::size_t n) {
  return {strip * kStrip, std::min(n, (strip + 1) * kStrip)};
}

std::size_t strip_count(std::size_t n) { return (n + kStrip - 1) / kStrip; }

// Replaces gaps by their inverses, 0 where the gap is unresolved; counts those with j > i, where
// column j of the strip is token `first` + j and row i is token `own` + i.
std::size_t invert(MatrixView<float> gaps, float resolution, std::size_t own, std::size_t first) {
  std::size_t unresolved = 0;
  for (std::size_t i = 0; i < gaps.rows(); ++i) {
    float* row = gaps.data() + i * gaps.stride();
    const std::size_t self = own + i - first;
    for (std::size_t j = self + 1; j < gaps.cols(); ++j) unresolved += row[j] <= resolution ? 1 : 0;
    for (std::size_t j = 0; j < gaps.cols(); ++j)
      row[j] = row[j] <= resolution ? 0.0F : 1.0F / row[j];
  }
  return unresolved;
}

// What one strip of rows contributes to each output.
struct StripSums {
  std::vector<PairSums> outputs;
  std::size_t unresolved = 0;
};

// Pairs (i, j) with i in the strip and j > i.
StripSums upper_strip(const GapSource& inputs, std::span<const CentredCloud* const> outputs,
                      Range rows) {
  const Range cols{rows.begin, inputs.size()};
  Matrix<float> inverse(rows.size(), cols.size());
  Matrix<float> dots(rows.size(), cols.size());
  inputs.gaps(rows, cols, inverse);
  StripSums sums;
  sums.unresolved = invert(inverse, inputs.resolution(), rows.begin, rows.begin);
  for (const CentredCloud* output : outputs) {
    multiply_abt(output->offsets().row_range(rows), output->offsets().row_range(cols), dots);
    sums.outputs.push_back(
        kernels::upper_pair_sums(dots, output->half_squares().data() + rows.begin, inverse));
  }
  return sums;
}

Contraction summarise(const PairSums& sums, const CentredCloud& output, std::size_t unresolved) {
  const auto n = static_cast<double>(output.size());
  const double resolved = 0.5 * n * (n - 1.0) - static_cast<double>(unresolved);
  Contraction result;
  result.contraction = resolved > 0.0 ? sums.ratio / resolved : kUnknown;
  result.smallest_cosine = 1.0 - static_cast<double>(sums.largest_gap);
  result.mean_cosine = 1.0 - output.mean_gap();
  result.largest_cosine = 1.0 - static_cast<double>(sums.smallest_gap);
  result.unresolved_pairs = unresolved;
  return result;
}

// Of outputs of which one is zero.
constexpr Contraction kWithoutDirections{kUnknown, kUnknown, kUnknown, kUnknown, 0, kUnknown};

}  // namespace

std::vector<Contraction> contractions(const GapSource& inputs,
                                      std::span<const CentredCloud* const> outputs,
                                      const RunContext& context) {
  const std::size_t n = inputs.size();
  std::vector<StripSums> strips(strip_count(n));
  parallel_for(strips.size(), context,
               [&](std::size_t s) { strips[s] = upper_strip(inputs, outputs, strip_range(s, n)); });
  std::size_t unresolved = 0;
  for (const StripSums& strip : strips) unresolved += strip.unresolved;

  std::vector<Contraction> results;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    DEWPOINT_EXPECTS(outputs[o]->size() == n);
    PairSums total;
    for (const StripSums& strip : strips) total += strip.outputs[o];
    results.push_back(summarise(total, *outputs[o], unresolved));
  }
  return results;
}

Contraction contraction(const GapSource& inputs, const CentredCloud& outputs,
                        const RunContext& context) {
  if (outputs.size() == 0) return kWithoutDirections;
  const CentredCloud* one = &outputs;
  return contractions(inputs, {&one, 1}, context).front();
}

Contraction contraction_of_sample(const GapSource& inputs, const CentredCloud& outputs,
                                  std::size_t population, const RunContext& context) {
  if (outputs.size() == 0) return kWithoutDirections;
  const std::size_t r = inputs.size();
  std::vector<PairSums> tokens(r);  // over all pairs of token i, so that each pair counts twice
  std::vector<std::size_t> unresolved(strip_count(r), 0);
  parallel_for(strip_count(r), context, [&](std::size_t s) {
    const Range rows = strip_range(s, r);
    Matrix<float> inverse(rows.size(), r);
    Matrix<float> dots(rows.size(), r);
    inputs.gaps(rows, {0, r}, inverse);
    unresolved[s] = invert(inverse, inputs.resolution(), rows.begin, 0);
    multiply_abt(outputs.offsets().row_range(rows), outputs.offsets(), dots);
    const auto half = outputs.half_squares();
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      const float* d = dots.row(i - rows.begin).data();
      const float* g = inverse.row(i - rows.begin).data();
      tokens[i] = kernels::pair_sums(d, half[i], half.data(), g, {0, i});
      tokens[i] += kernels::pair_sums(d, half[i], half.data(), g, {i + 1, r});
    }
  });

  PairSums total;
  for (const PairSums& token : tokens) total += token;
  total.ratio *= 0.5;
  std::size_t unresolved_total = 0;
  for (const std::size_t u : unresolved) unresolved_total += u;
  Contraction result = summarise(total, outputs, unresolved_total);

  double deviations = 0.0;
  const auto size = static_cast<double>(r);
  for (const PairSums& token : tokens) {
    const double h = token.ratio / (size - 1.0);
    deviations += (h - result.contraction) * (h - result.contraction);
  }
  const double left_out = 1.0 - size / static_cast<double>(population);
  result.sampling_error =
      std::sqrt(left_out * (size - 1.0) / size * 4.0 / ((size - 2.0) * (size - 2.0)) * deviations);
  return result;
}

double reference_contraction(MatrixView<const double> inputs, MatrixView<const double> outputs) {
  const auto gap = [](std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return 0.5 * sum;
  };
  double sum = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < inputs.rows(); ++i) {
    double row = 0.0;  // rows apart: n roundings each instead of n²/2 in one sum
    for (std::size_t j = i + 1; j < inputs.rows(); ++j) {
      const double before = gap(inputs.row(i), inputs.row(j));
      if (before == 0.0) continue;
      row += gap(outputs.row(i), outputs.row(j)) / before;
      pairs += 1.0;
    }
    sum += row;
  }
  return sum / pairs;
}

Matrix<double> reference_offsets(std::span<const double> base,
                                 MatrixView<const double> deviations) {
  const std::size_t d = deviations.cols();
  std::vector<double> mean(d, 0.0);
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    for (std::size_t k = 0; k < d; ++k) mean[k] += deviations(i, k);
  }
  double c2 = 0.0;
  std::vector<double> u(d);
  for (std::size_t k = 0; k < d; ++k) {
    mean[k] /= static_cast<double>(deviations.rows());
    u[k] = base[k] + mean[k];
    c2 += u[k] * u[k];
  }
  const double c = std::sqrt(c2);
  for (double& x : u) x = c > 0.0 ? x / c : 0.0;

  Matrix<double> offsets(deviations.rows(), d);
  for (std::size_t i = 0; i < deviations.rows(); ++i) {
    double excess = 0.0;  // ‖c u + D‖² − c²
    for (std::size_t k = 0; k < d; ++k) {
      const double deviation = deviations(i, k) - mean[k];
      excess += deviation * (2.0 * c * u[k] + deviation);
    }
    const double length = std::sqrt(c2 + excess);
    for (std::size_t k = 0; k < d; ++k) {
      offsets(i, k) = (deviations(i, k) - mean[k] - excess / (c + length) * u[k]) / length;
    }
  }
  return offsets;
}

}  // namespace dewpoint::observables
