// Critical attention scaling, Appendix C: tokens in clusters, and the phase between all and self.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/explicit_layer.hpp"
#include "dewpoint/experiments/explicit_tokens.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint::claims {
namespace {

using experiments::Clusters;
using experiments::explicit_layer;
using experiments::ExplicitLayer;

// Which tokens hold a row: those of other clusters, the rest of its own, or the token itself.
enum Part { rest, cluster, self };
constexpr std::array<const char*, 3> kPartNames = {"rest", "cluster", "token itself"};

Part part_of(std::size_t query, std::size_t key, std::size_t cluster_size) {
  if (query == key) return self;
  return query / cluster_size == key / cluster_size ? cluster : rest;
}

// ---- exact clusters ---------------------------------------------------------------------------

constexpr Clusters kClusters = {240, 15, 0.8, 0.3};

theory::TwoLevelSimplex geometry(const Clusters& of) {
  const auto neighbours = static_cast<double>(of.size - 1);
  const auto strangers = static_cast<double>(of.tokens - of.size);
  return {std::log(neighbours), std::log(strangers), of.inner, of.outer};
}

std::array<double, 3> masses(const ExplicitLayer& layer, std::size_t query, std::size_t size) {
  std::array<double, 3> sums{};
  for (std::size_t key = 0; key < layer.weights.rows(); ++key) {
    sums[part_of(query, key, size)] += layer.weights(query, key);
  }
  return sums;
}

// The shares of Z_i, against their closed form.
void compare_masses(double gamma, std::vector<Comparison>& into) {
  const double beta = gamma * std::log(static_cast<double>(kClusters.tokens));
  const ExplicitLayer layer = explicit_layer(experiments::two_level_tokens(kClusters), beta, 0.0);
  const auto measured = masses(layer, 17, kClusters.size);
  const theory::TwoLevelMasses predicted = theory::two_level_masses(geometry(kClusters), beta);
  const double rounding = layer_rounding(kClusters.tokens, layer.directions.cols(), beta);
  const auto compare = [&](Part part, double value) {
    into.push_back(equal(fmt::format("share of the {} in Z_i, γ = {}", kPartNames[part], gamma),
                         value, measured[part], rounding));
  };
  compare(rest, predicted.rest);
  compare(cluster, predicted.cluster);
  compare(self, predicted.self);
}

void compare_simulated_masses(std::size_t n, const Setting& setting,
                              std::vector<Comparison>& into) {
  experiments::PhasePoint point;
  point.cloud.law = "two-level";
  point.cloud.n = n;
  point.cloud.cluster_size = 32;
  point.cloud.rho_inner = 0.8;
  point.cloud.rho = 0.3;
  point.inverse_temperature = 1.6 * std::log(static_cast<double>(n));
  point.norm.reset();
  point.seed = setting.seed;
  const Frame frame = experiments::phase_point(point, setting.context);
  const theory::TwoLevelMasses predicted =
      theory::two_level_masses(geometry({n, 32, 0.8, 0.3}), point.inverse_temperature);
  const double tolerance = single_rounding(n, point.inverse_temperature * (1.0 - 0.3));
  const auto compare = [&](const char* variable, Part part, double value) {
    into.push_back({fmt::format("share of the {} in Z_i, n = {}, γ = 1.6", kPartNames[part], n),
                    value, Relation::equals, frame.variable(variable).cells[0], tolerance});
  };
  compare("rest_mass", rest, predicted.rest);
  compare("cluster_mass", cluster, predicted.cluster);
  compare("self_mass", self, predicted.self);
}

// The borders of Eq 112 with ρ_1 = ρ_2 and ρ_3 = ρ_4, at n = 1e300: a tenth below and above each,
// one share is 1 up to n to minus the distance of the exponents.
void compare_borders(std::vector<Comparison>& into) {
  constexpr double tau = 0.7, outer = 0.1, inner_ = 0.7;
  const double first = (1.0 - tau) / (inner_ - outer), second = tau / (1.0 - inner_);
  const auto tokens = theory::two_level_simplex(kLargestLog, tau, inner_, outer);
  const auto compare = [&](const char* where, double gamma, double theory::TwoLevelMasses::*part,
                           const char* name) {
    const double exponents[] = {1.0 - gamma * (1.0 - outer), tau - gamma * (1.0 - inner_), 0.0};
    std::array<double, 3> sorted = {exponents[0], exponents[1], exponents[2]};
    std::sort(sorted.begin(), sorted.end());
    const double next = std::exp((sorted[1] - sorted[2]) * kLargestLog);
    const double beta = gamma * kLargestLog;
    into.push_back(equal(fmt::format("share of the {} in Z_i, n = 1e300, {}", name, where), 1.0,
                         theory::two_level_masses(tokens, beta).*part,
                         2.0 * next + theory::kTwoLevelError * (1.0 + beta + kLargestLog)));
  };
  compare("γ = 0.9 γ_1", 0.9 * first, &theory::TwoLevelMasses::rest, "rest");
  compare("γ = 1.1 γ_1", 1.1 * first, &theory::TwoLevelMasses::cluster, "cluster");
  compare("γ = 0.9 γ_2", 0.9 * second, &theory::TwoLevelMasses::cluster, "cluster");
  compare("γ = 1.1 γ_2", 1.1 * second, &theory::TwoLevelMasses::self, "token itself");
}

// ---- clusters with intervals of correlations --------------------------------------------------

struct ClusterCase {
  Matrix<double> tokens;
  Clusters clusters;
  experiments::ClusterCosines cosines;

