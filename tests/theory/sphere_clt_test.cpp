// The central limit theorem of attention on the sphere: printed constants, quadrature, closed
// forms, its limit for cold queries, and draws.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/theory/sphere_clt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/theory/critical_scales.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"
#include "dewpoint/theory/sphere_moments.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::theory {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- printed values -------------------------------------------------------------------------

struct PrintedRow {
  int dimension;
  double beta, gap, ratio, along, across, bias;
};

constexpr PrintedRow kPrinted[] = {
    {2, 1, 0.5536100341, 1.4221429, 0.32342013, 0.49616764, 0.35750496},
    {2, 10, 0.05140017405, 5.4940532, 0.010787882, 0.26774458, 0.14323371},
    {2, 100, 0.005012626995, 17.69114, 0.00033310663, 0.088234285, 0.044395674},
    {2, 10000, 5.000125013e-05, 177.24206, 3.3234271e-07, 0.0088618815, 0.0044312177},
    {3, 1, 0.6869647145, 1.3130353, 0.29448681, 0.35275659, 0.29448681},
    {3, 10, 0.09999999588, 10, 0.049999996, 0.475, 0.49999996},
    {3, 100, 0.01, 100, 0.005, 0.4975, 0.5},
    {3, 10000, 0.0001, 10000, 5e-05, 0.499975, 0.5},
    {5, 1, 0.8054719505, 1.1999615, 0.21015779, 0.21665703, 0.1998879},
    {5, 10, 0.188888894, 19.547325, 0.25618556, 0.88220164, 1.7889804},
    {5, 100, 0.0198989899, 1692.0042, 0.25081624, 8.3756334, 16.791645},
    {5, 10000, 0.000199989999, 16669167, 0.25000833, 833.37501, 1666.7917},
    {8, 1, 0.8765306859, 1.1273225, 0.13727897, 0.13440695, 0.12962416},
    {8, 10, 0.3024886328, 29.135592, 0.78334109, 1.2185331, 4.0482562},
    {8, 100, 0.03455815765, 49307.124, 18.792965, 242.24835, 846.50853},
    {8, 10000, 0.0003499562456, 4.6187955e+11, 18180.698, 23089936, 80813764},
    {17, 1, 0.9413575731, 1.0599232, 0.063629602, 0.06159317, 0.061029871},
    {17, 10, 0.5314137886, 25.553265, 1.3786267, 0.85729677, 5.1720278},
    {17, 100, 0.07717564201, 58789615, 95695.646, 282396.88, 2226887},
    {17, 10000, 0.000799719972, 3.870393e+23, 6.9599352e+16, 1.9344226e+19, 1.5473443e+20},
    {64, 1, 0.9843786974, 1.0157346, 0.016073065, 0.015855851, 0.015844605},
    {64, 10, 0.8472880958, 4.2548648, 0.12914742, 0.061134971, 0.57293093},
    {64, 100, 0.2676198059, 6.1117228e+13, 9.5223747e+11, 2.611225e+11, 7.4634519e+12},
    {64, 10000, 0.003145195781, 5.0232971e+73, 1.2798948e+68, 2.5076957e+69, 7.8935928e+70}};

// Half a unit of the last of so many significant digits.
double half_digit(double printed, int digits) {
  return 0.5000001 * std::pow(10.0, std::floor(std::log10(printed)) + 1 - digits);
}

// Property (1), and (5) of the mean gap: ten and eight digits.
TEST(SphereFluctuations, ReproduceThePrintedTable) {
  for (const PrintedRow& row : kPrinted) {
    const SphereFluctuations c = sphere_fluctuations({row.dimension, row.beta, 0.0});
    const auto place = [&] {
      return "d = " + std::to_string(row.dimension) + ", beta = " + std::to_string(row.beta);
    };
    EXPECT_NEAR(c.mean_gap, row.gap, half_digit(row.gap, 10)) << place();
    EXPECT_NEAR(std::exp(c.log_ratio), row.ratio, half_digit(row.ratio, 8)) << place();
    EXPECT_NEAR(std::exp(c.log_variance_along), row.along, half_digit(row.along, 8)) << place();
    EXPECT_NEAR(std::exp(c.log_variance_across), row.across, half_digit(row.across, 8)) << place();
    EXPECT_NEAR(std::exp(c.log_bias), row.bias, half_digit(row.bias, 8)) << place();
  }
}

