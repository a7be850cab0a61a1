#include "dewpoint/theory/depth_panels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::theory {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr int kRuleNodes = 16;

// Across a panel of the law the probability grows by e^{12} at most, across a panel of the step the
// kernel falls by e^{14}: the rule integrates e^{26s} over 0 ≤ s ≤ 1 to 1e-14 of its largest value.
constexpr double kLogProbabilityStep = 12.0;
constexpr double kKernelStep = 14.0;

// β(x − c) where the step bends. On its left z^p e^{−z} is below 1e-30 for p ≤ 16.
constexpr double kKernelCuts[] = {-5.0, -3.75, -2.5, -1.25, 0.0, 1.5, 4.0, 8.0, 16.0};

// A bound of a stretch's contribution may exceed it by e^{26}: what is left out is below e^{−40}.
constexpr double kNegligible = 66.0;

constexpr double kPanelTolerance = 1e-11;
constexpr int kMostHalvings = 6;

/// log of the probabilities that panels of a law end at, from the deepest tail upwards.
std::vector<double> panel_levels(double log_least) {
  std::vector<double> levels;
  const auto steps = static_cast<int>(std::ceil(-log_least / kLogProbabilityStep));
  for (int k = steps; k > 0; --k) levels.push_back(log_least * k / steps);
  for (const double probability : {0.03, 0.3, 0.7, 0.95, 0.9975}) {
    if (std::log(probability) > levels.back() + 0.3) levels.push_back(std::log(probability));
  }
  levels.push_back(-std::numeric_limits<double>::epsilon());
  std::sort(levels.begin(), levels.end());
  return levels;
}

/// An upper bound of log k on depths beyond x, for k = z^power e^{−z} and 1 − e^{−z}.
double log_kernel(const SoftStep& step, double power, double depth) {
  return power * std::min(0.0, step.inverse_temperature * (step.centre - depth));
}

}  // namespace

DepthPanels::DepthPanels(const DepthDistribution& law, double log_least)
    : law_(law), rule_(gauss_legendre(kRuleNodes)) {
  DEWPOINT_EXPECTS(log_least < 0.0);
  double previous = -kInfinity;
  for (const double level : panel_levels(log_least)) {
    const double depth = law.quantile(level);
    if (!(depth > previous)) continue;
    if (std::isinf(previous)) {
      cuts_.push_back(depth);
    } else {
      append_cuts(previous, depth, kMostHalvings);
    }
    previous = depth;
  }
  for (const double cut : cuts_) log_cdfs_.push_back(law.log_cdf(cut));
}

/// Cuts the panel (lower, upper] in halves until the rule resolves each.
void DepthPanels::append_cuts(double lower, double upper, int halvings) {
  const double middle = 0.5 * (lower + upper);
  if (halvings > 0 && lower < middle && middle < upper && !resolved(lower, upper)) {
    append_cuts(lower, middle, halvings - 1);
    append_cuts(middle, upper, halvings - 1);
  } else {
    cuts_.push_back(upper);
  }
}

bool DepthPanels::resolved(double lower, double upper) const {
  const double log_upper = law_.log_cdf(upper);
  double mass = 0.0;
  for (const DepthNode& node : nodes_between(lower, upper)) {
    mass += node.weight * std::exp(node.log_density - log_upper);
  }
  const double expected = -std::expm1(law_.log_cdf(lower) - log_upper);
  return std::abs(mass - expected) <= kPanelTolerance;
}

double DepthPanels::log_cdf(double depth) const {
  if (depth <= law_.lowest()) return -kInfinity;
  return depth < law_.highest() ? law_.log_cdf(depth) : 0.0;
}

double DepthPanels::cdf(double depth) const { return std::exp(log_cdf(depth)); }

double DepthPanels::coordinate(double depth) const {
  const double lowest = law_.lowest(), highest = law_.highest();
  if (std::isinf(lowest)) return depth;
  if (std::isinf(highest)) return std::sqrt(depth - lowest);
  return 2.0 * std::asin(std::min(1.0, std::sqrt((depth - lowest) / (highest - lowest))));
}

