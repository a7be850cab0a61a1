// Many layers against arithmetic of hundreds of digits, against the theory of the simplex, and
// against the plain layer.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/attention/deep_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/attention/reference.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "dewpoint/tokens/cloud.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// ---- the layer in many digits ---------------------------------------------------------------

template <unsigned kDigits>
class ManyDigits {
 public:
  using Number = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<kDigits>,
                                               boost::multiprecision::et_off>;

  explicit ManyDigits(const TokenCloud& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto row = tokens.directions.row(i);
      directions_.emplace_back(row.begin(), row.end());
      normalise(directions_.back());
      norms_.emplace_back(tokens.norms[i]);
    }
  }

  void step(const Layer& layer, const Mask& mask) {
    const std::size_t n = directions_.size(), d = directions_[0].size();
    std::vector<std::vector<Number>> weights(n, std::vector<Number>(n, Number(1)));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        weights[i][j] = weights[j][i] = exp(-layer.inverse_temperature * gap(i, j));
      }
    }
    std::vector<std::vector<Number>> outputs(n, std::vector<Number>(d, Number(0)));
    for (std::size_t i = 0; i < n; ++i) {
      const Range seen = mask.visible(i, n);
      Number total = 0;
      for (std::size_t j = seen.begin; j < seen.end; ++j) {
        total += weights[i][j];
        for (std::size_t k = 0; k < d; ++k) outputs[i][k] += weights[i][j] * directions_[j][k];
      }
      for (std::size_t k = 0; k < d; ++k) {
        outputs[i][k] = outputs[i][k] / total + layer.residual * norms_[i] * directions_[i][k];
      }
    }
    for (std::size_t i = 0; i < n; ++i) norms_[i] = normalise(outputs[i]);
    directions_ = std::move(outputs);
  }

  Number gap(std::size_t i, std::size_t j) const {
    Number sum = 0;
    for (std::size_t k = 0; k < directions_[i].size(); ++k) {
      const Number difference = directions_[i][k] - directions_[j][k];
      sum += difference * difference;
    }
    return sum / 2;
  }

  double norm(std::size_t i) const { return static_cast<double>(norms_[i]); }

 private:
  static Number normalise(std::vector<Number>& x) {
    Number square = 0;
    for (const Number& coordinate : x) square += coordinate * coordinate;
    const Number length = sqrt(square);
    for (Number& coordinate : x) coordinate /= length;
    return length;
  }

  std::vector<std::vector<Number>> directions_;
  std::vector<Number> norms_;
};

TokenCloud cloud(const std::string& law, std::size_t n, std::size_t d, std::uint64_t seed,
                 double rho = 0.5) {
  tokens::CloudParameters p;
  p.law = law;
  p.n = n;
  p.d = d;
  p.rho = rho;
  p.norm = tokens::Norm::gauss_per_d;
  return tokens::make_cloud(tokens::resolved(p), seed, 0);
}

Matrix<double> all_gaps(const DeepTokens& tokens) {
  const Range all{0, tokens.size()};
  Matrix<double> gaps(all.size(), all.size());
  tokens.gaps(all, all, gaps);
  return gaps;
}

struct Errors {
  double gap = 0.0;         // worst relative error of a gap
  double scaled_gap = 0.0;  // the same times √(own gap/largest gap)
  double norm = 0.0;
  double log_smallest = 0.0;  // log of the smallest exact gap, rounded down to a power of two
};

template <unsigned kDigits>
Errors errors_of(const DeepTokens& tokens, const ManyDigits<kDigits>& exact) {
  using Number = typename ManyDigits<kDigits>::Number;
  const Matrix<double> gaps = all_gaps(tokens);
  const double largest = *std::max_element(gaps.data(), gaps.data() + gaps.size());
  const int exponent = 2 * static_cast<int>(tokens.exponent());
  Errors errors;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    errors.norm = std::max(errors.norm, std::abs(tokens.norms()[i] / exact.norm(i) - 1.0));
    for (std::size_t j = 0; j < i; ++j) {
      const Number gap = exact.gap(i, j), ratio = ldexp(Number(gaps(i, j)), exponent) / gap - 1;
      const double error = std::abs(static_cast<double>(ratio));
      errors.gap = std::max(errors.gap, error);
      errors.scaled_gap = std::max(errors.scaled_gap, error * std::sqrt(gaps(i, j) / largest));
      errors.log_smallest = std::min(errors.log_smallest, std::numbers::ln2 * ilogb(gap));
    }
  }
  return errors;
}

