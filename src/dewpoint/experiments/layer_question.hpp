// What can be asked of a layer of attention on a cloud of tokens: the parts that the questions
// "phase", "depth", "lengths" and "variants" are made of. Each describes itself, once.
//
// What a cloud or a layer does not know (the correlation of a sphere, clusters where there are
// none, norms that nothing looks at) is absent from a resolved question, so that one cloud is one
// point.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dewpoint/attention/jacobian_norm.hpp"
#include "dewpoint/attention/variants/layer_form.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/experiments/replication.hpp"
#include "dewpoint/question/field.hpp"
#include "dewpoint/scaling/law.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::experiments {

/// [0, 1)
inline constexpr question::Range kCorrelations{.least = 0.0, .most = 1.0, .below = true};

// ---- the tokens ---------------------------------------------------------------------------------

struct CloudQuestion {
  std::string law = "equicorrelated";  // "tokens"
  std::size_t n = 512;
  std::size_t d = 0;
  std::optional<double> rho = 0.5;
  std::optional<double> rho_inner = 0.8;
  std::optional<std::size_t> cluster_size = 16;
  std::optional<tokens::Norm> norm = tokens::Norm::unit;
  std::optional<tokens::Common> common = tokens::Common::random;
  std::shared_ptr<const Matrix<double>> rows = nullptr;  // in the place of a file
};

/// n, d, rho, common.
template <class Visitor>
void describe_shape(Visitor& visit, CloudQuestion& q, const question::Range& lengths) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("n", q.n, lengths, "tokens");
  visit("d", q.d, in(0.0, tokens::kMostDimensions),
        "dimension; 0: 64, or the least an exact law needs");
  visit("rho", q.rho, kCorrelations, "correlation of two tokens");
  visit("common", q.common,
        "length of the common vector, random as in the paper or fixed to 1 (far less noise)");
}

template <class Visitor>
void describe(Visitor& visit, CloudQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("tokens", q.law,
        "token law: equicorrelated, simplex, two-level, clustered, sphere, half-sphere, or a file "
        "ending in .npy");
  describe_shape(visit, q, in(2.0, tokens::kMostTokens));
  visit("rho-inner", q.rho_inner, kCorrelations,
        "correlation within a cluster, at least rho (two-level, clustered)");
  visit("cluster-size", q.cluster_size, in(1.0, tokens::kMostTokens),
        "tokens per cluster; divides n (two-level, clustered)");
  visit("norm", q.norm, "norms of the tokens");
}

/// A cloud whose theory is known for finite n: its law, n, d, rho and common.
template <class Visitor>
void describe_known(Visitor& visit, CloudQuestion& q, const question::Range& lengths) {
  visit("tokens", q.law, question::one_of({"equicorrelated", "simplex", "sphere"}),
        "token law; equicorrelated is almost a simplex");
  describe_shape(visit, q, lengths);
}

/// n and d those of the law or the file; what the law does not know is absent. Throws
/// Error{bad_value}.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] CloudQuestion resolved(CloudQuestion question);
/// The same of a known cloud: no norms, and a sphere of at most 1e6 dimensions.
[[nodiscard]] CloudQuestion resolved_known(CloudQuestion question);
[[nodiscard]] tokens::CloudParameters cloud_of(const CloudQuestion& question);

// ---- the form of the layer ----------------------------------------------------------------------

struct FormQuestion {
  std::string mask = "none";
  std::optional<std::string> attention = "softmax";
  std::optional<std::string> projections = "none";
  std::optional<double> rope = 0.0;
};

template <class Visitor>
void describe(Visitor& visit, FormQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("mask", q.mask,
        "keys a query sees: none (all), causal, window:W, dilated:W:S (W keys at stride S), "
        "global:W:G (a window and the first G tokens)");
  visit("attention", q.attention,
        "weights from scores: softmax, sink:B (a logit B without a key), off-by-one (sink:0), "
        "top:K, linear (elu + 1), features:M (random features)");
  visit("projections", q.projections,
        "queries, keys and values: none (the tokens), orthogonal:H (random matrices, H heads)");
  visit("rope", q.rope, at_least(0.0), "base of the rotations of positions; 0: none");
}

/// Names as they are written here; those of the plain layer are absent, but its mask. Throws
/// Error{bad_value} for what is no name, or no form of a layer on this cloud, which is resolved.
///   Properties  (1) resolved(resolved(q, c), c) = resolved(q, c).
[[nodiscard]] FormQuestion resolved(const FormQuestion& question, const CloudQuestion& cloud);
[[nodiscard]] attention::LayerForm form_of(const FormQuestion& question);

// ---- the temperature ----------------------------------------------------------------------------

/// One of gamma, c, beta and law; gamma 1 where none is given.
struct TemperatureQuestion {
  std::optional<double> gamma = {}, c = {}, beta = {};
  std::optional<std::string> law = {};
  std::optional<double> strength = {};
};