// ---- quadrature -----------------------------------------------------------------------------

struct KeyRule {
  std::vector<double> gaps, weights;
};

// The law of T, in the angle, whose density is smooth; nothing is left of e^{−βT} at the end of the
// interval. Good to 400 · 8 ε, that is 1e-12.
KeyRule key_rule(int dimension, double beta) {
  static const QuadratureRule rule = gauss_legendre(400);
  const double a = 0.5 * (dimension - 1);
  const double reach = beta > 0.0 ? (45.0 + a * std::log1p(beta)) / beta : 2.0;
  const QuadratureRule angles =
      on_interval(rule, 0.0, 2.0 * std::asin(std::sqrt(std::min(1.0, 0.5 * reach))));
  const double factor = std::exp(std::lgamma(a + 0.5) - std::lgamma(a)) * std::numbers::inv_sqrtpi;
  KeyRule keys;
  for (std::size_t i = 0; i < angles.nodes.size(); ++i) {
    const double angle = angles.nodes[i];
    keys.gaps.push_back(2.0 * std::pow(std::sin(0.5 * angle), 2));
    keys.weights.push_back(angles.weights[i] * factor * std::pow(std::sin(angle), dimension - 2));
  }
  return keys;
}

// E g(T) over uniform keys.
template <class Function>
double mean_over_keys(int dimension, double beta, const Function& function) {
  const KeyRule keys = key_rule(dimension, beta);
  double sum = 0.0;
  for (std::size_t i = 0; i < keys.gaps.size(); ++i)
    sum += keys.weights[i] * function(keys.gaps[i]);
  return sum;
}

// Property (2). In the skewness, terms of size (4/3)^a cancel down to what is compared.
TEST(SphereFluctuations, AreIntegralsOverTheKeys) {
  for (int d : {2, 3, 5, 8, 24})
    for (double beta : {0.2, 3.0, 40.0, 300.0}) {
      const auto mean = [&](const auto& f) { return mean_over_keys(d, beta, f); };
      const double partition = mean([&](double t) { return std::exp(-beta * t); });
      const auto weight = [&](double t) { return std::exp(-beta * t) / partition; };
      const double gap = mean([&](double t) { return t * weight(t); });
      const double ratio = mean([&](double t) { return std::pow(weight(t), 2); });
      const double along = mean([&](double t) { return std::pow((t - gap) * weight(t), 2); });
      const double across =
          mean([&](double t) { return t * (2.0 - t) / (d - 1.0) * std::pow(weight(t), 2); });
      const double covariance = mean([&](double t) { return (t - gap) * std::pow(weight(t), 2); });
      const double cube = mean([&](double t) { return std::pow((t - gap) * weight(t), 3); });
      const double skewness = (cube - 6.0 * along * covariance) / std::pow(along, 1.5);

      const SphereFluctuations c = sphere_fluctuations({d, beta, 0.0});
      EXPECT_NEAR(c.mean_gap / gap, 1.0, 4e-12) << d << ' ' << beta;
      EXPECT_NEAR(c.log_ratio, std::log(ratio), 4e-12) << d << ' ' << beta;
      EXPECT_NEAR(c.log_variance_along, std::log(along), 8e-12) << d << ' ' << beta;
      EXPECT_NEAR(c.log_variance_across, std::log(across), 8e-12) << d << ' ' << beta;
      EXPECT_NEAR(c.log_bias, std::log(-covariance), 1e-11 / std::min(1.0, beta))
          << d << ' ' << beta;
      const double size = 1.0 + std::pow(4.0 / 3.0, 0.5 * (d - 1)) * d;
      EXPECT_NEAR(c.skewness_coefficient, skewness / std::sqrt(ratio), 1e-11 * size)
          << d << ' ' << beta;
    }
}

