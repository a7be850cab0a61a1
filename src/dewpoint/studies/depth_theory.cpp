#include "dewpoint/studies/depth_theory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "dewpoint/core/distributions/sphere_gap.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/replication.hpp"
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
};

std::vector<ExactLayer> simplex_layers(const ExactDepth& p, double beta) {
  const theory::SimplexStack stack{std::log(p.n), beta, p.residual};
  const auto start = theory::simplex_state(p.squared_norm, p.rho);
  const auto states = theory::simplex_trajectory(start, stack, static_cast<int>(p.layers));
  std::vector<ExactLayer> layers;
  for (const auto& state : states) {
    layers.push_back({state.log_decorrelation, state.correlation()});
    if (layers.size() == 1) continue;
    const auto& before = states[layers.size() - 2];
    layers.back().jacobian_norm = theory::simplex_gradient(before, stack, p.d);
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
  const theory::TwoLevelStack stack{std::log(neighbours), std::log(strangers), beta, p.residual};
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

void require(bool holds, const char* field, double value, const std::string& allowed) {
  if (holds) return;
  throw Error(Code::bad_value, fmt::format("{}: {} is not {}", field, value, allowed));
}

void check(const ExactDepth& p) {
  if (p.law != "simplex" && p.law != "two-level") {
    throw Error(Code::bad_value,
                fmt::format("tokens: '{}' has no exact recursion; simplex or two-level", p.law));
  }
  require(p.n >= 2.0 && p.n <= 1e300, "n", p.n, "a number in [2, 1e300]");
  require(p.d >= 1.0 && p.d <= 1e300, "d", p.d, "a number in [1, 1e300]");
  require(p.rho >= 0.0 && p.rho < 1.0, "rho", p.rho, "in [0, 1)");
  experiments::check_residual(p.residual);
  require(p.layers >= 1 && p.layers <= 100000, "layers", static_cast<double>(p.layers),
          "a whole number in [1, 100000]");
  for (const double gamma : p.gamma) {
    require(gamma > 0.0 && gamma <= experiments::kMostGamma, "gamma", gamma,
            "a number in (0, 1e6]");
  }
  if (p.law == "simplex") return;
  require(p.rho_inner >= p.rho && p.rho_inner < 1.0, "rho-inner", p.rho_inner, "in [rho, 1)");
  require(p.cluster_size >= 1.0 && p.cluster_size <= p.n, "cluster-size", p.cluster_size,
          "in [1, n]");
}

Frame empty_frame(const ExactDepth& p) {
  std::vector<double> layers(p.layers + 1);
  std::iota(layers.begin(), layers.end(), 0.0);
  Frame frame("depth_theory");
  frame.add_dimension("gamma", p.gamma);
  frame.add_dimension("layer", layers);
  for (const char* name : {"log10_gap", "mean_cosine", "contraction"}) {
    frame.add_variable(name, {"gamma", "layer"});
  }
  frame.add_variable(p.law == "simplex" ? "jacobian_norm" : "log10_inner_gap", {"gamma", "layer"});
  return frame;
}

Frame filled_frame(const ExactDepth& p,
                   const std::function<std::vector<ExactLayer>(double beta)>& layers_at) {
  Frame frame = empty_frame(p);
  const auto set = [&](const char* name, std::size_t cell, double value) {
    if (frame.find_variable(name) != nullptr) frame.variable(name).cells[cell] = {value, 0.0, 0};
  };
  for (std::size_t g = 0; g < p.gamma.size(); ++g) {
    const double beta = p.gamma[g] * std::log(p.n);
    const std::vector<ExactLayer> layers = layers_at(beta);
    for (std::size_t l = 0; l <= p.layers; ++l) {
      const std::size_t cell = g * (p.layers + 1) + l;
      set("log10_gap", cell, layers[l].log_gap / std::log(10.0));
      set("mean_cosine", cell, layers[l].mean_cosine);
      set("contraction", cell,
          l == 0 ? kUnknown : std::exp(layers[l].log_gap - layers[l - 1].log_gap));
      set("jacobian_norm", cell, layers[l].jacobian_norm);
      set("log10_inner_gap", cell, layers[l].log_inner_gap / std::log(10.0));
    }
  }
  return frame;
}

// Random heads, and the plain layer otherwise, on tokens that theory/random_heads.hpp knows.
bool has_random_heads(const experiments::PhaseDepth& p) {
  attention::LayerForm form = p.form;
  const bool heads = std::exchange(form.heads, 0) > 0;
  return heads && form == attention::LayerForm{} && p.residual == 0.0 && p.cloud.d >= 3 &&
         p.cloud.d <= SphereGap::kMostDimension &&
         (p.cloud.law == "sphere" || p.cloud.law == "equicorrelated");
}

std::vector<ExactLayer> random_head_layers(const ExactDepth& p, double beta, double heads) {
  const theory::RandomHeadStack stack{std::log(p.n), static_cast<int>(p.d),
                                      beta * theory::random_head_deviation(p.d, heads)};
  const auto start = theory::random_head_state(stack, p.squared_norm, p.rho);
  const auto states = theory::random_head_trajectory(start, stack, static_cast<int>(p.layers));
  std::vector<ExactLayer> layers;
  for (std::size_t l = 0; l < states.size(); ++l) {
    layers.push_back({states[l].log_gap, 1.0 - states[l].gap()});
    if (l > 0) layers[l].jacobian_norm = theory::random_head_gradient(states[l - 1], stack);
  }
  return layers;
}

}  // namespace

Frame exact_depth(const ExactDepth& p) {
  check(p);
  return filled_frame(p, [&](double beta) {
    return p.law == "simplex" ? simplex_layers(p, beta) : two_level_layers(p, beta);
  });
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
  exact.law = heads || simplex ? "simplex" : "two-level";
  exact.n = static_cast<double>(p.cloud.n);
  exact.d = d;
  exact.rho = p.cloud.law == "sphere" ? 0.0 : p.cloud.rho;
  exact.rho_inner = p.cloud.rho_inner;
  exact.cluster_size = static_cast<double>(p.cloud.cluster_size);
  exact.squared_norm = p.cloud.norm == tokens::Norm::gauss ? d : 1.0;
  exact.gamma = p.gamma;
  exact.residual = p.residual;
  exact.layers = p.layers;
  if (!heads) return exact_depth(exact);
  return filled_frame(exact, [&](double beta) {
    return random_head_layers(exact, beta, static_cast<double>(p.form.heads));
  });
}

}  // namespace dewpoint::studies