struct Course {
  Layer layer;
  int layers;
  Mask mask = {};
};

// Both ways through the layers, as long as `goes_on` wants after it has seen the errors.
template <unsigned kDigits>
void follow(const TokenCloud& start, const Course& run,
            const std::function<bool(int, const Errors&)>& goes_on) {
  DeepTokens tokens(start);
  ManyDigits<kDigits> exact(start);
  for (int l = 0; goes_on(l, errors_of(tokens, exact)) && l < run.layers; ++l) {
    tokens = deep_layer(tokens, run.layer, run.mask);
    exact.step(run.layer, run.mask);
  }
}

// A layer cubes collapsed gaps and triples their relative error: 1 + 3 + ... + 3^layers of it.
double compounded(int layers, std::size_t n, std::size_t d) {
  return 0.5 * (std::pow(3.0, layers + 1) - 1.0) * deep_layer_error(n, d);
}

// Property (1): on given tokens every single gap keeps twelve digits, though without residual the
// smallest ends near 1e-200. 3^5 times some ten roundings are 5e-13.
TEST(DeepLayer, KeepsTwelveDigitsOfEveryGapThroughFiveLayers) {
  const TokenCloud start = cloud("equicorrelated", 12, 6, 1, 0.6);
  for (double residual : {0.0, 0.7}) {
    follow<250>(start, {{1.5, residual}, 5}, [&](int layer, const Errors& errors) {
      EXPECT_LT(errors.gap, 1e-12) << residual << ' ' << layer;
      EXPECT_LT(errors.norm, 1e-14) << residual << ' ' << layer;
      if (layer == 5 && residual == 0.0) {
        EXPECT_LT(errors.log_smallest, -140.0 * std::log(10.0));
      }
      return true;
    });
  }
}

// Property (1) on any tokens: opposite to the mean, of different norms, seeing only some keys.
// Gaps that begin near 1 are not cubed before they have collapsed, so compounded() is generous.
TEST(DeepLayer, AgreesWithManyDigitsOnTheWholeSphereAndUnderMasks) {
  struct Case {
    const char* law;
    Course run;
  };
  for (const auto& [law, run] :
       {Case{"sphere", {{1.5, 0.0}, 5}}, Case{"sphere", {{1.5, 0.7}, 12}},
        Case{"sphere", {{6.0, 0.0}, 5}}, Case{"sphere", {{1.5, 0.0}, 10, Mask::causal()}},
        Case{"equicorrelated", {{1.5, 0.4}, 10, Mask::causal()}},
        Case{"equicorrelated", {{40.0, 0.0}, 5}},
        Case{"equicorrelated", {{9.0, 0.2}, 10, Mask::window(3)}}}) {
    SCOPED_TRACE(testing::Message() << law << ' ' << run.layer.inverse_temperature << ' '
                                    << run.layer.residual << ' ' << run.mask.name());
    follow<250>(cloud(law, 12, 6, test::seed()), run, [&](int layer, const Errors& errors) {
      EXPECT_LT(errors.scaled_gap, compounded(layer, 12, 6)) << layer;
      EXPECT_LT(errors.norm, (1 + layer) * deep_layer_error(12, 6)) << layer;
      return errors.log_smallest > -200.0 * std::log(10.0);
    });
  }
}

