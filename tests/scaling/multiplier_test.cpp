// The schedules that papers compare against printed numbers, their growth, and the fate that
// follows from it.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/multiplier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

const double kTrained = std::log(4096.0);

// m by logarithms. exp and log of n_0 move it by one rounding, which schedule_error covers.
double multiplier(const std::string& name, double log_n, double log_n0, double dimension) {
  return multiplier_at_log(compared_schedule(name, std::exp(log_n0), dimension), log_n);
}

Growth growth(const std::string& name, double dimension) {
  return scaling::growth(compared_schedule(name, 4096.0, dimension));
}

struct Printed {
  const char* name;
  double at_256, at_65536, at_1048576, at_1e9;
};

// The reduced scale c = m(n) log n_0/log n of a model that is critical at n_0 = 4096; d = 64.
// Printed with three decimals.
constexpr Printed kReducedScale[] = {
    {"constant", 1.500, 0.750, 0.600, 0.401}, {"sqrt-log", 1.225, 0.866, 0.775, 0.634},
    {"qwen", 1.500, 1.0, 1.0, 1.0},           {"ssmax", 1.0, 1.0, 1.0, 1.0},
    {"yarn", 1.500, 1.224, 1.450, 2.015},     {"power", 1.374, 0.819, 0.715, 0.595}};

TEST(Multiplier, ReproducesThePrintedReducedScales) {
  constexpr double half_a_digit = 5e-4;
  for (const Printed& row : kReducedScale) {
    const auto scale = [&](double n) {
      return multiplier(row.name, std::log(n), kTrained, 64.0) * kTrained / std::log(n);
    };
    EXPECT_NEAR(scale(256.0), row.at_256, half_a_digit) << row.name;
    EXPECT_NEAR(scale(65536.0), row.at_65536, half_a_digit) << row.name;
    EXPECT_NEAR(scale(1048576.0), row.at_1048576, half_a_digit) << row.name;
    EXPECT_NEAR(scale(1e9), row.at_1e9, half_a_digit) << row.name;
  }
}

// Lengths at which every formula is a number one can check by hand: n_0 = e^4, n = e^9, d = 11.
TEST(Multiplier, GivesItsFormula) {
  const double bound = schedule_error(9.0, 4.0);
  EXPECT_EQ(multiplier("constant", 9.0, 4.0, 11.0), 1.0);
  EXPECT_NEAR(multiplier("sqrt-log", 9.0, 4.0, 11.0), 1.5, bound * 1.5);
  EXPECT_NEAR(multiplier("qwen", 9.0, 4.0, 11.0), 2.25, bound * 2.25);
  EXPECT_NEAR(multiplier("ssmax", 9.0, 4.0, 11.0), 2.25, bound * 2.25);
  EXPECT_NEAR(multiplier("yarn", 9.0, 4.0, 11.0), 2.25, bound * 2.25);
  EXPECT_NEAR(multiplier("power", 9.0, 4.0, 11.0), std::exp(1.0), bound * 3.0);
}

// Below the training length qwen and yarn leave the model alone; the others cool it less.
TEST(Multiplier, TreatsShortContextsAsItsModelDoes) {
  EXPECT_EQ(multiplier("qwen", 1.0, 4.0, 11.0), 1.0);
  EXPECT_EQ(multiplier("yarn", 1.0, 4.0, 11.0), 1.0);
  EXPECT_NEAR(multiplier("ssmax", 1.0, 4.0, 11.0), 0.25, schedule_error(1.0, 4.0));
  EXPECT_NEAR(multiplier("sqrt-log", 1.0, 4.0, 11.0), 0.5, schedule_error(1.0, 4.0));
  EXPECT_NEAR(multiplier("power", 1.0, 4.0, 7.0), std::exp(-1.0), schedule_error(1.0, 4.0));
}

// Property (1).
TEST(Multiplier, IsOneAtTheTrainingLength) {
  for (const NamedSchedule& known : compared_schedules())
    for (double n0 : {2.0, 4096.0, 1e5, 1e299})
      EXPECT_EQ(multiplier_at_log(compared_schedule(known.name, n0, 64.0), std::log(n0)), 1.0)
          << known.name;
}

// Property (2).
TEST(Multiplier, DoesNotFallWithLength) {
  for (const NamedSchedule& known : compared_schedules()) {
    double last = 0.0;
    for (double log_n = 0.25; log_n < 700.0; log_n *= 1.5) {
      const double value = multiplier(known.name, log_n, kTrained, 64.0);
      EXPECT_GE(value, last) << known.name << ' ' << log_n;
      last = value;
    }
  }
}

// Property (3): log m − length · L − logarithm · log L tends to a constant, so it is the same at L
// and 2L up to what the formulas neglect, which is yarn's: (log n_0 − 10)/L in each of two factors.
// L = 2e5 keeps the power of d = 4097 within doubles and leaves 2 · 1.7/2e5 · 1/2 < 1e-5 of it.
TEST(Multiplier, GrowsWithItsExponents) {
  const auto remainder = [](const std::string& name, double log_n) {
    const Growth exponents = growth(name, 4097.0);
    return std::log(multiplier(name, log_n, kTrained, 4097.0)) - exponents.length * log_n -
           exponents.logarithm * std::log(log_n);
  };
  for (const NamedSchedule& known : compared_schedules())
    EXPECT_NEAR(remainder(known.name, 4e5), remainder(known.name, 2e5), 1e-5) << known.name;
}

