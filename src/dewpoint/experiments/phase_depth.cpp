#include "dewpoint/experiments/phase_depth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "dewpoint/attention/deep_layers.hpp"
#include "dewpoint/attention/jacobian_products.hpp"
#include "dewpoint/attention/singular_values.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/depth_stack.hpp"
#include "dewpoint/experiments/variant_point.hpp"

namespace dewpoint::experiments {
namespace {

// Places in kDepthObservables.
constexpr std::size_t kNorm = 9;
constexpr std::size_t kEndToEnd = 10;

using Values = std::array<double, kDepthObservables.size()>;

double log10_of(double natural) { return natural / std::log(10.0); }

// One cloud through all layers at one γ.
class Descent {
 public:
  Descent(const PhaseDepth& p, double gamma, std::uint64_t replica, DepthStack& stack,
          const RunContext& context)
      : p_(p), gamma_(gamma), replica_(replica), stack_(stack), context_(context) {}

  DepthSample run(const TokenCloud& cloud) {
    attention::DeepTokens tokens(cloud);
    sample_.layers.push_back(state_values(attention::deep_angles(tokens, context_)));
    const double first_gap = sample_.layers[0][0];
    double gap = first_gap;
    for (std::size_t l = 0; l < p_.layers; ++l) {
      const double shrunk = p_.rescaled ? first_gap - gap : 0.0;
      const double beta = gamma_ * std::log(static_cast<double>(cloud.size()));
      tokens = one_layer(tokens, beta * std::pow(10.0, std::min(shrunk, kMostRescaling)));
      if (!std::isnan(sample_.layers.back()[0])) gap = sample_.layers.back()[0];
    }
    if (p_.end_to_end) add_end_to_end();
    return std::move(sample_);
  }

 private:
  // A re-scaled β stays a finite float32.
  static constexpr double kMostRescaling = 30.0;

  static Values state_values(const attention::DeepAngles& angles) {
    Values values;
    values.fill(kUnknown);
    values[0] = log10_of(angles.log_mean_gap);
    values[1] = angles.smallest_cosine;
    values[2] = angles.mean_cosine;
    values[3] = angles.largest_cosine;
    values[4] = angles.effective_rank;
    values[kEndToEnd] = 1.0;
    return values;
  }

  attention::DeepTokens one_layer(const attention::DeepTokens& before, double beta) {
    attention::DeepTokens after = stack_.add(before, beta);
    const auto shrinking = attention::deep_contraction(before, after, context_);
    const auto angles = attention::deep_angles(after, context_);
    Values values = state_values(angles);
    values[5] = beta;
    values[6] = shrinking.contraction;
    values[7] = log10_of(shrinking.log_contraction);
    values[8] = static_cast<double>(shrinking.unresolved_pairs);
    lost_ = lost_ || !(angles.log_mean_gap >= stack_.log_noise());
    if (lost_) forget_gaps(before.size(), values);
    if (const auto norm = norm_of_replica(p_.norm, p_.seed, replica_)) {
      values[kNorm] = stack_.norm(*norm);
    }
    sample_.layers.push_back(values);
    return after;
  }

  // Gaps that are rounding, and all that is made of them later, are not known; that cosines are 1
  // is.
  static void forget_gaps(std::size_t n, Values& values) {
    values[0] = values[6] = values[7] = kUnknown;
    values[8] = 0.5 * static_cast<double>(n) * (static_cast<double>(n) - 1.0);
  }

  void add_end_to_end() {
    const Stream signs(p_.seed, "end to end/probes", replica_);
    const Stream start(p_.seed, "end to end/start", replica_);
    const std::size_t count = p_.end_to_end->singular_values;
    sample_.singular_values.assign(p_.layers + 1, std::vector<double>(count, 1.0));
    for (std::size_t l = 1; l <= p_.layers; ++l) {
      context_.throw_if_stopped();
      const auto jacobian = stack_.first_layers(l);
      sample_.layers[l][kEndToEnd] =
          attention::hutchinson_norm(*jacobian, p_.end_to_end->probes, signs).mean;
      if (count == 0) continue;
      const auto top = attention::top_singular_values(*jacobian, count, start);
      for (std::size_t k = 0; k < count; ++k) {
        sample_.singular_values[l][k] = top ? top->values[k] : kUnknown;
      }
    }
  }

  const PhaseDepth& p_;
  double gamma_;
  std::uint64_t replica_;
  DepthStack& stack_;
  const RunContext& context_;
  bool lost_ = false;  // whether gaps have come below what rounding makes
  DepthSample sample_;
};

// Means over clouds of every number of a sample.
class DepthMeans {
 public:
  DepthMeans(std::size_t layers, std::size_t ranks)
      : values_(layers + 1), singular_values_(layers + 1, std::vector<RunningMoments>(ranks)) {}

  void add(const DepthSample& sample) {
    for (std::size_t l = 0; l < values_.size(); ++l) {
      for (std::size_t k = 0; k < kDepthObservables.size(); ++k)
        values_[l][k].add(sample.layers[l][k]);
      for (std::size_t k = 0; k < singular_values_[l].size(); ++k) {
        singular_values_[l][k].add(sample.singular_values[l][k]);
      }
    }
  }

  [[nodiscard]] Estimate value(std::size_t layer, std::size_t variable, bool exact) const {
    return finished(values_[layer][variable], exact);
  }
  [[nodiscard]] Estimate singular_value(std::size_t layer, std::size_t rank, bool exact) const {
    return finished(singular_values_[layer][rank], exact);
  }
  /// Of the contraction, over all layers.
  [[nodiscard]] double worst_error() const {
    double worst = 0.0;
    for (std::size_t l = 1; l < values_.size(); ++l) {
      worst = std::max(worst, values_[l][6].estimate().standard_error);
    }
    return worst;
  }