// Property (1) far below the range of doubles: from a gap above 1e-1000 one layer leads to 1e-3100
// at the least, whose square root needs 1550 digits before the first that counts.
TEST(DeepLayer, GoesOnBelowTheRangeOfDoubles) {
  double reached = 0.0;
  follow<1700>(cloud("sphere", 4, 3, test::seed()), {{1.0, 0.0}, 20},
               [&](int layer, const Errors& errors) {
                 EXPECT_LT(errors.scaled_gap, compounded(layer, 4, 3)) << layer;
                 reached = errors.log_smallest;
                 return reached > -1000.0 * std::log(10.0);
               });
  EXPECT_LT(reached, -1000.0 * std::log(10.0));
}

// ---- theory, and the plain layer ------------------------------------------------------------

// Twelve layers on a regular simplex; the last 1 − ρ is e^{-1e6} or so. Errors add up as above, on
// both sides.
TEST(DeepLayer, FollowsTheExactRecursionOfTheSimplex) {
  constexpr std::size_t n = 24;
  const TokenCloud start = cloud("simplex", n, n, 1, 0.3);
  for (double residual : {0.0, 0.6}) {
    const theory::SimplexStack stack{std::log(24.0), 0.9 * std::log(24.0) / 0.7, residual};
    TokenCloud unit = start;
    set_unit_norms(unit);
    DeepTokens tokens(unit);
    double bound = deep_layer_error(n, n);
    for (const auto& state :
         theory::simplex_trajectory(theory::simplex_state(1.0, 0.3), stack, 12)) {
      for (std::size_t j : {1, 7, 23}) {
        EXPECT_NEAR(tokens.log_gap(0, j), state.log_decorrelation, bound) << residual;
      }
      EXPECT_NEAR(deep_angles(tokens).log_mean_gap, state.log_decorrelation, bound);
      EXPECT_NEAR(tokens.norms()[3] * tokens.norms()[3] / state.squared_norm, 1.0,
                  bound * std::exp(state.log_decorrelation) + 100.0 * kEpsilon);
      bound = 3.0 * bound + deep_layer_error(n, n) + theory::simplex_step_error(stack, state);
      tokens = deep_layer(tokens, {stack.inverse_temperature, residual});
    }
    if (residual == 0.0) {
      EXPECT_LT(tokens.log_gap(0, 1), -1e5);
    }
  }
}

// Property (2), over more than two strips of rows. Each coordinate is a sum of n weighted numbers
// below 1, with weights that add up to 1 and carry β times the error of a gap.
TEST(DeepLayer, AgreesWithTheReferenceLayer) {
  constexpr std::size_t n = 2 * kDeepStrip + 17, d = 9;
  const TokenCloud start = cloud("sphere", n, d, test::seed());
  for (const Layer& layer : {Layer{0.0, 0.3}, {0.2, 0.0}, {5.0, 0.0}, {5.0, 0.8}, {80.0, 0.5}}) {
    const LayerResult plain = reference_layer(start, layer);
    const DeepTokens deep = deep_layer(DeepTokens(start), layer);
    const TokenCloud outputs = deep.cloud();
    const double bound = (3.0 + layer.inverse_temperature) * deep_layer_error(n, d);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < d; ++k) {
        EXPECT_NEAR(outputs.norms[i] * outputs.directions(i, k),
                    plain.base[k] + plain.deviations(i, k), bound);
      }
    }
  }
}

// Property (3).
TEST(DeepLayer, GivesEqualBytesForAnyNumberOfThreads) {
  const DeepTokens start(cloud("equicorrelated", 5 * kDeepStrip + 11, 16, test::seed()));
  for (const Mask& mask : {Mask::none(), Mask::causal()}) {
    const DeepTokens one = deep_layer(start, {7.0, 0.3}, mask, {1, {}, {}});
    const double contraction = deep_contraction(start, one, {1, {}, {}}).contraction;
    const double gap = deep_angles(one, {1, {}, {}}).log_mean_gap;
    for (int threads : {2, 5}) {
      const DeepTokens many = deep_layer(start, {7.0, 0.3}, mask, {threads, {}, {}});
      EXPECT_EQ(one.exponent(), many.exponent());
      EXPECT_EQ(one.norms(), many.norms());
      EXPECT_EQ(one.centre(), many.centre());
      EXPECT_EQ(0, std::memcmp(one.offsets().data(), many.offsets().data(),
                               one.size() * one.dimension() * sizeof(double)));
      EXPECT_EQ(contraction, deep_contraction(start, many, {threads, {}, {}}).contraction);
      EXPECT_EQ(gap, deep_angles(many, {threads, {}, {}}).log_mean_gap);
    }
  }
}

