// Chains against their published numbers, against their defining equations, and against input that
// is no chain.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/training/chain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/core/error.hpp"
#include "support/test_seed.hpp"
#include "training/standard_chain.hpp"

namespace dewpoint::training {
namespace {

using dewpoint::test::outcome;
using dewpoint::test::Outcome;
using test::kStandardLaw;
using test::moved;
using test::standard_chain;
using Law = std::vector<double>;
using Rows = std::vector<Law>;
using Order = std::vector<std::size_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRounding = 0x1p-53;

Matrix<double> matrix(const Rows& rows) {
  Matrix<double> result(rows.size(), rows.empty() ? 0 : rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows[i].begin(), rows[i].end(), result.row(i).begin());
  }
  return result;
}

Rows rows(const Matrix<double>& matrix) {
  Rows result;
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    result.emplace_back(matrix.row(i).begin(), matrix.row(i).end());
  }
  return result;
}

double sum(std::span<const double> law) { return std::accumulate(law.begin(), law.end(), 0.0); }

// Of a sum over tokens in a chain made from a matrix: that of the rows, and what state reduction
// adds in extended precision.
double given_error(std::size_t d) {
  const auto tokens = static_cast<double>(d);
  constexpr auto wide_rounding =
      static_cast<double>(std::numeric_limits<long double>::epsilon() / 2.0L);
  return tokens * kChainError + 2.0 * tokens * tokens * tokens * wide_rounding;
}

// Of a stationary probability, relative to it, when each entry of the matrix has four roundings,
// the division by its row's sum d + 2 more: η in each moves π by at most 2dη [O'Cinneide 1993].
double law_error(std::size_t d) {
  const auto tokens = static_cast<double>(d);
  return 2.0 * tokens * (tokens + 6.0) * kRounding + given_error(d);
}

// Positive weights of many sizes, as a law.
Law drawn_law(std::size_t d, double spread, std::uint64_t replica) {
  const Stream stream(dewpoint::test::seed(), "chain/law", replica);
  Law law(d);
  for (std::size_t k = 0; k < d; ++k) law[k] = std::exp(spread * stream.normal(k));
  const double total = sum(law);
  for (double& p : law) p /= total;
  return law;
}

// Rows are laws, and π is a decreasing one that the chain keeps. `error` is that of a row sum and,
// relative to π_j, of (πP)_j.
void expect_stationary(const Chain& chain, double error) {
  const std::size_t d = chain.vocabulary();
  ASSERT_EQ(chain.transition.rows(), d);
  ASSERT_EQ(chain.transition.cols(), d);
  EXPECT_NEAR(sum(chain.stationary), 1.0, error);
  EXPECT_TRUE(std::is_sorted(chain.stationary.begin(), chain.stationary.end(),
                             [](double a, double b) { return a > b * (1.0 + kTie); }));
  const Law next = moved(chain.stationary, chain.transition);
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_NEAR(sum(chain.transition.row(i)), 1.0, error) << chain.name << ", row " << i;
    EXPECT_NEAR(next[i], chain.stationary[i], error * chain.stationary[i])
        << chain.name << " " << i;
    for (const double p : chain.transition.row(i)) EXPECT_TRUE(p >= 0.0 && p <= 1.0) << p;
  }
}

// --- the four ------------------------------------------------------------------------------------

struct Known {
  std::string name;
  double second_eigenvalue;
  double entropy_rate;
};

// Published to four and six digits; each is met to half a unit of the last.
TEST(NamedChain, HasTheKnownEigenvalueAndEntropyRate) {
  const std::vector<Known> known{{"lambda", 0.8, 0.302842},
                                 {"metropolis", 0.8222, 0.323640},
                                 {"birth-death", 0.8869, 0.320273},
                                 {"cycle", 0.8668, 0.230097}};
  for (const Known& expected : known) {
    const Chain chain = standard_chain(expected.name);
    EXPECT_NEAR(second_eigenvalue(chain), expected.second_eigenvalue, 5e-5) << expected.name;
    EXPECT_NEAR(entropy_rate(chain), expected.entropy_rate, 5e-7) << expected.name;
    EXPECT_NEAR(stationary_entropy(chain), 0.727138799173, 5e-13) << expected.name;
  }
}

