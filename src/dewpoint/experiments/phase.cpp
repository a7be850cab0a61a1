#include "dewpoint/experiments/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/variant_point.hpp"

namespace dewpoint::experiments {
namespace {

// Clouds that live at the same time while a map runs.
constexpr std::size_t kBatch = 8;

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
        map_.replication, is_deterministic(),
        [&](Range replicas) {
          for (std::size_t first = replicas.begin; first < replicas.end; first += kBatch) {
            const Range batch{first, std::min(first + kBatch, replicas.end)};
            add_replicas(batch, part_of(context, batch, replicas.end));
          }
        },
        [&] { return worst_error(); });
  }

  [[nodiscard]] Estimate cell(std::size_t rho, std::size_t gamma, std::size_t observable) const {
    return means_[rho * map_.gamma.size() + gamma].estimate(observable, is_deterministic());
  }

 private:
  [[nodiscard]] bool is_deterministic() const {
    return tokens::is_deterministic(cloud_) && !map_.form.is_random();
  }

  void add_replicas(Range replicas, const RunContext& context) {
    const RunContext quiet{context.threads, context.stop, {}};
    std::vector<std::unique_ptr<MapReplica>> clouds(replicas.size());
    parallel_for(clouds.size(), quiet, [&](std::size_t r) {
      clouds[r] = std::make_unique<MapReplica>(
          PhasePoint{cloud_, 1.0, map_.residual, 0, 0, map_.form, map_.norm, {}, map_.seed},
          replicas.begin + r);
    });
    const std::size_t rhos = map_.rho.size();
    std::vector<std::vector<PhaseValues>> values(clouds.size() * rhos);
    parallel_for(values.size(), context, [&](std::size_t item) {
      values[item] = clouds[item / rhos]->row(map_.rho[item % rhos], map_.gamma, quiet);
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

// Checks the form of a layer on this cloud, and the method of a norm with it.
void resolve_form(const attention::LayerForm& form, const tokens::CloudParameters& cloud,
                  std::optional<attention::NormOptions>& norm) {
  attention::check(form, cloud.n, cloud.d);
  if (norm) norm = resolved_norm(form, *norm);
  const bool hides_nothing = form == attention::LayerForm{};
  if (hides_nothing || !tokens::has_clusters(cloud)) return;
  throw Error(Code::bad_value,
              fmt::format("{}: tokens '{}' have a cluster mass with plain softmax over all keys "
                          "only; use other tokens",
                          attention::name_of(form), cloud.law));
}

}  // namespace

PhasePoint resolved(PhasePoint p) {
  p.cloud = tokens::resolved(p.cloud);
  check(p.replication);
  check_residual(p.residual);
  check_inverse_temperature(p.inverse_temperature);
  resolve_form(p.form, p.cloud, p.norm);
  if (p.rows > 0 && p.norm && p.norm->method == attention::NormMethod::hutchinson) {
    throw Error(Code::bad_value, "eta: hutchinson needs all rows; use auto, or rows 0");
  }
  if (p.rows == 1 || p.rows == 2 || p.rows > p.cloud.n) {
    throw Error(Code::bad_value,
                fmt::format("rows: {} is neither 0 (all) nor within 3..n = {}", p.rows, p.cloud.n));
  }
  return p;
}

Frame phase_point(const PhasePoint& parameters, const RunContext& context) {
  const PhasePoint p = resolved(parameters);
  const bool sampled = samples_rows(p);
  const bool exact = tokens::is_deterministic(p.cloud) && !p.form.is_random() && !sampled;
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

std::optional<std::string> why_undefined(const Frame& point) {
  if (!std::isnan(point.variable("contraction").cells[0].mean)) return {};
  const bool directions = !std::isnan(point.variable("mean_cosine").cells[0].mean);
  return directions ? "all tokens are identical" : "an output is zero and has no direction";
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
  for (const double gamma : map.gamma) check_gamma(gamma);
  for (std::size_t& d : map.d) d = common_dimension(map, d);
  for (const std::size_t n : map.n) {
    for (const std::size_t d : map.d) {
      tokens::CloudParameters cloud = map.cloud;
      cloud.n = n;
      cloud.d = d;
      resolve_form(map.form, cloud, map.norm);
    }
  }
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