  [[nodiscard]] double log_n() const { return std::log(static_cast<double>(tokens.rows())); }
  [[nodiscard]] double neighbours() const { return static_cast<double>(clusters.size - 1); }
  [[nodiscard]] double strangers() const {
    return static_cast<double>(clusters.tokens - clusters.size);
  }
  // γ in the middle of a phase of Eq 112, with n^τ = s neighbours.
  [[nodiscard]] double gamma(Part phase) const {
    const double tau = std::log(neighbours()) / log_n();
    const auto [low, high] = cosines.inner;       // ρ_3, ρ_4
    const auto [lowest, middle] = cosines.outer;  // ρ_1, ρ_2
    if (phase == rest) return 0.5 * std::min(1.0 / (1.0 - lowest), (1.0 - tau) / (high - lowest));
    if (phase == cluster) return std::sqrt((1.0 - tau) / (low - middle) * tau / (1.0 - low));
    return 1.5 * std::max(1.0 / (1.0 - middle), tau / (1.0 - high));
  }
  // What the shares outside a phase's part cannot exceed, from the ends of the intervals.
  [[nodiscard]] double largest_remainder(Part phase, double beta) const {
    const auto odds = [&](double count, double correlation) {
      return count * std::exp(-beta * (1.0 - correlation));
    };
    const double most_near = odds(neighbours(), cosines.inner.largest);
    const double most_far = odds(strangers(), cosines.outer.largest);
    double ratio = most_near + most_far;
    if (phase == rest) ratio = (1.0 + most_near) / odds(strangers(), cosines.outer.smallest);
    if (phase == cluster) ratio = (1.0 + most_far) / odds(neighbours(), cosines.inner.smallest);
    return ratio / (1.0 + ratio);
  }
};

std::vector<ClusterCase> cluster_cases(const Setting& setting) {
  const bool full = setting.effort == Effort::full;
  const Clusters clusters = {full ? 512U : 256U, 32, 0.85, 0.15};
  std::vector<ClusterCase> cases;
  for (std::uint64_t replica = 0; replica < (full ? 4 : 2); ++replica) {
    auto tokens = experiments::clustered_tokens(clusters, 512, setting.seed, replica);
    const auto cosines = experiments::cluster_cosines(tokens, clusters.size);
    cases.push_back({std::move(tokens), clusters, cosines});
  }
  return cases;
}

std::string text_of(const std::vector<ClusterCase>& cases) {
  const ClusterCase& first = cases.front();
  return fmt::format(
      "{} Gaussian clouds n = {}, {} tokens per cluster, cosines [{:.2f}, {:.2f}] and [{:.2f}, "
      "{:.2f}]",
      cases.size(), first.tokens.rows(), first.clusters.size, first.cosines.outer.smallest,
      first.cosines.outer.largest, first.cosines.inner.smallest, first.cosines.inner.largest);
}

Evidence lemma_c_1(const Setting& setting) {
  const std::vector<ClusterCase> cases = cluster_cases(setting);
  Evidence evidence;
  evidence.parameters = text_of(cases) + "; exact clusters";
  for (const double gamma : {0.4, 1.6, 4.0}) compare_masses(gamma, evidence.statement);
  compare_simulated_masses(setting.effort == Effort::full ? 2048 : 1024, setting,
                           evidence.statement);
  compare_borders(evidence.statement);
  for (const ClusterCase& at : cases) {
    for (const Part phase : {rest, cluster, self}) {
      const double gamma = at.gamma(phase), beta = gamma * at.log_n();
      const ExplicitLayer layer = explicit_layer(at.tokens, beta, 0.0);
      double least = 1.0;
      for (std::size_t i = 0; i < at.tokens.rows(); ++i) {
        least = std::min(least, masses(layer, i, at.clusters.size)[phase]);
      }
      evidence.statement.push_back(
          at_least(fmt::format("least share of the {}, γ = {:.2f}", kPartNames[phase], gamma),
                   1.0 - at.largest_remainder(phase, beta), least,
                   layer_rounding(at.tokens.rows(), at.tokens.cols(), beta)));
    }
  }
  return evidence;
}

// ---- the layer --------------------------------------------------------------------------------

// A layer keeps clusters clusters; every pair within and across has the cosine of the closed form.
void compare_outputs(double gamma, double residual, std::vector<Comparison>& into) {
  const double beta = gamma * std::log(static_cast<double>(kClusters.tokens));
  const ExplicitLayer layer =
      explicit_layer(experiments::two_level_tokens(kClusters), beta, residual);
  const auto measured = experiments::cluster_cosines(layer.outputs, kClusters.size);
  const auto predicted = theory::two_level_output(geometry(kClusters), beta, residual);
  const double rounding = layer_rounding(kClusters.tokens, layer.directions.cols(), beta);
  const std::string text = fmt::format(", γ = {}, α = {}", gamma, residual);
  into.push_back(equal("smallest ⟨y'_i,y'_j⟩ within clusters" + text, predicted.cluster_correlation,
                       measured.inner.smallest, rounding));
  into.push_back(equal("largest ⟨y'_i,y'_j⟩ across clusters" + text, predicted.rest_correlation,
                       measured.outer.largest, rounding));
  into.push_back(equal("‖x'_i‖²" + text, predicted.squared_norm,
                       inner(layer.outputs.row(3), layer.outputs.row(3)),
                       predicted.squared_norm * rounding));
}

// The largest distance of ATT(y_i) from the mean of the phase's part alone.
double largest_distance(const ExplicitLayer& layer, std::size_t size, Part phase) {
  double largest = 0.0;
  for (std::size_t i = 0; i < layer.weights.rows(); ++i) {
    const double mass = masses(layer, i, size)[phase];
    Vector difference(layer.mixed.row(i).begin(), layer.mixed.row(i).end());
    for (std::size_t m = 0; m < layer.weights.rows(); ++m) {
      if (part_of(i, m, size) != phase) continue;
      add(difference, -layer.weights(i, m) / mass, layer.directions.row(m));
    }
    largest = std::max(largest, std::sqrt(inner(difference, difference)));
  }
  return largest;
}

// In the middle of the cluster phase each cluster collapses to a point and clusters stay apart:
// ρ_b' → 1, ρ_a' → ρ_a/ρ_b. At n = 1e150 (the closed form squares weights) the distance is below
// n^{−1/10}.
void compare_cluster_limit(std::vector<Comparison>& into) {
  constexpr double tau = 0.7, outer = 0.1, inner_ = 0.7, gamma = 1.2;
  const double log_n = kLargestLog / 2.0, beta = gamma * log_n;
  const auto output =
      theory::two_level_output(theory::two_level_simplex(log_n, tau, inner_, outer), beta);
  const double error = theory::kTwoLevelOutputError * (1.0 + beta + log_n) + 1e-15;
  into.push_back(equal("⟨y'_i,y'_j⟩ within a cluster, n = 1e150, γ_1 < γ < γ_2", 1.0,
                       output.cluster_correlation, error));
  into.push_back(equal("⟨y'_i,y'_j⟩ across clusters, n = 1e150, γ_1 < γ < γ_2", outer / inner_,
                       output.rest_correlation, error));
}

// A row that has the share M in a part mixes to M w + (1 − M) v with w, v in the unit ball, so that
// it is at most 2(1 − M) from w.
Evidence theorem_c_2(const Setting& setting) {
  const std::vector<ClusterCase> cases = cluster_cases(setting);
  Evidence evidence;
  evidence.parameters = text_of(cases) + "; exact clusters";
  for (const double gamma : {0.4, 1.6, 4.0}) {
    for (const double residual : {0.0, 0.7}) compare_outputs(gamma, residual, evidence.statement);
  }
  compare_cluster_limit(evidence.statement);
  for (const ClusterCase& at : cases) {
    for (const Part phase : {rest, cluster, self}) {
      const double gamma = at.gamma(phase), beta = gamma * at.log_n();
      const ExplicitLayer layer = explicit_layer(at.tokens, beta, 0.0);
      evidence.statement.push_back(at_most(
          fmt::format("largest ‖ATT(y_i) − mean over the {}‖, γ = {:.2f}", kPartNames[phase],
                      gamma),
          2.0 * at.largest_remainder(phase, beta), largest_distance(layer, at.clusters.size, phase),
          layer_rounding(at.tokens.rows(), at.tokens.cols(), beta)));
    }
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cas_cluster_claims() {
  return {
      {"cas.lemma-c.1", "CAS, Lemma C.1",
       "Clusters of n^τ tokens: Z_i is held by the rest, then by the cluster, then by the token.",
       lemma_c_1},
      {"cas.theorem-c.2", "CAS, Theorem C.2",
       "Attention averages over the rest, the cluster or the token alone in the three phases.",
       theorem_c_2},
  };
}

}  // namespace dewpoint::claims
