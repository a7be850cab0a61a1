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

struct PhasesOptions {
  std::string n;
  ClusterOptions clusters;
  std::string gamma;

  void add_to(CLI::App& verb) {
    verb.add_option("--n", n, "Tokens, a list: 1e3,1e6,1e12")->required();
    for (CLI::Option* option : clusters.add_to(verb)) option->required();
    verb.add_option(
        "--gamma", gamma,
        "beta = gamma log n: a list, or first:last:count[:log]; default around the borders");
  }
};

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

std::vector<double> cluster_gammas(const PhasesOptions& o,
                                   const std::optional<theory::ClusterPhase>& middle) {
  if (o.gamma.empty()) return gammas_around(middle, theory::critical_gamma(o.clusters.rho_rest));
  std::vector<double> gammas = parse_grid("gamma", o.gamma);
  for (const double gamma : gammas)
    require(gamma >= 0.0 && gamma <= 1e90, "gamma", gamma, "a number in [0, 1e90]");
  return gammas;
}

// The largest of the three exponents of n names who holds the row as n → ∞.
std::string holder(const ClusterOptions& o, double gamma) {
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

Json mass_records(const PhasesOptions& o, const std::vector<double>& gammas) {
  Json records = Json::array();
  for (const double n : parse_grid("n", o.n)) {
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

std::string no_middle_text(const ClusterOptions& o) {
  return fmt::format(
      "no middle phase: it needs 1 - tau + tau rho_rest < rho_cluster, here {:.6g} and {}",
      1.0 - o.tau + o.tau * o.rho_rest, o.rho_cluster);
}

std::string border_text(const ClusterOptions& o,
                        const std::optional<theory::ClusterPhase>& middle) {
  if (middle) {
    return fmt::format(
        "rest -> cluster at gamma_1 = (1 - tau)/(rho_cluster - rho_rest) = {:.12g}\n"
        "cluster -> self at gamma_2 = tau/(1 - rho_cluster) = {:.12g}\n",
        middle->rest_to_cluster, middle->cluster_to_self);
  }
  return fmt::format("{}\nrest -> self at gamma = 1/(1 - rho_rest) = {:.12g}\n", no_middle_text(o),
                     theory::critical_gamma(o.rho_rest));
}

Answer answer(const PhasesOptions& o) {
  const ClusterOptions& clusters = o.clusters;
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

void add_predict_phases(Program& program, CLI::App& predict) {
  add_question<PhasesOptions>(
      program, predict,
      {"phases", "Clustered tokens: all, the cluster, or the token itself",
       "dewpoint predict phases --n 1e3,1e6,1e12 --tau 0.7 --rho-rest 0.1 --rho-cluster 0.7"},
      answer);
}

}  // namespace dewpoint::cli