// By hand: f = (a, b, b, b) stays of this form under H, which maps a to 8a/9 + b/9 and b to
// a/3 + 2b/3, so H has the eigenvalue 8/9 + 2/3 − 1 = 5/9. Scaled by √π the matrices are symmetric:
// eigenvalues err by roundings of a matrix of norm 1, d² of them, magnified at most by
// √(π_0/π_3) < 9.
TEST(NamedChain, HasTheEigenvaluesFoundByHand) {
  constexpr double error = 9 * 16 * kRounding;
  EXPECT_NEAR(second_eigenvalue(standard_chain("lambda")), 0.8, error);
  EXPECT_NEAR(second_eigenvalue(standard_chain("metropolis")), 0.6 + 0.4 * 5.0 / 9.0, error);
}

// To the twelve digits that are published for them, of four laws with λ = 0.8.
TEST(NamedChain, HasTheKnownEntropiesForOtherLaws) {
  const std::vector<std::pair<Law, std::pair<double, double>>> known{
      {{0.75, 0.19, 0.05, 0.01}, {0.727138799173, 0.302842199608}},
      {{8.0 / 15, 4.0 / 15, 2.0 / 15, 1.0 / 15}, {1.136916591833, 0.479193237684}},
      {{0.6, 0.2, 0.2}, {0.950270539233, 0.412390088744}},
      {{0.75, 1.0 / 12, 1.0 / 12, 1.0 / 12}, {0.836988216786, 0.336694634709}}};
  for (const auto& [law, entropies] : known) {
    const Chain chain = named_chain("lambda", law, 0.8);
    EXPECT_NEAR(stationary_entropy(chain), entropies.first, 5e-13);
    EXPECT_NEAR(entropy_rate(chain), entropies.second, 5e-13);
  }
}

// The definitions, entry by entry, on a law whose ratios are exact.
TEST(NamedChain, IsWhatItsFormulaSays) {
  const Law pi{0.5, 0.25, 0.25};
  const Rows lambda{{0.625, 0.1875, 0.1875}, {0.375, 0.4375, 0.1875}, {0.375, 0.1875, 0.4375}};
  const Rows metropolis{{0.8, 0.1, 0.1}, {0.2, 0.6, 0.2}, {0.2, 0.2, 0.6}};
  const Rows birth_death{{0.9, 0.1, 0}, {0.2, 0.6, 0.2}, {0, 0.2, 0.8}};
  // φ = 0.0375; 0.75 φ/π = 0.05625, 0.1125, 0.1125; 0.125 π = 0.0625, 0.03125, 0.03125.
  const Rows cycle{
      {0.88125, 0.0875, 0.03125}, {0.0625, 0.79375, 0.14375}, {0.175, 0.03125, 0.79375}};
  const auto expect = [&](const std::string& name, const Rows& expected) {
    const Matrix<double> transition = named_chain(name, pi, 0.25).transition;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(transition(i, j), expected[i][j], 3 * kChainError) << name << i << j;
      }
    }
  };
  expect("lambda", lambda);
  expect("metropolis", metropolis);
  expect("birth-death", birth_death);
  expect("cycle", cycle);
}

// Properties (1) and (2) of named_chain, on laws that span some eighty powers of ten.
TEST(NamedChain, KeepsItsLawWhateverTheLaw) {
  std::uint64_t replica = 0;
  for (const std::string& name : chain_names()) {
    for (const std::size_t d : {2U, 3U, 4U, 17U, 255U}) {
      for (const double spread : {0.0, 1.0, 30.0}) {
        const Chain chain = named_chain(name, drawn_law(d, spread, replica++), 0.7);
        expect_stationary(chain, static_cast<double>(d) * kChainError);
      }
    }
  }
  for (const std::string& name : chain_names()) {
    expect_stationary(named_chain(name, {kLeastProbability, 1.0}, 0.7), 2 * kChainError);
  }
}

