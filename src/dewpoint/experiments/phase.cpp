#include "dewpoint/experiments/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "dewpoint/attention/clusters.hpp"
#include "dewpoint/attention/layer.hpp"
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

// The context of a part of the work: its progress counts from `part.begin` to `part.end` of
// `whole`.
RunContext part_of(const RunContext& context, Range part, std::size_t whole) {
  if (!context.progress) return context;
  return {context.threads, context.stop, [&context, part, whole](double done, double total) {
            const double here =
                static_cast<double>(part.begin) + static_cast<double>(part.size()) * done / total;
            context.progress(here, static_cast<double>(whole));
          }};
}

// Runs replicas 0, 1, 2, ... in rounds until the plan is fulfilled. run({begin, end}) adds those of
// one round; worst_error() is asked after each round when there is a target.
void replicate(const Replication& plan, bool deterministic,
               const std::function<void(Range replicas)>& run,
               const std::function<double()>& worst_error) {
  if (deterministic) return run({0, 1});
  const bool targeted = plan.target_error > 0.0;
  std::size_t wanted = targeted ? std::max<std::size_t>(plan.replicas, 8) : plan.replicas;
  for (std::size_t done = 0; done < wanted;) {
    run({done, wanted});
    done = wanted;
    if (targeted && done < plan.most && !(worst_error() <= plan.target_error)) {
      wanted = std::min(2 * done, plan.most);
    }
  }
}

void check(const Replication& plan) {
  if (plan.replicas < 1) throw Error(Code::bad_value, "replicas: 0 is below 1");
  if (!(plan.target_error >= 0.0) || !std::isfinite(plan.target_error)) {
    throw Error(Code::bad_value,
                fmt::format("target-error: {} is not a finite number >= 0", plan.target_error));
  }
}

void check_residual(double alpha) {
  if (!(alpha >= 0.0) || !std::isfinite(alpha)) {
    throw Error(Code::bad_value, fmt::format("alpha: {} is not a finite number >= 0", alpha));
  }
}

// One cloud at one temperature, by the streaming layer.
struct PointSample {
  PhaseValues values;
  double row_sampling_error;
};

PointSample sample_point(const PhasePoint& p, std::uint64_t replica, const RunContext& context) {
  const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, replica);
  const attention::Layer layer{p.inverse_temperature, p.residual};
  const CentredCloud inputs = CentredCloud::of_unit_vectors(cloud.directions);
  const bool sampled = p.rows > 0 && p.rows < cloud.size();
  if (!sampled) {
    const auto result = attention::layer(cloud, layer, context);
    const RunContext quiet{context.threads, context.stop, {}};
    const auto pairs = observables::contraction(inputs, result.directions(), quiet);
    const auto rows = means_of_rows(inputs, cloud.cluster_size, p.inverse_temperature, result.rows,
                                    result.moments);
    return {phase_values(pairs, rows), 0.0};
  }
  const Stream choice(p.seed, "rows", replica);
  const auto result = attention::layer_on_rows(
      cloud, layer, sample_without_replacement(cloud.size(), p.rows, choice), context);
  const auto pairs =
      observables::contraction_of_sample(inputs.subset(result.rows), result.directions(),
                                         cloud.size(), {context.threads, context.stop, {}});
  const auto rows =
      means_of_rows(inputs, cloud.cluster_size, p.inverse_temperature, result.rows, result.moments);
  return {phase_values(pairs, rows), pairs.sampling_error};
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
    }
  }

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

// One cloud at one ρ and every γ.
std::vector<PhaseValues> sample_row(const CloudFamily& family, double rho,
                                    const std::vector<double>& gammas, double residual,
                                    const RunContext& context) {
  const TokenCloud cloud = family.cloud(rho);
  const std::unique_ptr<GapSource> gaps = family.gaps(rho, cloud);
  const std::vector<attention::SweepCell> cells =
      attention::sweep(cloud, *gaps, gammas, residual, context);
  std::vector<const CentredCloud*> outputs;
  for (const auto& cell : cells) outputs.push_back(&cell.directions);
  const auto pairs = observables::contractions(*gaps, outputs, {1, context.stop, {}});

  const double log_n = std::log(static_cast<double>(cloud.size()));
  const std::vector<std::size_t> rows = all_rows(cloud.size());
  std::vector<PhaseValues> values;
  for (std::size_t g = 0; g < cells.size(); ++g) {
    const double beta = cells[g].gamma * log_n;
    values.push_back(phase_values(
        pairs[g], means_of_rows(*gaps, cloud.cluster_size, beta, rows, cells[g].moments)));
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
      values[item] = sample_row(*families[item / rhos], map_.rho[item % rhos], map_.gamma,
                                map_.residual, quiet);
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
  if (!(p.inverse_temperature >= 0.0) || !std::isfinite(p.inverse_temperature)) {
    throw Error(Code::bad_value,
                fmt::format("beta: {} is not a finite number >= 0", p.inverse_temperature));
  }
  if (p.rows == 1 || p.rows == 2 || p.rows > p.cloud.n) {
    throw Error(Code::bad_value,
                fmt::format("rows: {} is neither 0 (all) nor within 3..n = {}", p.rows, p.cloud.n));
  }

  const bool sampled = p.rows > 0 && p.rows < p.cloud.n;
  const bool exact = tokens::is_deterministic(p.cloud) && !sampled;
  PhaseMeans means;
  RunningMoments row_errors;
  replicate(
      p.replication, exact,
      [&](Range replicas) {
        for (const PointSample& sample : sample_points(p, replicas, context)) {
          means.add(sample.values);
          row_errors.add(sample.row_sampling_error);
        }
      },
      [&] { return means.estimate(0, false).standard_error; });

  Frame frame("phase_point");
  for (std::size_t k = 0; k < kPhaseObservables.size(); ++k) {
    frame.add_variable(kPhaseObservables[k]).cells[0] = means.estimate(k, exact);
  }
  if (sampled) frame.add_variable("row_sampling_error").cells[0] = row_errors.estimate();
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
  for (const char* name : kPhaseObservables) frame.add_variable(name, {"n", "d", "rho", "gamma"});

  const std::size_t tiles = map.n.size() * map.d.size();
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t n = t / map.d.size();
    const std::size_t d = t % map.d.size();
    Tile tile(map, map.n[n], map.d[d]);
    tile.run(part_of(context, {t, t + 1}, tiles));
    for (std::size_t k = 0; k < kPhaseObservables.size(); ++k) {
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