// Property (3). The terms of the Bessel form are of size 1 and their sum is of size 1/β².
TEST(SphereFluctuations, AgreeWithTheFormInResultants) {
  for (int d : {2, 3, 7, 60})
    for (double beta : {0.5, 5.0, 100.0}) {
      const double once = mean_resultant(d, beta), twice = mean_resultant(d, 2.0 * beta);
      const double form = 1.0 - (d - 1.0) * twice / (2.0 * beta) - 2.0 * once * twice + once * once;
      const SphereFluctuations c = sphere_fluctuations({d, beta, 0.0});
      EXPECT_NEAR(std::exp(c.log_variance_along - c.log_ratio), form,
                  8.0 * kMomentRatioError + 1e-15 * d)
          << d << ' ' << beta;
    }
}

// Property (4). Corrections are e^{−2β} to R, and e^{−2β} and 1/(2β) to the others.
TEST(SphereFluctuations, AreElementaryInSpace) {
  for (double beta : {0.5, 20.0, 1e6}) {
    const SphereFluctuations c = sphere_fluctuations({3, beta, 0.0});
    EXPECT_NEAR(std::exp(c.log_ratio) / (beta / std::tanh(beta)), 1.0, 1e-12);
    if (beta < 10.0) continue;
    EXPECT_NEAR(std::exp(c.log_variance_along) * 2.0 * beta, 1.0,
                1e-12 + 2.0 * beta * std::exp(-2.0 * beta));
    EXPECT_NEAR(std::exp(c.log_variance_across) * 2.0, 1.0, 1.0 / (2.0 * beta) + 1e-12);
    EXPECT_NEAR(std::exp(c.log_bias) * 2.0, 1.0, 1e-12 + 4.0 * beta * std::exp(-2.0 * beta));
  }
}

// Property (5). The variances come from a difference of numbers near 1.
TEST(SphereFluctuations, AreThoseOfTheUniformMeanAtBetaZero) {
  for (int d : {2, 3, 64, 512}) {
    const SphereFluctuations c = sphere_fluctuations({d, 0.0, std::log(1000.0)});
    EXPECT_NEAR(c.log_ratio, 0.0, 3.0 * kSphereAverageError);
    EXPECT_NEAR(c.log_keys, std::log(1000.0), 4.0 * kSphereAverageError);
    EXPECT_NEAR(std::exp(c.log_variance_along) * d, 1.0, 1e-13 + 8.0 * kEpsilon * d);
    EXPECT_NEAR(std::exp(c.log_variance_across) * d, 1.0, 1e-13);
    EXPECT_EQ(c.log_bias, -std::numeric_limits<double>::infinity());
    EXPECT_NEAR(c.skewness_coefficient, 0.0, 1e-15 * d * d);
  }
}

// n enters only through n f(q), and may be 1e300.
TEST(SphereFluctuations, CountKeysAtTheQuery) {
  const SphereFluctuations uniform = sphere_fluctuations({9, 50.0, 690.0});
  const SphereFluctuations dense = sphere_fluctuations({9, 50.0, 690.0, std::log(3.0)});
  EXPECT_NEAR(dense.log_keys - uniform.log_keys, std::log(3.0), 1e-12);
  EXPECT_NEAR(uniform.log_variance_along - dense.log_variance_along, std::log(3.0), 1e-12);
  EXPECT_NEAR(uniform.log_variance_across - dense.log_variance_across, std::log(3.0), 1e-12);
  EXPECT_NEAR(uniform.log_bias - dense.log_bias, std::log(3.0), 1e-12);
  EXPECT_EQ(uniform.skewness_coefficient, dense.skewness_coefficient);
  EXPECT_EQ(uniform.mean_gap, dense.mean_gap);
  EXPECT_GT(sphere_fluctuations({512, 3e11, 690.0}).log_ratio, 5000.0);
}