void DepthPanels::append_rule(double lower, double upper, std::vector<DepthNode>& nodes) const {
  const double lowest = law_.lowest(), highest = law_.highest();
  const double first = coordinate(lower), last = coordinate(upper);
  const double centre = 0.5 * (first + last), half_width = 0.5 * (last - first);
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    const double u = centre + half_width * rule_.nodes[i];
    double depth = u, slope = 1.0;
    if (std::isfinite(lowest) && std::isfinite(highest)) {
      const double sine = std::sin(0.5 * u), cosine = std::cos(0.5 * u), width = highest - lowest;
      depth = lowest + width * sine * sine;
      slope = width * sine * cosine;
    } else if (std::isfinite(lowest)) {
      depth = lowest + u * u;
      slope = 2.0 * u;
    }
    if (!(lowest < depth && depth < highest)) continue;  // rounded onto an end, where f may be ∞
    nodes.push_back({depth, half_width * rule_.weights[i] * slope, law_.log_density(depth)});
  }
}

std::vector<DepthNode> DepthPanels::nodes_between(double lower, double upper) const {
  std::vector<DepthNode> nodes;
  append_rule(lower, upper, nodes);
  return nodes;
}

/// Where the kernel alone, with probability 1, is negligible against what a cut guarantees.
double DepthPanels::last_depth(const SoftStep& step) const {
  const double near = std::max(step.centre, step.from) + 1.0 / step.inverse_temperature;
  double guaranteed = log_cdf(near) + log_kernel(step, 1.0, near);
  for (std::size_t k = 0; k < cuts_.size(); ++k) {
    if (cuts_[k] <= step.from) continue;
    guaranteed = std::max(guaranteed, log_cdfs_[k] + log_kernel(step, 1.0, cuts_[k]));
  }
  const double reach = (kNegligible - guaranteed) / step.inverse_temperature;
  return std::min(cuts_.back(), step.centre + reach);
}

/// The cuts of the law and of the step, merged.
std::vector<double> DepthPanels::cuts_for(const SoftStep& step) const {
  const double first = std::max(step.from, cuts_.front()), last = last_depth(step);
  if (!(first < last)) return {};
  std::vector<double> cuts = {first, last};
  const auto add = [&](double cut) {
    if (first < cut && cut < last) cuts.push_back(cut);
  };
  for (const double cut : cuts_) add(cut);
  for (const double cut : kKernelCuts) add(step.centre + cut / step.inverse_temperature);
  const double skipped = std::max(0.0, (first - step.centre) * step.inverse_temperature);
  for (double k = 1.0 + std::max(0.0, std::floor((skipped - 16.0) / kKernelStep));; ++k) {
    const double cut = step.centre + (16.0 + k * kKernelStep) / step.inverse_temperature;
    if (!(cut < last)) break;
    add(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// For each stretch between two cuts the log probability below the end of the panel it lies in.
std::vector<double> DepthPanels::log_masses(const std::vector<double>& cuts) const {
  std::vector<double> masses;
  std::size_t panel = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    while (panel + 1 < cuts_.size() && cuts_[panel] < cuts[i]) ++panel;
    masses.push_back(log_cdfs_[panel]);
  }
  return masses;
}

std::vector<DepthNode> DepthPanels::nodes(const SoftStep& step) const {
  DEWPOINT_EXPECTS(step.inverse_temperature > 0.0 && step.power >= 1.0);
  const std::vector<double> cuts = cuts_for(step), masses = log_masses(cuts);
  double once = -kInfinity, powered = -kInfinity;  // the largest bounds with kernels z and z^power
  for (std::size_t i = 0; i < masses.size(); ++i) {
    once = std::max(once, masses[i] + log_kernel(step, 1.0, cuts[i]));
    powered = std::max(powered, masses[i] + log_kernel(step, step.power, cuts[i]));
  }
  std::vector<DepthNode> nodes;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (masses[i] + log_kernel(step, 1.0, cuts[i]) < once - kNegligible &&
        masses[i] + log_kernel(step, step.power, cuts[i]) < powered - kNegligible) {
      continue;
    }
    append_rule(cuts[i], cuts[i + 1], nodes);
  }
  return nodes;
}

}  // namespace dewpoint::theory