TEST(NamedChain, KeepsItsLawForEveryPersistence) {
  for (const double persistence : {1e-300, 1e-20, 0.1, 0.5, 1.0 - 1e-9, 1.0 - kRounding}) {
    const Chain chain = named_chain("lambda", kStandardLaw, persistence);
    expect_stationary(chain, 4 * kChainError);
    EXPECT_EQ(chain.transition(3, 3), persistence + (1.0 - persistence) * chain.stationary[3]);
  }
}

// Property (3) of named_chain: π_i P_ij against π_j P_ji, four roundings on either side.
TEST(NamedChain, IsReversibleUnlessItIsTheCycle) {
  for (const std::string& name : chain_names()) {
    const Chain chain = standard_chain(name);
    double worst = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double there = chain.stationary[i] * chain.transition(i, j);
        const double back = chain.stationary[j] * chain.transition(j, i);
        worst = std::max(worst, std::abs(there - back));
      }
    }
    if (name == "cycle") {
      // The flow 0.75 φ = 0.75 · 0.15 · 0.01 goes one way round.
      EXPECT_NEAR(worst, 0.001125, 2 * kChainError);
    } else {
      EXPECT_LE(worst, 2 * kChainError) << name;
    }
  }
}

TEST(NamedChain, SortsItsLawAndRemembersTheOrder) {
  for (const std::string& name : chain_names()) {
    const Chain sorted = named_chain(name, {0.4, 0.3, 0.15, 0.15}, 0.8);
    const Chain mixed = named_chain(name, {0.15, 0.4, 0.15, 0.3}, 0.8);
    EXPECT_EQ(sorted.origin, (Order{0, 1, 2, 3}));
    EXPECT_EQ(mixed.origin, (Order{1, 3, 0, 2}));
    EXPECT_EQ(mixed.name, name);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(mixed.stationary[k], sorted.stationary[k], 4 * kRounding);
    }
  }
}

TEST(NamedChain, DividesALawByItsSum) {
  const Chain chain = named_chain("lambda", {0.75, 0.19, 0.05, 0.01 + 9e-10}, 0.8);
  expect_stationary(chain, 4 * kChainError);
  EXPECT_NEAR(chain.stationary[0], 0.75 / (1.0 + 9e-10), 4 * kRounding);
}

void expect_law_refused(const Law& pi, const std::string& message) {
  for (const std::string& name : chain_names()) {
    const Outcome refused = outcome([&] { (void)named_chain(name, pi, 0.8); });
    EXPECT_EQ(refused.code, Code::bad_value);
    EXPECT_EQ(refused.message, message);
  }
}

TEST(NamedChainRefusal, NamesWhatIsWrongWithTheLaw) {
  expect_law_refused({}, "pi: the number of tokens is 0, not 2 to 255");
  expect_law_refused({1.0}, "pi: the number of tokens is 1, not 2 to 255");
  expect_law_refused(Law(256, 1.0 / 256), "pi: the number of tokens is 256, not 2 to 255");
  expect_law_refused({0.5, 0.4}, "pi: the sum is 0.9, not 1 within 1e-09");
  expect_law_refused({0.5, 0.5 + 2e-9}, "pi: the sum is 1.000000002, not 1 within 1e-09");
  const auto entry = [](std::size_t k, const std::string& value) {
    return fmt::format("pi: entry {} (counted from 0) is {}, not a number above 0, at least 1e-300",
                       k, value);
  };
  expect_law_refused({0.5, 0.5, 0.0}, entry(2, "0"));
  expect_law_refused({-0.5, 1.5}, entry(0, "-0.5"));
  expect_law_refused({0.5, kNan, 0.5}, entry(1, "nan"));
  expect_law_refused({kInfinity, 0.5}, entry(0, "inf"));
  expect_law_refused({1.0, 1e-301}, entry(1, "1e-301"));
}