// ---- the law for cold queries ---------------------------------------------------------------

// Property (1): between β and 4β every distance falls by 4, up to its own relative correction,
// d²/β. (At d = 3 most of them vanish beyond all orders.)
TEST(SphereFluctuationsLaw, IsTheLimitForLargeBeta) {
  for (int d : {2, 4, 5, 8, 17}) {
    const auto distance = [d](double beta, auto field) {
      const SphereQuery query{d, beta, 0.0};
      return beta * (sphere_fluctuations(query).*field - sphere_fluctuations_law(query).*field);
    };
    for (auto field : {&SphereFluctuations::log_ratio, &SphereFluctuations::log_variance_along,
                       &SphereFluctuations::log_variance_across, &SphereFluctuations::log_bias,
                       &SphereFluctuations::skewness_coefficient}) {
      const double beta = 200.0 * d * d, near = distance(beta, field),
                   far = distance(4.0 * beta, field);
      EXPECT_NEAR(near, far, 2.0 * d * d / beta * std::abs(far) + 1e-13 * 4.0 * beta * d * d) << d;
      EXPECT_LT(std::abs(far), std::pow(4.0 / 3.0, 0.5 * (d - 1)) * d * d) << d;
    }
  }
}

// Property (2), and n_eff ≈ 2^a Γ(a+1) θ^{−a}.
TEST(SphereFluctuationsLaw, IsElementaryInSpace) {
  const SphereFluctuations law = sphere_fluctuations_law({3, 80.0, std::log(1e9)});
  EXPECT_NEAR(std::exp(law.log_ratio), 80.0, 1e-12 * 80.0);
  EXPECT_NEAR(std::exp(law.log_variance_along), 1.0 / 160.0, 1e-14);
  EXPECT_NEAR(std::exp(law.log_variance_across), 0.5, 1e-12);
  EXPECT_NEAR(std::exp(law.log_bias), 0.5, 1e-12);
  for (int d : {2, 6, 30}) {
    const double a = 0.5 * (d - 1), theta = 0.01, log_n = 60.0;
    const double beta = theta * sphere_unit(log_n, d);
    EXPECT_NEAR(
        sphere_fluctuations_law({d, std::min(beta, 1e11), log_n}).log_keys,
        a * std::log(2.0 * sphere_unit(log_n, d) / std::min(beta, 1e11)) + std::lgamma(a + 1.0),
        1e-12 * (1.0 + a * 60.0))
        << d;
  }
}

// ---- the law at finite n --------------------------------------------------------------------

struct ExactOutput {
  double mean, variance, skewness;  // of 1 − ⟨q, ATT⟩ = Σ w T
  double across;                    // variance of one coordinate of ATT_⊥
};

// Exactly at this n. With v = T − 1 + A and z = e^{y−βT}, 1/Z^p = ∫ e^{py} exp(−e^y Z) dy/Γ(p) and
// independent keys give E(Σ w v)^p as an integral over y of sums of products of E[(zv)^k e^{−z}],
// one factor for each key, with (E e^{−z})^{keys left}. Trapezoidal sums in y of integrands that
// are analytic and decay on both sides, e^{−40} at the lower end.
ExactOutput exact_output(const SphereQuery& query) {
  constexpr double kStep = 0.02;
  const int d = query.dimension;
  const double beta = query.inverse_temperature, n = std::exp(query.log_n);
  const KeyRule keys = key_rule(d, beta);
  const double centre = mean_gap(d, beta);
  const double start = -query.log_n - SphereMoments(d).log_moment(0, beta) - 40.0;
  double first = 0.0, second = 0.0, third = 0.0, across = 0.0;
  for (int step = 0;; ++step) {
    double missing = 0.0, one = 0.0, two = 0.0, three = 0.0, sideways = 0.0;
    for (std::size_t i = 0; i < keys.gaps.size(); ++i) {
      const double gap = keys.gaps[i], v = gap - centre;
      const double z = std::exp(start + kStep * step - beta * gap);
      const double damped = keys.weights[i] * z * std::exp(-z);
      missing -= keys.weights[i] * std::expm1(-z);
      one += damped * v;
      two += damped * z * v * v;
      three += damped * z * z * v * v * v;
      sideways += damped * z * gap * (2.0 - gap) / (d - 1.0);
    }
    const double log_left = std::log1p(-missing);
    if (n * log_left < -100.0) break;
    const auto left = [&](int used) { return kStep * std::exp((n - used) * log_left); };
    const double pairs = n * (n - 1.0);
    first += n * left(1) * one;
    second += n * left(1) * two + pairs * left(2) * one * one;
    third += 0.5 * (n * left(1) * three + 3.0 * pairs * left(2) * two * one +
                    pairs * (n - 2.0) * left(3) * one * one * one);
    across += n * left(1) * sideways;
  }
  const double variance = second - first * first;
  const double cumulant = third - 3.0 * first * second + 2.0 * first * first * first;
  return {centre + first, variance, cumulant / std::pow(variance, 1.5), across};
}

