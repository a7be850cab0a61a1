#include "dewpoint/experiments/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "dewpoint/attention/clusters.hpp"
#include "dewpoint/attention/layer.hpp"
#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/attention/sweep.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"

namespace dewpoint::experiments {
namespace {

using observables::RowMeans;

// Clouds that live at the same time while a map runs.
constexpr std::size_t kBatch = 8;

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

// One cloud at one temperature.
struct PointSample {
  PhaseValues values;
  double row_sampling_error;
  double norm_sampling_error;
};

// What a layer made of one cloud, on all rows or some.
struct PointLayer {
  attention::LayerResult layer;
  Estimate norm = kNoNorm;
};

// Without a mask the streaming layer is both faster and more exact; with one, and for η, the rows.
PointLayer run_layer(const PhasePoint& p, const TokenCloud& cloud, std::vector<std::size_t> rows,
                     std::uint64_t replica, const RunContext& context) {
  const attention::Layer layer{p.inverse_temperature, p.residual};
  const auto norm = norm_of_replica(p.norm, p.seed, replica);
  const bool sampled = rows.size() < cloud.size();
  const bool by_probes = norm && norm->method == attention::NormMethod::hutchinson;
  const bool rowwise = !p.mask.hides_nothing() || (norm && !by_probes);
  PointLayer result;
  if (by_probes) result.norm = attention::jacobian_norm(cloud, layer, p.mask, *norm, context);
  if (rowwise) {
    auto by_rows = attention::rowwise_layer(
        cloud, layer, p.mask, rows, by_probes ? std::nullopt : norm, part_of(context, {0, 1}, 2));
    if (norm && !by_probes) {
      result.norm = sampled ? by_rows.norm_of_sample(cloud, p.residual)
                            : by_rows.norm(cloud.norms, p.residual);
    }
    result.layer = std::move(by_rows.layer);
  }
  if (p.mask.hides_nothing()) {
    const RunContext rest = rowwise ? part_of(context, {1, 2}, 2) : context;
    result.layer = sampled ? attention::layer_on_rows(cloud, layer, std::move(rows), rest)
                           : attention::layer(cloud, layer, rest);
  }
  return result;
}

PointSample sample_point(const PhasePoint& p, std::uint64_t replica, const RunContext& context) {
  const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, replica);
  const CentredCloud inputs = CentredCloud::of_unit_vectors(cloud.directions);
  const RunContext quiet{context.threads, context.stop, {}};
  const bool sampled = p.rows > 0 && p.rows < cloud.size();
  const Stream choice(p.seed, "rows", replica);
  const auto chosen =
      sampled ? sample_without_replacement(cloud.size(), p.rows, choice) : all_rows(cloud.size());
  const PointLayer result = run_layer(p, cloud, chosen, replica, context);
  const CentredCloud outputs = result.layer.directions();
  const auto pairs = sampled ? observables::contraction_of_sample(inputs.subset(chosen), outputs,
                                                                  cloud.size(), quiet)
                             : observables::contraction(inputs, outputs, quiet);
  const auto rows = means_of_rows(inputs, cloud.cluster_size, p.inverse_temperature,
                                  result.layer.rows, result.layer.moments);
  return {phase_values(pairs, rows, result.norm.mean), pairs.sampling_error,
          result.norm.standard_error};
}

// Several clouds: side by side, one thread each; a single one gets all threads to itself.
std::vector<PointSample> sample_points(const PhasePoint& p, Range replicas,
                                       const RunContext& context) {
  if (replicas.size() == 1) return {sample_point(p, replicas.begin, context)};
  std::vector<PointSample> samples(replicas.size());
  const RunContext one_thread{1, context.stop, {}};
  parallel_for(replicas.size(), part_of(context, replicas, replicas.end), [&](std::size_t r) {
    samples[r] = sample_point(p, replicas.begin + r, one_thread);
  });
  return samples;
}

// The tokens of one replica at every ρ: one noise for all where the law allows it.
class CloudFamily {
 public:
  CloudFamily(const tokens::CloudParameters& parameters, std::uint64_t seed, std::uint64_t replica)
      : parameters_(parameters), seed_(seed), replica_(replica) {
    if (parameters.law == "equicorrelated") {
      noise_ = std::make_unique<tokens::EquicorrelatedNoise>(parameters.n, parameters.d,
                                                             parameters.common, seed, replica);
      noise_->keep_gram();
    }
  }

  [[nodiscard]] std::uint64_t replica() const { return replica_; }

  [[nodiscard]] TokenCloud cloud(double rho) const {
    if (noise_) return noise_->cloud(rho, parameters_.norm);
    tokens::CloudParameters here = parameters_;
    here.rho = rho;
    return tokens::make_cloud(here, seed_, replica_);
  }

  [[nodiscard]] std::unique_ptr<GapSource> gaps(double rho, const TokenCloud& cloud) const {
    if (noise_) return std::make_unique<tokens::EquicorrelatedGaps>(*noise_, rho);
    return std::make_unique<CentredCloud>(CentredCloud::of_unit_vectors(cloud.directions));
  }

