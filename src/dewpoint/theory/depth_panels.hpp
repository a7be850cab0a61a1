// Integrals over the law of one depth against a soft step: the inner quadrature of
// finite_scores.hpp.
//
// Softmax averages over independent scores reduce to integrals over one depth x of
//
//     f(x) k(β(x − c)),        k = z^p e^{−z}, 1 − e^{−z} or z, with z = e^{−β(x − c)},
//
// where f is the density of the law and k falls from 1 to 0 within 1/β around the centre c. Two
// scales meet: that of the law, which is what it may be, and that of the step. Both are respected
// by cutting the line at fixed distances β(x − c) and at fixed probabilities of the law, and using
// the same Gauss-Legendre rule between any two cuts. Where the law ends at a finite depth its
// density may have a root or a pole there, x^{a−1} with 2a an integer for keys on a sphere or on a
// smooth manifold; in the coordinate u,
//
//     two ends     x = lowest + (highest − lowest) sin²(u/2)          an angle, on the sphere
//     a best end   x = lowest + u²
//     no best end  x = u
//
// it becomes a polynomial. The panels test themselves when they are made: the rule must reproduce
// the distribution function across each of them, or the panel is halved.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"

namespace dewpoint::theory {

/// The kernel that a law is integrated against.
struct SoftStep {
  double inverse_temperature;  // β
  double centre;               // c, the depth where z = 1
  double from;                 // integrals begin here
  double power = 1.0;          // the largest p that is asked for
};

/// ∫ f g dx ≈ Σ weight e^{log_density} g(depth).
struct DepthNode {
  double depth;
  double weight;
  double log_density;
};

class DepthPanels {
 public:
  /// Panels over all depths with log P(depth ≤ x) ≥ log_least. Keeps a reference to the law.
  ///
  ///   Domain      log_least < 0. A law without lowest depth may have no singularity; one with a
  ///               lowest depth may have a density x^{a−1} with 2a a positive integer there and at
  ///               its highest depth.
  DepthPanels(const DepthDistribution& law, double log_least);

  [[nodiscard]] const DepthDistribution& law() const { return law_; }

  /// Where panels meet, increasing: from the depth at log_least to the highest one.
  [[nodiscard]] const std::vector<double>& cuts() const { return cuts_; }

  /// P(depth ≤ x) for any x, and its logarithm.
  [[nodiscard]] double cdf(double depth) const;
  [[nodiscard]] double log_cdf(double depth) const;

  /// The plain rule between two depths.
  [[nodiscard]] std::vector<DepthNode> nodes_between(double lower, double upper) const;

  /// Nodes for one step, beginning at step.from; stretches that contribute less than e^{−40} of
  /// the largest contribution, with kernel z and with kernel z^power, are left out.
  ///
  ///   Domain      β > 0, power ≥ 1.
  ///   Accuracy    relative error kDepthPanelsError, plus that of the law's log_density.
  ///   Properties  (1) β → 0: adds up to 1 − P(depth ≤ from).
  ///               (2) reproduces E e^{−βx} of a sphere and of a normal law at any β.
  [[nodiscard]] std::vector<DepthNode> nodes(const SoftStep& step) const;

 private:
  [[nodiscard]] double coordinate(double depth) const;
  void append_rule(double lower, double upper, std::vector<DepthNode>& nodes) const;
  [[nodiscard]] bool resolved(double lower, double upper) const;
  void append_cuts(double lower, double upper, int halvings);
  [[nodiscard]] double last_depth(const SoftStep& step) const;
  [[nodiscard]] std::vector<double> cuts_for(const SoftStep& step) const;
  [[nodiscard]] std::vector<double> log_masses(const std::vector<double>& cuts) const;

  const DepthDistribution& law_;
  QuadratureRule rule_;
  std::vector<double> cuts_;
  std::vector<double> log_cdfs_;  // at the cuts
};

inline constexpr double kDepthPanelsError = 1e-12;

}  // namespace dewpoint::theory