TEST(DeepLayer, StopsOnRequest) {
  const DeepTokens start(cloud("sphere", 40, 4, test::seed()));
  std::stop_source source;
  source.request_stop();
  const RunContext context{1, source.get_token(), {}};
  EXPECT_THROW((void)deep_layer(start, {1.0, 0.0}, {}, context), Error);
  EXPECT_THROW((void)deep_angles(start, context), Error);
  EXPECT_THROW((void)deep_contraction(start, start, context), Error);
}

// ---- angles and contraction -----------------------------------------------------------------

struct PlainAngles {
  double smallest = 1.0, largest = -1.0, sum = 0.0, squares = 0.0;
};

PlainAngles plain_angles(const TokenCloud& tokens) {
  PlainAngles angles;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      double cosine = 0.0;
      for (std::size_t k = 0; k < tokens.dimension(); ++k) {
        cosine += tokens.directions(i, k) * tokens.directions(j, k);
      }
      angles.squares += cosine * cosine;
      if (i == j) continue;
      angles.sum += cosine;
      angles.smallest = std::min(angles.smallest, cosine);
      angles.largest = std::max(angles.largest, cosine);
    }
  }
  return angles;
}

TEST(DeepAngles, EqualThePlainCosines) {
  constexpr std::size_t n = 2 * kDeepStrip + 5, d = 7;
  for (const char* law : {"sphere", "equicorrelated"}) {
    const TokenCloud tokens = cloud(law, n, d, test::seed());
    const PlainAngles plain = plain_angles(tokens);
    const DeepAngles angles = deep_angles(DeepTokens(tokens));
    const double bound = deep_layer_error(n, d), mean = plain.sum / (n * (n - 1.0));
    EXPECT_NEAR(angles.smallest_cosine, plain.smallest, bound);
    EXPECT_NEAR(angles.largest_cosine, plain.largest, bound);
    EXPECT_NEAR(angles.mean_cosine, mean, bound);
    EXPECT_NEAR(std::exp(angles.log_mean_gap), 1.0 - mean, bound);
    EXPECT_NEAR(angles.effective_rank / (n * n / plain.squares), 1.0, bound * n);
    EXPECT_LE(angles.effective_rank, d);
  }
}

// λ as the mean of e^{log Δ' − log Δ}, before and after gaps have left the range of doubles. The
// logarithms themselves are rounded by kEpsilon of their size.
TEST(DeepContraction, IsTheMeanRatioOfGaps) {
  constexpr std::size_t n = kDeepStrip + 9, d = 5;
  DeepTokens before(cloud("equicorrelated", n, d, test::seed()));
  for (int layer = 0; layer < 9; ++layer) {
    const DeepTokens after = deep_layer(before, {2.0, 0.0});
    const double unit = before.log_gap(0, 1) - after.log_gap(0, 1);
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        sum += std::exp(after.log_gap(i, j) - before.log_gap(i, j) + unit);
      }
    }
    const DeepContraction contraction = deep_contraction(before, after);
    EXPECT_EQ(contraction.unresolved_pairs, 0u);
    EXPECT_NEAR(contraction.log_contraction, std::log(sum / (n * (n - 1) / 2)) - unit,
                16.0 * deep_layer_error(n, d) - 8.0 * kEpsilon * after.log_gap(0, 1));
    EXPECT_EQ(contraction.contraction, std::exp(contraction.log_contraction));
    before = after;
  }
  EXPECT_LT(before.log_gap(0, 1), -5000.0);
}