TEST(NamedChainRefusal, NamesAPersistenceOutsideItsRange) {
  for (const double persistence : {0.0, 1.0, -0.1, 1.2, kNan, kInfinity}) {
    const Outcome refused =
        outcome([&] { (void)named_chain("lambda", kStandardLaw, persistence); });
    EXPECT_EQ(refused.code, Code::bad_value);
    EXPECT_EQ(refused.message, fmt::format("lambda: {} is not above 0 and below 1", persistence));
    for (const char* name : {"metropolis", "birth-death", "cycle"}) {
      EXPECT_NO_THROW((void)named_chain(name, kStandardLaw, persistence));
    }
  }
}

TEST(NamedChainRefusal, SuggestsTheNearestName) {
  const auto message = [](const std::string& name) {
    const Outcome refused = outcome([&] { (void)named_chain(name, kStandardLaw, 0.8); });
    EXPECT_EQ(refused.code, Code::bad_value);
    return refused.message;
  };
  const std::string names = "lambda, metropolis, birth-death, cycle";
  EXPECT_EQ(message("metropolys"),
            "chain: 'metropolys' is unknown; did you mean 'metropolis'? Allowed: " + names);
  EXPECT_EQ(message("birthdeath"),
            "chain: 'birthdeath' is unknown; did you mean 'birth-death'? Allowed: " + names);
  EXPECT_EQ(message(""), "chain: '' is unknown; allowed: " + names);
  EXPECT_EQ(message("x\ny"), "chain: 'x\\x0ay' is unknown; allowed: " + names);
}

// --- matrices ------------------------------------------------------------------------------------

// Property (1) of chain_of, and the law that the matrix was made from.
TEST(GivenChain, HasTheLawThatItsMatrixKeeps) {
  std::uint64_t replica = 1000;
  for (const std::string& name : chain_names()) {
    for (const std::size_t d : {2U, 3U, 4U, 17U}) {
      for (const double spread : {1.0, 10.0}) {
        const Chain made = named_chain(name, drawn_law(d, spread, replica++), 0.7);
        const Chain given = chain_of(made.transition, "m");
        EXPECT_EQ(given.name, "m");
        for (std::size_t k = 0; k < d; ++k) {
          EXPECT_NEAR(given.stationary[k], made.stationary[k], law_error(d) * made.stationary[k])
              << name << " " << d << " " << k;
        }
        expect_stationary(given, given_error(d));
      }
    }
  }
}

// Token k of the chain is token origin[k] of the matrix: property (2) of chain_of.
TEST(GivenChain, NumbersItsTokensByDecreasingProbability) {
  // π = (1, 4, 2)/7: from 1 to 0 and 2 with 1/8 and 1/4, back with 1/2 each.
  const Matrix<double> given = matrix({{0.5, 0.5, 0}, {0.125, 0.625, 0.25}, {0, 0.5, 0.5}});
  const Chain chain = chain_of(given, "m");
  EXPECT_EQ(chain.origin, (Order{1, 2, 0}));
  const Law expected{4.0 / 7, 2.0 / 7, 1.0 / 7};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(chain.stationary[k], expected[k], law_error(3) * expected[k]);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(chain.transition(k, j), given(chain.origin[k], chain.origin[j]));
    }
  }
}

// Rows and columns sum to 1, so the law is uniform but for the rounding of the entries.
TEST(GivenChain, KeepsTheOrderOfTokensThatAreEquallyLikely) {
  const Law ring{0.1, 0.2, 0.3, 0.05, 0.05, 0.17, 0.13};
  Matrix<double> given(7, 7);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 7; ++j) given(i, j) = ring[(j + 7 - i) % 7];
  }
  const Chain chain = chain_of(given, "m");
  EXPECT_EQ(chain.origin, (Order{0, 1, 2, 3, 4, 5, 6}));
  for (const double p : chain.stationary) EXPECT_NEAR(p, 1.0 / 7, law_error(7) / 7);
}

// Probabilities of 1e-100 leave π_2 = 1e-200 of π_0: no digit is lost to cancellation.
TEST(GivenChain, HasTinyProbabilitiesToFullPrecision) {
  const Chain chain = chain_of(matrix({{1, 1e-100, 0}, {0.5, 0.5, 1e-100}, {0, 0.25, 0.75}}), "m");
  EXPECT_NEAR(chain.stationary[1] / 2e-100, 1.0, law_error(3));
  EXPECT_NEAR(chain.stationary[2] / 8e-200, 1.0, law_error(3));
}

