// Schedules against published numbers, formulas written out again, and themselves.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scaling {
namespace {

constexpr double kOriginal = 8192.0;
constexpr double kHalfOfThree = 5e-4;  // half a unit of the third decimal
constexpr double kHalfOfSix = 5e-7;

struct Extended {
  double extension, yarn, longrope, llama4;
};

// All schemes on one axis, n0 = 8192; three decimals.
constexpr Extended kTable[] = {{2, 1.143, 1.077, 1.110},
                               {4, 1.296, 1.154, 1.161},
                               {16, 1.631, 1.308, 1.283},
                               {64, 2.005, 1.462, 1.417}};

TEST(Schedule, ReproducesTheTableOfAllSchemes) {
  for (const Extended& row : kTable) {
    const double n = row.extension * kOriginal;
    const auto at = [&](const char* name) {
      return multiplier(named_schedule(name, kOriginal), n);
    };
    EXPECT_NEAR(at("yarn"), row.yarn, kHalfOfThree);
    EXPECT_NEAR(at("longrope"), row.longrope, kHalfOfThree);
    EXPECT_NEAR(at("log-n"), row.longrope, kHalfOfThree);
    EXPECT_NEAR(at("grok"), row.longrope, kHalfOfThree);
    EXPECT_NEAR(at("lmdeploy"), row.longrope, kHalfOfThree);
    EXPECT_NEAR(at("llama-4"), row.llama4, kHalfOfThree);
  }
}

// Positions 8190, 8191, 32767, 131071 and 1048575; n is the position plus one.
TEST(Schedule, StepsAsLlama4Does) {
  const Schedule schedule = named_schedule("llama-4", 8192.0);
  EXPECT_EQ(multiplier(schedule, 8191.0), 1.0);
  EXPECT_NEAR(multiplier(schedule, 8192.0), 1.069315, kHalfOfSix);
  EXPECT_NEAR(multiplier(schedule, 32768.0), 1.160944, kHalfOfSix);
  EXPECT_NEAR(multiplier(schedule, 131072.0), 1.283321, kHalfOfSix);
  EXPECT_NEAR(multiplier(schedule, 1048576.0), 1.485981, kHalfOfSix);
}

// Positions 16383, 16384 and 262143: one later than Llama 4, for the same n0.
TEST(Schedule, StepsAsMinistralDoes) {
  const Schedule schedule = named_schedule("ministral", 16384.0);
  EXPECT_EQ(multiplier(schedule, 16384.0), 1.0);
  EXPECT_NEAR(multiplier(schedule, 16385.0), 1.069315, kHalfOfSix);
  EXPECT_NEAR(multiplier(schedule, 262144.0), 1.277259, kHalfOfSix);
}

// s = 0.43 at 1k, 8k and 128k, two decimals.
TEST(Schedule, IsNotOneForScalableSoftmaxAtItsTrainingLength) {
  const Schedule schedule = named_schedule("linear-log:s=0.43,b=0", 0.0);
  EXPECT_NEAR(multiplier(schedule, 1024.0), 2.98, 5e-3);
  EXPECT_NEAR(multiplier(schedule, 8192.0), 3.87, 5e-3);
  EXPECT_NEAR(multiplier(schedule, 131072.0), 5.07, 5e-3);
}

// Packed documents start again: n is the number of keys seen within the document, so the second
// token of each has the same multiplier, s log 2 + b.
TEST(Schedule, StartsAgainInEveryPackedDocument) {
  const Schedule schedule = named_schedule("linear-log:s=0.43,b=0.5", 0.0);
  const std::size_t lengths[] = {3, 5, 2};
  for (const std::size_t length : lengths)
    for (std::size_t seen = 1; seen <= length; ++seen)
      EXPECT_NEAR(multiplier(schedule, static_cast<double>(seen)),
                  0.43 * std::log(static_cast<double>(seen)) + 0.5,
                  schedule_error(std::log(5.0), 0.0));
}

// dm/d log n: YaRN 0.2 + 0.02 log s, logarithms 1/log n0, Llama 4 and its like 0.1. A central
// difference over 2h of a function quadratic in log n is exact up to rounding; steps are avoided by
// taking Inkling, the continuous form.
TEST(Schedule, GrowsWithThePublishedSlopes) {
  const auto slope = [](const char* name, double n0, double log_extension) {
    const Schedule schedule = named_schedule(name, n0);
    const double log_n = std::log(n0) + log_extension, h = 0.01;
    return (multiplier_at_log(schedule, log_n + h) - multiplier_at_log(schedule, log_n - h)) /
           (2.0 * h);
  };
  const double rounding = 2.0 * 3.0 * schedule_error(13.0, 11.0) / 0.02;
  EXPECT_NEAR(slope("yarn", 8192.0, 2.0), 0.2 + 0.02 * 2.0, rounding);
  EXPECT_NEAR(slope("inkling", 8192.0, 2.0), 0.1, rounding);
  EXPECT_NEAR(slope("log-n", 2048.0, 2.0), 0.131, kHalfOfThree);
  EXPECT_NEAR(slope("log-n", 8192.0, 2.0), 0.111, kHalfOfThree);
  EXPECT_NEAR(slope("log-n", 32768.0, 2.0), 0.096, kHalfOfThree);
}

// Property (1).
TEST(Schedule, IsExactlyOneAtItsReference) {
  for (const char* name : {"log-n", "qwen", "longrope", "sqrt-log", "power:d=64", "yarn", "ssmax"})
    for (const double n0 : {2.0, 3.0, 8192.0, 100000.0})
      EXPECT_EQ(multiplier(named_schedule(name, n0), n0), 1.0) << name << ' ' << n0;
}

// Property (2).
TEST(Schedule, DoesNotFallWithLength) {
  for (const NamedSchedule& known : named_schedules()) {
    const Schedule schedule =
        named_schedule(known.name == "power" ? "power:d=64" : known.name, 1000.0);
    double last = 0.0;
    for (double n = 1.0; n < 1e9; n = std::ceil(n * 1.3)) {
      EXPECT_GE(multiplier(schedule, n), last) << known.name << ' ' << n;
      last = multiplier(schedule, n);
    }
  }
}

// Property (3).
TEST(Schedule, OfLogarithmsIsTheSquareOfLongRopesFactor) {
  for (const double extension : {1.0, 2.0, 32.0}) {
    const double factor = std::sqrt(1.0 + std::log(extension) / std::log(4096.0));
    EXPECT_NEAR(multiplier(named_schedule("longrope", 4096.0), extension * 4096.0), factor * factor,
                2.0 * schedule_error(12.0, 9.0));
  }
}

// Property (4).
TEST(Schedule, StepsStayWithinLogTwoAboveTheContinuousForm) {
  const Schedule steps = named_schedule("affine-log:slope=0.1,n0=100,offset=1,floor=1", 1.0);
  const Schedule smooth = named_schedule("affine-log:slope=0.1,n0=100,offset=1,floor=0", 1.0);
  for (double n = 1.0; n <= 3000.0; ++n) {
    const double above = multiplier(steps, n) - multiplier(smooth, n);
    EXPECT_GE(above, 0.0) << n;
    EXPECT_LE(above, 0.1 * std::log(2.0) + schedule_error(8.0, 5.0)) << n;
  }
}

// Property (1) of multiplier_at_log, on and beside every step of the shortest lengths, and at the
// largest count it promises.
TEST(Schedule, IsTheSameByItsLogarithm) {
  for (const char* name : {"llama-4", "ministral", "inkling", "yarn", "log-n"}) {
    const Schedule schedule = named_schedule(name, 1000.0);
    for (const double multiple : {1.0, 2.0, 3.0, 7.0, 1000.0, 1e6, 9.99e8})
      for (const double beside : {-1.0, 0.0, 1.0}) {
        const double n = multiple * 1000.0 + beside;
        EXPECT_NEAR(multiplier_at_log(schedule, std::log(n)), multiplier(schedule, n),
                    4.0 * schedule_error(28.0, 7.0))
            << name << ' ' << n;
      }
  }
}

// Where n is no number any more the affine logarithm goes on: 1 + slope (log n − log n0).
TEST(Schedule, GoesOnBeyondTheRangeOfDoubles) {
  for (const char* name : {"llama-4", "ministral", "inkling"})
    EXPECT_NEAR(multiplier_at_log(named_schedule(name, 8192.0), 1e5),
                1.0 + 0.1 * (1e5 - std::log(8192.0)), 1e4 * schedule_error(1e5, 10.0))
        << name;
  EXPECT_EQ(multiplier_at_log(named_schedule("power:d=2", 8192.0), 1e5),
            std::numeric_limits<double>::infinity());
}

TEST(Schedule, MultipliesFactors) {
  const Schedules both = {named_schedule("constant:1.5", 0.0), named_schedule("qwen", 100.0)};
  EXPECT_NEAR(multiplier(both, 10000.0), 3.0, 3.0 * schedule_error(10.0, 5.0));
  EXPECT_EQ(multiplier(Schedules{}, 7.0), 1.0);
}

TEST(Schedule, SaysItsFormula) {
  EXPECT_EQ(formula(named_schedule("llama-4", 8192.0)), "1 + 0.1 log(1 + floor(n/8192))");
  EXPECT_EQ(formula(named_schedule("ministral", 16384.0)), "1 + 0.1 log(1 + floor((n - 1)/16384))");
  EXPECT_EQ(formula(named_schedule("inkling", 128000.0)), "1 + 0.1 log(max(1, n/128000))");
  EXPECT_EQ(formula(named_schedule("ssmax", 4096.0)), "log n/log 4096");
  EXPECT_EQ(formula(named_schedule("linear-log:s=0.43,b=-1", 0.0)), "0.43 log n - 1");
  EXPECT_EQ(formula(named_schedule("constant:1.2", 0.0)), "1.2");
  EXPECT_EQ(formula(named_schedule("power:exponent=0.5", 4096.0)), "(n/4096)^0.5");
}

TEST(NamedSchedule, TakesNumbersAfterItsName) {
  EXPECT_EQ(multiplier(named_schedule("constant:1.2", 0.0), 5.0), 1.2);
  const Schedule affine = named_schedule("affine-log:slope=0.2, n0=64,offset=0,floor=1", 8192.0);
  EXPECT_EQ(affine.slope, 0.2);
  EXPECT_EQ(affine.n0, 64.0);
  EXPECT_EQ(affine.offset, 0.0);
  EXPECT_TRUE(affine.floor);
  EXPECT_EQ(named_schedule("power:d=5", 8192.0).exponent, 0.5);
  EXPECT_EQ(named_schedule("llama-4:n0=4096", 8192.0).n0, 4096.0);
}

// No public code nor text gives SWAN-GPT's formula; everything else is confirmed.
// Properties (1) and (2) of name_with_length().
TEST(NamedSchedule, HasItsLengthWrittenOut) {
  EXPECT_EQ(name_with_length("ssmax", 128.0), "ssmax:n0=128");
  EXPECT_EQ(name_with_length("power:d=64", 128.0), "power:d=64,n0=128");
  EXPECT_EQ(name_with_length("log-n:512", 128.0), "log-n:512");
  EXPECT_EQ(name_with_length("yarn:n0=512,slope=0.2", 128.0), "yarn:n0=512,slope=0.2");
  EXPECT_EQ(name_with_length("linear-log:s=0.43,b=0", 128.0), "linear-log:s=0.43,b=0");
  EXPECT_EQ(name_with_length("constant", 128.0), "constant");
  EXPECT_THROW((void)name_with_length("power", 128.0), Error);
  for (const NamedSchedule& known : named_schedules()) {
    const std::string text = known.name == "power" ? "power:d=64" : known.name;
    const std::string whole = name_with_length(text, 100.5);
    EXPECT_EQ(name_with_length(whole, 7.0), whole);
    EXPECT_EQ(multiplier(named_schedule(whole, 0.0), 300.0),
              multiplier(named_schedule(text, 100.5), 300.0))
        << whole;
  }
}

TEST(NamedSchedule, SaysWhichFormulaIsNotConfirmed) {
  for (const NamedSchedule& known : named_schedules()) {
    EXPECT_EQ(known.confirmed, known.name != "swan") << known.name;
    const std::string text = known.name == "power" ? "power:d=64" : known.name;
    EXPECT_EQ(named_schedule(text, 4096.0).confirmed, known.confirmed);
  }
}

TEST(NamedSchedule, HasEveryNameOnce) {
  std::set<std::string> names;
  for (const NamedSchedule& known : named_schedules()) EXPECT_TRUE(names.insert(known.name).second);
  EXPECT_EQ(names.size(), 16U);
}

TEST(NamedSchedule, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"cubic", "", "constant:x", "constant:1.2x", "constant:inf", "power",
                           "power:d=1", "yarn:d=4", "llama-4:floor=1", "affine-log:floor=2",
                           "affine-log:slope=", "affine-log:,", "log-n:n0=1", "log-n:n0=-5"})
    EXPECT_THROW((void)named_schedule(text, 4096.0), Error) << text;
  for (const char* text : {"log-n", "ssmax", "sqrt-log"}) {
    EXPECT_THROW((void)named_schedule(text, 1.0), Error) << text;
    EXPECT_THROW((void)named_schedule(text, 0.0), Error) << text;
  }
  EXPECT_THROW((void)named_schedule("llama-4", 0.0), Error);
  EXPECT_THROW((void)named_schedule("yarn", std::nan("")), Error);
}

TEST(Schedule, RefusesLengthsThatAreNone) {
  const Schedule schedule = named_schedule("yarn", 4096.0);
  for (const double n : {0.5, 0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW((void)multiplier(schedule, n), Error) << n;
  EXPECT_THROW((void)multiplier_at_log(schedule, -1e-9), Error);
  EXPECT_THROW((void)multiplier_at_log(schedule, std::nan("")), Error);
}

}  // namespace
}  // namespace dewpoint::scaling