// Equal tokens stay equal up to rounding, and their pairs never enter λ.
TEST(DeepContraction, LeavesOutPairsThatCannotBeToldApart) {
  TokenCloud tokens = cloud("sphere", 70, 4, test::seed());
  std::copy_n(tokens.directions.row(3).data(), 4, tokens.directions.row(67).data());
  tokens.norms[67] = tokens.norms[3];
  DeepTokens before(tokens);
  EXPECT_EQ(before.log_gap(3, 67), -std::numeric_limits<double>::infinity());
  for (int layer = 0; layer < 4; ++layer) {
    const DeepTokens after = deep_layer(before, {0.8, 0.3});
    EXPECT_EQ(deep_contraction(before, after).unresolved_pairs, 1u);
    before = after;
  }
}

// ---- edges ----------------------------------------------------------------------------------

TEST(DeepLayer, LeavesASingleTokenWhereItIs) {
  TokenCloud token{Matrix<double>(1, 2), {1.7}};
  token.directions(0, 0) = 0.6;
  token.directions(0, 1) = -0.8;
  const DeepTokens before(token), after = deep_layer(before, {3.0, 0.5});
  EXPECT_NEAR(after.norms()[0], 1.0 + 0.5 * 1.7, 4.0 * kEpsilon);
  EXPECT_NEAR(after.cloud().directions(0, 0), 0.6, 4.0 * kEpsilon);
  EXPECT_NEAR(after.cloud().directions(0, 1), -0.8, 4.0 * kEpsilon);
  EXPECT_EQ(deep_angles(after).mean_cosine, 1.0);
  EXPECT_EQ(deep_angles(after).effective_rank, 1.0);
  EXPECT_EQ(deep_contraction(before, after).contraction, 0.0);
}

TokenCloud on_a_line(const std::vector<double>& signs) {
  TokenCloud tokens{Matrix<double>(signs.size(), 1), std::vector<double>(signs.size(), 1.0)};
  std::copy(signs.begin(), signs.end(), tokens.directions.data());
  return tokens;
}

// On a line a direction is a sign. With weights e^{±β}, the sign of a lone token against two flips
// when 2e^{−2β} > 1. Outputs of equal sign have different lengths, so that their offsets are equal
// only up to rounding.
TEST(DeepLayer, LetsTheMajorityWinOnALine) {
  const DeepTokens start(on_a_line({1.0, 1.0, -1.0}));
  const DeepTokens agreed = deep_layer(start, {0.3, 0.0}), split = deep_layer(start, {0.36, 0.0});
  EXPECT_NEAR(agreed.cloud().directions(2, 0), 1.0, deep_layer_error(3, 1));
  EXPECT_LT(agreed.log_gap(0, 2), 2.0 * std::log(deep_layer_error(3, 1)));
  EXPECT_NEAR(split.cloud().directions(2, 0), -1.0, deep_layer_error(3, 1));
  EXPECT_NEAR(split.log_gap(0, 2), std::log(2.0), deep_layer_error(3, 1));
}

TEST(DeepLayer, SaysWhenAnOutputHasNoDirection) {
  const DeepTokens opposite(on_a_line({1.0, -1.0}));
  EXPECT_THROW((void)deep_layer(opposite, {0.0, 0.0}), Error);
  EXPECT_NEAR(deep_layer(opposite, {0.5, 0.0}).norms()[1], std::tanh(0.5), 4.0 * kEpsilon);
}

// Also when the exponent itself has reached its end.
TEST(DeepLayer, NeverMakesNonsenseHoweverDeep) {
  for (double residual : {0.0, 0.5}) {
    DeepTokens tokens(cloud("equicorrelated", 6, 4, test::seed()));
    for (int layer = 0; layer < 800; ++layer) tokens = deep_layer(tokens, {2.0, residual});
    EXPECT_TRUE(std::isfinite(tokens.exponent()));
    EXPECT_LT(tokens.log_gap(0, 1), residual > 0.0 ? -10.0 : -1e299);
    for (double norm : tokens.norms()) EXPECT_TRUE(std::isfinite(norm));
    for (std::size_t k = 0; k < 4; ++k) EXPECT_LE(std::abs(tokens.cloud().directions(0, k)), 1.0);
  }
}

}  // namespace
}  // namespace dewpoint::attention
