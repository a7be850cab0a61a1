// Critical attention scaling, Appendix D: softmax over independent Gaussian scores, at any length.
//
// Proposition D.1 is right, its heuristic Eq (118) is not (erratum 18): the weights of the largest
// scores go as Γ_k^{−t} with t = β/b_n and Γ_k a sum of k exponentials. Their law has
//
//     1 − E A_1 = (log 2)/t + κ/t² + O(t⁻³),      κ = −π²/12 − 2 Li_2(−1/2) = 0.07436,
//
// from E A_1 = ∫ e^{−x}/Ψ(x) dx with
//
//     Ψ = 1 + Ein(x)/t + J(x)/t² + ...,      J = ∫_0^1 (1 − e^{−xv}) log(1/v) dv/v,
//
// and the integrals of e^{−x} times Ein, Ein² and J: log 2, π²/6 + 2 Li_2(−1/2) and π²/12.
// Eq (118), ∫ e^{−x−Ein(x)/t} dx, has the same log 2 and then −0.374/t².
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_noise.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::claims {
namespace {

/// β = c (log n)^p, as a load.
double load_of(double log_n, double factor, double power) {
  return factor * std::pow(log_n, power) / theory::freezing_beta(log_n);
}

/// κ, from Li_2(−1/2) = Σ_k (−1/2)^k/k²: all but 1e-22 is in the first 60 terms.
double second_coefficient() {
  double dilogarithm = 0.0, power = 1.0;
  for (int k = 1; k <= 60; ++k) dilogarithm += (power *= -0.5) / (k * static_cast<double>(k));
  return -std::numbers::pi * std::numbers::pi / 12.0 - 2.0 * dilogarithm;
}

/// Draws that measure 1 − E A_1 to less than a hundredth. It is carried by the share 1/t of draws
/// whose two largest scores are close: with u uniform the ratio of their weights is u^t, so that E
/// (1 − A_1)² = (log 2 − 1/2)/t, and the relative error is 0.63 √(t/draws).
std::size_t quick_draws(double load) { return static_cast<std::size_t>(7000.0 * load); }

// β_n = log n, which is √(log n/2) times critical.
Evidence one_hot(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = "β_n = log n up to n = 1e300, 7000 t draws or more";
  for (const double n : {1e12, 1e100, 1e300}) {
    const double log_n = std::log(n), load = load_of(log_n, 1.0, 1.0);
    const double edge_load = theory::edge_load(log_n, load);
    const Frame frame =
        experiments::condense(noise({n}, {load}, quick_draws(load), setting), setting.context);
    const Estimate missing = linear(cell(frame, "largest_weight", {0, 0}), -1.0, 1.0);
    // Finite n changes ratios of weights by b⁻², relative, and so 1 − A_1.
    const double error =
        missing.mean * edge_remainder(log_n) + cell(frame, "largest_weight_bound", {0, 0}).mean;
    const std::string text = fmt::format("1 − E A_1, n = {:.0e}, t_e = {:.2f}", n, edge_load);
    evidence.statement.push_back(compare(text + ": Poisson-Dirichlet",
                                         1.0 - theory::poisson_dirichlet_largest_weight(edge_load),
                                         Relation::equals, missing, error));
    // Both laws begin with (log 2)/t: they differ visibly at small t, and t → ∞ shows at large t.
    if (load < 5.0) {
      evidence.as_printed.push_back(compare(text + fmt::format(": Eq (118) at t = {:.2f}", load),
                                            1.0 - theory::published_largest_weight(load),
                                            Relation::equals, missing, error));
    } else {
      evidence.statement.push_back(
          compare(text + ": (log 2)/t_e", std::numbers::ln2 / edge_load, Relation::equals, missing,
                  2.0 * second_coefficient() / (edge_load * edge_load) + error));
    }
  }
  return evidence;
}

// At √log n itself the constant decides: √2 is critical.
Evidence critical_scale(const Setting& setting) {
  const double log_n = std::log(1e300);
  const double hot = load_of(log_n, 1.0, 0.5), cold = load_of(log_n, 2.0, 0.5);
  const auto question = noise(
      {1e300}, {load_of(log_n, 1.0, 0.25), hot, cold, load_of(log_n, 1.0, 1.0)}, 8000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  const char* names[] = {"(log n)^(1/4)", "√log n", "2√log n", "log n"};
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of n = 1e300", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t];
    if (load < 1.0) {
      evidence.statement.push_back(
          compare(fmt::format("E log A_1, β_n = {}: vanishes", names[t]),
                  exact_log_largest_weight(log_n, load), Relation::equals,
                  cell(frame, "log_largest_weight", {0, t}),
                  partition_error(frame, 0, t) + theory::kRandomEnergyError * (1.0 + 2.0 * log_n)));
      continue;
    }
    evidence.statement.push_back(
        compare(fmt::format("E A_1, β_n = {}: Poisson-Dirichlet", names[t]),
                theory::poisson_dirichlet_largest_weight(theory::edge_load(log_n, load)),
                Relation::equals, cell(frame, "largest_weight", {0, t}),
                edge_remainder(log_n) + cell(frame, "largest_weight_bound", {0, t}).mean));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cas_gaussian_claims() {
  return {
      {"cas.proposition-d.1", "CAS, Proposition D.1",
       "For β ≫ √log n one score takes all: 1 − E A_1 ≈ (log 2) b_n/β, and not as Eq (118) has it.",
       one_hot},
      {"cas.appendix-d", "CAS, Appendix D",
       "The critical scale of independent Gaussian scores is √log n: less is diffuse.",
       critical_scale},
  };
}

}  // namespace dewpoint::claims
