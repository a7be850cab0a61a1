// Products with the Jacobian of every kind of attention under every mask: against the complex step
// through the plain formula, and against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <variant>

#include "dewpoint/attention/variants/feature_rows.hpp"
#include "dewpoint/attention/variants/variant_reference.hpp"
#include "dewpoint/core/vectors.hpp"
#include "support/attention_variants.hpp"
#include "support/matrices.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

using Complex = std::complex<double>;
using test::text;

constexpr double kStep = 1e-30;  // its square is nothing beside 1

Matrix<Complex> moved(const Matrix<double>& at, const Matrix<double>& change) {
  Matrix<Complex> result(at.rows(), at.cols());
  for (std::size_t k = 0; k < at.size(); ++k) {
    result.data()[k] = {at.data()[k], kStep * change.data()[k]};
  }
  return result;
}

// The derivative of the plain formula, to rounding.
Matrix<double> complex_step(const AttentionMatrices& inputs, const AttentionMatrices& change,
                            const AttentionVariant& variant) {
  const Matrix<Complex> queries = moved(inputs.queries, change.queries),
                        keys = moved(inputs.keys, change.keys),
                        values = moved(inputs.values, change.values);
  const Matrix<Complex> outputs = reference_outputs<Complex>({queries, keys, values}, variant);
  Matrix<double> result(outputs.rows(), outputs.cols());
  for (std::size_t k = 0; k < result.size(); ++k) {
    result.data()[k] = outputs.data()[k].imag() / kStep;
  }
  return result;
}

double longest_row(const Matrix<double>& rows) {
  double longest = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    longest = std::max(longest, std::sqrt(inner(rows.row(i), rows.row(i))));
  }
  return longest;
}

// What roundings allow: the accuracy that the headers state, times the sizes that occur.
struct Allowance {
  Allowance(const AttentionMatrices& inputs, const AttentionMatrices& change,
            const AttentionVariant& variant) {
    const double n = static_cast<double>(inputs.keys.rows());
    const double d = static_cast<double>(inputs.keys.cols());
    const double beta = variant.inverse_temperature, root = std::sqrt(beta);
    const double q = longest_row(inputs.queries), k = longest_row(inputs.keys);
    const double dq = longest_row(change.queries), dk = longest_row(change.keys);
    // The largest relative rate of a weight, the largest exponent, and roundings of sums.
    double rate = beta * (dq * k + q * dk), exponent = beta * q * k, sums = n + 4.0 * d + 20.0;
    if (const auto* map = std::get_if<FeatureMap>(&variant.kind)) {
      // |φ'/φ| ≤ 1 for elu + 1; of a random feature log φ has the gradient √β ω − β x.
      const double x = std::max(q, k);
      const double omega =
          map->is_random() ? longest_row(feature_directions(variant, inputs.keys.cols())) : 0.0;
      rate = (map->is_random() ? root * omega + beta * x : root) * (dq + dk);
      exponent = map->is_random() ? root * omega * x + beta * x * x : 0.0;
      sums += 2.0 * static_cast<double>(map->features(inputs.keys.cols()));
    }
    roundings = 0x1p-52 * (sums + 2.0 * (d + 4.0) * exponent);
    size = longest_row(change.values) + 2.0 * rate * longest_row(inputs.values);
  }
  double roundings;  // relative
  double size;       // of the terms of one row
};

constexpr std::size_t kTokens = 23, kDimension = 4, kColumns = 3;

AttentionMatrices inputs_of(const std::string& name) {
  return test::normal_inputs(kTokens, kDimension, kColumns, name);
}

// Property (1) of variant_jvp; the complex step rounds as often again.
TEST(VariantJvp, IsTheDerivativeOfEveryVariant) {
  const auto inputs = inputs_of("VariantJvp/at"), change = inputs_of("VariantJvp/change");
  for (const double beta : {0.0, 0.6, 2.5}) {
    for (const AttentionVariant& variant : test::every_variant(beta, kTokens)) {
      const Allowance allowed(inputs, change, variant);
      EXPECT_LE(test::largest_difference(variant_jvp(inputs.views(), variant, change.views()),
                                         complex_step(inputs, change, variant)),
                2.0 * allowed.roundings * allowed.size)
          << text(variant);
    }
  }
}

// One input at a time, so that no error of one hides behind another.
TEST(VariantJvp, IsTheDerivativeInEachInputAlone) {
  const auto inputs = inputs_of("VariantJvp/at"), all = inputs_of("VariantJvp/change");
  const AttentionMatrices none{Matrix<double>(kTokens, kDimension),
                               Matrix<double>(kTokens, kDimension),
                               Matrix<double>(kTokens, kColumns)};
  for (const AttentionVariant& variant : test::every_variant(0.8, kTokens)) {
    for (const AttentionMatrices& change :
         {AttentionMatrices{all.queries, none.keys, none.values},
          AttentionMatrices{none.queries, all.keys, none.values},
          AttentionMatrices{none.queries, none.keys, all.values}}) {
      const Allowance allowed(inputs, change, variant);
      EXPECT_LE(test::largest_difference(variant_jvp(inputs.views(), variant, change.views()),
                                         complex_step(inputs, change, variant)),
                2.0 * allowed.roundings * allowed.size)
          << text(variant);
    }
  }
}

