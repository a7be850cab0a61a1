// What may be asked of `dewpoint predict`: options that several questions share, with the ranges
// they are checked against, and the questions.
//
// A question is a struct of options with a member add_to(CLI::App&), and a function that checks
// them and answers. A value out of range throws Error{bad_value} with field, value and range.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>

#include "cli/answer.hpp"
#include "cli/commands.hpp"

namespace dewpoint::cli {

inline constexpr double kLargestInverseTemperature = 1e100;  // its square is still a double

/// Half-width of the critical window in x = (c − 1) log n. At its ends a token keeps 1/(1 + e^2) =
/// 0.12 and 0.88 of its attention for itself.
inline constexpr double kWindow = 2.0;

/// "subcritical", "critical window", "supercritical", by x.
[[nodiscard]] const char* phase_name(double scaling_variable);

void require(bool allowed, const char* field, double value, const std::string& range);
void require_dimension(double d);
void require_correlation(const char* field, double rho);
void require_residual(double alpha);
void require_squared_norm(const char* field, double q);

/// log n of a length that is allowed.
[[nodiscard]] double log_length(const char* field, double n);

/// --gamma or --beta, one of the two.
struct Temperature {
  double gamma = 0.0;
  double beta = 0.0;
  const CLI::Option* gamma_option = nullptr;
  const CLI::Option* beta_option = nullptr;

  void add_to(CLI::App& verb);
  [[nodiscard]] double inverse(double log_n) const;
};

/// One layer on a regular simplex, checked.
struct SimplexLayer {
  double n, log_n, dimension, correlation, inverse_temperature, residual, squared_norm;

  [[nodiscard]] double gamma() const { return inverse_temperature / log_n; }
  /// c = γ(1 − ρ).
  [[nodiscard]] double reduced_scale() const {
    return inverse_temperature * (1.0 - correlation) / log_n;
  }
  /// x = (c − 1) log n.
  [[nodiscard]] double scaling_variable() const {
    return inverse_temperature * (1.0 - correlation) - log_n;
  }
};

[[nodiscard]] Json parameters_of(const SimplexLayer& layer);

/// --n, --d, --rho, the temperature, --alpha, --q.
struct SimplexOptions {
  double n = 0.0;
  double d = 0.0;
  double rho = 0.0;
  Temperature temperature;
  double alpha = 0.0;
  double q = 1.0;
  CLI::Option* d_option = nullptr;
  CLI::Option* rho_option = nullptr;

  void add_to(CLI::App& verb);
  [[nodiscard]] SimplexLayer layer() const;
};

/// --tau, --rho-rest, --rho-cluster: tokens in clusters.
struct ClusterOptions {
  double tau = 0.0;
  double rho_rest = 0.0;
  double rho_cluster = 0.0;

  /// The three options, in this order: whether they are required is the question's to say.
  std::array<CLI::Option*, 3> add_to(CLI::App& verb);
  void check() const;
  /// log n of a length that is allowed and has room for n^τ neighbours.
  [[nodiscard]] double log_length(double n) const;
};

/// How a question is announced.
struct Question {
  const char* name;
  const char* about;
  const char* example;
};

/// Adds a question to the verb `predict`, with --json.
template <class Options>
void add_question(Program& program, CLI::App& predict, const Question& question,
                  Answer (*answer)(const Options&)) {
  struct Asked {
    Options options;
    bool json = false;
  };
  CLI::App* verb = predict.add_subcommand(question.name, question.about);
  const auto asked = std::make_shared<Asked>();
  if constexpr (requires { asked->options.add_to(program, *verb); }) {
    asked->options.add_to(program, *verb);
  } else {
    asked->options.add_to(*verb);
  }
  verb->add_flag("--json", asked->json, "One JSON object on standard output");
  add_example(*verb, question.example);
  verb->callback([&program, asked, answer] {
    set_answer(program, asked->json, [asked, answer] { return answer(asked->options); });
  });
}

void add_predict_layer(Program& program, CLI::App& predict);
void add_predict_variant(Program& program, CLI::App& predict);
void add_predict_bounds(Program& program, CLI::App& predict);
void add_predict_phases(Program& program, CLI::App& predict);
void add_predict_critical(Program& program, CLI::App& predict);
void add_predict_depth(Program& program, CLI::App& predict);
void add_predict_scaling(Program& program, CLI::App& predict);
void add_predict_condense(Program& program, CLI::App& predict);
void add_predict_query(Program& program, CLI::App& predict);
void add_predict_softmax(Program& program, CLI::App& predict);
void add_predict_dew(Program& program, CLI::App& predict);
void add_predict_train(Program& program, CLI::App& predict);
void add_predict_heat(Program& program, CLI::App& predict);

}  // namespace dewpoint::cli
