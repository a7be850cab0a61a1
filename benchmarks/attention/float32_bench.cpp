// How exact float32 is: the fast layer against double, from n = 512 to 16384.
//
// Equicorrelated tokens, d = 64, ρ = 1/2, below, at and above the transition. The contraction of
// 512 sampled rows is compared with that of the reference on the same rows.
#include <cmath>

#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/reference.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/timing.hpp"

int main() {
  using namespace dewpoint;
  fmt::print("relative error of the contraction in float32, {}\n", simd_target());
  fmt::print("  {:>6} {:>5} {:>12} {:>12} {:>14}\n", "n", "c", "lambda", "error",
             "partition error");
  for (std::size_t n = 512; n <= 16384; n *= 2) {
    tokens::CloudParameters p;
    p.n = n;
    const TokenCloud tokens = tokens::make_cloud(tokens::resolved(p), 1, 0);
    const auto rows = sample_without_replacement(n, 512, Stream(1, "float32_bench"));
    const auto inputs = CentredCloud::of_unit_vectors(tokens.directions).subset(rows);
    Matrix<double> directions(rows.size(), p.d == 0 ? 64 : p.d);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto from = tokens.directions.row(rows[r]);
      std::copy(from.begin(), from.end(), directions.row(r).begin());
    }
    for (const double c : {0.05, 0.5, 1.0, 1.5}) {
      const attention::Layer layer{c * std::log(static_cast<double>(n)) / 0.5, 0.0};
      const auto fast = attention::layer_on_rows(tokens, layer, rows);
      const auto truth = attention::reference_layer(tokens, layer, rows);
      const double measured = observables::contraction(inputs, fast.directions()).contraction;
      const double expected = observables::reference_contraction(
          directions, observables::reference_offsets(truth.base, truth.deviations));
      double worst = 0.0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        worst =
            std::max(worst, std::abs(fast.moments[r].partition / truth.moments[r].partition - 1.0));
      }
      fmt::print("  {:>6} {:>5} {:>12.5g} {:>12.1e} {:>14.1e}\n", n, c, expected,
                 measured / expected - 1.0, worst);
    }
  }
}
