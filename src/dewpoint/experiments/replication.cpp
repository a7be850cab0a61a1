#include "dewpoint/experiments/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::experiments {
namespace {

// 1e6 for a million.
std::string power_of_ten(double value) {
  return fmt::format("1e{}", std::lround(std::log10(value)));
}

void require_up_to(double most, const char* option, double value) {
  require_option(value >= 0.0 && value <= most, option, value,
                 fmt::format("a number in [0, {}]", power_of_ten(most)));
}

}  // namespace

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

RunContext part_of(const RunContext& context, Range part, std::size_t whole) {
  if (!context.progress) return context;
  return {context.threads, context.stop, [&context, part, whole](double done, double total) {
            const double here =
                static_cast<double>(part.begin) + static_cast<double>(part.size()) * done / total;
            context.progress(here, static_cast<double>(whole));
          }};
}

void check(const Replication& plan) {
  if (plan.replicas < 1) throw Error(Code::bad_value, "replicas: 0 is below 1");
  if (!(plan.target_error >= 0.0) || !std::isfinite(plan.target_error)) {
    throw Error(Code::bad_value,
                fmt::format("target-error: {} is not a finite number >= 0", plan.target_error));
  }
}

void check_gamma(double gamma) { require_up_to(kMostGamma, "gamma", gamma); }

void check_residual(double alpha) { require_up_to(kMostResidual, "alpha", alpha); }

void check_inverse_temperature(double beta) {
  require_up_to(kMostInverseTemperature, "beta", beta);
}

std::optional<attention::NormOptions> norm_of_replica(std::optional<attention::NormOptions> norm,
                                                      std::uint64_t seed, std::uint64_t replica) {
  if (norm) {
    norm->seed = seed;
    norm->replica = replica;
  }
  return norm;
}

}  // namespace dewpoint::experiments
