#include "dewpoint/studies/depth_theory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/studies/layer_theory.hpp"
#include "dewpoint/theory/random_heads.hpp"
#include "dewpoint/theory/simplex_depth.hpp"
#include "dewpoint/theory/two_level_depth.hpp"

namespace dewpoint::studies {
namespace {

// One layer of a recursion: of the tokens, and of the layer that made them.
struct ExactLayer {
  double log_gap;
  double mean_cosine;
  double log_inner_gap = kUnknown;
  double jacobian_norm = kUnknown;
  double end_to_end_norm = kUnknown;
};

std::vector<ExactLayer> simplex_layers(const ExactDepth& p, double beta) {
  const theory::SimplexStack stack{std::log(p.n), beta, p.alpha};
  const auto start = theory::simplex_state(p.squared_norm, p.rho);
  const auto states = theory::simplex_trajectory(start, stack, static_cast<int>(p.layers));
  std::vector<ExactLayer> layers;
  for (const auto& state : states) {
    layers.push_back({state.log_decorrelation, state.correlation()});
    if (layers.size() == 1) continue;
    const auto& before = states[layers.size() - 2];
    layers.back().jacobian_norm = theory::simplex_gradient(before, stack, p.d.value());
  }
  return layers;
}

// log(share e^x + (1 − share) e^y)
double log_mean(double share, double x, double y) {
  const double larger = std::max(x, y);
  if (!std::isfinite(larger)) return larger;
  return larger + std::log(share * std::exp(x - larger) + (1.0 - share) * std::exp(y - larger));
}

std::vector<ExactLayer> two_level_layers(const ExactDepth& p, double beta) {
  const double neighbours = p.cluster_size - 1.0;
  const double strangers = p.n - p.cluster_size;
  const theory::TwoLevelStack stack{std::log(neighbours), std::log(strangers), beta, p.alpha};
  const auto start = theory::two_level_state(p.squared_norm, p.rho_inner, p.rho);
  const double share = neighbours / (p.n - 1.0);
  std::vector<ExactLayer> layers;
  for (const auto& state : theory::two_level_trajectory(start, stack, static_cast<int>(p.layers))) {
    const double cosine =
        share * state.cluster_correlation() + (1.0 - share) * state.rest_correlation();
    layers.push_back(
        {log_mean(share, state.log_own, state.log_rest_decorrelation()), cosine, state.log_own});
  }
  return layers;
}

Frame empty_frame(const ExactDepth& p, const std::vector<double>& gammas, bool end_to_end) {
  std::vector<double> layers(p.layers + 1);
  std::iota(layers.begin(), layers.end(), 0.0);
  Frame frame("depth_theory");
  frame.add_dimension("gamma", gammas);
  frame.add_dimension("layer", layers);
  for (const char* name : {"log10_gap", "mean_cosine", "contraction"}) {
    frame.add_variable(name, {"gamma", "layer"});
  }
  const bool simplex = p.law == RecursionLaw::simplex;
  frame.add_variable(simplex ? "jacobian_norm" : "log10_inner_gap", {"gamma", "layer"});
  if (end_to_end) frame.add_variable("end_to_end_norm", {"gamma", "layer"});
  return frame;
}

Frame filled_frame(const ExactDepth& p, const std::vector<double>& gammas, bool end_to_end,
                   const std::function<std::vector<ExactLayer>(double beta)>& layers_at) {
  Frame frame = empty_frame(p, gammas, end_to_end);
  const auto set = [&](const char* name, std::size_t cell, double value) {
    if (frame.find_variable(name) != nullptr) frame.variable(name).cells[cell] = {value, 0.0, 0};
  };
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    const double beta = gammas[g] * std::log(p.n);
    const std::vector<ExactLayer> layers = layers_at(beta);
    for (std::size_t l = 0; l <= p.layers; ++l) {
      const std::size_t cell = g * (p.layers + 1) + l;
      set("log10_gap", cell, layers[l].log_gap / std::log(10.0));
      set("mean_cosine", cell, layers[l].mean_cosine);
      set("contraction", cell,
          l == 0 ? kUnknown : std::exp(layers[l].log_gap - layers[l - 1].log_gap));
      set("jacobian_norm", cell, layers[l].jacobian_norm);
      set("end_to_end_norm", cell, layers[l].end_to_end_norm);
      set("log10_inner_gap", cell, layers[l].log_inner_gap / std::log(10.0));
    }
  }
  return frame;
}

std::vector<ExactLayer> random_head_layers(const ExactDepth& p, double beta, double heads) {
  const theory::RandomHeadStack stack{std::log(p.n), static_cast<int>(p.d.value()),
                                      beta * theory::random_head_deviation(*p.d, heads)};
  const auto start = theory::random_head_state(stack, p.squared_norm, p.rho);
  const auto states = theory::random_head_trajectory(start, stack, static_cast<int>(p.layers));
  std::vector<ExactLayer> layers;
  for (std::size_t l = 0; l < states.size(); ++l) {
    layers.push_back({states[l].log_gap, 1.0 - states[l].gap()});
    layers[l].end_to_end_norm = states[l].end_to_end();
    if (l > 0) layers[l].jacobian_norm = theory::random_head_gradient(states[l - 1], stack);
  }
  return layers;
}

}  // namespace

