// A study as `dewpoint run` keeps it, with numbers that a test can recompute.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/store/study.hpp"

namespace dewpoint::test {

/// "contraction" at (n, rho, gamma); exact, so that theory and measurement agree.
inline double synthetic_contraction(double n, double rho, double gamma) {
  return 1.0 / (1.0 + std::exp(-(gamma * (1.0 - rho) - 1.0) * std::log(n)));
}

struct SyntheticAxes {
  std::vector<double> n{64, 256};
  std::vector<double> rho{0.0, 0.2, 0.4, 0.6, 0.8};
  std::vector<double> gamma{0.5, 1, 1.5, 2, 2.5, 3};
};

/// Frame "phase" over tokens (two words), n, rho, gamma: contraction with error 0.01 and 8 samples,
/// jacobian_norm = n · gamma, contraction_theory and critical_gamma = 1/(1 − rho).
inline store::StudyRecord synthetic_study(const SyntheticAxes& axes = {}) {
  const std::vector<std::string> over{"tokens", "n", "rho", "gamma"};
  Frame frame("phase");
  frame.add_labelled_dimension("tokens", {"simplex", "gaussian"});
  frame.add_dimension("n", axes.n);
  frame.add_dimension("rho", axes.rho);
  frame.add_dimension("gamma", axes.gamma);
  for (const char* name :
       {"contraction", "jacobian_norm", "contraction_theory", "critical_gamma"}) {
    frame.add_variable(name, over);
  }
  std::size_t cell = 0;
  for (int word = 0; word < 2; ++word) {
    for (const double n : axes.n) {
      for (const double rho : axes.rho) {
        for (const double gamma : axes.gamma) {
          const double value = synthetic_contraction(n, rho, gamma);
          frame.variable("contraction").cells[cell] = {value, 0.01, 8};
          frame.variable("jacobian_norm").cells[cell] = {n * gamma, 0.5, 8};
          frame.variable("contraction_theory").cells[cell] = {value, 0.0, 1};
          frame.variable("critical_gamma").cells[cell] = {1.0 / (1.0 - rho), 0.0, 1};
          ++cell;
        }
      }
    }
  }
  store::StudyRecord study;
  study.experiment = "phase";
  study.seed = 17;
  study.frames = {frame};
  return study;
}

}  // namespace dewpoint::test
