// How far keys that gather around some directions lie from a fixed query on the sphere.
//
// Keys are drawn from a mixture of von Mises-Fisher laws. At the angle ϑ from the query they are
// h(ϑ) times as dense as uniform ones (sphere_enrichment.hpp), so the gap T = 1 − ⟨q, k⟩ =
// 2 sin²(ϑ/2) has h times the density of the uniform case, and
//
//     F(t) = P(T ≤ t) = F_d(t) R(ϑ),
//
// where F_d is the law of sphere_gap.hpp and R the mean of h over the uniform cap of angle ϑ. R
// is as smooth as h, even at ϑ = 0, where R = h. It solves
//
//     (F_d/F_d') R' + R = h      (derivatives in ϑ),
//
// an equation without singularity, which is solved once for log R by Chebyshev collocation on
// panels from the query outward until F passes 3/4, and again from the opposite pole for 1 − F. So
// probabilities are accurate in relative terms wherever those of the uniform law are.
//
// Shared by predictions and measurements on purpose, and tested against extended precision, closed
// forms and key vectors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/core/distributions/sphere_enrichment.hpp"
#include "dewpoint/core/distributions/sphere_gap.hpp"

namespace dewpoint {

class SphereMixtureGap final : public DepthDistribution {
 public:
  static constexpr double kMostConcentration = 1e4;

  /// Everything else is read from what is computed here, in milliseconds.
  ///
  ///   Domain      2 ≤ d ≤ SphereGap::kMostDimension, κ ≤ kMostConcentration, 0 ≤ α ≤ π, shares
  ///               positive with sum 1.
  SphereMixtureGap(int dimension, const std::vector<SphereComponent>& components);

  [[nodiscard]] int dimension() const { return sphere_->dimension(); }
  [[nodiscard]] double lowest() const override { return 0.0; }
  [[nodiscard]] double highest() const override { return 2.0; }

  /// log h at an angle from the query.
  ///
  ///   Domain      0 ≤ ϑ ≤ π.
  ///   Accuracy    kSphereMixtureError (1 + |log h|).
  ///   Properties  (1) h(0) = Σ share e^{κ cos α}/M_d(κ), the density of the keys at the query.
  [[nodiscard]] double log_enrichment(double angle) const;

  /// log F(t) and log(1 − F(t)).
  ///
  ///   Domain      0 ≤ t ≤ 2.
  ///   Accuracy    kSphereMixtureError (1 + |log F|), and with 1 − F.
  ///   Properties  (1) κ = 0: those of SphereGap.
  ///               (2) d = 3, one component, α = 0: F = (1 − e^{−κt})/(1 − e^{−2κ}).
  ///               (3) the laws of several components add with their shares.
  ///               (4) F(t)/F_d(t) → h(0) as t → 0.
  [[nodiscard]] double log_cdf(double gap) const override;
  [[nodiscard]] double log_survival(double gap) const override;

  /// log f(t), f = h f_d.
  ///
  ///   Properties  (1) the derivative of F.
  [[nodiscard]] double log_density(double gap) const override;

  /// The gap t with log F(t) = log_probability.
  ///
  ///   Domain      −1e8 ≤ log_probability ≤ 0.
  ///   Accuracy    that of log_cdf, over the slope d log F/d log t.
  ///   Properties  (1) inverts log_cdf.
  ///   Reference   Newton's method on log F as a function of log t, kept between bounds.
  [[nodiscard]] double quantile(double log_probability) const override;

  /// Angles at which the pieces of log h end, from the first piece to the last, which ends at π.
  [[nodiscard]] const std::vector<double>& piece_ends() const { return piece_ends_; }

 private:
  static constexpr std::size_t kNodes = 20;
  using Coefficients = std::array<double, kNodes>;

  struct Panel {
    double begin, end;
    Coefficients enrichment;  // of log h in Chebyshev polynomials
    Coefficients mean;        // of log R
  };

  /// log h and log R around one pole, from the pole to the reach, where the cap has probability 3/4
  /// at least.
  class Caps {
   public:
    Caps(const SphereGap& sphere, const std::vector<SphereComponent>& components);

    [[nodiscard]] const std::vector<Panel>& panels() const { return panels_; }
    [[nodiscard]] double reach() const { return panels_.back().end; }
    [[nodiscard]] double log_enrichment(double angle) const;
    [[nodiscard]] double log_mean(double angle) const;
    [[nodiscard]] double highest_log_mean() const { return highest_log_mean_; }

   private:
    [[nodiscard]] const Panel& panel_at(double angle) const;

    std::vector<Panel> panels_;
    double highest_log_mean_ = -std::numeric_limits<double>::infinity();
  };

  [[nodiscard]] double log_cap(const Caps& caps, double gap) const;
  [[nodiscard]] double log_cap_quantile(const Caps& caps, double log_probability) const;

  std::shared_ptr<const SphereGap> sphere_;
  Caps near_, far_;
  std::vector<double> piece_ends_;
};

inline constexpr double kSphereMixtureError = 4e-12;

}  // namespace dewpoint
