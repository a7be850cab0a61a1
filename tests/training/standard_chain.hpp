// The chain of the experiment of [FD, Section 5.1], and sums that the tests of the data share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dewpoint/training/chain.hpp"

namespace dewpoint::training::test {

inline const std::vector<double> kStandardLaw{0.75, 0.19, 0.05, 0.01};
inline constexpr double kStandardPersistence = 0.8;
inline constexpr std::size_t kStandardContext = 19;

inline Chain standard_chain(const std::string& name = "lambda") {
  return named_chain(name, kStandardLaw, kStandardPersistence);
}

/// (law P)_j.
inline std::vector<double> moved(const std::vector<double>& law, const Matrix<double>& transition) {
  std::vector<double> result(law.size(), 0.0);
  for (std::size_t i = 0; i < law.size(); ++i) {
    for (std::size_t j = 0; j < law.size(); ++j) result[j] += law[i] * transition(i, j);
  }
  return result;
}

}  // namespace dewpoint::training::test