// The same for the other kinds, n_0 = 8192: an affine logarithm's 1 + 0.1 (L − 9.01) is 0.1 L with
// 1/L of itself left, a linear one's 0.43 L + 1 with 2.4/L: below 2.4/2e5 in the logarithm.
TEST(Growth, IsThatOfEverySchedule) {
  for (const char* text :
       {"llama-4", "inkling", "ministral", "linear-log:s=0.43,b=1", "longrope"}) {
    const Schedule schedule = named_schedule(text, 8192.0);
    const Growth exponents = scaling::growth(schedule);
    EXPECT_EQ(exponents.length, 0.0);
    EXPECT_EQ(exponents.logarithm, 1.0);
    const double one = multiplier_at_log(schedule, 2e5) / 2e5;
    EXPECT_NEAR(multiplier_at_log(schedule, 4e5) / 4e5 / one, 1.0, 2.4 / 2e5) << text;
  }
}

// Property (4). At the crossing itself both are equal to rounding; a hundredth beside it they
// differ by more.
TEST(Multiplier, YarnOvertakesTheLogarithmWhereTheAlgebraSays) {
  for (double log_n0 : {5.0, 6.0, 8.3})
    for (double extension : {0.01, 1.0, 10.0, 100.0})
      EXPECT_GE(multiplier("yarn", log_n0 + extension, log_n0, 64.0),
                multiplier("qwen", log_n0 + extension, log_n0, 64.0));
  for (double log_n0 : {2.0, 4.0, 4.9}) {
    const double crossing = 100.0 / log_n0 - 20.0;
    const auto lead = [&](double extension) {
      return multiplier("yarn", log_n0 + extension, log_n0, 64.0) -
             multiplier("qwen", log_n0 + extension, log_n0, 64.0);
    };
    EXPECT_LT(lead(0.99 * crossing), 0.0) << log_n0;
    EXPECT_GT(lead(1.01 * crossing), 0.0) << log_n0;
  }
}

TEST(Multiplier, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW((void)multiplier("cubic", 9.0, 4.0, 64.0), Error);
  EXPECT_THROW((void)growth("cubic", 64.0), Error);
  EXPECT_THROW((void)multiplier("power", 9.0, 4.0, 1.0), Error);
  EXPECT_THROW((void)growth("power", 1.0), Error);
  EXPECT_THROW((void)compared_schedule("llama-4", 4096.0, 64.0), Error);
  EXPECT_THROW((void)multiplier("ssmax", -0.1, 4.0, 64.0), Error);
  EXPECT_THROW((void)multiplier("ssmax", 9.0, 0.0, 64.0), Error);
  EXPECT_THROW((void)multiplier("ssmax", std::nan(""), 4.0, 64.0), Error);
}

// ---- fate -----------------------------------------------------------------------------------

// Property (1), and that the numbers go where it says: the reduced scale at log n = 1e6 against its
// value at the training length, 1.
TEST(Fate, IsWhereTheReducedScaleGoes) {
  for (const NamedSchedule& known : compared_schedules()) {
    const double scale = multiplier(known.name, 1e6, kTrained, 64.0) * kTrained / 1e6;
    const Fate expected = scale < 0.1 ? Fate::collapses : scale < 10. ? Fate::stays : Fate::freezes;
    EXPECT_EQ(fate(growth(known.name, 64.0)), expected) << known.name << ' ' << scale;
  }
  EXPECT_EQ(fate(growth("constant", 64.0)), Fate::collapses);
  EXPECT_EQ(fate(growth("sqrt-log", 64.0)), Fate::collapses);
  EXPECT_EQ(fate(growth("qwen", 64.0)), Fate::stays);
  EXPECT_EQ(fate(growth("ssmax", 64.0)), Fate::stays);
  EXPECT_EQ(fate(growth("yarn", 64.0)), Fate::freezes);
  EXPECT_EQ(fate(growth("power", 64.0)), Fate::freezes);
}

// Property (2).
TEST(Fate, OfThePowerComesAfterAMinimum) {
  for (double dimension : {8.0, 64.0, 512.0}) {
    const double lowest = (dimension - 1.0) / 2.0;
    const auto scale = [&](double log_n) {
      return multiplier("power", log_n, kTrained, dimension) / log_n;
    };
    EXPECT_GT(scale(0.9 * lowest), scale(lowest));
    EXPECT_GT(scale(1.1 * lowest), scale(lowest));
  }
  EXPECT_NEAR(std::exp(63.0 / 2.0), 4.8e13, 0.05e13);
}

TEST(Fate, HasANameOfItsOwn) {
  EXPECT_EQ(name_of(Fate::collapses), "collapses");
  EXPECT_EQ(name_of(Fate::stays), "stays");
  EXPECT_EQ(name_of(Fate::freezes), "freezes");
}

}  // namespace
}  // namespace dewpoint::scaling