// Off the diagonal there are only small multiples of the smallest number, whose products no double
// holds. The flows balance, 4π_0 = 3π_2 and 4π_1 = π_2, so π = (3, 1, 4)/8.
TEST(GivenChain, HasItsLawAlsoFromNumbersThatLostTheirDigits) {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  const Chain chain =
      chain_of(matrix({{1, 0, 4 * least}, {0, 1, 4 * least}, {3 * least, 1 * least, 1}}), "m");
  EXPECT_EQ(chain.origin, (Order{2, 0, 1}));
  EXPECT_NEAR(chain.stationary[0], 0.5, law_error(3));
  EXPECT_NEAR(chain.stationary[1], 0.375, law_error(3));
  EXPECT_NEAR(chain.stationary[2], 0.125, law_error(3));
}

TEST(GivenChain, DividesItsRowsByTheirSums) {
  const Chain chain = chain_of(matrix({{0.6, 0.4 + 5e-10}, {0.4, 0.6 - 5e-10}}), "m");
  expect_stationary(chain, given_error(2));
}

// An eigenvalue of modulus below 1 that is complex: a ring that moves on with 0.9.
TEST(GivenChain, HasTheModulusOfAComplexSecondEigenvalue) {
  const Chain chain = chain_of(matrix({{0.1, 0.9, 0}, {0, 0.1, 0.9}, {0.9, 0, 0.1}}), "m");
  // |0.1 + 0.9 e^{2πi/3}|² = 0.01 − 0.09 + 0.81; a normal matrix, so its eigenvalues err by a few
  // roundings of its norm.
  EXPECT_NEAR(second_eigenvalue(chain), std::sqrt(0.73), 30 * kRounding);
}

// Without the eigenvalue 1 of π nothing is left of independent draws; what is left of a matrix
// whose rows are all the same is rounding.
TEST(GivenChain, OfIndependentDrawsForgetsAtOnce) {
  const Chain chain =
      chain_of(matrix({{0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}, {0.5, 0.25, 0.25}}), "m");
  EXPECT_LT(second_eigenvalue(chain), law_error(3));
  EXPECT_NEAR(entropy_rate(chain), stationary_entropy(chain), law_error(3));
}

