// Measured Jacobian norms against an independent implementation, and against theory where tokens
// are a simplex.
#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"
#include "laws/norm_table.hpp"

namespace dewpoint {
namespace {

TEST(JacobianNormLaw, AgreesWithTheReferenceTable) {
  test::expect_table(test::kReferenceTable, 48);
}

// On a regular simplex η is known. n = 512 tokens in float32: weights and overlaps are off by
// kLayerError, η is of fourth order in them.
TEST(JacobianNormLaw, OnASimplexIsTheClosedForm) {
  for (const double gamma : {0.5, 1.75, 2.0, 2.25, 4.0}) {
    for (const double alpha : {0.0, 0.7}) {
      experiments::PhasePoint point;
      point.cloud.law = "simplex";
      point.cloud.n = 512;
      point.inverse_temperature = gamma * std::log(512.0);
      point.residual = alpha;
      const Frame frame = experiments::phase_point(point);
      const Estimate norm = frame.variable("jacobian_norm").cells[0];
      const double exact = theory::simplex_gradient(std::log(512.0), point.inverse_temperature, 0.5,
                                                    {512.0, 1.0, alpha});
      EXPECT_EQ(norm.standard_error, 0.0);  // n = d: the exact diagonal is the cheaper one
      EXPECT_NEAR(norm.mean, exact, 4.0 * attention::kLayerError * exact) << gamma << ' ' << alpha;
    }
  }
}

}  // namespace
}  // namespace dewpoint