 private:
  tokens::CloudParameters parameters_;
  std::uint64_t seed_;
  std::uint64_t replica_;
  std::unique_ptr<tokens::EquicorrelatedNoise> noise_;
};

// η of one cell of a map.
double norm_of_cell(const attention::SweepCell& cell, const TokenCloud& cloud, double residual,
                    const std::optional<attention::NormOptions>& norm, const RunContext& context) {
  if (cell.norm) return cell.norm->at(cloud.norms, residual).total();
  if (!norm) return kNoNorm.mean;
  const double beta = cell.gamma * std::log(static_cast<double>(cloud.size()));
  return attention::jacobian_norm(cloud, {beta, residual}, {}, *norm, context).mean;
}

// One cloud at one ρ and every γ.
std::vector<PhaseValues> sample_row(const CloudFamily& family, double rho, const PhaseMap& map,
                                    const RunContext& context) {
  const TokenCloud cloud = family.cloud(rho);
  const std::unique_ptr<GapSource> gaps = family.gaps(rho, cloud);
  const auto norm = norm_of_replica(map.norm, map.seed, family.replica());
  const bool by_probes = norm && norm->method == attention::NormMethod::hutchinson;
  const std::vector<attention::SweepCell> cells = attention::sweep(
      cloud, *gaps, map.gamma, {map.residual, by_probes ? std::nullopt : norm}, context);
  std::vector<const CentredCloud*> outputs;
  for (const auto& cell : cells) outputs.push_back(&cell.directions);
  const RunContext one_thread{1, context.stop, {}};
  const auto pairs = observables::contractions(*gaps, outputs, one_thread);

  const double log_n = std::log(static_cast<double>(cloud.size()));
  const std::vector<std::size_t> rows = all_rows(cloud.size());
  std::vector<PhaseValues> values;
  for (std::size_t g = 0; g < cells.size(); ++g) {
    const double beta = cells[g].gamma * log_n;
    values.push_back(phase_values(
        pairs[g], means_of_rows(*gaps, cloud.cluster_size, beta, rows, cells[g].moments),
        norm_of_cell(cells[g], cloud, map.residual, norm, one_thread)));
  }
  return values;
}

// The part of a map with one n and one d.
class Tile {
 public:
  Tile(const PhaseMap& map, std::size_t n, std::size_t d)
      : map_(map), cloud_(map.cloud), means_(map.rho.size() * map.gamma.size()) {
    cloud_.n = n;
    cloud_.d = d;
  }

  void run(const RunContext& context) {
    replicate(
        map_.replication, tokens::is_deterministic(cloud_),
        [&](Range replicas) {
          for (std::size_t first = replicas.begin; first < replicas.end; first += kBatch) {
            const Range batch{first, std::min(first + kBatch, replicas.end)};
            add_replicas(batch, part_of(context, batch, replicas.end));
          }
        },
        [&] { return worst_error(); });
  }

  [[nodiscard]] Estimate cell(std::size_t rho, std::size_t gamma, std::size_t observable) const {
    return means_[rho * map_.gamma.size() + gamma].estimate(observable,
                                                            tokens::is_deterministic(cloud_));
  }

 private:
  void add_replicas(Range replicas, const RunContext& context) {
    const RunContext quiet{context.threads, context.stop, {}};
    std::vector<std::unique_ptr<CloudFamily>> families(replicas.size());
    parallel_for(families.size(), quiet, [&](std::size_t r) {
      families[r] = std::make_unique<CloudFamily>(cloud_, map_.seed, replicas.begin + r);
    });
    const std::size_t rhos = map_.rho.size();
    std::vector<std::vector<PhaseValues>> values(families.size() * rhos);
    parallel_for(values.size(), context, [&](std::size_t item) {
      values[item] = sample_row(*families[item / rhos], map_.rho[item % rhos], map_, quiet);
    });
    for (std::size_t item = 0; item < values.size(); ++item) {
      for (std::size_t g = 0; g < map_.gamma.size(); ++g) {
        means_[item % rhos * map_.gamma.size() + g].add(values[item][g]);
      }
    }
  }

  [[nodiscard]] double worst_error() const {
    double worst = 0.0;
    for (const PhaseMeans& cell : means_) {
      worst = std::max(worst, cell.estimate(0, false).standard_error);
    }
    return worst;
  }