void expect_refused(const Rows& given, const std::string& message) {
  const Outcome refused = outcome([&] { (void)chain_of(matrix(given), "p.txt"); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_EQ(refused.message, "p.txt: " + message);
}

TEST(GivenChainRefusal, NamesAShapeThatIsNotSquareOrTooLarge) {
  const std::string allowed = ", allowed: a square matrix of 2 to 255 rows";
  expect_refused({{0.5, 0.5}}, "shape: found (1, 2)" + allowed);
  expect_refused({{1.0}}, "shape: found (1, 1)" + allowed);
  expect_refused({{0.5, 0.5, 0}, {0.5, 0.5, 0}}, "shape: found (2, 3)" + allowed);
  expect_refused(Rows(256, Law(256, 1.0 / 256)), "shape: found (256, 256)" + allowed);
  EXPECT_EQ(chain_of(matrix(Rows(255, Law(255, 1.0 / 255))), "m").vocabulary(), 255U);
}

TEST(GivenChainRefusal, NamesAnEntryThatIsNoProbability) {
  const std::string allowed = ", allowed: a probability, at least 0";
  expect_refused({{0.5, 0.5}, {1.5, -0.5}},
                 "row 1, column 1 (counted from 0): found -0.5" + allowed);
  expect_refused({{0.5, kNan}, {0.5, 0.5}},
                 "row 0, column 1 (counted from 0): found nan" + allowed);
  expect_refused({{kInfinity, 0}, {0.5, 0.5}},
                 "row 0, column 0 (counted from 0): found inf" + allowed);
}

TEST(GivenChainRefusal, NamesARowThatDoesNotSumToOne) {
  const std::string allowed = ", allowed: probabilities that sum to 1 within 1e-09";
  expect_refused({{0.5, 0.5}, {0.3, 0.6}}, "row 1 (counted from 0): found the sum 0.9" + allowed);
  expect_refused({{0.5, 0.5 + 2e-9}, {0.5, 0.5}},
                 "row 0 (counted from 0): found the sum 1.000000002" + allowed);
  expect_refused({{1e308, 1e308}, {0.5, 0.5}},
                 "row 0 (counted from 0): found the sum inf" + allowed);
}

TEST(GivenChainRefusal, NamesTokensWithoutAPath) {
  const std::string allowed =
      ", allowed: an irreducible chain, where every token leads to every other";
  expect_refused({{1, 0}, {0.5, 0.5}},
                 "row 0 (counted from 0): found no path from token 0 to token 1" + allowed);
  expect_refused({{0.5, 0.5}, {0, 1}},
                 "row 1 (counted from 0): found no path from token 1 to token 0" + allowed);
  expect_refused({{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}},
                 "row 0 (counted from 0): found no path from token 0 to token 2" + allowed);
  expect_refused({{0.5, 0.25, 0.25}, {0, 0.5, 0.5}, {0, 0.5, 0.5}},
                 "row 1 (counted from 0): found no path from token 1 to token 0" + allowed);
}

TEST(GivenChainRefusal, NamesThePeriod) {
  const auto expect = [](const Rows& given, int steps) {
    expect_refused(given, fmt::format("chain: found a return to a token only after multiples of {} "
                                      "steps, allowed: an aperiodic chain, such as one with a "
                                      "number above 0 on its diagonal",
                                      steps));
  };
  expect({{0, 1}, {1, 0}}, 2);
  expect({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, 3);
  expect({{0, 0.5, 0, 0.5}, {0.5, 0, 0.5, 0}, {0, 0.5, 0, 0.5}, {0.5, 0, 0.5, 0}}, 2);
  // Closed paths of 4 and 6 steps: two tokens ahead, or straight on.
  expect({{0, 1, 0, 0, 0, 0},
          {0, 0, 1, 0, 0, 0},
          {0, 0, 0, 1, 0, 0},
          {0.5, 0, 0, 0, 0.5, 0},
          {0, 0, 0, 0, 0, 1},
          {1, 0, 0, 0, 0, 0}},
         2);
}

// Closed paths of 2 and 3 steps, none of 1: aperiodic without a diagonal.
TEST(GivenChain, NeedsNoDiagonal) {
  const Chain chain = chain_of(matrix({{0, 1, 0}, {0.5, 0, 0.5}, {1, 0, 0}}), "m");
  expect_stationary(chain, given_error(3));
}

TEST(GivenChainRefusal, NamesATokenTooRareForADouble) {
  const std::string rest =
      " (counted from 0): found a stationary probability too small for a double, allowed: at least "
      "1e-300";
  expect_refused({{1, 1e-200, 0}, {0.5, 0.5, 1e-200}, {0, 0.5, 0.5}}, "token 2" + rest);
  expect_refused({{1, 1e-320}, {1, 0}}, "token 1" + rest);
}

// --- files ---------------------------------------------------------------------------------------

TEST(ChainFile, IsReadAsTextAndNamedAfterTheFile) {
  const dewpoint::test::ScratchFolder folder;
  dewpoint::test::write_bytes(folder / "p.txt", "# two tokens\n0.5 0.5\n0.25, 0.75\n");
  const Chain chain = read_chain(folder / "p.txt");
  EXPECT_EQ(chain.name, "p.txt");
  EXPECT_EQ(chain.origin, (Order{1, 0}));
  EXPECT_EQ(rows(chain.transition), (Rows{{0.75, 0.25}, {0.5, 0.5}}));
}

TEST(ChainFile, IsNamedWithItsPathWhenItIsWrong) {
  const dewpoint::test::ScratchFolder folder;
  const auto expect = [&](const std::string& content, Code code, const std::string& message) {
    dewpoint::test::write_bytes(folder / "p.txt", content);
    const Outcome refused = outcome([&] { (void)read_chain(folder / "p.txt"); });
    EXPECT_EQ(refused.code, code);
    EXPECT_EQ(refused.message, (folder / "p.txt").string() + ": " + message);
  };
  expect("", Code::malformed_file, "is empty, allowed: one line of probabilities per token");
  expect("# none\n", Code::malformed_file,
         "file: found no numbers, allowed: one line of probabilities per token");
  expect("0.5 0.5\n0.5\n", Code::malformed_file,
         "line 2: found 1 number, allowed: 2 numbers, as in line 1");
  expect("0.5 0.5\n0.5 x\n", Code::malformed_file,
         "line 2, number 2: found 'x', allowed: finite decimal numbers such as -1.5 or 1e3");
  expect("0.5\n0.5\n", Code::bad_value,
         "shape: found (2, 1), allowed: a square matrix of 2 to 255 rows");
  expect("0.5 0.5\n0.6 0.5\n", Code::bad_value,
         "row 1 (counted from 0): found the sum 1.1, allowed: probabilities that sum to 1 within "
         "1e-09");
}

TEST(ChainFile, IsNamedWhenItCannotBeRead) {
  const dewpoint::test::ScratchFolder folder;
  const Outcome refused = outcome([&] { (void)read_chain(folder / "absent.txt"); });
  EXPECT_EQ(refused.code, Code::unreadable_file);
  EXPECT_EQ(refused.message, (folder / "absent.txt").string() +
                                 ": no such file, allowed: a readable file of probabilities");
}

class ChainsFromNumPy : public dewpoint::test::NumPyFiles {};

// savetxt writes 19 digits and save the bits, so both give the doubles that NumPy had. NumPy's rows
// of 255 quotients sum to 1 only nearly; ours are divided by their sums once more.
TEST_F(ChainsFromNumPy, AreReadAsTextAndArray) {
  run(R"(
weights = np.random.default_rng(3).uniform(0, 1, (255, 255)) ** 8
p = weights / weights.sum(axis=1, keepdims=True)
np.save('p.npy', p)
np.save('fortran.npy', np.asfortranarray(p))
np.savetxt('p.txt', p)
np.savetxt('p.csv', p, delimiter=',', header='a chain, of 255 tokens')
np.save('small.npy', np.array([[0.5, 0.5], [0.25, 0.75]], dtype='f4'))
np.save('whole.npy', np.ones((2, 2), dtype='i8'))
)");
  const Chain chain = read_chain(folder_ / "p.npy");
  EXPECT_EQ(chain.vocabulary(), 255U);
  expect_stationary(chain, given_error(255));
  for (const char* name : {"fortran.npy", "p.txt", "p.csv"}) {
    const Chain same = read_chain(folder_ / name);
    EXPECT_EQ(rows(same.transition), rows(chain.transition)) << name;
    EXPECT_EQ(same.stationary, chain.stationary) << name;
    EXPECT_EQ(same.origin, chain.origin) << name;
  }
  EXPECT_EQ(rows(read_chain(folder_ / "small.npy").transition), (Rows{{0.75, 0.25}, {0.5, 0.5}}));
  EXPECT_EQ(outcome([&] { (void)read_chain(folder_ / "whole.npy"); }).message,
            (folder_ / "whole.npy").string() +
                ": row 0 (counted from 0): found the sum 2, allowed: probabilities that sum to 1 "
                "within 1e-09");
}

// By hand: one token of context is uniform; long contexts forget their start.
TEST(BestLoss, GoesFromTheUniformStartToTheEntropyRate) {
  const Chain chain = named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  double uniform = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (const double p : chain.transition.row(i)) uniform -= 0.25 * p * std::log(p);
  }
  // Some twenty additions and as many logarithms, each rounded once.
  EXPECT_NEAR(best_loss(chain, 1), uniform, 40 * 0x1p-53);
  EXPECT_NEAR(best_loss(chain, 19), 0.3061525898, 5e-11);
  // What is left of the start after 400 steps is 0.8^400 = 2e-39.
  EXPECT_NEAR(best_loss(chain, 400), entropy_rate(chain), 400 * 8 * 0x1p-53);
}

}  // namespace
}  // namespace dewpoint::training