// β at which so many keys share.
double beta_at_keys(int dimension, double log_n, double keys) {
  double lower = 0.0, upper = 30.0;  // log β
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (lower + upper);
    const SphereQuery query{dimension, std::exp(middle), log_n};
    (sphere_fluctuations(query).log_keys > std::log(keys) ? lower : upper) = middle;
  }
  return std::exp(lower);
}

struct Correction {
  double value, size;  // size: all terms taken positive
};

// What the theorem leaves out, times n, relative to what it has. With X = (T − E_β T)Y and
// Y = e^{−βT}/μ_0 the output is the ratio of the means of X and Y over keys, whose next order is
//
//     Var: (3 σ_xx σ_yy + 5 σ_xy² − 2 κ_xxy)/σ_xx,      mean: (κ_xyy − 3 σ_xy σ_yy)/(−σ_xy),
//     across, with Q = T(2 − T)Y²/(d − 1): 3 σ_yy − 2 Cov(Q, Y)/E Q.
struct Corrections {
  Correction along, mean, across;
};

Corrections next_order(int d, double beta) {
  const auto mean = [&](const auto& f) { return mean_over_keys(d, beta, f); };
  const double gap = mean_gap(d, beta), log_partition = SphereMoments(d).log_moment(0, beta);
  const auto weight = [&](double t) { return std::exp(-beta * t - log_partition); };
  const auto moment = [&](int gaps, int weights) {
    return mean([&](double t) { return std::pow(t - gap, gaps) * std::pow(weight(t), weights); });
  };
  const auto sideways = [&](int weights) {
    return mean([&](double t) { return t * (2.0 - t) * std::pow(weight(t), weights); });
  };
  // E X = 0 and E Y = 1.
  const double xx = moment(2, 2), xy = moment(1, 2), yy = moment(0, 2) - 1.0;
  const double xxy = moment(2, 3) - xx, xyy = moment(1, 3) - 2.0 * xy;
  const double qy = sideways(3) / sideways(2) - 1.0;
  const double share = 5.0 * xy * xy / xx;
  return {{3.0 * yy + share - 2.0 * xxy / xx, 3.0 * yy + share + 2.0 * std::abs(xxy) / xx},
          {3.0 * yy - xyy / xy, 3.0 * yy + std::abs(xyy / xy)},
          {3.0 * yy - 2.0 * qy, 3.0 * yy + 2.0 * std::abs(qy)}};
}