double length_of_rows(const Matrix<double>& rows) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) sum += std::sqrt(inner(rows.row(i), rows.row(i)));
  return sum;
}

// Property (1) of variant_vjp. Both sides are the same sum over pairs, at most Σ_j ‖w_j‖ times the
// size of the terms of a row, rounded as often as the products and once more per entry.
void expect_adjoint(const AttentionMatrices& inputs, const AttentionVariant& variant) {
  const std::size_t n = inputs.keys.rows(), d = inputs.keys.cols(), c = inputs.values.cols();
  const auto change = test::normal_inputs(n, d, c, "VariantVjp/change");
  const Matrix<double> gradient = test::normal_matrix(n, c, "VariantVjp/gradient");
  const auto back = variant_vjp(inputs.views(), variant, gradient);
  const double forward =
      test::inner(gradient, variant_jvp(inputs.views(), variant, change.views()));
  const double backward = test::inner(back.queries, change.queries) +
                          test::inner(back.keys, change.keys) +
                          test::inner(back.values, change.values);
  const Allowance allowed(inputs, change, variant);
  const double roundings = allowed.roundings + 0x1p-52 * static_cast<double>(n * (2 * d + c));
  EXPECT_NEAR(forward, backward, 2.0 * roundings * allowed.size * length_of_rows(gradient))
      << text(variant) << ", n = " << n;
}

TEST(VariantVjp, IsTheTransposeOfTheJvp) {
  const auto inputs = inputs_of("VariantVjp/at");
  for (const double beta : {0.0, 0.6, 2.5}) {
    for (const auto& variant : test::every_variant(beta, kTokens)) expect_adjoint(inputs, variant);
  }
}

// Several strips and chunks; one token; tokens that all coincide; β so large that one key has all.
TEST(VariantVjp, IsTheTransposeOfTheJvpAtTheEdgesToo) {
  const auto many = test::normal_inputs(300, 5, 4, "VariantVjp/many");
  for (const auto& variant : test::every_variant(0.4, 300)) expect_adjoint(many, variant);
  const auto one = test::normal_inputs(1, 3, 2, "VariantVjp/one");
  for (const auto& variant : test::every_variant(1.0, 1)) expect_adjoint(one, variant);
  AttentionMatrices same = test::normal_inputs(12, 3, 2, "VariantVjp/same");
  for (Matrix<double>* rows : {&same.queries, &same.keys}) {
    for (std::size_t i = 1; i < 12; ++i) std::ranges::copy(rows->row(0), rows->row(i).begin());
  }
  for (const auto& variant : test::every_variant(1.0, 12)) expect_adjoint(same, variant);
  const auto cold = inputs_of("VariantVjp/at");
  for (const auto& variant : test::every_variant(1e8, cold.keys.rows())) {
    if (std::holds_alternative<Softmax>(variant.kind)) expect_adjoint(cold, variant);
  }
}

// A query that sees one key: its output is that key's value, whatever q and k.
TEST(VariantJvp, WithOneVisibleKeyOnlyTheValueCounts) {
  const auto inputs = inputs_of("VariantJvp/at"), change = inputs_of("VariantJvp/change");
  const auto rate =
      variant_jvp(inputs.views(), test::variant("softmax", "window:1", 3.0), change.views());
  const Allowance allowed(inputs, change, test::variant("softmax", "window:1", 3.0));
  EXPECT_LE(test::largest_difference(rate, change.values), allowed.roundings * allowed.size);
}

// Property (1) of sink_derivative, by central differences of the plain formula. With p the share of
// the sink an output is (1 − p) c, c without B in it, and the third derivative of p by B is at most
// 1/8: the difference is off by h²/48 of the largest |v|, and by the roundings of two outputs over
// 2 h.
TEST(VariantDerivative, BySinkLogitIsThatOfThePlainFormula) {
  constexpr double h = 1e-4;
  const auto inputs = test::normal_inputs(40, 5, 3, "VariantDerivative/sink");
  for (const char* mask : {"none", "window:7", "global:4:3"}) {
    for (const double logit : {-2.0, 0.0, 3.0}) {
      auto variant = test::variant("softmax", mask, 0.8);
      const auto at = [&](double moved) {
        variant.kind = Softmax::sink(moved);
        return reference_outputs(inputs.views(), variant);
      };
      const Matrix<double> above = at(logit + h), below = at(logit - h);
      variant.kind = Softmax::sink(logit);
      const Matrix<double> found = sink_derivative(inputs.views(), variant);
      const double size = test::largest(inputs.values);
      const double scale = 0.8 * longest_row(inputs.queries) * longest_row(inputs.keys);
      const double roundings = 0x1p-52 * (40.0 + 5.0 + 20.0 + 9.0 * scale);
      for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_NEAR(found.data()[k], (above.data()[k] - below.data()[k]) / (2.0 * h),
                    size * (h * h / 48.0 + roundings / h + roundings));
      }
    }
  }
  const auto plain = test::variant("softmax", "none", 0.8);
  EXPECT_EQ(test::largest(sink_derivative(inputs.views(), plain)), 0.0);
}

}  // namespace
}  // namespace dewpoint::attention
