#include "dewpoint/studies/phase_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/experiments/variant_point.hpp"
#include "dewpoint/studies/parameter_checks.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "dewpoint/theory/random_heads.hpp"

namespace dewpoint::studies {
namespace {

using enum Kind;

// Beyond these a count is a mistake.
constexpr double kMostTokens = static_cast<double>(tokens::kMostTokens);
constexpr double kMostDimensions = static_cast<double>(tokens::kMostDimensions);
constexpr double kMostProbesAsked = 1e6;

double number_or(const Point& point, const std::string& name, double otherwise) {
  return has(point, name) ? number_of(point, name) : otherwise;
}

void require_size(const std::string& name, double value) {
  require(value >= 0.0 && std::isfinite(value), name, value, "a finite number >= 0");
}

double gamma_of_reduced_scale(const Point& point, const tokens::CloudParameters& cloud) {
  const double c = number_of(point, "c");
  require_size("c", c);
  if (form_of(point).heads > 0) {
    if (has_freezing(point)) return c * critical_gamma_of(point);
    throw Error(Code::bad_value,
                fmt::format("c: where {} on tokens '{}' freeze is not known; use gamma or beta",
                            attention::name_of(form_of(point)), cloud.law));
  }
  if (!tokens::has_correlation(cloud)) {
    throw Error(Code::bad_value,
                fmt::format("c: tokens '{}' have no correlation rho to reduce a scale by; use "
                            "gamma or beta",
                            cloud.law));
  }
  return c / (1.0 - cloud.rho);
}

void resolve_temperature(Point& point, const tokens::CloudParameters& cloud) {
  require_one_of(point, {"gamma", "c", "beta"});
  if (has(point, "c")) {
    point["gamma"] = gamma_of_reduced_scale(point, cloud);
  } else if (has(point, "beta")) {
    const double beta = number_of(point, "beta");
    const double log_n = std::log(static_cast<double>(cloud.n));
    require(beta >= 0.0 && beta <= experiments::kMostGamma * log_n, "beta", beta,
            "a number in [0, 1e6 log n]");
    point["gamma"] = beta / log_n;
  } else if (!has(point, "gamma")) {
    throw Error(Code::bad_value, "gamma: is missing; a layer needs one of gamma, c, beta");
  }
  experiments::check_gamma(number_of(point, "gamma"));
  point.erase("c");
  point.erase("beta");
}

void drop_irrelevant(Point& point, const tokens::CloudParameters& cloud, bool norms_matter) {
  const bool clusters = tokens::has_clusters(cloud);
  const bool common = cloud.law == "equicorrelated" || cloud.law == "clustered";
  const bool norm = norms_matter || number_of(point, "alpha") > 0.0 || norm_of(point).has_value();
  const std::string eta = word_of(point, "eta");
  const auto keep = [&](const char* name, bool matters) {
    if (!matters) point.erase(name);
  };
  keep("rho", tokens::has_correlation(cloud));
  keep("rho-inner", clusters);
  keep("cluster-size", clusters);
  keep("common", common);
  keep("norm", norm);
  keep("eta-error", eta != "none" && eta != "exact" && number_of(point, "eta-probes") == 0.0);
  keep("eta-probes", eta != "none" && eta != "exact");
}

}  // namespace

std::vector<Field> layer_parameters(std::size_t standard_n) {
  const tokens::CloudParameters cloud;
  return {
      {"tokens", word, cloud.law,
       fmt::format("token law: {}, or a file ending in .npy",
                   fmt::join(tokens::law_names(), ", "))},
      {"n", whole, static_cast<double>(standard_n), "tokens, at least 2"},
      {"d", whole, 0.0, "dimension; 0: 64, or the least an exact law needs"},
      {"rho", number, cloud.rho, "correlation of two tokens, in [0, 1)"},
      {"rho-inner", number, cloud.rho_inner,
       "correlation within a cluster, in [rho, 1) (two-level, clustered)"},
      {"cluster-size", whole, static_cast<double>(cloud.cluster_size),
       "tokens per cluster; divides n (two-level, clustered)"},
      {"norm",
       word,
       tokens::name_of(cloud.norm),
       "norms of the tokens",
       true,
       {"unit", "gauss/d", "gauss"}},
      {"common",
       word,
       tokens::name_of(cloud.common),
       "length of the common vector",
       true,
       {"random", "fixed"}},
      {"gamma", number, {}, "beta = gamma log n, in [0, 1e6]; one of gamma, c, beta is needed"},
      {"c",
       number,
       {},
       "instead of gamma: gamma over its critical value, gamma (1 - rho) or, with "
       "random heads, beta over that of freezing"},
      {"beta", number, {}, "instead of gamma: the inverse temperature itself"},
      {"alpha", number, 0.0, "residual strength in x' = ATT(N(x)) + alpha x, in [0, 1e6]"},
      {"mask", word, std::string("none"),
       "keys a query sees: none (all), causal, window:W, dilated:W:S, global:W:G"},
      {"attention", word, std::string("softmax"),
       "weights from scores: softmax, sink:B, off-by-one, top:K, linear, features:M"},
      {"projections", word, std::string("none"),
       "queries, keys, values: none (the tokens), orthogonal:H (random matrices, H heads)"},
      {"rope", number, 0.0, "base of the rotations of positions, > 0; 0: none"},
  };
}

std::vector<Field> known_cloud_parameters(std::size_t standard_n,
                                          const std::vector<std::string>& more) {
  std::vector<Field> kept;
  for (Field& parameter : layer_parameters(standard_n)) {
    const std::string& name = parameter.name;
    if (name == "tokens") {
      parameter.words = {"equicorrelated", "simplex", "sphere"};
      parameter.meaning = "token law: equicorrelated (almost a simplex), simplex or sphere";
    }
    if (name == "common") parameter.standard = std::string("fixed");
    const bool of_cloud =
        name == "tokens" || name == "n" || name == "d" || name == "rho" || name == "common";
    if (of_cloud || std::ranges::find(more, name) != more.end()) {
      kept.push_back(std::move(parameter));
    }
  }
  return kept;
}

void drop_unknown_to_cloud(Point& point) {
  if (word_of(point, "tokens") == "sphere") point.erase("rho");
  if (word_of(point, "tokens") != "equicorrelated") point.erase("common");
}

std::vector<Field> norm_parameters() {
  const attention::NormOptions options;
  return {
      {"eta",
       word,
       std::string("none"),
       "Jacobian norm",
       false,
       {"none", "auto", "exact", "mixed", "hutchinson"}},
      {"eta-error", number, options.target_error,
       "relative error that probes of a sampled norm must reach, > 0", false},
      {"eta-probes", whole, static_cast<double>(options.probes),
       "probes of a sampled norm; 0: as many as the error needs", false},
  };
}

std::vector<Unit> layer_units() { return {{"gamma", "critical", "c"}}; }

// Names as they are written here; those of the plain layer are no part of a point, its mask is.
void resolve_form(Point& point) {
  const attention::LayerForm form = form_of(point);
  const attention::LayerForm plain;
  point["mask"] = form.mask.name();
  point["attention"] = attention::name_of(form.attention);
  point["projections"] = attention::projections_name(form);
  if (form.attention == plain.attention) point.erase("attention");
  if (form.heads == 0) point.erase("projections");
  if (form.rotary_base == 0.0) point.erase("rope");
}

Point completed(Point point, bool norms_matter) {
  const tokens::CloudParameters cloud = tokens::resolved(cloud_of(point));
  point["n"] = static_cast<double>(cloud.n);
  point["d"] = static_cast<double>(cloud.d);
  resolve_form(point);
  attention::check(form_of(point), cloud.n, cloud.d);
  resolve_temperature(point, cloud);
  experiments::check_residual(number_of(point, "alpha"));
  if (const auto norm = norm_of(point)) {
    (void)experiments::resolved_norm(form_of(point), *norm);
  }
  drop_irrelevant(point, cloud, norms_matter);
  return point;
}

tokens::CloudParameters cloud_of(const Point& point) {
  tokens::CloudParameters cloud;
  cloud.law = word_of(point, "tokens");
  cloud.n = whole_between(point, "n", 0.0, kMostTokens);
  cloud.d = whole_between(point, "d", 0.0, kMostDimensions);
  cloud.rho = number_or(point, "rho", cloud.rho);
  cloud.rho_inner = number_or(point, "rho-inner", cloud.rho_inner);
  if (has(point, "cluster-size")) {
    cloud.cluster_size = whole_between(point, "cluster-size", 0.0, kMostTokens);
  }
  if (has(point, "norm")) cloud.norm = tokens::parse_norm(word_of(point, "norm"));
  if (has(point, "common")) cloud.common = tokens::parse_common(word_of(point, "common"));
  return cloud;
}

std::optional<attention::NormOptions> norm_of(const Point& point) {
  const auto method = attention::parse_norm_method(word_of(point, "eta"));
  if (!method) return {};
  attention::NormOptions options;
  options.method = *method;
  options.target_error = number_or(point, "eta-error", options.target_error);
  if (has(point, "eta-probes")) {
    options.probes = whole_between(point, "eta-probes", 0.0, kMostProbesAsked);
  }
  return options;
}

attention::LayerForm form_of(const Point& point) {
  const auto name = [&](const char* parameter, const char* otherwise) {
    return has(point, parameter) ? word_of(point, parameter) : std::string(otherwise);
  };
  return attention::parse_layer_form(name("mask", "none"), name("attention", "softmax"),
                                     name("projections", "none"), number_or(point, "rope", 0.0));
}

double inverse_temperature_of(const Point& point) {
  return number_of(point, "gamma") * std::log(number_of(point, "n"));
}

bool is_simplex(const Point& point) {
  const std::string& law = word_of(point, "tokens");
  return (law == "simplex" || law == "equicorrelated") && form_of(point) == attention::LayerForm{};
}

double squared_norm_of(const Point& point) {
  const bool long_ones = has(point, "norm") && word_of(point, "norm") == "gauss";
  return long_ones ? number_of(point, "d") : 1.0;
}

bool is_deterministic_cloud(const Point& point) {
  tokens::CloudParameters cloud;
  cloud.law = word_of(point, "tokens");
  return tokens::is_deterministic(cloud);
}

bool has_freezing(const Point& point) {
  const std::string& law = word_of(point, "tokens");
  attention::LayerForm form = form_of(point);
  const bool heads = std::exchange(form.heads, 0) > 0;
  return heads && form == attention::LayerForm{} && (law == "sphere" || law == "equicorrelated");
}

double correlation_or_none(const Point& point) {
  return word_of(point, "tokens") == "sphere" ? 0.0 : number_of(point, "rho");
}

double critical_gamma_of(const Point& point) {
  if (form_of(point).heads > 0) {
    if (!has_freezing(point)) return std::numeric_limits<double>::quiet_NaN();
    const double log_n = std::log(number_of(point, "n"));
    const double deviation = theory::random_head_deviation(
                                 number_of(point, "d"), static_cast<double>(form_of(point).heads)) *
                             std::sqrt(1.0 - correlation_or_none(point));
    return theory::freezing_beta(log_n, deviation) / log_n;
  }
  const bool clusters = has(point, "cluster-size");  // which have two thresholds of their own
  if (clusters || !has(point, "rho")) return std::numeric_limits<double>::quiet_NaN();
  return theory::critical_gamma(number_of(point, "rho"));
}

}  // namespace dewpoint::studies