// Property (6): the next order is known too; the order after
// that has squares and products of its terms. What is compared comes from sums of size 1 with
// errors of 1e-12, and the bias is a difference of means of size mean_gap.
TEST(SphereFluctuations, AreTheLeadingOrderOfTheExactLaw) {
  const double n = 1e5, log_n = std::log(n);
  for (int d : {2, 3, 5, 8, 17}) {
    const SphereQuery query{d, beta_at_keys(d, log_n, 2000.0), log_n};
    const SphereFluctuations c = sphere_fluctuations(query);
    const ExactOutput exact = exact_output(query);
    const Corrections next = next_order(d, query.inverse_temperature);
    const auto expect = [&](double ratio, const Correction& correction, double error) {
      EXPECT_NEAR(ratio - 1.0, correction.value / n, std::pow(correction.size / n, 2) + error) << d;
    };
    const double bias = std::exp(c.log_bias) / n;
    expect(n * exact.variance / std::exp(c.log_variance_along), next.along, 1e-9);
    expect(n * exact.across / std::exp(c.log_variance_across), next.across, 1e-9);
    expect((exact.mean - c.mean_gap) / bias, next.mean, 1e-12 * c.mean_gap / bias + 1e-9);
  }
}

// Property (6), the table: half a printed digit.
TEST(SphereFluctuations, LoseTheirAccuracyAsPrinted) {
  constexpr double kKeys[] = {300, 100, 66, 20, 10, 7};
  struct PrintedRatios {
    int dimension;
    double along[6], across[6];
  };
  constexpr PrintedRatios kRows[] = {
      {3, {1.009, 1.026, 1.040, 1.146, 1.343, 1.559}, {1.004, 1.012, 1.019, 1.067, 1.146, 1.225}},
      {5, {1.005, 1.016, 1.024, 1.078, 1.145, 1.192}, {1.002, 1.006, 1.009, 1.030, 1.057, 1.076}},
      {8, {0.997, 0.990, 0.985, 0.942, 0.881, 0.833}, {0.998, 0.994, 0.991, 0.969, 0.937, 0.910}},
      {17, {0.961, 0.885, 0.835, 0.621, 0.473, 0.399}, {0.983, 0.947, 0.922, 0.795, 0.685, 0.620}}};
  const double n = 1e5, log_n = std::log(n);
  for (const PrintedRatios& row : kRows)
    for (int i = 0; i < 6; ++i) {
      const SphereQuery query{row.dimension, beta_at_keys(row.dimension, log_n, kKeys[i]), log_n};
      const SphereFluctuations c = sphere_fluctuations(query);
      const ExactOutput exact = exact_output(query);
      EXPECT_NEAR(n * exact.variance / std::exp(c.log_variance_along), row.along[i], 5.01e-4)
          << row.dimension << ' ' << kKeys[i];
      EXPECT_NEAR(n * exact.across / std::exp(c.log_variance_across), row.across[i], 5.01e-4)
          << row.dimension << ' ' << kKeys[i];
      if (row.dimension > 8) continue;
      EXPECT_LT(std::abs(exact.mean - corrected_gap(query, c)),
                (i < 3 ? 0.002 : 0.05) * std::sqrt(exact.variance));
    }
  const SphereGap gap(64);
  const SphereQuery query{64, 0.5 * edge_beta(gap, std::log(1e6)), std::log(1e6)};
  const SphereFluctuations c = sphere_fluctuations(query);
  EXPECT_NEAR(std::exp(c.log_keys), 774.0, 0.5);
  EXPECT_NEAR(std::exp(c.log_variance_across), 14.01, 0.005);
  EXPECT_NEAR(1e6 * exact_output(query).across, 13.03, 0.005);
}

// ---- draws ----------------------------------------------------------------------------------

