// Windows, causal masks and sinks: the measuring layers on simplices of tokens against their closed
// forms.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dewpoint/attention/head_reference.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/theory/simplex_sink.hpp"
#include "dewpoint/theory/simplex_window.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint {
namespace {

constexpr std::size_t kTokens = 96;
constexpr double kRho = 0.3;

// float32 weights: the exponent is rounded three times, a row's sum once per key, and what is
// reported is at most quadratic in weights; contraction adds the bound of the layer that makes it.
double float_tolerance(double beta) {
  return 4.0 * std::numeric_limits<float>::epsilon() * (2.0 + 2.0 * beta + kTokens) +
         attention::kRowwiseError;
}

/// Means over all queries, and over all pairs of them.
struct MaskedMeans {
  double self = 0.0, participation = 0.0, contraction = 0.0;
};

MaskedMeans predicted_means(const theory::MaskedLayer& layer) {
  MaskedMeans means;
  for (std::size_t i = 0; i < kTokens; ++i) {
    const double keys = theory::visible_keys(static_cast<double>(i), layer.window);
    double self = 1.0, overlap = 1.0;
    if (keys >= 2.0) {
      const auto row =
          theory::simplex_weights(std::log(keys), layer.inverse_temperature, layer.correlation);
      self = row.self;
      overlap = row.self * row.self + row.others * row.per_token;
    }
    means.self += self / kTokens;
    means.participation += overlap / kTokens;
    for (std::size_t j = i + 1; j < kTokens; ++j) {
      means.contraction +=
          theory::masked_pair(static_cast<double>(i), static_cast<double>(j), layer).contraction /
          (kTokens * (kTokens - 1) / 2.0);
    }
  }
  return means;
}

TEST(VariantLaw, MasksAndWindowsDoToASimplexWhatTheirClosedFormSays) {
  for (const double beta : {0.0, 3.0, 6.5, 12.0})
    for (const double residual : {0.0, 0.5})
      for (const std::size_t window : {std::size_t{2}, std::size_t{16}, kTokens}) {
        experiments::PhasePoint point;
        point.cloud.law = "simplex";
        point.cloud.n = kTokens;
        point.cloud.rho = kRho;
        point.inverse_temperature = beta;
        point.residual = residual;
        point.norm.reset();
        point.form.mask =
            window == kTokens ? attention::Mask::causal() : attention::Mask::window(window);
        const Frame frame = experiments::phase_point(point);
        const auto measured = [&](const char* name) { return frame.variable(name).cells[0].mean; };
        const double width = window == kTokens ? theory::kNoWindow : static_cast<double>(window);
        const MaskedMeans means = predicted_means({width, beta, kRho, residual});
        const double tolerance = float_tolerance(beta);
        SCOPED_TRACE(testing::Message() << beta << ' ' << residual << ' ' << window);
        EXPECT_NEAR(measured("self_mass"), means.self, tolerance);
        EXPECT_NEAR(measured("participation"), means.participation, tolerance);
        EXPECT_NEAR(measured("contraction"), means.contraction, tolerance * means.contraction);
      }
}

// The reference head in double, with a learned sink, on queries and keys that are a simplex. Scores
// of float32 tokens are off by 2 ε each, and β multiplies them; a norm is quadratic in the weights.
TEST(VariantLaw, ASinkTakesFromASimplexWhatItsClosedFormSays) {
  tokens::CloudParameters parameters;
  parameters.law = "simplex";
  parameters.n = kTokens;
  parameters.rho = kRho;
  const TokenCloud cloud = tokens::make_cloud(tokens::resolved(parameters), 1, 0);
  Matrix<float> rows(cloud.size(), cloud.dimension());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows.data()[k] = static_cast<float>(cloud.directions.data()[k]);
  }
  const auto dot = [](std::span<const double> x, std::span<const double> y) {
    double sum = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
    return sum;
  };
  const double log_n = std::log(static_cast<double>(kTokens));
  for (const double beta : {1.0, 6.5, 12.0})
    for (const double sink : {0.0, 5.0, 14.0}) {
      attention::Head head;
      head.queries = head.keys = head.values = rows;
      head.mask = attention::Mask::none();
      head.scale = beta;
      head.sink = sink;
      const Matrix<double> outputs = attention::reference_attend(head, {});
      const auto predicted = theory::sink_output(log_n, beta, kRho, sink);
      const double norm = dot(outputs.row(0), outputs.row(0));
      const double cosine = dot(outputs.row(0), outputs.row(1)) / norm;
      const double tolerance = 4.0 * std::numeric_limits<float>::epsilon() * (1.0 + 2.0 * beta);
      SCOPED_TRACE(testing::Message() << beta << ' ' << sink);
      EXPECT_NEAR(norm, predicted.squared_norm, tolerance * norm);
      EXPECT_NEAR(cosine, predicted.correlation, tolerance);
      EXPECT_NEAR(1.0 - cosine, predicted.decorrelation, tolerance);
    }
}

}  // namespace
}  // namespace dewpoint