  const PhaseMap& map_;
  tokens::CloudParameters cloud_;
  std::vector<PhaseMeans> means_;
};

// Checks every cloud of the map at dimension d; d = 0 becomes the least that serves every n.
std::size_t common_dimension(const PhaseMap& map, std::size_t d) {
  std::size_t largest = 0;
  for (const std::size_t n : map.n) {
    for (const double rho : map.rho) {
      tokens::CloudParameters cloud = map.cloud;
      cloud.n = n;
      cloud.d = d;
      cloud.rho = rho;
      largest = std::max(largest, tokens::resolved(cloud).d);
    }
  }
  return largest;
}

std::vector<double> as_doubles(const std::vector<std::size_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

Frame phase_point(const PhasePoint& parameters, const RunContext& context) {
  PhasePoint p = parameters;
  p.cloud = tokens::resolved(p.cloud);
  check(p.replication);
  check_residual(p.residual);
  check_inverse_temperature(p.inverse_temperature);
  if (p.norm) attention::check(*p.norm);
  if (!p.mask.hides_nothing() && tokens::has_clusters(p.cloud)) {
    throw Error(Code::bad_value,
                fmt::format("mask: {} hides parts of clusters, so that tokens '{}' have no cluster "
                            "mass; use mask none",
                            p.mask.name(), p.cloud.law));
  }
  if (p.rows > 0 && p.norm && p.norm->method == attention::NormMethod::hutchinson) {
    throw Error(Code::bad_value, "eta: hutchinson needs all rows; use auto, or rows 0");
  }
  if (p.rows == 1 || p.rows == 2 || p.rows > p.cloud.n) {
    throw Error(Code::bad_value,
                fmt::format("rows: {} is neither 0 (all) nor within 3..n = {}", p.rows, p.cloud.n));
  }

  const bool sampled = p.rows > 0 && p.rows < p.cloud.n;
  const bool exact = tokens::is_deterministic(p.cloud) && !sampled;
  PhaseMeans means;
  RunningMoments row_errors;
  RunningMoments norm_errors;
  replicate(
      p.replication, exact,
      [&](Range replicas) {
        for (const PointSample& sample : sample_points(p, replicas, context)) {
          means.add(sample.values);
          row_errors.add(sample.row_sampling_error);
          norm_errors.add(sample.norm_sampling_error);
        }
      },
      [&] { return means.estimate(0, false).standard_error; });

  Frame frame("phase_point");
  for (std::size_t k = 0; k < kPhaseObservables.size(); ++k) {
    if (k == kJacobianNorm && !p.norm) continue;
    frame.add_variable(kPhaseObservables[k]).cells[0] = means.estimate(k, exact);
  }
  if (sampled) frame.add_variable("row_sampling_error").cells[0] = row_errors.estimate();
  if (p.norm && norm_errors.mean() > 0.0) {
    frame.add_variable("norm_sampling_error").cells[0] = norm_errors.estimate();
    if (exact) frame.variable("jacobian_norm").cells[0].standard_error = norm_errors.mean();
  }
  return frame;
}

std::vector<double> default_rhos() {
  std::vector<double> rhos;
  for (int k = 0; k < 20; ++k) rhos.push_back(k / 20.0);
  return rhos;
}

std::vector<double> default_gammas() {
  std::vector<double> gammas;
  for (int k = 1; k <= 32; ++k) gammas.push_back(k / 4.0);
  return gammas;
}

PhaseMap resolved(PhaseMap map) {
  if (map.rho.empty()) map.rho = default_rhos();
  if (map.gamma.empty()) map.gamma = default_gammas();
  check(map.replication);
  check_residual(map.residual);
  if (map.norm) attention::check(*map.norm);
  for (const double gamma : map.gamma) {
    if (!(gamma >= 0.0) || !std::isfinite(gamma)) {
      throw Error(Code::bad_value, fmt::format("gamma: {} is not a finite number >= 0", gamma));
    }
  }
  for (std::size_t& d : map.d) d = common_dimension(map, d);
  if (!tokens::has_correlation(map.cloud)) {
    throw Error(Code::bad_value,
                fmt::format("tokens: '{}' has no correlation rho to map over; use phase point",
                            map.cloud.law));
  }
  return map;
}

Frame phase_map(const PhaseMap& parameters, const RunContext& context) {
  const PhaseMap map = resolved(parameters);
  Frame frame("phase_map");
  frame.add_dimension("n", as_doubles(map.n));
  frame.add_dimension("d", as_doubles(map.d));
  frame.add_dimension("rho", map.rho);
  frame.add_dimension("gamma", map.gamma);
  const std::size_t observables = map.norm ? kPhaseObservables.size() : kJacobianNorm;
  for (std::size_t k = 0; k < observables; ++k) {
    frame.add_variable(kPhaseObservables[k], {"n", "d", "rho", "gamma"});
  }

  const std::size_t tiles = map.n.size() * map.d.size();
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t n = t / map.d.size();
    const std::size_t d = t % map.d.size();
    Tile tile(map, map.n[n], map.d[d]);
    tile.run(part_of(context, {t, t + 1}, tiles));
    for (std::size_t k = 0; k < observables; ++k) {
      Variable& variable = frame.variable(kPhaseObservables[k]);
      for (std::size_t r = 0; r < map.rho.size(); ++r) {
        for (std::size_t g = 0; g < map.gamma.size(); ++g) {
          variable.cells[frame.cell_index(variable, {n, d, r, g})] = tile.cell(r, g, k);
        }
      }
    }
  }
  return frame;
}

}  // namespace dewpoint::experiments
