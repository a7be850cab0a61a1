// What is made of looks, on looks written by hand.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "dewpoint/experiments/text_training.hpp"

namespace dewpoint::experiments {
namespace {

using transformer::Look;

/// Two tokens: the second attends to the first with `focus` and to itself with the rest.
Look look_with(double step, double focus, std::vector<double> norms) {
  Look look;
  look.step = step;
  look.attention.emplace_back(2, 2);
  look.attention[0](1, 0) = focus;
  look.attention[0](1, 1) = 1.0 - focus;
  look.norms = std::move(norms);
  return look;
}

TEST(TextNumbers, FocusIsThePeakAndDilutionTheFirstStepBelowHalfOfIt) {
  std::vector<Look> looks = {look_with(0, 0.5, {1.0, 1.0}),    look_with(10, 0.75, {1.0, 2.0}),
                             look_with(20, 0.875, {1.0, 4.0}), look_with(30, 0.4375, {1.0, 3.0}),
                             look_with(40, 0.25, {1.0, 1.0}),  look_with(50, 0.375, {0.95, 1.05})};
  looks[2].loss = 3.0;
  looks[4].loss = 2.5;
  looks[2].validation_loss = 4.0;
  looks[5].rank_one = 0.625;
  const TextNumbers numbers = text_numbers(looks);
  EXPECT_EQ(numbers.focus_peak, 0.875);
  EXPECT_EQ(numbers.focus_step, 20.0);
  EXPECT_EQ(numbers.dilution_step, 40.0);  // exactly half is not below half
  EXPECT_EQ(numbers.final_focus, 0.375);
  EXPECT_EQ(numbers.final_self_share, 0.625);
  EXPECT_EQ(numbers.final_loss, 2.5);
  EXPECT_EQ(numbers.validation_loss, 4.0);
  EXPECT_EQ(numbers.rank_one, 0.625);
  ASSERT_EQ(numbers.retraction.size(), 2U);
  EXPECT_TRUE(std::isnan(numbers.retraction[0]));  // falls by less than a tenth
  EXPECT_EQ(numbers.retraction[1], 0.75);          // from 4 to 1
  EXPECT_FALSE(deepest_retraction(looks, 0));
  EXPECT_EQ(deepest_retraction(looks, 1)->from, 20.0);
  EXPECT_EQ(deepest_retraction(looks, 1)->until, 40.0);
}

// An even share of two tokens is 1/2; a rise of a tenth of the rest makes it 0.55.
TEST(TextNumbers, AttentionThatOnlyFallsIsNoFocus) {
  std::vector<Look> looks = {look_with(0, 0.5, {1.0}), look_with(10, 0.25, {1.0}),
                             look_with(20, 0.125, {1.0})};
  const TextNumbers falling = text_numbers(looks);
  EXPECT_EQ(falling.focus_peak, 0.5);
  EXPECT_TRUE(std::isnan(falling.focus_step));
  EXPECT_TRUE(std::isnan(falling.dilution_step));
  EXPECT_EQ(falling.final_focus, 0.125);
  looks[1] = look_with(10, 0.5625, {1.0});
  EXPECT_EQ(text_numbers(looks).focus_step, 10.0);
  EXPECT_EQ(text_numbers(looks).dilution_step, 20.0);
}

TEST(TextNumbers, OfSeveralRetractionsTheDeepestCounts) {
  std::vector<Look> looks;
  double step = 0.0;
  for (const double norm : {1.0, 0.75, 2.0, 0.5, 3.0, 2.0})
    looks.push_back(look_with(step++, 0.5, {norm}));
  EXPECT_EQ(text_numbers(looks).retraction[0], 0.75);
  EXPECT_EQ(deepest_retraction(looks, 0)->from, 2.0);
}

TEST(TextNumbers, WhatWasNotSeenIsUnknown) {
  const TextNumbers nothing = text_numbers({});
  for (const double value :
       {nothing.final_loss, nothing.validation_loss, nothing.focus_peak, nothing.focus_step,
        nothing.dilution_step, nothing.final_focus, nothing.final_self_share, nothing.rank_one}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_TRUE(nothing.retraction.empty());
  const std::vector<Look> rising = {look_with(0, 0.5, {1.0}), look_with(10, 0.75, {2.0})};
  const TextNumbers numbers = text_numbers(rising);
  EXPECT_EQ(numbers.focus_peak, 0.75);
  EXPECT_TRUE(std::isnan(numbers.dilution_step));
  EXPECT_TRUE(std::isnan(numbers.final_loss));
}

}  // namespace
}  // namespace dewpoint::experiments
