// Inside divergences.cpp and divergence_rules.cpp: a disagreement as a rule.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::scaling::disagreement {

/// Which factors of a layer are compared: those set once, or those that follow the position.
enum class Part { set_once, by_position };

/// Two engines whose multipliers are compared; a rule with one says nothing where they agree.
struct Comparison {
  Engine suspect, reference;
  Part part;
};

struct Rule {
  std::string id;
  std::vector<Engine> engines;
  std::function<bool(const AttentionConfig&)> concerns;
  std::optional<Comparison> comparison;
  std::function<std::string(const AttentionConfig&)> title;  // instead, where nothing is compared
  std::string explanation;
};

[[nodiscard]] std::vector<Rule> rotation_rules();
[[nodiscard]] std::vector<Rule> position_rules();

}  // namespace dewpoint::scaling::disagreement