// Property (6) by draws. On S² gaps are uniform on [0, 2]; n_eff is 66.7. The errors of variance
// and skewness g are those of the means of z² − 1 and z³ − 3z − (3/2)g(z² − 1) − g, z the
// standardised output. The bias is 12 standard errors, so that a mean without it fails.
TEST(SphereFluctuations, AreThoseOfDrawnKeys) {
  constexpr int kKeys = 1000, kRows = 20000;
  const SphereQuery query{3, 15.0, std::log(1.0 * kKeys)};
  const SphereFluctuations c = sphere_fluctuations(query);
  std::vector<double> gaps;
  for (int row = 0; row < kRows; ++row) {
    const Stream stream(test::seed(), "SphereFluctuations", row);
    double partition = 0.0, sum = 0.0;
    for (int j = 0; j < kKeys; ++j) {
      const double gap = 2.0 * stream.uniform(j),
                   weight = std::exp(-query.inverse_temperature * gap);
      partition += weight;
      sum += weight * gap;
    }
    gaps.push_back(sum / partition);
  }
  const ExactOutput exact = exact_output(query);
  RunningMoments mean, variance, skewness;
  for (double gap : gaps) {
    const double z = (gap - exact.mean) / std::sqrt(exact.variance), excess = z * z - 1.0;
    mean.add(z);
    variance.add(excess);
    skewness.add(z * z * z - 3.0 * z - exact.skewness * (1.5 * excess + 1.0));
  }
  for (const RunningMoments& zero : {mean, variance, skewness})
    EXPECT_NEAR(zero.estimate().mean, 0.0, test::kSigmas * zero.estimate().standard_error);
  EXPECT_GT(std::exp(c.log_bias) / kKeys, 12.0 * std::sqrt(exact.variance / kRows));
}

// ---- value matrices -------------------------------------------------------------------------

// Properties (1) and (2).
TEST(ValueOutput, IsTheLawOfTheKeysForTheIdentity) {
  const SphereQuery query{3, 7.0, std::log(5000.0)};
  const SphereFluctuations c = sphere_fluctuations(query);
  Matrix<double> identity(3, 3);
  for (std::size_t i = 0; i < 3; ++i) identity(i, i) = 1.0;
  const std::vector<double> q = {2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0};
  const ValueOutput output = value_output(identity, q, query, c);
  const double along = std::exp(c.log_variance_along) / 5000.0;
  const double across = std::exp(c.log_variance_across) / 5000.0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(output.mean[i], mean_resultant(3, 7.0) * q[i], 1e-14);
    for (std::size_t j = 0; j < 3; ++j) {
      const double exact = along * q[i] * q[j] + across * ((i == j ? 1.0 : 0.0) - q[i] * q[j]);
      EXPECT_NEAR(output.covariance(i, j), exact, 1e-12 * (along + across));
      EXPECT_EQ(output.covariance(i, j), output.covariance(j, i));
    }
  }
}

// Property (3) with a matrix that is not square: rotating q and V together changes nothing, and a
// row along q has the variance V_∥/n, a row across it V_⊥/n.
TEST(ValueOutput, SeesTheValuesOnlyThroughTheQuery) {
  const SphereQuery query{3, 7.0, std::log(5000.0)};
  const SphereFluctuations c = sphere_fluctuations(query);
  const double cosine = std::cos(0.4), sine = std::sin(0.4);
  const auto turned = [&](std::vector<double> x) {
    return std::vector<double>{cosine * x[0] - sine * x[1], sine * x[0] + cosine * x[1], x[2]};
  };
  const std::vector<double> q = {0.6, 0.0, 0.8};
  const std::vector<std::vector<double>> rows = {{0.6, 0.0, 0.8}, {-0.8, 0.0, 0.6}};
  Matrix<double> values(2, 3), turned_values(2, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    std::copy(rows[i].begin(), rows[i].end(), values.row(i).begin());
    const std::vector<double> image = turned(rows[i]);
    std::copy(image.begin(), image.end(), turned_values.row(i).begin());
  }
  const ValueOutput plain = value_output(values, q, query, c);
  const ValueOutput other = value_output(turned_values, turned(q), query, c);
  EXPECT_NEAR(plain.mean[0], 1.0 - c.mean_gap, 1e-14);
  EXPECT_NEAR(plain.mean[1], 0.0, 1e-14);
  EXPECT_NEAR(plain.covariance(0, 0) * 5000.0 / std::exp(c.log_variance_along), 1.0, 1e-12);
  EXPECT_NEAR(plain.covariance(1, 1) * 5000.0 / std::exp(c.log_variance_across), 1.0, 1e-12);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(other.mean[i], plain.mean[i], 1e-14);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(other.covariance(i, j), plain.covariance(i, j), 1e-14);
  }
}

}  // namespace
}  // namespace dewpoint::theory
