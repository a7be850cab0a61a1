#include "dewpoint/experiments/phase_replica.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "dewpoint/attention/clusters.hpp"
#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/attention/second_moment.hpp"
#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/streamed_rows.hpp"
#include "dewpoint/experiments/variant_point.hpp"
#include "dewpoint/observables/contraction.hpp"
#include "dewpoint/observables/effective_rank.hpp"

namespace dewpoint::experiments {
namespace {

using observables::RowMeans;

std::vector<std::size_t> all_rows(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

RowMeans means_of_rows(const GapSource& gaps, std::size_t cluster_size, double beta,
                       std::span<const std::size_t> rows, std::span<const RowMoments> moments) {
  if (cluster_size == 0) return observables::row_means(moments, beta);
  return observables::row_means(moments, beta,
                                attention::cluster_partitions(gaps, cluster_size, beta, rows));
}

// η of one cloud, and the error that its own sampling leaves; NaN where it was not asked for.
constexpr Estimate kNoNorm{};

// What a layer made of one cloud, on all rows or some.
struct PointLayer {
  attention::LayerResult layer;
  Estimate norm = kNoNorm;
};

// Without a mask the streaming layer is both faster and more exact, as long as the rounding of
// products can be trusted; else, under a mask, and for η, the rows.
PointLayer run_layer(const PhasePoint& p, const attention::Mask& mask, const TokenCloud& cloud,
                     bool trusted, std::vector<std::size_t> rows, std::uint64_t replica,
                     const RunContext& context) {
  const attention::Layer layer{p.inverse_temperature, p.residual};
  const auto norm = norm_of_replica(p.norm, p.seed, replica);
  const bool sampled = rows.size() < cloud.size();
  const bool by_probes = norm && norm->method == attention::NormMethod::hutchinson;
  const bool streams = mask.hides_nothing() && trusted;
  const bool rowwise = !streams || (norm && !by_probes);
  PointLayer result;
  if (by_probes) result.norm = attention::jacobian_norm(cloud, layer, mask, *norm, context);
  if (rowwise) {
    auto by_rows = attention::rowwise_layer(
        cloud, layer, mask, rows, by_probes ? std::nullopt : norm, part_of(context, {0, 1}, 2));
    if (norm && !by_probes) {
      result.norm = sampled ? by_rows.norm_of_sample(cloud, p.residual)
                            : by_rows.norm(cloud.norms, p.residual);
    }
    result.layer = std::move(by_rows.layer);
  }
  if (streams) {
    const RunContext rest = rowwise ? part_of(context, {1, 2}, 2) : context;
    result.layer = sampled ? attention::layer_on_rows(cloud, layer, std::move(rows), rest)
                           : attention::layer(cloud, layer, rest);
  }
  return result;
}

// η of one cell of a map.
double norm_of_cell(const attention::SweepCell& cell, const TokenCloud& cloud, double residual,
                    const std::optional<attention::NormOptions>& norm, const RunContext& context) {
  if (cell.norm) return cell.norm->at(cloud.norms, residual).total();
  if (!norm) return kNoNorm.mean;
  const double beta = cell.gamma * std::log(static_cast<double>(cloud.size()));
  return attention::jacobian_norm(cloud, {beta, residual}, {}, *norm, context).mean;
}

}  // namespace

bool samples_rows(const PhasePoint& point) { return point.rows > 0 && point.rows < point.cloud.n; }

std::vector<std::size_t> rows_of_replica(const PhasePoint& point, std::uint64_t replica) {
  if (!samples_rows(point)) return all_rows(point.cloud.n);
  return sample_without_replacement(point.cloud.n, point.rows, Stream(point.seed, "rows", replica));
}

double rank_of_outputs(const PhasePoint& point, MatrixView<const double> deviations) {
  if (point.rank_rows == 0) return kUnknown;
  const std::size_t rows = std::min(point.rank_rows, deviations.rows());
  return observables::effective_rank(deviations.row_range({0, rows}));
}

PointSample sample_point(const PhasePoint& p, std::uint64_t replica, const RunContext& context) {
  if (streams_rows(p)) return sample_streamed_rows(p, replica, context);
  const auto mask = p.form.plain_mask();
  if (!mask) return sample_variant_point(p, replica, context);
  const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, replica);
  const CentredCloud inputs = CentredCloud::of_unit_vectors(cloud.directions);
  const RunContext quiet{context.threads, context.stop, {}};
  const auto chosen = rows_of_replica(p, replica);
  const bool trusted = attention::trusts_products(inputs, p.inverse_temperature);
  const PointLayer result = run_layer(p, *mask, cloud, trusted, chosen, replica, context);
  const CentredCloud outputs = result.layer.directions();
  const auto pairs = samples_rows(p) ? observables::contraction_of_sample(
                                           inputs.subset(chosen), outputs, cloud.size(), quiet)
                                     : observables::contraction(inputs, outputs, quiet);
  const auto rows = means_of_rows(inputs, cloud.cluster_size, p.inverse_temperature,
                                  result.layer.rows, result.layer.moments);
  return {phase_values(pairs, rows, result.norm.mean), pairs.sampling_error,
          result.norm.standard_error, rank_of_outputs(p, result.layer.deviations)};
}

MapReplica::MapReplica(const PhasePoint& point, std::uint64_t replica)
    : point_(point), replica_(replica) {
  DEWPOINT_EXPECTS(point.form == attention::LayerForm{} && point.rows == 0);
  const tokens::CloudParameters& cloud = point.cloud;
  if (cloud.law == "equicorrelated") {
    noise_ = std::make_unique<tokens::EquicorrelatedNoise>(cloud.n, cloud.d, cloud.common,
                                                           point.seed, replica);
    noise_->keep_gram();
  }
}

TokenCloud MapReplica::cloud_at(double rho) const {
  if (noise_) return noise_->cloud(rho, point_.cloud.norm);
  tokens::CloudParameters here = point_.cloud;
  here.rho = rho;
  return tokens::make_cloud(here, point_.seed, replica_);
}

std::unique_ptr<GapSource> MapReplica::gaps_at(double rho, const TokenCloud& cloud) const {
  if (noise_) return std::make_unique<tokens::EquicorrelatedGaps>(*noise_, rho);
  return std::make_unique<CentredCloud>(CentredCloud::of_unit_vectors(cloud.directions));
}

// What temperatures share is float32: a cell too cold for it is a point of its own.
std::vector<PhaseValues> MapReplica::row(double rho, std::span<const double> gammas,
                                         const RunContext& context) const {
  const TokenCloud cloud = cloud_at(rho);
  const std::unique_ptr<GapSource> gaps = gaps_at(rho, cloud);
  const double log_n = std::log(static_cast<double>(cloud.size()));
  std::vector<double> shared;
  for (const double gamma : gammas) {
    if (attention::trusts_products(*gaps, gamma * log_n)) shared.push_back(gamma);
  }
  const std::vector<PhaseValues> swept = swept_cells(cloud, *gaps, shared, context);
  std::vector<PhaseValues> values;
  std::size_t next = 0;
  for (const double gamma : gammas) {
    const bool is_swept = next < shared.size() && shared[next] == gamma;
    values.push_back(is_swept ? swept[next++] : point_cell(rho, gamma * log_n, context));
  }
  return values;
}

std::vector<PhaseValues> MapReplica::swept_cells(const TokenCloud& cloud, const GapSource& gaps,
                                                 std::span<const double> gammas,
                                                 const RunContext& context) const {
  if (gammas.empty()) return {};
  const auto norm = norm_of_replica(point_.norm, point_.seed, replica_);
  const bool by_probes = norm && norm->method == attention::NormMethod::hutchinson;
  const std::vector<attention::SweepCell> cells = attention::sweep(
      cloud, gaps, gammas, {point_.residual, by_probes ? std::nullopt : norm}, context);
  std::vector<const CentredCloud*> outputs;
  for (const auto& cell : cells) outputs.push_back(&cell.directions);
  const RunContext one_thread{1, context.stop, {}};
  const auto pairs = observables::contractions(gaps, outputs, one_thread);

  const double log_n = std::log(static_cast<double>(cloud.size()));
  const std::vector<std::size_t> rows = all_rows(cloud.size());
  std::vector<PhaseValues> values;
  for (std::size_t g = 0; g < cells.size(); ++g) {
    const double beta = cells[g].gamma * log_n;
    values.push_back(phase_values(
        pairs[g], means_of_rows(gaps, cloud.cluster_size, beta, rows, cells[g].moments),
        norm_of_cell(cells[g], cloud, point_.residual, norm, one_thread)));
  }
  return values;
}

PhaseValues MapReplica::point_cell(double rho, double beta, const RunContext& context) const {
  PhasePoint point = point_;
  point.cloud.rho = rho;
  point.inverse_temperature = beta;
  return sample_point(point, replica_, context).values;
}

double phase_cell_work(std::size_t n, std::size_t d, bool norm) {
  const auto way = attention::cheaper_second_moment(n, d);
  const std::size_t diagonal =
      std::min(attention::second_moment_columns(way, n, d), 2 * (d + attention::kPassColumns));
  const std::size_t columns = 3 * d + (norm ? 6 * d + 2 * diagonal : 0);
  return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(columns);
}

double phase_point_work(const PhasePoint& p) {
  const double all = phase_cell_work(p.cloud.n, p.cloud.d, p.norm.has_value());
  if (!samples_rows(p)) return all;
  // Rows share no pairs, so that each costs 4 d instead of 3 d operations per key.
  const double share = static_cast<double>(p.rows) / static_cast<double>(p.cloud.n);
  const double draws = static_cast<double>(p.cloud.n) * static_cast<double>(p.cloud.d);
  const std::size_t passes = (p.rows + kRowBlock - 1) / kRowBlock;
  return 4.0 / 3.0 * share * all + kEmpiricalDrawWork * draws * static_cast<double>(passes);
}

}  // namespace dewpoint::experiments