 private:
  static Estimate finished(const RunningMoments& moments, bool exact) {
    Estimate estimate = moments.estimate();
    if (exact) estimate.standard_error = 0.0;
    return estimate;
  }

  std::vector<std::array<RunningMoments, kDepthObservables.size()>> values_;
  std::vector<std::vector<RunningMoments>> singular_values_;
};

// Clouds of one round, side by side; a single one gets all threads to itself.
std::vector<std::vector<DepthSample>> run_clouds(const PhaseDepth& p, Range replicas,
                                                 const RunContext& context) {
  std::vector<std::vector<DepthSample>> samples(replicas.size(),
                                                std::vector<DepthSample>(p.gamma.size()));
  const RunContext part = part_of(context, replicas, replicas.end);
  const RunContext inner{replicas.size() == 1 ? context.threads : 1, context.stop, {}};
  const RunContext outer{replicas.size() == 1 ? 1 : context.threads, context.stop, part.progress};
  parallel_for(replicas.size() * p.gamma.size(), outer, [&](std::size_t item) {
    const std::size_t replica = replicas.begin + item / p.gamma.size();
    const std::size_t g = item % p.gamma.size();
    samples[item / p.gamma.size()][g] = sample_depth(p, p.gamma[g], replica, inner);
  });
  return samples;
}

std::vector<double> counted(std::size_t first, std::size_t last) {
  std::vector<double> numbers(last - first + 1);
  std::iota(numbers.begin(), numbers.end(), static_cast<double>(first));
  return numbers;
}

Frame frame_of(const PhaseDepth& p, const std::vector<DepthMeans>& means, bool exact) {
  const std::size_t ranks = p.end_to_end ? p.end_to_end->singular_values : 0;
  Frame frame("phase_depth");
  frame.add_dimension("gamma", p.gamma);
  frame.add_dimension("layer", counted(0, p.layers));
  for (std::size_t k = 0; k < kDepthObservables.size(); ++k) {
    if (!is_asked_for(p, k)) continue;
    auto& cells = frame.add_variable(kDepthObservables[k], {"gamma", "layer"}).cells;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      // Probes are random even where the tokens are not.
      const bool sure = exact && k != kEndToEnd && k != kNorm;
      cells[c] = means[c / (p.layers + 1)].value(c % (p.layers + 1), k, sure);
    }
  }
  if (ranks == 0) return frame;
  frame.add_dimension("rank", counted(1, ranks));
  auto& cells = frame.add_variable("singular_value", {"gamma", "layer", "rank"}).cells;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::size_t row = c / ranks;
    cells[c] = means[row / (p.layers + 1)].singular_value(row % (p.layers + 1), c % ranks, exact);
  }
  return frame;
}

}  // namespace

bool is_asked_for(const PhaseDepth& p, std::size_t variable) {
  if (variable == kNorm) return p.norm.has_value();
  if (variable == kEndToEnd) return p.end_to_end.has_value();
  return true;
}

DepthSample sample_stack(const PhaseDepth& p, const TokenCloud& cloud, double gamma,
                         std::uint64_t replica, DepthStack& stack, const RunContext& context) {
  return Descent(p, gamma, replica, stack, context).run(cloud);
}

DepthSample sample_depth(const PhaseDepth& p, double gamma, std::uint64_t replica,
                         const RunContext& context) {
  const TokenCloud cloud = tokens::make_cloud(p.cloud, p.seed, replica);
  const auto stack = depth_stack(p, cloud, replica, context);
  return sample_stack(p, cloud, gamma, replica, *stack, context);
}

PhaseDepth resolved(PhaseDepth p) {
  p.cloud = tokens::resolved(p.cloud);
  check(p.replication);
  check_residual(p.residual);
  attention::check(p.form, p.cloud.n, p.cloud.d);
  if (p.norm) p.norm = resolved_norm(p.form, *p.norm);
  if (p.layers < 1) throw Error(Code::bad_value, "layers: 0 is below 1");
  if (p.gamma.empty()) throw Error(Code::bad_value, "gamma: the list is empty");
  for (const double gamma : p.gamma) check_gamma(gamma);
  if (p.end_to_end && p.end_to_end->singular_values >= p.cloud.n * p.cloud.d) {
    throw Error(Code::bad_value, fmt::format("singular-values: {} is not below n d = {}",
                                             p.end_to_end->singular_values, p.cloud.n * p.cloud.d));
  }
  return p;
}

Frame phase_depth(const PhaseDepth& parameters, const RunContext& context) {
  const PhaseDepth p = resolved(parameters);
  const bool exact = tokens::is_deterministic(p.cloud) && !p.form.is_random();
  const std::size_t ranks = p.end_to_end ? p.end_to_end->singular_values : 0;
  std::vector<DepthMeans> means(p.gamma.size(), DepthMeans(p.layers, ranks));
  replicate(
      p.replication, exact,
      [&](Range replicas) {
        for (const auto& cloud : run_clouds(p, replicas, context)) {
          for (std::size_t g = 0; g < means.size(); ++g) means[g].add(cloud[g]);
        }
      },
      [&] {
        double worst = 0.0;
        for (const DepthMeans& one : means) worst = std::max(worst, one.worst_error());
        return worst;
      });
  return frame_of(p, means, exact);
}

}  // namespace dewpoint::experiments