const std::vector<std::pair<std::string, RecursionLaw>>& words_of(RecursionLaw) {
  static const std::vector<std::pair<std::string, RecursionLaw>> words = {
      {"simplex", RecursionLaw::simplex}, {"two-level", RecursionLaw::two_level}};
  return words;
}

ExactDepth resolved(ExactDepth q) {
  q.d = q.d.value_or(q.n);
  if (q.law == RecursionLaw::simplex) return q;
  experiments::require_option(q.rho_inner >= q.rho, "rho-inner", q.rho_inner,
                              fmt::format("at least rho = {}", q.rho));
  experiments::require_option(q.cluster_size <= q.n, "cluster-size", q.cluster_size,
                              fmt::format("at most n = {:g}", q.n));
  return q;
}

Frame exact_depth(const ExactDepth& p, const std::vector<double>& gammas) {
  return filled_frame(p, gammas, false, [&](double beta) {
    return p.law == RecursionLaw::simplex ? simplex_layers(p, beta) : two_level_layers(p, beta);
  });
}

bool has_random_heads(const experiments::PhaseDepth& p) {
  attention::LayerForm form = p.form;
  const bool heads = std::exchange(form.heads, 0) > 0;
  return heads && form == attention::LayerForm{} && p.residual == 0.0 && p.cloud.d >= 3 &&
         p.cloud.d <= SphereGap::kMostDimension &&
         (p.cloud.law == "sphere" || p.cloud.law == "equicorrelated");
}

experiments::PhaseDepth phase_depth_of(const question::Asked& asked, std::uint64_t seed,
                                       std::shared_ptr<const Matrix<double>> rows) {
  auto q = asked.first<experiments::Replicated<experiments::DepthQuestion>>();
  experiments::LayerQuestion& layer = q.question.layer;
  layer.cloud.rows = std::move(rows);
  layer.cloud = experiments::resolved(std::move(layer.cloud));
  std::vector<double> gammas;
  for (const auto& [name, member] : {std::pair{"gamma", &experiments::TemperatureQuestion::gamma},
                                     std::pair{"c", &experiments::TemperatureQuestion::c},
                                     std::pair{"beta", &experiments::TemperatureQuestion::beta}}) {
    for (const double value : asked.numbers(name)) {
      layer.temperature.*member = value;
      gammas.push_back(gamma_of(with_gamma(layer)));
    }
  }
  layer = with_gamma(std::move(layer));
  experiments::PhaseDepth p = phase_depth_of(experiments::resolved(std::move(q.question)), seed);
  if (!gammas.empty()) p.gamma = std::move(gammas);
  p.replication = replication_of(q.replication);
  return experiments::resolved(p);
}

std::optional<Frame> depth_theory(const experiments::PhaseDepth& p) {
  const bool simplex = p.cloud.law == "simplex" || p.cloud.law == "equicorrelated";
  const bool heads = has_random_heads(p);
  if (!heads && !simplex && p.cloud.law != "two-level") return {};
  if (p.rescaled || (!heads && p.form != attention::LayerForm{})) return {};
  for (const double gamma : p.gamma) {
    if (gamma == 0.0) return {};
  }
  const auto d = static_cast<double>(p.cloud.d);
  ExactDepth exact;
  exact.law = heads || simplex ? RecursionLaw::simplex : RecursionLaw::two_level;
  exact.n = static_cast<double>(p.cloud.n);
  exact.d = d;
  exact.rho = p.cloud.law == "sphere" ? 0.0 : p.cloud.rho;
  exact.rho_inner = p.cloud.rho_inner;
  exact.cluster_size = static_cast<double>(p.cloud.cluster_size);
  exact.alpha = p.residual;
  exact.layers = p.layers;
  exact.squared_norm = p.cloud.norm == tokens::Norm::gauss ? d : 1.0;
  if (!heads) return exact_depth(exact, p.gamma);
  return filled_frame(exact, p.gamma, p.end_to_end.has_value(), [&](double beta) {
    return random_head_layers(exact, beta, static_cast<double>(p.form.heads));
  });
}

}  // namespace dewpoint::studies
