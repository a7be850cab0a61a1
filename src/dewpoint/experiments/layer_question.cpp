#include "dewpoint/experiments/layer_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"
#include "dewpoint/experiments/variant_point.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kMostSphereDimensions = 1e6;

bool has_common(const std::string& law) { return law == "equicorrelated" || law == "clustered"; }

bool is_sampled(const NormQuestion& q) { return q.eta != Eta::none && q.eta != Eta::exact; }

double gamma_of_scale(const LayerQuestion& q) {
  const tokens::CloudParameters cloud = cloud_of(q.cloud);
  const attention::LayerForm form = form_of(q.form);
  if (form.heads > 0) {
    throw Error(Code::bad_value,
                fmt::format("c: where {} on tokens '{}' freeze is not known; use gamma or beta",
                            attention::name_of(form), cloud.law));
  }
  if (!tokens::has_correlation(cloud)) {
    throw Error(Code::bad_value,
                fmt::format("c: tokens '{}' have no correlation rho to reduce a scale by; use "
                            "gamma or beta",
                            cloud.law));
  }
  const double gamma = *q.temperature.c / (1.0 - cloud.rho);
  check_gamma(gamma);
  return gamma;
}

void drop_idle(LayerQuestion& q, bool norms_matter) {
  if (!norms_matter && q.alpha == 0.0 && q.norm.eta == Eta::none) q.cloud.norm.reset();
  if (!is_sampled(q.norm) || q.norm.eta_probes != std::size_t{0}) q.norm.eta_error.reset();
  if (!is_sampled(q.norm)) q.norm.eta_probes.reset();
}

}  // namespace

// ---- the tokens ---------------------------------------------------------------------------------

CloudQuestion resolved(CloudQuestion q) {
  const tokens::CloudParameters cloud = tokens::resolved(cloud_of(q));
  q.n = cloud.n;
  q.d = cloud.d;
  if (!tokens::has_correlation(cloud)) q.rho.reset();
  if (!tokens::has_clusters(cloud)) {
    q.rho_inner.reset();
    q.cluster_size.reset();
  }
  if (!has_common(cloud.law)) q.common.reset();
  return q;
}

CloudQuestion resolved_known(CloudQuestion q) {
  q.norm.reset();
  q = resolved(std::move(q));
  if (q.law == "sphere") {
    (void)whole_number("d", static_cast<double>(q.d), 2.0, kMostSphereDimensions);
  }
  return q;
}

tokens::CloudParameters cloud_of(const CloudQuestion& q) {
  tokens::CloudParameters cloud;
  cloud.law = q.law;
  cloud.n = q.n;
  cloud.d = q.d;
  cloud.rho = q.rho.value_or(cloud.rho);
  cloud.rho_inner = q.rho_inner.value_or(cloud.rho_inner);
  cloud.cluster_size = q.cluster_size.value_or(cloud.cluster_size);
  cloud.norm = q.norm.value_or(cloud.norm);
  cloud.common = q.common.value_or(cloud.common);
  cloud.rows = q.rows;
  return cloud;
}

// ---- the form of the layer ----------------------------------------------------------------------

FormQuestion resolved(const FormQuestion& q, const CloudQuestion& cloud) {
  const attention::LayerForm form = form_of(q), plain;
  attention::check(form, cloud.n, cloud.d);
  FormQuestion complete{form.mask.name(), {}, {}, {}};
  if (form.attention != plain.attention) complete.attention = attention::name_of(form.attention);
  if (form.heads > 0) complete.projections = attention::projections_name(form);
  if (form.rotary_base > 0.0) complete.rope = form.rotary_base;
  return complete;
}

attention::LayerForm form_of(const FormQuestion& q) {
  return attention::parse_layer_form(q.mask, q.attention.value_or("softmax"),
                                     q.projections.value_or("none"), q.rope.value_or(0.0));
}

// ---- the Jacobian norm --------------------------------------------------------------------------

const std::vector<std::pair<std::string, Eta>>& words_of(Eta) {
  static const std::vector<std::pair<std::string, Eta>> words = {{"none", Eta::none},
                                                                 {"auto", Eta::automatic},
                                                                 {"exact", Eta::exact},
                                                                 {"mixed", Eta::mixed},
                                                                 {"hutchinson", Eta::hutchinson}};
  return words;
}

std::optional<attention::NormOptions> norm_of(const NormQuestion& q) {
  using attention::NormMethod;
  attention::NormOptions options;
  switch (q.eta) {
    case Eta::none:
      return {};
    case Eta::automatic:
      options.method = NormMethod::automatic;
      break;
    case Eta::exact:
      options.method = NormMethod::exact;
      break;
    case Eta::mixed:
      options.method = NormMethod::mixed;
      break;
    case Eta::hutchinson:
      options.method = NormMethod::hutchinson;
      break;
  }
  options.target_error = q.eta_error.value_or(options.target_error);
  options.probes = q.eta_probes.value_or(options.probes);
  return options;
}

