#include "dewpoint/experiments/variant_point.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/observables/head_observables.hpp"

namespace dewpoint::experiments {
namespace {

using attention::LayerVariant;
using attention::NormMethod;
using HeadRows = std::vector<std::vector<attention::RowStatistics>>;

// Rows as base + deviations, base their mean.
CentredCloud directions_of(Matrix<double>& outputs) {
  std::vector<double> base(outputs.cols());
  for (std::size_t i = 0; i < outputs.rows(); ++i) {
    for (std::size_t k = 0; k < base.size(); ++k) base[k] += outputs(i, k);
  }
  for (double& x : base) x /= static_cast<double>(outputs.rows());
  for (std::size_t i = 0; i < outputs.rows(); ++i) {
    for (std::size_t k = 0; k < base.size(); ++k) outputs(i, k) -= base[k];
  }
  return CentredCloud::of_deviations(base, outputs.view());
}

observables::RowMeans means_of(const HeadRows& heads) {
  observables::RowMeans means;
  for (const auto& rows : heads) {
    for (const attention::RowStatistics& row : rows) {
      const auto seen = observables::head_observables(row.softmax, row.keys);
      means.entropy.add(seen.entropy);
      means.largest_weight.add(seen.largest_weight);
      means.participation.add(seen.participation);
      means.self_mass.add(row.self_weight);
      means.cluster_mass.add(0.0);
      means.rest_mass.add(1.0 - seen.sink_mass - row.self_weight);
    }
  }
  return means;
}

Estimate norm_of(const PhasePoint& p, const TokenCloud& cloud, const LayerVariant& layer,
                 std::uint64_t replica, const RunContext& context) {
  const auto norm = norm_of_replica(p.norm, p.seed, replica);
  if (!norm) return {};
  return attention::hutchinson_norm(attention::VariantJacobian(cloud, layer, context), *norm);
}

}  // namespace

attention::NormOptions resolved_norm(const attention::LayerForm& form,
                                     attention::NormOptions norm) {
  const bool plain = form.plain_mask().has_value();
  if (!plain && norm.method == NormMethod::automatic) norm.method = NormMethod::hutchinson;
  attention::check(norm);
  if (plain || norm.method == NormMethod::hutchinson) return norm;
  throw Error(Code::bad_value,
              fmt::format("eta: {} is known for plain softmax only, not with {}; use auto or "
                          "hutchinson",
                          attention::name_of(norm.method), attention::name_of(form)));
}

PointSample sample_variant_point(const PhasePoint& p, std::uint64_t replica,
                                 const RunContext& context) {
  const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, replica);
  const LayerVariant layer = attention::layer_variant(
      p.form, cloud.dimension(), p.inverse_temperature, p.residual, p.seed, replica);
  const auto chosen = rows_of_replica(p, replica);
  const RunContext quiet{context.threads, context.stop, {}};
  auto result = attention::variant_layer(cloud, layer, chosen, context);
  const bool softmax = std::holds_alternative<attention::Softmax>(p.form.attention);
  const HeadRows rows =
      softmax ? std::move(result.rows) : attention::linear_rows(cloud, layer, chosen, quiet);

  const CentredCloud inputs = CentredCloud::of_unit_vectors(cloud.directions);
  const CentredCloud outputs = directions_of(result.outputs);
  const auto pairs = samples_rows(p) ? observables::contraction_of_sample(
                                           inputs.subset(chosen), outputs, cloud.size(), quiet)
                                     : observables::contraction(inputs, outputs, quiet);
  const Estimate norm = norm_of(p, cloud, layer, replica, quiet);
  return {phase_values(pairs, means_of(rows), norm.mean), pairs.sampling_error, norm.standard_error,
          rank_of_outputs(p, result.outputs)};
}

}  // namespace dewpoint::experiments