template <class Visitor>
void describe(Visitor& visit, TemperatureQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("gamma", q.gamma, in(0.0, kMostGamma), "beta = gamma log n", otherwise("1"));
  visit("c", q.c, at_least(0.0),
        "gamma over its critical value: gamma (1 - rho) or, with random heads, beta over that of "
        "freezing",
        instead_of("gamma"));
  visit("beta", q.beta, in(0.0, kMostInverseTemperature), "inverse temperature itself",
        instead_of("gamma"));
  visit("law", q.law, one_of(scaling::law_names()), "beta(n) by name", instead_of("gamma"));
  visit("strength", q.strength, at_least(0.0), "factor of the named law", only_with("law"),
        otherwise("1"));
}

// ---- the Jacobian norm --------------------------------------------------------------------------

enum class Eta { none, automatic, exact, mixed, hutchinson };
[[nodiscard]] const std::vector<std::pair<std::string, Eta>>& words_of(Eta);

/// Not measured unless asked for: with it a cell costs three times as much. Verbs ask for `auto`
/// where nothing is said (of_verb), as a single answer can afford it.
struct NormQuestion {
  Eta eta = Eta::none;
  std::optional<double> eta_error = attention::NormOptions{}.target_error;
  std::optional<std::size_t> eta_probes = attention::NormOptions{}.probes;
};

template <class Visitor>
void describe(Visitor& visit, NormQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("eta", q.eta, "Jacobian norm, auto at the least cost for the error", fixed);
  visit("eta-error", q.eta_error, above(0.0), "relative error that probes of a sampled norm reach",
        fixed);
  visit("eta-probes", q.eta_probes, in(0.0, 1e6),
        "probes of a sampled norm; 0: as many as the error needs", fixed);
}

/// Nothing for none.
[[nodiscard]] std::optional<attention::NormOptions> norm_of(const NormQuestion& question);

/// The fields as a verb has them: eta is `auto` where nothing is said.
[[nodiscard]] std::vector<question::Field> of_verb(std::vector<question::Field> fields);

// ---- a layer ------------------------------------------------------------------------------------

struct LayerQuestion {
  CloudQuestion cloud = {};
  TemperatureQuestion temperature = {};
  double alpha = 0.0;
  FormQuestion form = {};
  NormQuestion norm = {};
};

/// The residual strength, of every question that has one.
template <class Visitor>
void describe_residual(Visitor& visit, double& alpha) {
  visit("alpha", alpha, question::in(0.0, kMostResidual),
        "residual strength in x' = ATT(N(x)) + alpha x");
}

template <class Visitor>
void describe(Visitor& visit, LayerQuestion& q) {
  describe(visit, q.cloud);
  describe(visit, q.temperature);
  describe_residual(visit, q.alpha);
  describe(visit, q.form);
  describe(visit, q.norm);
}

/// Complete, with the temperature in the unit that was asked for. `norms_matter`: norms of tokens
/// are looked at even without residual and Jacobian norm. Throws Error{bad_value}.
///   Properties  (1) completed(completed(q)) = completed(q).
[[nodiscard]] LayerQuestion completed(LayerQuestion question, bool norms_matter = false);
/// The same with every temperature as gamma, which rounds: β of a question given by `beta` or `c`
/// is within two units in the last place of what was asked for. c of random heads needs theory:
/// studies::with_gamma comes first.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] LayerQuestion resolved(LayerQuestion question, bool norms_matter = false);

/// γ of a complete question, as resolved() has it.
[[nodiscard]] double gamma_of(const LayerQuestion& question);
/// β of a complete question. Throws Error{bad_value} where a law makes it too large.
[[nodiscard]] double inverse_temperature_of(const LayerQuestion& question);

/// Those of these fields that have no effect in a complete question, each with the reason.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> idle_fields(
    const std::vector<std::string>& names, const LayerQuestion& complete);
/// For those who ask once: a study may sweep over laws of tokens, of which some know what others do
/// not. Throws Error{bad_value} "rho: is given, but ..." for the first of them.
void refuse_idle(const std::vector<std::string>& given, const LayerQuestion& complete);

// ---- clouds to average over ---------------------------------------------------------------------

/// Studies have replicas and a target of their own.
struct ReplicationQuestion {
  std::size_t replicas = 1;
  std::optional<double> target_error;
};

template <class Visitor>
void describe(Visitor& visit, ReplicationQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("replicas", q.replicas, in(1.0, 1e9), "clouds to average over");
  visit("target-error", q.target_error, above(0.0),
        "double the clouds until the standard error of lambda is this small");
}

[[nodiscard]] Replication replication_of(const ReplicationQuestion& question);

/// A question as verbs and rooms put it.
template <class Question>
struct Replicated {
  Question question;
  ReplicationQuestion replication;
};

template <class Visitor, class Question>
void describe(Visitor& visit, Replicated<Question>& q) {
  describe(visit, q.question);
  describe(visit, q.replication);
}

// ---- fields of verbs and rooms ------------------------------------------------------------------

/// The fields without these.
[[nodiscard]] std::vector<question::Field> without(std::vector<question::Field> fields,
                                                   const std::vector<std::string>& names);
/// The fields, where these are lists with a grid of their own; "": the default is that of one
/// value.
[[nodiscard]] std::vector<question::Field> with_lists(
    std::vector<question::Field> fields,
    const std::vector<std::pair<std::string, std::string>>& grids);

}  // namespace dewpoint::experiments
