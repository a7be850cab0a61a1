// The dew point against closed forms, against bisection in extended precision, and in pieces
// against at once.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/observables/dew_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::observables {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

using Scores = std::vector<double>;

double point(const Scores& scores) { return dew_point(std::span<const double>(scores)).value(); }

/// One score of 1 and n − 1 of ρ.
Scores simplex_scores(std::size_t n, double correlation) {
  Scores scores(n, correlation);
  scores[n / 2] = 1.0;
  return scores;
}

/// Scores of very different shapes, by name.
Scores drawn_scores(const std::string& shape, std::size_t n, const Stream& stream) {
  Scores scores(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (shape == "normal") scores[j] = 3.0 * stream.normal(j);
    if (shape == "bounded") scores[j] = stream.uniform(j);
    if (shape == "edge") scores[j] = -1e-6 * std::pow(stream.exponential(j), 2.0);
    if (shape == "heavy") scores[j] = std::pow(stream.uniform(j), -2.0);
    if (shape == "shifted") scores[j] = 1e8 + stream.normal(j);
    if (shape == "scales") scores[j] = -std::exp(20.0 * stream.normal(j));
  }
  return scores;
}

const std::vector<std::string> kShapes = {"normal", "bounded", "edge",
                                          "heavy",  "shifted", "scales"};

/// What the others hold minus what the runner-up lacks, in extended precision. Terms of one sign
/// are added before the one subtraction.
long double surplus(const Scores& sorted, long double beta) {
  const auto gap = [&](std::size_t j) {
    return static_cast<long double>(sorted[0]) - static_cast<long double>(sorted[j]);
  };
  long double others = 0.0L;
  for (std::size_t j = sorted.size() - 1; j >= 2; --j) others += std::exp(-beta * gap(j));
  return others + std::expm1(-beta * gap(1));
}

double bisected(Scores scores) {
  std::sort(scores.begin(), scores.end(), std::greater<>());
  long double lower = 1e-320L, upper = 1e320L;
  for (int i = 0; i < 90; ++i) {  // the logarithm of the ratio starts at 1474
    const long double middle = std::sqrt(lower) * std::sqrt(upper);
    (surplus(scores, middle) > 0.0L ? lower : upper) = middle;
  }
  return static_cast<double>(lower);
}

