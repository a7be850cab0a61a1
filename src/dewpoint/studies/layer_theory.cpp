#include "dewpoint/studies/layer_theory.hpp"

#include <cmath>
#include <utility>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/random_energy.hpp"
#include "dewpoint/theory/random_heads.hpp"

namespace dewpoint::studies {

using experiments::CloudQuestion;
using experiments::FormQuestion;
using experiments::LayerQuestion;

std::vector<Unit> layer_units() { return {{"gamma", "critical", "c"}}; }

LayerQuestion with_gamma(LayerQuestion q) {
  if (!q.temperature.c || !has_freezing(q)) return q;
  q.cloud = experiments::resolved(std::move(q.cloud));
  q.form = experiments::resolved(q.form, q.cloud);
  q.temperature = {.gamma = *q.temperature.c * critical_gamma_of(q)};
  experiments::check_gamma(*q.temperature.gamma);
  return q;
}

bool is_simplex(const LayerQuestion& q) {
  const bool simplex = q.cloud.law == "simplex" || q.cloud.law == "equicorrelated";
  return simplex && form_of(q.form) == attention::LayerForm{};
}

bool is_random(const CloudQuestion& cloud, const FormQuestion& form) {
  return !tokens::is_deterministic(cloud_of(cloud)) || form_of(form).is_random();
}

double squared_norm_of(const CloudQuestion& q) {
  return q.norm == tokens::Norm::gauss ? static_cast<double>(q.d) : 1.0;
}

bool has_freezing(const LayerQuestion& q) {
  attention::LayerForm form = form_of(q.form);
  const bool heads = std::exchange(form.heads, 0) > 0;
  return heads && form == attention::LayerForm{} &&
         (q.cloud.law == "sphere" || q.cloud.law == "equicorrelated");
}

double critical_gamma_of(const LayerQuestion& q) {
  const std::size_t heads = form_of(q.form).heads;
  if (heads > 0) {
    if (!has_freezing(q)) return kUnknown;
    const double log_n = std::log(static_cast<double>(q.cloud.n));
    const double deviation =
        theory::random_head_deviation(static_cast<double>(q.cloud.d), static_cast<double>(heads)) *
        std::sqrt(1.0 - q.cloud.rho.value_or(0.0));
    return theory::freezing_beta(log_n, deviation) / log_n;
  }
  const bool clusters = q.cloud.cluster_size.has_value();  // which have two thresholds of their own
  return clusters || !q.cloud.rho ? kUnknown : theory::critical_gamma(*q.cloud.rho);
}

}  // namespace dewpoint::studies
