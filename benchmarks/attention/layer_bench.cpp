// A full forward layer with all row statistics, against the identical BLAS calls alone.
//
// n = 8192, d = 64, one thread. What the layer does besides its matrix products (exponentials, four
// moments per row and per column, float64 accumulation) should cost at most a quarter of them.
#include <cmath>
#include <cstdlib>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/reference.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/weight_stream.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/timing.hpp"

namespace dewpoint {
namespace {

constexpr std::size_t kTokens = 8192;
constexpr std::size_t kDimension = 64;

// The three products of every pair of blocks, as layer.cpp calls them, and nothing else.
void products_alone(const CentredCloud& cloud, Matrix<float>& weights, Matrix<float>& product) {
  const auto part = [&](std::size_t begin) {
    return cloud.offsets().row_range({begin, begin + kStreamBlock});
  };
  for (std::size_t i = 0; i < kTokens; i += kStreamBlock) {
    for (std::size_t j = i; j < kTokens; j += kStreamBlock) {
      multiply_abt(part(i), part(j), weights);
      multiply_ab(weights, part(j), product);
      if (i != j) multiply_atb(weights, part(i), product);
    }
  }
}

// Largest difference of an output coordinate from the reference over some rows.
double largest_error(const TokenCloud& tokens, const attention::Layer& parameters) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < kTokens; i += 131) rows.push_back(i);
  const auto fast = attention::layer(tokens, parameters);
  const auto truth = attention::reference_layer(tokens, parameters, rows);
  double worst = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t k = 0; k < kDimension; ++k) {
      worst = std::max(worst, std::abs(fast.deviations(rows[r], k) - truth.deviations(r, k)));
    }
  }
  return worst;
}

double best_square_gflops() {
  double best = 0.0;
  for (const std::size_t n : {512U, 1024U, 2048U}) {
    Matrix<float> a(n, n), b(n, n), c(n, n);
    std::vector<bench::Contestant> one = {{"sgemm", [&] { multiply_ab(a, b, c); }}};
    bench::race(one, 5);
    best = std::max(best, 2.0 * std::pow(static_cast<double>(n), 3) / one[0].best() * 1e-9);
  }
  return best;
}

}  // namespace
}  // namespace dewpoint

int main() {
  using namespace dewpoint;
  tokens::CloudParameters p;
  p.n = kTokens;
  p.d = kDimension;
  const TokenCloud tokens = tokens::make_cloud(tokens::resolved(p), 1, 0);
  const attention::Layer parameters{2.0 * std::log(static_cast<double>(kTokens)), 0.0};

  // Outputs have length below 1; float32 weights with exponents up to 20 are good to 1e-5.
  const double error = largest_error(tokens, parameters);
  if (error > 1e-5) {
    fmt::print("the layer is off by {}: not timed\n", error);
    return EXIT_FAILURE;
  }

  const CentredCloud cloud = CentredCloud::of_unit_vectors(tokens.directions);
  Matrix<float> weights(kStreamBlock, kStreamBlock);
  Matrix<float> product(kStreamBlock, kDimension);
  const RunContext one_thread{1, {}, {}};
  std::vector<bench::Contestant> race = {
      {"layer with all row statistics",
       [&] { (void)attention::layer(tokens, parameters, one_thread); }},
      {"identical BLAS calls alone", [&] { products_alone(cloud, weights, product); }}};
  bench::race(race, 15);

  const double square = best_square_gflops();
  const double nominal = 4.0 * kTokens * kTokens * kDimension * 1e-9;  // as one counts attention
  const double done = 3.0 * kTokens * kTokens * kDimension * 1e-9;     // each pair once
  fmt::print("forward layer, n = {}, d = {}, one thread, {}, {}\n", kTokens, kDimension,
             simd_target(), blas_description());
  fmt::print("  largest error of an output coordinate: {:.1e}\n", error);
  for (const auto& contestant : race) bench::print(contestant);
  fmt::print(
      "  layer {:.1f} nominal Gflop/s (4 n² d), {:.1f} done (3 n² d); best square SGEMM {:.1f}\n",
      nominal / race[0].best(), done / race[0].best(), square);
  fmt::print("  layer at {:.0f} % of the best square SGEMM\n",
             100.0 * done / race[0].best() / square);
  bench::claim("BLAS alone / layer", race[1].best() / race[0].best(), 0.80);
}
