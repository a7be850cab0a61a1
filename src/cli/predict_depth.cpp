// dewpoint predict depth: layer after layer, until the tokens have merged.
//
// With --rho the tokens are a regular simplex. With --tau, --rho-rest and --rho-cluster they come
// in clusters, which may merge long before the clusters meet.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "cli/predict_options.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "dewpoint/theory/two_level_depth.hpp"

namespace dewpoint::cli {
namespace {

constexpr long long kMostLayers = 1000000;  // searched for the collapse, in well under a second
constexpr int kMostListed = 100000;
constexpr double kTinyDecorrelation = 1e-6;  // shown as a power of ten below

struct DepthTheory {
  double n = 0.0;
  std::optional<double> d;
  std::optional<double> rho;
  Temperature temperature;
  double alpha = 0.0;
  double q = 1.0;
  std::optional<double> tau, rho_rest, rho_cluster;
  int layers = 12;
  double threshold = 0.999;

  [[nodiscard]] bool clustered() const { return tau || rho_rest || rho_cluster; }
};

template <class Visitor>
void describe(Visitor& visit, DepthTheory& q) {
  describe_length(visit, q.n);
  describe_dimension(visit, q.d, question::not_with("tau"));
  describe_correlation(visit, q.rho, question::not_with("tau"));
  describe(visit, q.temperature);
  describe_residual(visit, q.alpha);
  describe_squared_norm(visit, q.q);
  describe_clusters(visit, q, question::group("Clusters, instead of --rho"));
  visit("layers", q.layers, question::in(1.0, kMostListed), "layers to list");
  visit("threshold", q.threshold, question::below(0.0, 1.0),
        "tokens have collapsed when rho exceeds this", question::not_with("tau"));
}

// Clusters are given by all three of their members.
Clusters clusters_of(const DepthTheory& q) {
  const auto given = [](const char* name, const std::optional<double>& value) {
    if (value) return *value;
    throw Error(
        Code::bad_value,
        fmt::format("{}: missing; clusters need --tau, --rho-rest and --rho-cluster", name));
  };
  return {given("tau", q.tau), given("rho-rest", q.rho_rest), given("rho-cluster", q.rho_cluster)};
}

// Layers for which q stays a double: √q' ≤ 1 + α√q since all outputs of attention are in the unit
// ball.
long long layers_within_range(double residual, double squared_norm) {
  long long layers = 0;
  for (double length = std::sqrt(squared_norm); layers < kMostLayers; ++layers) {
    length = 1.0 + residual * length;
    if (length > 1e150) break;
  }
  return layers;
}

// The layer that is repeated, whatever the tokens are.
SimplexLayer repeated_layer(const DepthTheory& q) {
  if (!q.clustered() && !q.rho) {
    throw Error(Code::bad_value,
                "rho: missing; allowed: --rho, or --tau, --rho-rest and --rho-cluster");
  }
  const double log_n = std::log(q.n), beta = q.temperature.inverse(log_n);
  require(beta > 0.0, "beta", beta, "above 0");
  return {q.n, log_n, q.d.value_or(q.n), q.rho.value_or(0.0), beta, q.alpha, q.q};
}

void require_layers(int layers, long long most) {
  const long long listed = std::min<long long>(most, kMostListed);
  require(layers >= 1 && layers <= listed, "layers", layers,
          fmt::format("a whole number in [1, {}]", listed));
}

double log10_of(double logarithm) { return logarithm / std::numbers::ln10; }

// ---- simplex --------------------------------------------------------------------------------

Json simplex_records(const std::vector<theory::SimplexState>& states,
                     const theory::SimplexStack& stack, double dimension) {
  Json records = Json::array();
  for (std::size_t k = 0; k < states.size(); ++k) {
    const theory::SimplexState& state = states[k];
    const bool last = k + 1 == states.size();
    const double log_decorrelation = state.log_decorrelation;
    records.push_back(
        {{"layer", k},
         {"squared_norm", state.squared_norm},
         {"correlation", state.correlation()},
         {"decorrelation", state.decorrelation()},
         {"log10_decorrelation", log10_of(log_decorrelation)},
         {"contraction",
          last ? Json() : Json(std::exp(states[k + 1].log_decorrelation - log_decorrelation))},
         {"gradient", last ? Json() : Json(theory::simplex_gradient(state, stack, dimension))}});
  }
  return records;
}

std::string simplex_table(Json records) {
  for (Json& record : records)
    if (record["decorrelation"].get<double>() < kTinyDecorrelation)
      record["decorrelation"] =
          fmt::format("10^{:.6g}", record["log10_decorrelation"].get<double>());
  return to_text(records, {{"layer", "layer"},
                           {"squared_norm", "q"},
                           {"correlation", "ρ"},
                           {"decorrelation", "1 - ρ"},
                           {"contraction", "λ"},
                           {"gradient", "η"}});
}

std::optional<double> leading_depth(const SimplexLayer& layer) {
  const bool supercritical = layer.inverse_temperature * (1.0 - layer.correlation) > layer.log_n;
  if (!supercritical || layer.correlation <= 0.0 || layer.residual > 0.0) return {};
  return theory::leading_collapse_depth(layer.log_n, layer.inverse_temperature, layer.correlation);
}

std::string simplex_text(const SimplexLayer& layer, const Json& json) {
  const Json& depth = json["collapse_depth"];
  const Json& leading = json["leading_collapse_depth"];
  return fmt::format(
      "Regular simplex of {:.12g} tokens: rho = {}, q = {}, alpha = {}; beta = {:.12g}, c = {:.6g} "
      "at the start\n\n{}\nλ and η are those of the layer that follows.\n"
      "{}  layers until rho > {}\n{}  leading formula n^(c-1)/(2 rho c log n), good beyond 50{}\n",
      layer.n, layer.correlation, layer.squared_norm, layer.residual, layer.inverse_temperature,
      layer.reduced_scale(), simplex_table(json["layers"]),
      depth.is_null() ? fmt::format("more than {}", json["most_layers"].get<long long>())
                      : shown(depth),
      json["threshold"].get<double>(), leading.is_null() ? "none" : digits(leading.get<double>()),
      leading.is_null() ? "; needs c > 1, rho > 0, alpha = 0" : "");
}

Answer simplex_answer(const DepthTheory& o, const SimplexLayer& layer, long long most) {
  require_layers(o.layers, most);
  const theory::SimplexStack stack{layer.log_n, layer.inverse_temperature, layer.residual};
  const auto start = theory::simplex_state(layer.squared_norm, layer.correlation);
  const auto states = theory::simplex_trajectory(start, stack, o.layers);
  const auto depth = theory::collapse_depth(start, stack, o.threshold, most);
  const auto leading = leading_depth(layer);
  Json json = heading("depth", parameters_of(layer));
  json["threshold"] = o.threshold;
  json["most_layers"] = most;
  json["collapse_depth"] = depth ? Json(*depth) : Json();
  json["leading_collapse_depth"] = leading ? Json(*leading) : Json();
  json["layers"] = simplex_records(states, stack, layer.dimension);
  return {json, simplex_text(layer, json)};
}

// ---- clusters -------------------------------------------------------------------------------

Json cluster_records(const std::vector<theory::TwoLevelState>& states) {
  Json records = Json::array();
  for (std::size_t k = 0; k < states.size(); ++k) {
    const theory::TwoLevelState& state = states[k];
    records.push_back({{"layer", k},
                       {"squared_norm", state.squared_norm},
                       {"cluster_correlation", state.cluster_correlation()},
                       {"rest_correlation", state.rest_correlation()},
                       {"log10_cluster_decorrelation", log10_of(state.log_own)},
                       {"log10_rest_decorrelation", log10_of(state.log_rest_decorrelation())}});
  }
  return records;
}

std::string cluster_text(const Clusters& clusters, const SimplexLayer& layer, const Json& records) {
  const std::vector<Column> columns = {{"layer", "layer"},
                                       {"squared_norm", "q"},
                                       {"log10_cluster_decorrelation", "log10(1 - ρ_cluster)"},
                                       {"log10_rest_decorrelation", "log10(1 - ρ_rest)"},
                                       {"cluster_correlation", "ρ_cluster"},
                                       {"rest_correlation", "ρ_rest"}};
  return fmt::format(
      "{:.12g} tokens in clusters of n^{} neighbours: rho_cluster = {}, rho_rest = {}, q = {}, "
      "alpha = {}\nbeta = {:.12g}, gamma = beta/log n = {:.12g}\n\n{}",
      layer.n, clusters.tau, clusters.rho_cluster, clusters.rho_rest, layer.squared_norm,
      layer.residual, layer.inverse_temperature, layer.gamma(), to_text(records, columns));
}

Answer cluster_answer(const DepthTheory& o, const SimplexLayer& layer, long long most) {
  const Clusters clusters = clusters_of(o);
  clusters.check();
  require_layers(o.layers, most);
  const auto simplex = theory::two_level_simplex(clusters.log_length(layer.n), clusters.tau,
                                                 clusters.rho_cluster, clusters.rho_rest);
  const theory::TwoLevelStack stack{simplex.log_neighbours, simplex.log_strangers,
                                    layer.inverse_temperature, layer.residual};
  const auto start =
      theory::two_level_state(layer.squared_norm, clusters.rho_cluster, clusters.rho_rest);
  Json json = heading("depth", {{"n", layer.n},
                                {"tau", clusters.tau},
                                {"rho_rest", clusters.rho_rest},
                                {"rho_cluster", clusters.rho_cluster},
                                {"beta", layer.inverse_temperature},
                                {"gamma", layer.gamma()},
                                {"alpha", layer.residual},
                                {"q", layer.squared_norm}});
  json["layers"] = cluster_records(theory::two_level_trajectory(start, stack, o.layers));
  return {json, cluster_text(clusters, layer, json["layers"])};
}

Answer depth_answer(const DepthTheory& o) {
  const SimplexLayer layer = repeated_layer(o);
  const long long most = layers_within_range(layer.residual, layer.squared_norm);
  return o.clustered() ? cluster_answer(o, layer, most) : simplex_answer(o, layer, most);
}

}  // namespace

Verb predict_depth_verb() {
  return verb_of<DepthTheory>("predict depth", "Layer after layer until the tokens merge",
                              "dewpoint predict depth --n 1e6 --rho 0.5 --gamma 2.4 --layers 10",
                              depth_answer);
}

}  // namespace dewpoint::cli
