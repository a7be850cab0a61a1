#include "dewpoint/experiments/phase.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/experiments/variant_point.hpp"

namespace dewpoint::experiments {
namespace {

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

}  // namespace dewpoint::experiments