void expect_message(const std::function<void()>& action, const std::string& text) {
  try {
    action();
    FAIL() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

// ---- the definition -------------------------------------------------------------------------

// Property (2). The gap is the same rounded number on both sides; the logarithm and the quotient
// round once each.
TEST(DewPoint, OfTheSimplexIsALogarithm) {
  for (std::size_t n : {3, 4, 10, 1000, 100'000})
    for (double rho : {-0.5, 0.0, 0.3, 0.9, 0.999999}) {
      const double exact = std::log(static_cast<double>(n) - 1.0) / (1.0 - rho);
      EXPECT_NEAR(point(simplex_scores(n, rho)) / exact, 1.0, kDewPointError + 2.0 * kEpsilon)
          << n << ' ' << rho;
    }
}

// Property (1), with the equation in the form that is well conditioned. The reference stops at
// 1474/2⁹⁰ and adds at most 2000 terms in 64 bits: 1e-16.
TEST(DewPoint, EqualsBisectionInExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (const std::string& shape : kShapes) {
    const Stream stream = test::stream("DewPoint/" + shape);
    for (std::size_t n : {3, 4, 17, 256, 2000}) {
      const Scores scores = drawn_scores(shape, n, stream);
      EXPECT_NEAR(point(scores) / bisected(scores), 1.0, kDewPointError + 2e-16)
          << shape << ' ' << n;
    }
  }
}

// Where R = 1 is nearly flat: a runner-up so close that the rest hardly matters, or others so far
// that they hardly count.
TEST(DewPoint, KeepsItsDigitsWhereTheCompetitorMassIsFlat) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  const std::vector<Scores> rows = {
      {0.0, -1.0, -1e6},       {0.0, -1e-12, -1.0, -1.0},     {0.0, -1.0, -1e100},
      {0.0, -1e-140, -1e150},  {0.0, -1e-149, -1.0, -1e149},  {1e150, -1e150, -1e150, -1e150},
      {0.0, -1e-149, -1e-149}, {0.0, -1e-100, -1e100, -3e100}};
  for (const Scores& scores : rows) {
    EXPECT_NEAR(point(scores) / bisected(scores), 1.0, kDewPointError + 2e-16)
        << scores[1] << ' ' << scores[2];
  }
}

// Property (1) as it is written, on sums of n terms in double precision: n roundings of R, and the
// error of β times the slope of log R in log β, which at R = 1 is the entropy of the competitors.
TEST(DewPoint, IsWhereTheCompetitorsEqualTheWinner) {
  const Scores scores = drawn_scores("normal", 1000, test::stream("DewPoint/mass"));
  const double beta = point(scores), largest = *std::max_element(scores.begin(), scores.end());
  double mass = -1.0, entropy = 0.0;
  for (const double score : scores) {
    const double exponent = beta * (largest - score);
    mass += std::exp(-exponent);
    entropy += exponent * std::exp(-exponent);
  }
  EXPECT_NEAR(mass, 1.0, entropy * kDewPointError + 1000.0 * kEpsilon);
}

// Property (3). A power of two scales without rounding. The shift rounds scores below 16 and so
// moves gaps by 8ε: the equation by β times that through the others, by 1/T through the runner-up.
TEST(DewPoint, IgnoresOrderAndShiftAndScalesInversely) {
  Scores scores = drawn_scores("normal", 500, test::stream("DewPoint/invariance"));
  const double beta = point(scores);
  Scores changed = scores;
  std::reverse(changed.begin(), changed.end());
  EXPECT_NEAR(point(changed) / beta, 1.0, 2.0 * kDewPointError);
  for (double& score : changed) score *= 8.0;
  EXPECT_NEAR(8.0 * point(changed) / beta, 1.0, 2.0 * kDewPointError);
  changed = scores;
  for (double& score : changed) score += 1.0;
  std::sort(scores.begin(), scores.end(), std::greater<>());
  const double sensitivity = beta + 1.0 / (scores[0] - scores[1]);
  EXPECT_NEAR(point(changed) / beta, 1.0, 2.0 * kDewPointError + 8.0 * kEpsilon * sensitivity);
}

// Property (4).
TEST(DewPoint, GrowsWithEveryCompetitor) {
  const Stream stream = test::stream("DewPoint/monotone");
  Scores scores = {0.0, -1.0, -3.0};
  double previous = point(scores);
  for (std::uint64_t step = 0; step < 30; ++step) {
    scores.push_back(-0.5 - stream.exponential(step));
    const double added = point(scores);
    EXPECT_GT(added, previous) << step;
    scores.back() *= 0.9;
    previous = point(scores);
    EXPECT_GT(previous, added) << step;
  }
}

// Property (5).
TEST(DewPoint, LiesBetweenItsBounds) {
  for (const std::string& shape : kShapes) {
    const Scores scores = drawn_scores(shape, 300, test::stream("DewPoint/bounds/" + shape));
    Scores gaps;
    const double largest = *std::max_element(scores.begin(), scores.end());
    for (const double score : scores) gaps.push_back(largest - score);
    std::sort(gaps.begin(), gaps.end());
    double sum = 0.0;
    for (const double gap : gaps) sum += gap;
    const double beta = point(scores);
    EXPECT_GT(beta, std::log(299.0) / (sum / 299.0)) << shape;
    EXPECT_LT(beta, std::log(299.0) / gaps[1]) << shape;
  }
}

// Property (6).
TEST(DewPoint, IsInfiniteForTiesAndUndefinedForTwoKeys) {
  EXPECT_EQ(point({1.0, 1.0, 0.0}), kInfinity);
  EXPECT_EQ(point({2.0, 2.0, 2.0, 2.0}), kInfinity);
  EXPECT_LT(point({1.0, 1.0 - 1e-15, 0.0}), kInfinity);
  for (const Scores& scores : {Scores{}, Scores{1.0}, Scores{1.0, 0.0}, Scores{1.0, 1.0}})
    EXPECT_FALSE(dew_point(std::span<const double>(scores)).has_value()) << scores.size();
}

TEST(DewPoint, OfFloatsIsThatOfTheSameNumbers) {
  const Scores scores = drawn_scores("normal", 200, test::stream("DewPoint/float"));
  const std::vector<float> narrow(scores.begin(), scores.end());
  const Scores same(narrow.begin(), narrow.end());
  EXPECT_EQ(dew_point(std::span<const float>(narrow)).value(), point(same));
}

TEST(DewPoint, NamesTheScoreThatIsNotANumber) {
  Scores scores = {1.0, 0.5, std::nan(""), 0.0};
  expect_message([&] { (void)point(scores); }, "scores[2]: nan is not");
  scores = {1.0, 0.5, 0.2, -kInfinity};
  expect_message([&] { (void)point(scores); }, "scores[3]: -inf is not");
  scores = {2e150, 0.5, 0.2};
  expect_message([&] { (void)point(scores); }, "scores[0]: 2e+150 is not");
  expect_message([&] { (void)accumulation_scale(std::span<const double>(scores)); }, "scores[0]");
  Matrix<float> matrix(2, 3);
  matrix(1, 2) = std::numeric_limits<float>::infinity();
  expect_message([&] { (void)dew_points(matrix); }, "scores(1, 2): inf is not");
  expect_message([&] { (void)participation_point(matrix); }, "scores(1, 2): inf is not");
}

// ---- beside a sink --------------------------------------------------------------------------

double beside(const Scores& scores, double sink) {
  return dew_point_beside_sink(std::span<const double>(scores), sink).value();
}

/// What everything but the winner holds minus 1, in extended precision.
long double surplus_beside(const Scores& sorted, double sink, long double beta) {
  return surplus(sorted, beta) +
         std::exp(static_cast<long double>(sink) - beta * static_cast<long double>(sorted[0]));
}

/// The first crossing on a dense grid of β, then bisection; +∞ where there is none up to `most`.
double searched_beside(Scores scores, double sink, double most) {
  std::sort(scores.begin(), scores.end(), std::greater<>());
  constexpr int kPlaces = 20'000;
  const long double ratio = std::exp(std::log(static_cast<long double>(most) / 1e-3L) / kPlaces);
  long double lower = 1e-3L, upper = lower;
  for (int k = 0; k < kPlaces && surplus_beside(scores, sink, upper) > 0.0L; ++k) {
    lower = upper;
    upper *= ratio;
  }
  if (surplus_beside(scores, sink, upper) > 0.0L) return kInfinity;
  for (int i = 0; i < 60; ++i) {  // from a thousandth of β
    const long double middle = 0.5L * (lower + upper);
    (surplus_beside(scores, sink, middle) > 0.0L ? lower : upper) = middle;
  }
  return static_cast<double>(lower);
}

// Properties (1), (2) and (5), for winners that a sink fears. The reference adds at most 300 terms
// in 64 bits.
TEST(DewPoint, BesideASinkEqualsASearchInExtendedPrecision) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  for (std::size_t n : {3, 10, 300}) {
    Scores scores = drawn_scores("normal", n, test::stream("DewPoint/sink"));
    *std::max_element(scores.begin(), scores.end()) += 4.0;
    ASSERT_GT(*std::max_element(scores.begin(), scores.end()), 0.0);
    double before = point(scores);
    EXPECT_EQ(beside(scores, -kInfinity), before);
    for (double sink : {-30.0, -2.0, 0.0, 3.0, 50.0, 3000.0}) {
      const double found = beside(scores, sink);
      EXPECT_NEAR(found / searched_beside(scores, sink, 1e5), 1.0, 2.0 * kDewPointError + 1e-15)
          << n << ' ' << sink;
      EXPECT_GE(found, before * (1.0 - 2.0 * kDewPointError)) << n << ' ' << sink;
      EXPECT_GE(found * (1.0 + 2.0 * kDewPointError),
                sink / *std::max_element(scores.begin(), scores.end()));
      before = found;
    }
  }
}

// All scores below 0: the sink grows with β, and is outweighed for a while or never. The slope at
// the first crossing is at least a hundredth here, β|s| and |B| below 30.
TEST(DewPoint, BesideASinkMayNotExistWhereScoresAreNegative) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no extended precision here";
  const Scores scores = {-0.5, -3.0, -3.5, -4.0, -7.0};
  std::size_t found = 0;
  for (double sink : {-20.0, -10.0, -3.0, -1.2, -0.9, -0.6, -0.2, 0.0, 5.0}) {
    const double expected = searched_beside(scores, sink, 1e3);
    if (std::isinf(expected)) {
      EXPECT_EQ(beside(scores, sink), kInfinity) << sink;
    } else {
      EXPECT_NEAR(beside(scores, sink) / expected, 1.0, 1e4 * kDewPointError) << sink;
      ++found;
    }
  }
  EXPECT_GE(found, 3U);
  EXPECT_LE(found, 6U);
  EXPECT_EQ(beside({0.0, -1.0, -1.0, -1.0}, 0.0), kInfinity);
  EXPECT_NEAR(beside({0.0, -1.0, -1.0, -1.0}, -std::numbers::ln2), std::log(6.0), 1e-12);
}

// Property (3), and with gaps Δ below a score s the equation (n − 1) e^{−βΔ} + e^{B − βs} = 1.
TEST(DewPoint, BesideASinkHasAClosedFormForEqualGaps) {
  for (std::size_t n : {3, 1000, 100'000})
    for (double sink : {-5.0, 0.0, 8.0, 40.0}) {
      const double exact = std::log(static_cast<double>(n) - 1.0 + std::exp(sink));
      EXPECT_NEAR(beside(simplex_scores(n, 0.0), sink) / exact, 1.0, 2.0 * kDewPointError)
          << n << ' ' << sink;
      const double beta = beside(simplex_scores(n, 0.5), sink);
      EXPECT_NEAR((static_cast<double>(n) - 1.0) * std::exp(-0.5 * beta) + std::exp(sink - beta),
                  1.0, 200.0 * kDewPointError);
    }
}

// Properties (4) and (6).
TEST(DewPoint, BesideASinkScalesWithTheScores) {
  const Scores scores = drawn_scores("bounded", 50, test::stream("DewPoint/sink-scale"));
  Scores doubled(scores), raised(scores);
  for (double& score : doubled) score *= 2.0;
  for (double& score : raised) score += 1.0;
  EXPECT_NEAR(beside(doubled, 9.0) * 2.0 / beside(scores, 9.0), 1.0, 4.0 * kDewPointError);
  EXPECT_LT(beside(raised, 9.0), beside(scores, 9.0));
  Scores reversed(scores.rbegin(), scores.rend());
  EXPECT_NEAR(beside(reversed, 9.0) / beside(scores, 9.0), 1.0, 4.0 * kDewPointError);
  EXPECT_EQ(beside({1.0, 1.0, 0.0}, -4.0), kInfinity);
  EXPECT_FALSE(dew_point_beside_sink(std::span<const double>(Scores{1.0, 0.0}), 1.0).has_value());
  expect_message([&] { (void)beside(scores, kInfinity); }, "sink: ");
}

// ---- many queries ---------------------------------------------------------------------------

Matrix<double> drawn_matrix(std::size_t rows, std::size_t cols, const Stream& stream) {
  Matrix<double> scores(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) stream.normals(i * cols, scores.row(i));
  return scores;
}

TEST(DewPoints, AreThoseOfTheRowsForAnyNumberOfThreads) {
  const Matrix<double> scores = drawn_matrix(37, 101, test::stream("DewPoints"));
  RunContext one, two;
  one.threads = 1;
  two.threads = 2;
  const std::vector<double> points = dew_points(scores, one);
  EXPECT_EQ(points, dew_points(scores, two));
  for (std::size_t i = 0; i < scores.rows(); ++i)
    EXPECT_EQ(points[i], dew_point(scores.row(i)).value()) << i;
}

TEST(DewPoints, NeedThreeKeys) {
  expect_message([] { (void)dew_points(Matrix<double>(5, 2)); }, "2 keys per query are below 3");
}

// ---- scores that arrive in pieces -----------------------------------------------------------

struct Streamed {
  DewPointBracket bracket;
  double point;
  std::size_t passes;
};

Streamed in_pieces(const Scores& scores, std::size_t chunk, const DewPointGrid& grid = {}) {
  DewPointStream stream(grid);
  Streamed result{};
  do {
    for (std::size_t j = 0; j < scores.size(); j += chunk) {
      const std::size_t size = std::min(chunk, scores.size() - j);
      stream.push(std::span<const double>(scores).subspan(j, size));
    }
    stream.end_pass();
    if (stream.passes() == 1) result.bracket = stream.bracket().value();
  } while (!stream.done());
  result.point = stream.dew_point().value();
  result.passes = stream.passes();
  return result;
}

// Properties (1) and (2). From a bracket of a factor 2 the passes leave an error of 0.3, then of
// about 0.3⁴/384 and 1e-16 by cubic interpolation, and one more to see it: four, and one to spare.
TEST(DewPointStream, AgreesWithAllScoresAtOnce) {
  for (const std::string& shape : kShapes) {
    Scores scores = drawn_scores(shape, 3000, test::stream("DewPointStream/" + shape));
    const double beta = point(scores);
    for (std::size_t chunk : {1, 7, 1000, 5000}) {
      const Streamed streamed = in_pieces(scores, chunk);
      EXPECT_LE(streamed.bracket.lower, beta) << shape;
      EXPECT_GE(streamed.bracket.upper, beta) << shape;
      EXPECT_NEAR(streamed.point / beta, 1.0, 2.0 * kDewPointError) << shape << ' ' << chunk;
      if (streamed.bracket.upper < 2.0 * streamed.bracket.lower) {
        EXPECT_LE(streamed.passes, 5u) << shape;
      }
    }
    // Sorted upwards every score is a record.
    std::sort(scores.begin(), scores.end());
    EXPECT_NEAR(in_pieces(scores, 64).point / beta, 1.0, 2.0 * kDewPointError) << shape;
  }
}

// The grid is a help, not a condition.
TEST(DewPointStream, DoesNotNeedTheAnswerInsideItsGrid) {
  const Scores scores = drawn_scores("normal", 1000, test::stream("DewPointStream/grid"));
  const double beta = point(scores);
  for (const DewPointGrid& grid : {DewPointGrid{1e3, 1e4, 8}, DewPointGrid{1e-9, 1e-8, 2},
                                   DewPointGrid{0.5 * beta, 2.0 * beta, 2}}) {
    const Streamed streamed = in_pieces(scores, 100, grid);
    EXPECT_LE(streamed.bracket.lower, beta);
    EXPECT_GE(streamed.bracket.upper, beta);
    EXPECT_NEAR(streamed.point / beta, 1.0, 2.0 * kDewPointError) << grid.lowest;
  }
  const Streamed narrow = in_pieces(scores, 100, {0.5 * beta, 2.0 * beta, 64});
  EXPECT_LT(narrow.bracket.upper / narrow.bracket.lower, std::pow(4.0, 1.01 / 63.0));
}

// Scores at which the runner-up or the winner appears more than once below the top, equal gaps, and
// a far competitor that makes the first bracket hundreds of decades wide.
TEST(DewPointStream, CountsEqualScoresAndFindsFarRoots) {
  for (const Scores& scores : {simplex_scores(50, 0.3), Scores{0.0, -1.0, -1.0, -2.0, -2.0},
                               Scores{0.0, -1e-149, -1e150}, Scores{0.0, -1.0, -1e6}})
    EXPECT_NEAR(in_pieces(scores, 2).point / point(scores), 1.0, 2.0 * kDewPointError);
}

// Property (3).
TEST(DewPointStream, IsDoneAtOnceForTiesAndForTwoKeys) {
  const Streamed tied = in_pieces({0.5, 1.0, 0.0, 1.0}, 3);
  EXPECT_EQ(tied.passes, 1u);
  EXPECT_EQ(tied.point, kInfinity);
  EXPECT_EQ(tied.bracket.lower, kInfinity);
  DewPointStream two;
  two.push(std::span<const double>(Scores{1.0, 0.0}));
  two.end_pass();
  EXPECT_TRUE(two.done());
  EXPECT_FALSE(two.bracket().has_value());
  EXPECT_FALSE(two.dew_point().has_value());
}

TEST(DewPointStream, RefusesOtherScoresInALaterPass) {
  const Scores scores = {1.0, 0.5, 0.25, 0.0}, other = {1.0, 0.5, 0.25},
               moved = {1.0, 0.4, 0.25, 0.0};
  for (const Scores& second : {other, moved}) {
    DewPointStream stream;
    stream.push(std::span<const double>(scores));
    stream.end_pass();
    stream.push(std::span<const double>(second));
    expect_message([&] { stream.end_pass(); }, "pass 2 brought other scores");
  }
  DewPointStream stream;
  stream.push(std::span<const double>(scores));
  expect_message(
      [&] {
        stream.push(std::span<const double>(Scores{0.0, std::nan("")}));
      },
      "scores[5]: nan");
}

TEST(DewPointStream, IsDrivenByAReplay) {
  const Scores scores = drawn_scores("normal", 500, test::stream("DewPointStream/replay"));
  const auto replay = [&](const ScoreReceiver& receive) {
    receive(std::span<const double>(scores).first(123));
    receive(std::span<const double>(scores).subspan(123));
  };
  EXPECT_NEAR(dew_point_in_passes(replay).value() / point(scores), 1.0, 2.0 * kDewPointError);
}

// ---- companions -----------------------------------------------------------------------------

double mean_participation(const Matrix<double>& scores, double beta) {
  double mean = 0.0;
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    const double largest = *std::max_element(scores.row(i).begin(), scores.row(i).end());
    double partition = 0.0, squares = 0.0;
    for (const double score : scores.row(i)) {
      const double weight = std::exp(-beta * (largest - score));
      partition += weight;
      squares += weight * weight;
    }
    mean += squares / (partition * partition) / static_cast<double>(scores.rows());
  }
  return mean;
}

// Property (2). With x = (n−1)e^{−βΔ} the slope of Σw² in log β is 2βΔ x(1 − x/(n−1))/(1 + x)³,
// more than a half here.
TEST(ParticipationPoint, OfTheSimplexIsALogarithm) {
  for (std::size_t n : {10, 100, 5000}) {
    Matrix<double> scores(3, n);
    for (std::size_t i = 0; i < 3; ++i) {
      const Scores row = simplex_scores(n, 0.3);
      std::copy(row.begin(), row.end(), scores.row(i).begin());
    }
    const double others = static_cast<double>(n) - 1.0;
    const double exact =
        (std::log(others) + std::log1p(std::sqrt(2.0 - 2.0 / others))) / (1.0 - 0.3);
    EXPECT_NEAR(participation_point(scores) / exact, 1.0, 2.0 * kParticipationError) << n;
  }
}

// Properties (1) and (3). The mean of Σw² in the test adds 300 terms: 3·300 roundings. A power of
// two scales without rounding.
TEST(ParticipationPoint, HalvesTheMeanParticipation) {
  Matrix<double> scores = drawn_matrix(64, 300, test::stream("ParticipationPoint"));
  const double beta = participation_point(scores);
  EXPECT_NEAR(mean_participation(scores, beta), 0.5, kParticipationError + 900.0 * kEpsilon);
  const double above = mean_participation(scores, 1.01 * beta);
  const double below = mean_participation(scores, 0.99 * beta);
  EXPECT_LT(below, 0.5);
  EXPECT_GT(above, 0.5);
  for (std::size_t i = 0; i < scores.rows(); ++i)
    for (double& score : scores.row(i)) score *= 16.0;
  const double slope = (above - below) / 0.02;
  EXPECT_NEAR(16.0 * participation_point(scores) / beta, 1.0, 2.0 * kParticipationError / slope);
}

// Property (4).
TEST(ParticipationPoint, HasTheSameBytesForAnyNumberOfThreads) {
  const Matrix<double> scores = drawn_matrix(33, 50, test::stream("ParticipationPoint/threads"));
  RunContext one, two;
  one.threads = 1;
  two.threads = 2;
  EXPECT_EQ(participation_point(scores, one), participation_point(scores, two));
}

// Rows of very different scale leave a plateau near 1/2 where Newton's steps are useless.
TEST(ParticipationPoint, CrossesPlateaus) {
  Matrix<double> scores = drawn_matrix(9, 20, test::stream("ParticipationPoint/plateau"));
  for (std::size_t i = 0; i < 5; ++i)
    for (double& score : scores.row(i)) score *= 1e9;
  for (std::size_t rows : {8, 9}) {
    const Matrix<double> part = [&] {
      Matrix<double> copy(rows, 20);
      for (std::size_t i = 0; i < rows; ++i)
        std::copy(scores.row(i + 9 - rows).begin(), scores.row(i + 9 - rows).end(),
                  copy.row(i).begin());
      return copy;
    }();
    EXPECT_NEAR(mean_participation(part, participation_point(part)), 0.5,
                kParticipationError + 60.0 * kEpsilon)
        << rows;
  }
}

// Rows of one length: the same bytes as the matrix. Rows of two lengths: property (1), evaluated
// here with plain sums, whose roundings are below 1e-12.
TEST(ParticipationPoint, TakesRowsOfDifferentLengths) {
  const Stream stream = test::stream("ParticipationPoint/ragged");
  Matrix<double> scores(6, 40);
  stream.normals(0, {scores.data(), scores.size()});
  std::vector<std::span<const double>> rows;
  for (std::size_t i = 0; i < 6; ++i) rows.push_back(std::as_const(scores).row(i));
  EXPECT_EQ(participation_point(rows), participation_point(scores.view()));
  for (std::size_t i = 0; i < 3; ++i) rows[i] = rows[i].first(17);
  const double beta = participation_point(rows);
  double mean = 0.0;
  for (const auto row : rows) {
    double partition = 0.0, squares = 0.0;
    for (const double score : row) {
      partition += std::exp(beta * score);
      squares += std::exp(2.0 * beta * score);
    }
    mean += squares / (partition * partition) / static_cast<double>(rows.size());
  }
  EXPECT_NEAR(mean, 0.5, 1e-12);
  rows.front() = rows.front().first(2);
  EXPECT_THROW((void)participation_point(rows), Error);
  EXPECT_THROW((void)participation_point(std::span<const std::span<const double>>()), Error);
}

TEST(ParticipationPoint, IsInfiniteWhereTiesKeepTheRowsApart) {
  Matrix<double> scores = drawn_matrix(4, 10, test::stream("ParticipationPoint/ties"));
  const auto tie = [&](std::size_t i) { scores(i, 0) = scores(i, 1) = 9.0; };
  for (std::size_t i : {0, 1, 2}) tie(i);
  EXPECT_LT(participation_point(scores), kInfinity);  // (3/2 + 1)/4 > 1/2
  tie(3);
  EXPECT_EQ(participation_point(scores), kInfinity);
  expect_message([] { (void)participation_point(Matrix<double>(0, 5)); }, "0 queries");
  expect_message([] { (void)participation_point(Matrix<double>(2, 2)); }, "2 keys");
}

// Property (1), and the definition by counting.
TEST(AccumulationScale, IsTheSteepestLogarithmicCount) {
  const Scores simplex = simplex_scores(40, 0.25);
  EXPECT_NEAR(
      accumulation_scale(std::span<const double>(simplex)).value() / (std::log(40.0) / 0.75), 1.0,
      4.0 * kEpsilon);
  const Scores scores = drawn_scores("normal", 60, test::stream("AccumulationScale"));
  const double largest = *std::max_element(scores.begin(), scores.end());
  double steepest = 0.0;
  for (const double score : scores) {
    const double t = largest - score;
    if (t == 0.0) continue;
    const auto within = std::count_if(scores.begin(), scores.end(),
                                      [&](double other) { return largest - other <= t; });
    steepest = std::max(steepest, std::log(static_cast<double>(within)) / t);
  }
  EXPECT_NEAR(accumulation_scale(std::span<const double>(scores)).value() / steepest, 1.0,
              4.0 * kEpsilon);
}

// Property (2).
TEST(AccumulationScale, BoundsTheDewPointFromBothSides) {
  double zeta = 1.0;  // of kZetaIsTwo, by Euler and Maclaurin from 1000: next term 1e-14
  for (int k = 2; k < 1000; ++k) zeta += std::pow(k, -kZetaIsTwo);
  zeta += std::pow(1000.0, 1.0 - kZetaIsTwo) / (kZetaIsTwo - 1.0) +
          0.5 * std::pow(1000.0, -kZetaIsTwo) +
          kZetaIsTwo / 12.0 * std::pow(1000.0, -kZetaIsTwo - 1.0);
  EXPECT_NEAR(zeta, 2.0, 1e-12);
  for (const std::string& shape : kShapes) {
    Scores scores = drawn_scores(shape, 500, test::stream("AccumulationScale/" + shape));
    std::sort(scores.begin(), scores.end(), std::greater<>());
    double lower = 0.0;
    for (std::size_t k = 1; k < scores.size(); ++k)
      lower = std::max(lower, std::log(static_cast<double>(k)) / (scores[0] - scores[k]));
    EXPECT_GE(point(scores), lower) << shape;
    EXPECT_LE(point(scores),
              kZetaIsTwo * accumulation_scale(std::span<const double>(scores)).value())
        << shape;
  }
}

TEST(AccumulationScale, IsSummarisedByItsMedian) {
  Matrix<double> scores(4, 3);
  const double second[] = {1.0, 0.5, 0.25, 0.0};  // gaps of the runner-up, the last a tie
  for (std::size_t i = 0; i < 4; ++i) scores(i, 1) = -second[i], scores(i, 2) = -100.0;
  const double unit = std::numbers::ln2;
  EXPECT_NEAR(median_accumulation_scale(scores), 3.0 * unit, 8.0 * kEpsilon);
  EXPECT_NEAR(median_accumulation_scale(scores.view().row_range({0, 3})), 2.0 * unit,
              8.0 * kEpsilon);
  EXPECT_EQ(median_accumulation_scale(scores.view().row_range({3, 4})), kInfinity);
  EXPECT_FALSE(accumulation_scale(std::span<const double>(Scores{1.0})).has_value());
}

}  // namespace
}  // namespace dewpoint::observables
