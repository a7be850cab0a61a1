#include "cli/phase_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {

void CloudOptions::add_to(CLI::App& verb) {
  verb.add_option("--tokens", cloud.law,
                  fmt::format("Token law: {}, or a file ending in .npy",
                              fmt::join(tokens::law_names(), ", ")))
      ->capture_default_str();
  verb.add_option("--rho-inner", cloud.rho_inner,
                  "Correlation within a cluster (two-level, clustered)")
      ->capture_default_str();
  verb.add_option("--cluster-size", cluster_size,
                  "Tokens per cluster (two-level, clustered); divides n")
      ->capture_default_str();
  verb.add_option("--norm", norm, "Norms of the tokens: unit, gauss/d, gauss")
      ->capture_default_str();
  verb.add_option("--common", common,
                  "Length of the common vector: random (as in the paper) or fixed to 1 (far less "
                  "noise)")
      ->capture_default_str();
  verb.add_option("--alpha", residual, "Residual strength in x' = ATT(N(x)) + alpha x")
      ->capture_default_str();
  verb.add_option("--replicas", replication.replicas, "Clouds to average over")
      ->capture_default_str();
  verb.add_option("--target-error", replication.target_error,
                  "Double the clouds until the standard error of lambda is this small");
}

void CloudOptions::resolve(const Given& given) {
  cloud.rows = given.tokens;
  cloud.norm = tokens::parse_norm(norm);
  cloud.common = tokens::parse_common(common);
  const bool in_range = cluster_size >= 0.0 && cluster_size <= 0x1p53;
  if (!in_range || cluster_size != std::floor(cluster_size)) {
    throw Error(Code::bad_value,
                fmt::format("cluster-size: {} is not a whole number in [0, 2^53]", cluster_size));
  }
  cloud.cluster_size = static_cast<std::size_t>(cluster_size);
}

void FormOptions::add_to(CLI::App& verb) {
  verb.add_option("--mask", mask,
                  "Keys a query sees: none (all), causal, window:W, dilated:W:S (W keys at stride "
                  "S), global:W:G (a window and the first G tokens)")
      ->capture_default_str();
  verb.add_option("--attention", attention,
                  "Weights from scores: softmax, sink:B (a logit B without a key), off-by-one "
                  "(sink:0), top:K, linear (elu + 1), features:M (random features)")
      ->capture_default_str();
  verb.add_option("--projections", projections,
                  "Queries, keys and values: none (the tokens themselves), orthogonal:H (random "
                  "orthogonal matrices, H heads)")
      ->capture_default_str();
  verb.add_option("--rope", rotary_base, "Base of the rotations of positions; 0: none")
      ->capture_default_str();
}

attention::LayerForm FormOptions::resolved() const {
  return attention::parse_layer_form(mask, attention, projections, rotary_base);
}

void NormCliOptions::add_to(CLI::App& verb) {
  verb.add_option("--eta", method,
                  "Jacobian norm: auto (least cost for the error), exact, mixed (sampled "
                  "diagonal), hutchinson, none")
      ->capture_default_str();
  verb.add_option("--eta-error", norm.target_error,
                  "Relative error that probes of a sampled norm must reach")
      ->capture_default_str();
  verb.add_option("--eta-probes", norm.probes,
                  "Probes of a sampled norm; 0: as many as the error needs")
      ->capture_default_str();
}

std::optional<attention::NormOptions> NormCliOptions::resolved() const {
  const auto parsed = attention::parse_norm_method(method);
  if (!parsed) return {};
  attention::NormOptions options = norm;
  options.method = *parsed;
  return options;
}

}  // namespace dewpoint::cli
