#include "dewpoint/diagnosis/head_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dewpoint::diagnosis {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// P(log τ ≤ bound).
double share_below(const Estimate& log_phase, std::span<const double> replicates, double bound) {
  if (std::isfinite(log_phase.standard_error) && log_phase.standard_error > 0.0)
    return normal_cdf((bound - log_phase.mean) / log_phase.standard_error);
  if (log_phase.standard_error == 0.0) return log_phase.mean <= bound ? 1.0 : 0.0;
  const auto below = std::count_if(replicates.begin(), replicates.end(),
                                   [bound](double value) { return value <= bound; });
  return static_cast<double>(below) / static_cast<double>(replicates.size());
}

std::array<double, 3> phase_probabilities(const RowQuantile& log_phase) {
  const double edge = std::log(kCriticalBand);
  const double diffuse = share_below(log_phase.estimate, log_phase.replicates, -edge);
  const double below = share_below(log_phase.estimate, log_phase.replicates, edge);
  return {diffuse, below - diffuse, 1.0 - below};
}

std::string phase_text(const Estimate& log_phase) {
  const double phase = std::exp(log_phase.mean);
  if (!std::isfinite(log_phase.standard_error)) return fmt::format("tau = {:.3g}", phase);
  return "tau = " + to_string(Estimate{phase, phase * log_phase.standard_error, 0});
}

}  // namespace

const char* name_of(Phase phase) {
  if (phase == Phase::diffuse) return "diffuse";
  return phase == Phase::critical ? "critical" : "condensed";
}

PhaseVerdict judge_phase(const HeadBin& bin, std::size_t multiplier, bool without_first) {
  if (bin.rows.size() < kLeastPhaseRows)
    return {{}, 0.0, fmt::format("{} rows are below {}", bin.rows.size(), kLeastPhaseRows)};
  std::vector<double> logarithms = row_phases(bin, multiplier, without_first);
  for (double& value : logarithms) value = std::log(value);
  const auto log_phase = row_quantile(logarithms, 0.5, *bin.bootstrap);
  if (!log_phase) return {{}, 0.0, "no row has a dew point"};

  const std::array<double, 3> shares = phase_probabilities(*log_phase);
  const auto best = std::max_element(shares.begin(), shares.end());
  const auto phase = static_cast<Phase>(best - shares.begin());
  const std::string median = phase_text(log_phase->estimate);
  if (*best < kPhaseProbability) {
    return {{},
            *best,
            fmt::format("{} is diffuse with {:.0f}%, critical with {:.0f}%, condensed with {:.0f}%",
                        median, 100.0 * shares[0], 100.0 * shares[1], 100.0 * shares[2])};
  }
  return {phase, *best, fmt::format("median {} over {} rows", median, bin.rows.size())};
}

}  // namespace dewpoint::diagnosis
