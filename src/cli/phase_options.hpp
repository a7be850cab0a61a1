// Options that the verbs of `dewpoint phase` share: the cloud, its replication, the Jacobian norm.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::cli {

/// The token law, norms, residual and how many clouds. The verb adds n, d and rho itself.
struct CloudOptions {
  tokens::CloudParameters cloud;
  std::string norm = "unit";
  std::string common = "random";
  double cluster_size = 16.0;  // a double, because exact recursions take any
  double residual = 0.0;
  experiments::Replication replication;

  void add_to(CLI::App& verb);
  /// Fills in what was given by name, or as an array.
  void resolve(const Given& given);
};

/// --mask, --attention, --projections, --rope: the form of a layer.
struct FormOptions {
  std::string mask = "none";
  std::string attention = "softmax";
  std::string projections = "none";
  double rotary_base = 0.0;

  void add_to(CLI::App& verb);
  [[nodiscard]] attention::LayerForm resolved() const;
};

/// --eta, --eta-error, --eta-probes.
struct NormCliOptions {
  std::string method = "auto";
  attention::NormOptions norm;

  void add_to(CLI::App& verb);
  /// Nothing for "none".
  [[nodiscard]] std::optional<attention::NormOptions> resolved() const;
};

void add_phase_point(Program& program, CLI::App& phase);
void add_phase_map(Program& program, CLI::App& phase);
void add_phase_depth(Program& program, CLI::App& phase);

}  // namespace dewpoint::cli