std::vector<question::Field> of_verb(std::vector<question::Field> fields) {
  for (question::Field& field : fields) {
    if (field.name == "eta") field.grid = question::word_for(Eta::automatic);
  }
  return fields;
}

// ---- a layer ------------------------------------------------------------------------------------

LayerQuestion completed(LayerQuestion q, bool norms_matter) {
  q.cloud = resolved(std::move(q.cloud));
  q.form = resolved(q.form, q.cloud);
  TemperatureQuestion& t = q.temperature;
  if (!t.gamma && !t.c && !t.beta && !t.law) t.gamma = 1.0;
  if (t.law) t.strength = t.strength.value_or(1.0);
  if (const auto norm = norm_of(q.norm)) (void)resolved_norm(form_of(q.form), *norm);
  drop_idle(q, norms_matter);
  return q;
}

LayerQuestion resolved(LayerQuestion q, bool norms_matter) {
  q = completed(std::move(q), norms_matter);
  q.temperature = {.gamma = gamma_of(q)};
  return q;
}

double gamma_of(const LayerQuestion& q) {
  const TemperatureQuestion& t = q.temperature;
  if (t.c) return gamma_of_scale(q);
  if (!t.beta && !t.law) return t.gamma.value_or(1.0);
  const double beta = inverse_temperature_of(q), log_n = std::log(static_cast<double>(q.cloud.n));
  require_option(beta <= kMostGamma * log_n, "beta", beta, "a number in [0, 1e6 log n]");
  return beta / log_n;
}

double inverse_temperature_of(const LayerQuestion& q) {
  const TemperatureQuestion& t = q.temperature;
  if (t.beta) return *t.beta;
  if (!t.law) return gamma_of(q) * std::log(static_cast<double>(q.cloud.n));
  const scaling::Law law{*t.law, t.strength.value_or(1.0)};
  const double beta = scaling::inverse_temperature(law, q.cloud.n, q.cloud.d);
  if (beta <= kMostInverseTemperature) return beta;
  throw Error(Code::bad_value, fmt::format("strength: {:g} gives beta = {:g}, which is above 1e8",
                                           law.strength, beta));
}

std::vector<std::pair<std::string, std::string>> idle_fields(const std::vector<std::string>& names,
                                                             const LayerQuestion& complete) {
  const question::Point point = question::point_of(complete);
  const std::string& law = complete.cloud.law;
  const std::string whose = fmt::format("tokens '{}'", law);
  const bool own_shape = std::ranges::count(tokens::law_names(), law) == 0;
  std::vector<std::pair<std::string, std::string>> idle;
  for (const std::string& name : names) {
    if (own_shape && (name == "n" || name == "d")) {
      idle.emplace_back(name, whose + " bring their own");
    } else if (point.contains(name)) {
      continue;
    } else if (name == "rho" || name == "rho-inner" || name == "cluster-size" || name == "common") {
      idle.emplace_back(name, whose + " have none");
    } else if (name == "norm") {
      idle.emplace_back(name, "nothing looks at norms: alpha is 0 and eta none");
    } else if (name == "eta-error" || name == "eta-probes") {
      const std::string eta = question::word_for(complete.norm.eta);
      idle.emplace_back(
          name, complete.norm.eta_probes ? "eta-probes says how many" : "eta " + eta + " has none");
    }
  }
  return idle;
}

void refuse_idle(const std::vector<std::string>& given, const LayerQuestion& complete) {
  for (const auto& [name, why] : idle_fields(given, complete)) {
    throw Error(Code::bad_value, fmt::format("{}: is given, but {}", name, why));
  }
}

// ---- clouds to average over ---------------------------------------------------------------------

Replication replication_of(const ReplicationQuestion& q) {
  Replication replication;
  replication.replicas = q.replicas;
  replication.target_error = q.target_error.value_or(0.0);
  return replication;
}

// ---- fields of verbs and rooms ------------------------------------------------------------------

std::vector<question::Field> without(std::vector<question::Field> fields,
                                     const std::vector<std::string>& names) {
  std::erase_if(fields, [&](const question::Field& field) {
    return std::ranges::count(names, field.name) > 0;
  });
  return fields;
}

std::vector<question::Field> with_lists(
    std::vector<question::Field> fields,
    const std::vector<std::pair<std::string, std::string>>& grids) {
  for (question::Field& field : fields) {
    for (const auto& [name, grid] : grids) {
      if (field.name != name) continue;
      field.listed = true;
      field.grid = grid;
    }
  }
  return fields;
}

}  // namespace dewpoint::experiments
