// Which disagreements a configuration meets. Numbers are those of engine_scale, never copies.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/scaling/divergences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dewpoint::scaling {
namespace {

using disagreement::Comparison;
using disagreement::Part;
using disagreement::Rule;

constexpr double kVisible = 1e-6;          // relative difference of two multipliers
constexpr double kUsualLength = 131072.0;  // where neither user nor model names one

struct Difference {
  double n, suspect, reference;
  std::string where;
};

double part_of(const Schedules& schedules, Part part, double n) {
  double product = 1.0;
  for (const Schedule& schedule : schedules)
    if (schedule.static_factor == (part == Part::set_once)) product *= multiplier(schedule, n);
  return product;
}

// Multipliers do not shrink their differences with n, so the longest context shows them all; a
// schedule that starts beyond it does not concern the deployment.
std::optional<Difference> difference(const EngineScale& suspect, const EngineScale& reference,
                                     Part part, double n) {
  for (std::size_t i = 0; i < std::min(suspect.layers.size(), reference.layers.size()); ++i) {
    const LayerScale& mine = suspect.layers[i];
    const LayerScale& theirs = reference.layers[i];
    for (const bool rotary : {true, false}) {
      if (rotary ? !mine.has_rotary : !mine.has_other) continue;
      const double one = part_of(rotary ? mine.rotary : mine.other, part, n);
      const double two = part_of(rotary ? theirs.rotary : theirs.other, part, n);
      if (std::abs(one - two) > kVisible * std::abs(two))
        return Difference{
            n, one, two, fmt::format("{}, {} coordinates", mine.type, rotary ? "rotary" : "other")};
    }
  }
  return std::nullopt;
}

std::optional<std::string> compared_title(const AttentionConfig& config, std::size_t length,
                                          const Comparison& comparison) {
  const double n = length > 0                 ? static_cast<double>(length)
                   : config.max_positions > 0 ? static_cast<double>(config.max_positions)
                                              : kUsualLength;
  const EngineScale suspect = engine_scale(config, comparison.suspect, length);
  const EngineScale reference = engine_scale(config, comparison.reference, length);
  if (!suspect.unverified.empty() || !reference.unverified.empty()) return std::nullopt;
  const auto found = difference(suspect, reference, comparison.part, n);
  if (!found) return std::nullopt;
  const std::string at =
      comparison.part == Part::by_position ? fmt::format(" at n = {:.10g}", n) : std::string();
  return fmt::format("m = {:.4g} in {}, {:.4g} in {}{} ({})", found->suspect,
                     name_of(comparison.suspect), found->reference, name_of(comparison.reference),
                     at, found->where);
}

std::optional<std::string> title_of(const Rule& rule, const AttentionConfig& config,
                                    std::size_t length) {
  if (!rule.concerns(config)) return std::nullopt;
  return rule.comparison ? compared_title(config, length, *rule.comparison) : rule.title(config);
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list = disagreement::rotation_rules();
    for (Rule& rule : disagreement::position_rules()) list.push_back(std::move(rule));
    return list;
  }();
  return all;
}

}  // namespace

std::vector<Divergence> divergences(const AttentionConfig& config, std::size_t deployed_length) {
  std::vector<Divergence> found;
  for (const Rule& rule : rules())
    if (const auto title = title_of(rule, config, deployed_length))
      found.push_back({rule.id, rule.engines, *title, rule.explanation});
  return found;
}

const std::vector<KnownDivergence>& known_divergences() {
  static const std::vector<KnownDivergence> known = [] {
    std::vector<KnownDivergence> list;
    for (const Rule& rule : rules()) list.push_back({rule.id, rule.explanation});
    return list;
  }();
  return known;
}

}  // namespace dewpoint::scaling
