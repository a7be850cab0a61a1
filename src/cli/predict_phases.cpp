// dewpoint predict phases: clustered tokens, and where a row of attention puts its mass.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/predict_options.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint::cli {
namespace {

struct PhasesTheory {
  question::Grid n;
  Clusters clusters;
  question::Grid gamma;
};

template <class Visitor>
void describe(Visitor& visit, PhasesTheory& q) {
  visit("n", q.n, kLengths, "tokens, a list: 1e3,1e6,1e12", question::required);
  describe_clusters(visit, q.clusters, question::required);
  visit("gamma", q.gamma, question::in(0.0, 1e90), "beta/log n: a list, or first:last:count[:log]",
        question::otherwise("around the borders"));
}

// Below, at, between and above the borders.
std::vector<double> gammas_around(const std::optional<theory::ClusterPhase>& middle,
                                  double direct) {
  std::vector<double> gammas = {0.5 * direct, direct, 1.5 * direct};
  if (middle) {
    const double first = middle->rest_to_cluster, second = middle->cluster_to_self;
    gammas = {0.5 * first, first, 0.5 * (first + second), second, 1.5 * second};
  }
  gammas.erase(std::unique(gammas.begin(), gammas.end()), gammas.end());
  return gammas;
}

std::vector<double> cluster_gammas(const PhasesTheory& o,
                                   const std::optional<theory::ClusterPhase>& middle) {
  if (o.gamma.empty()) return gammas_around(middle, theory::critical_gamma(o.clusters.rho_rest));
  return o.gamma.values();
}

// The largest of the three exponents of n names who holds the row as n → ∞.
std::string holder(const Clusters& o, double gamma) {
  const double cluster = o.tau - gamma * (1.0 - o.rho_cluster);
  const double rest = 1.0 - gamma * (1.0 - o.rho_rest);
  const double largest = std::max({0.0, cluster, rest}), rounding = 1e-14 * (1.0 + gamma);
  std::string names;
  const auto add = [&](double exponent, const char* name) {
    if (exponent >= largest - rounding) names += (names.empty() ? "" : " = ") + std::string(name);
  };
  add(0.0, "self");
  add(cluster, "cluster");
  add(rest, "rest");
  return names;
}

Json mass_records(const PhasesTheory& o, const std::vector<double>& gammas) {
  Json records = Json::array();
  for (const double n : o.n.values()) {
    const auto& [tau, rho_rest, rho_cluster] = o.clusters;
    const double log_n = o.clusters.log_length(n);
    const auto simplex = theory::two_level_simplex(log_n, tau, rho_cluster, rho_rest);
    for (const double gamma : gammas) {
      const auto masses = theory::two_level_masses(simplex, gamma * log_n);
      records.push_back({{"n", n},
                         {"gamma", gamma},
                         {"self", masses.self},
                         {"cluster", masses.cluster},
                         {"rest", masses.rest},
                         {"log_self", masses.log_self},
                         {"log_cluster", masses.log_cluster},
                         {"log_rest", masses.log_rest},
                         {"holder", holder(o.clusters, gamma)}});
    }
  }
  return records;
}

std::string no_middle_text(const Clusters& o) {
  return fmt::format(
      "no middle phase: it needs 1 - tau + tau rho_rest < rho_cluster, here {:.6g} and {}",
      1.0 - o.tau + o.tau * o.rho_rest, o.rho_cluster);
}

std::string border_text(const Clusters& o, const std::optional<theory::ClusterPhase>& middle) {
  if (middle) {
    return fmt::format(
        "rest -> cluster at gamma_1 = (1 - tau)/(rho_cluster - rho_rest) = {:.12g}\n"
        "cluster -> self at gamma_2 = tau/(1 - rho_cluster) = {:.12g}\n",
        middle->rest_to_cluster, middle->cluster_to_self);
  }
  return fmt::format("{}\nrest -> self at gamma = 1/(1 - rho_rest) = {:.12g}\n", no_middle_text(o),
                     theory::critical_gamma(o.rho_rest));
}

Answer phases_answer(const PhasesTheory& o) {
  const Clusters& clusters = o.clusters;
  clusters.check();
  const auto& [tau, rho_rest, rho_cluster] = clusters;
  const auto middle = theory::cluster_phase(tau, rho_cluster, rho_rest);
  const Json records = mass_records(o, cluster_gammas(o, middle));
  Json json =
      heading("phases", {{"tau", tau}, {"rho_rest", rho_rest}, {"rho_cluster", rho_cluster}});
  json["gamma_1"] = middle ? Json(middle->rest_to_cluster) : Json();
  json["gamma_2"] = middle ? Json(middle->cluster_to_self) : Json();
  json["gamma_direct"] = middle ? Json() : Json(theory::critical_gamma(rho_rest));
  json["no_middle_phase"] = middle ? Json() : Json(no_middle_text(clusters));
  json["masses"] = records;
  const std::vector<Column> columns = {{"n", "n"},       {"gamma", "gamma"},
                                       {"self", "self"}, {"cluster", "cluster"},
                                       {"rest", "rest"}, {"holder", "n -> infinity", true}};
  return {
      json,
      fmt::format("Clusters of n^{} neighbours, correlation {} within and {} across\n{}\n{}", tau,
                  rho_cluster, rho_rest, border_text(clusters, middle), to_text(records, columns))};
}

}  // namespace

Verb predict_phases_verb() {
  return verb_of<PhasesTheory>(
      "predict phases", "Clustered tokens: all, the cluster, or the token itself",
      "dewpoint predict phases --n 1e3,1e6,1e12 --tau 0.7 --rho-rest 0.1 --rho-cluster 0.7",
      phases_answer);
}

}  // namespace dewpoint::cli
