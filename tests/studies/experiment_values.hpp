// What tests of experiments share: one replica of one point, numbers by name, and refusals.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::test {

using studies::Experiment;
using studies::Observable;
using studies::Point;

/// Replicas of a batch that means are taken over: the error of a mean of 64 is known well enough
/// that a correct check exceeds kSigmas of it once in a million times (Student's law).
inline constexpr std::uint64_t kReplicas = 64;

inline std::size_t positions_of(const Observable& observable) {
  std::size_t positions = 1;
  for (const Dimension& dimension : observable.inner) positions *= dimension.coordinates.size();
  return positions;
}

inline std::size_t positions_of(const std::vector<Observable>& observables) {
  std::size_t positions = 0;
  for (const Observable& observable : observables) positions += positions_of(observable);
  return positions;
}

/// Where the numbers of a name begin.
inline std::size_t place_of(const std::vector<Observable>& observables, const std::string& name) {
  std::size_t place = 0;
  for (const Observable& observable : observables) {
    if (observable.name == name) return place;
    place += positions_of(observable);
  }
  ADD_FAILURE() << "no observable " << name;
  return 0;
}

inline std::vector<double> replica_of(const Experiment& experiment, const Point& point,
                                      std::uint64_t seed, std::uint64_t replica) {
  return experiment.measure(std::span(&point, 1), seed, replica, {}).front();
}

inline double measured(const Experiment& experiment, const Point& point,
                       const std::vector<double>& values, const std::string& name,
                       std::size_t position = 0) {
  return values[place_of(experiment.observables(point), name) + position];
}

inline double predicted(const Experiment& experiment, const Point& point, const std::string& name,
                        std::size_t position = 0) {
  return experiment.predict(point)[place_of(experiment.predictions(point), name) + position];
}

/// Moments over kReplicas replicas, all positions of all observables.
inline std::vector<Estimate> over_replicas(const Experiment& experiment, const Point& point) {
  std::vector<RunningMoments> moments(positions_of(experiment.observables(point)));
  for (std::uint64_t replica = 0; replica < kReplicas; ++replica) {
    const std::vector<double> values = replica_of(experiment, point, seed(), replica);
    for (std::size_t i = 0; i < moments.size(); ++i) moments[i].add(values[i]);
  }
  std::vector<Estimate> estimates;
  for (const RunningMoments& one : moments) estimates.push_back(one.estimate());
  return estimates;
}

/// The mean over replicas is what theory predicts, to kSigmas standard errors and `slack`.
inline void expect_theory(const Experiment& experiment, const Point& point,
                          const std::vector<Estimate>& estimates, const std::string& name,
                          double slack = 0.0) {
  const Estimate& mean = estimates[place_of(experiment.observables(point), name)];
  EXPECT_NEAR(mean.mean, predicted(experiment, point, name + "_theory"),
              kSigmas * mean.standard_error + slack)
      << name << " at " << studies::canonical_text(point);
}

inline bool same_bytes(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// All points at once give what each gives alone.
inline void expect_no_effect_of_tile(const Experiment& experiment, const std::vector<Point>& tile) {
  const auto together = experiment.measure(tile, seed(), 3, {});
  ASSERT_EQ(together.size(), tile.size());
  for (std::size_t i = 0; i < tile.size(); ++i) {
    EXPECT_TRUE(same_bytes(together[i], replica_of(experiment, tile[i], seed(), 3)))
        << studies::canonical_text(tile[i]);
  }
}

/// The point is refused by an error that begins with the name of the parameter.
inline void expect_refused(const Experiment& experiment, const Point& given,
                           const std::string& name) {
  try {
    (void)experiment.resolved(given);
    ADD_FAILURE() << "accepted " << studies::canonical_text(given);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_EQ(std::string(error.what()).rfind(name, 0), 0U) << error.what();
  }
}

inline std::string resolved_text(const Experiment& experiment, const Point& given) {
  return studies::canonical_text(experiment.resolved(given));
}

}  // namespace dewpoint::test
