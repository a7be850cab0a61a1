// A condensation crossover in softmax attention (CC), Eq (13), (14): the factor d^{−1/2}, and one
// planted key among Gaussian noise.
//
// A planted score is m = sσ√(2 log N); half of the draws give it more than half of the weight at
// s = s_half, the median of log Z over βσ√(2 log N). A median lies within one standard deviation of
// its mean, and mean and deviation of log Z are known exactly at every N.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/drawn_noise.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/theory/gauss_legendre.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::claims {
namespace {

double squared(double x) { return x * x; }

const double kLongLog = std::log(1e300);

// ---- keys and queries -----------------------------------------------------------------------

/// Relative error of the quadrature below for the means here: with 24 or 48 nodes they agree to
/// 1e-7 for d = 16, 64 and 256.
constexpr double kQueryError = 1e-6;

/// The mean of f(|q|) for q ~ N(0, I_d). |q| has a deviation of 1/√2 about √d; beyond six to either
/// side there is 1e-8 of its law.
double mean_over_queries(std::size_t dimension, const std::function<double(double)>& value) {
  const auto d = static_cast<double>(dimension);
  const double reach = 6.0 / std::numbers::sqrt2;
  const theory::QuadratureRule rule = theory::on_interval(
      theory::gauss_legendre(24), std::max(0.0, std::sqrt(d) - reach), std::sqrt(d) + reach);
  double sum = 0.0, total = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double norm = rule.nodes[i];
    const double weight = rule.weights[i] * std::exp((d - 1.0) * std::log(norm / std::sqrt(d)) -
                                                     0.5 * norm * norm + 0.5 * d);
    sum += weight * value(norm);
    total += weight;
  }
  return sum / total;
}

/// β = 1 over N = 1e4 keys in R^d.
class UnitTemperature {
 public:
  UnitTemperature(experiments::QueryKeys keys, const Setting& setting) : keys_(keys) {
    experiments::Condense question = noise({1e4}, {1.0}, 4000, setting);
    question.query_keys = keys;
    deviation_ = experiments::score_deviation(question);
    question.loads = {deviation_ / root_};
    frame_ = experiments::condense(question, setting.context);
  }

  [[nodiscard]] Comparison typical_weight() const {
    const double exact = mean([&](double load) { return exact_log_largest_weight(log_n_, load); });
    return compare("E log w_max, " + text(), exact, Relation::equals,
                   cell(frame_, "log_largest_weight", {0, 0}),
                   partition_error(frame_, 0, 0) + kQueryError * std::abs(exact));
  }

  // Σw² goes as Z⁻², and the bound of the sampler is one on log Z.
  [[nodiscard]] Comparison participation() const {
    const double exact = mean([&](double load) { return exact_means(log_n_, load).participation; });
    return compare("E Σw², " + text(), exact, Relation::equals,
                   cell(frame_, "participation", {0, 0}),
                   2.0 * cell(frame_, "log_partition_bound", {0, 0}).mean + kQueryError * exact);
  }

  [[nodiscard]] Comparison weight(Relation relation, double bound) const {
    return compare("E w_max, " + text() +
                       (relation == Relation::at_most ? ": at most " : ": at least ") +
                       fmt::format("{}", bound),
                   bound, relation, cell(frame_, "largest_weight", {0, 0}), 0.0);
  }

 private:
  /// Over queries, of a function of their load.
  [[nodiscard]] double mean(const std::function<double(double)>& value) const {
    const double unit = deviation_ / std::sqrt(static_cast<double>(keys_.dimension)) / root_;
    return mean_over_queries(keys_.dimension, [&](double norm) { return value(norm * unit); });
  }

  [[nodiscard]] std::string text() const {
    return fmt::format("d = {} {} d^(−1/2): t = {:.2f}", keys_.dimension,
                       keys_.scaled ? "with" : "without", deviation_ / root_);
  }

  experiments::QueryKeys keys_;
  double log_n_ = std::log(1e4), root_ = theory::freezing_beta(std::log(1e4));
  double deviation_ = 1.0;
  Frame frame_;
};

Evidence query_keys(const Setting& setting) {
  Evidence evidence;
  evidence.parameters =
      fmt::format("β = 1, N = 1e4 keys N(0, I_d), {} queries N(0, I_d)", draws_of(setting, 4000));
  for (const std::size_t d : {16U, 64U, 256U}) {
    const UnitTemperature scaled({d, true}, setting);
    evidence.statement.push_back(scaled.typical_weight());
    evidence.statement.push_back(scaled.weight(Relation::at_most, 0.01));
  }
  evidence.statement.push_back(UnitTemperature({16, false}, setting).typical_weight());
  for (const std::size_t d : {64U, 256U}) {
    const UnitTemperature unscaled({d, false}, setting);
    evidence.statement.push_back(unscaled.participation());
    evidence.statement.push_back(unscaled.weight(Relation::at_least, d == 64 ? 0.5 : 0.75));
  }
  return evidence;
}

// ---- a planted key --------------------------------------------------------------------------

/// E w_* above freezing at t_e = 2, where Z e^{−βb} is √π times a ½-stable variable with Laplace
/// transform e^{−√s}: with x = β(m − b) and c = √π e^{−x/2},
///
///     E w_* = ∫ e^{−s} E e^{−sZe^{−βm}} ds = ∫ e^{−s − c√s} ds = 1 − (c√π/2) e^{c²/4} erfc(c/2).
double condensed_planted_weight(double x) {
  const double c = std::sqrt(std::numbers::pi) * std::exp(-0.5 * x);
  return 1.0 - 0.5 * c * std::sqrt(std::numbers::pi) * std::exp(0.25 * c * c) * std::erfc(0.5 * c);
}

// w_* moves by at most a quarter of what log Z does, which the law misses
// free_energy_correction/b² of in the mean and as much again of in its fluctuations.
Evidence planted_above_freezing(const Setting& setting) {
  const double edge = theory::edge_score(kLongLog), beta = 2.0 * edge;
  const double advantages[] = {-1.0, 0.0, 3.0};
  experiments::Condense question =
      noise({1e300}, {beta / theory::freezing_beta(kLongLog)}, 20'000, setting);
  for (const double x : advantages) question.planted.push_back(edge + x / beta);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e300, β = 2b_N", question.draws);
  const double missed =
      0.5 * std::abs(theory::free_energy_correction(2.0)) * edge_remainder(kLongLog);
  for (std::size_t key = 0; key < question.planted.size(); ++key) {
    evidence.statement.push_back(
        compare(fmt::format("E w_*, β(m − b_N) = {}", advantages[key]),
                condensed_planted_weight(advantages[key]), Relation::equals,
                cell(frame, "planted_weight", {0, 0, key}), missed + partition_error(frame, 0, 0)));
  }
  return evidence;
}

// ---- what is retrieved ----------------------------------------------------------------------

/// |s_half − s_c| allowed at finite N: that of the exact mean, and a deviation of log Z.
double threshold_remainder(double log_n, double load) {
  const theory::RandomEnergyMeans exact = exact_means(log_n, load);
  const double unit = 2.0 * load * log_n;
  return std::abs(exact.log_partition / unit - theory::retrieval_signal(load)) +
         (std::sqrt(std::max(0.0, exact.log_partition_variance) + theory::kRandomEnergyError) +
          theory::kRandomEnergyError * (1.0 + exact.log_partition)) /
             unit;
}

Evidence threshold(const Setting& setting) {
  experiments::Condense question = noise({1e30, 1e300}, {0.4, 0.7, 1.0, 1.5, 3.0}, 2000, setting);
  question.deviation = 2.5;
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e30 and 1e300 with σ = 2.5", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t];
    const std::size_t n = load < 1.0 ? 0 : 1;
    const double log_n = std::log(question.n[n]);
    const double beta = cell(frame, "inverse_temperature", {n, t}).mean;
    const double unit = question.deviation * theory::freezing_beta(log_n);
    // In the units of the paper: log N/β + βσ²/2, or σ√(2 log N).
    const double score =
        load < 1.0 ? log_n / beta + 0.5 * beta * squared(question.deviation) : unit;
    evidence.statement.push_back(
        compare(fmt::format("m with median w_* = 1/2, N = {:.0e}, t = {}: {}", question.n[n], load,
                            load < 1.0 ? "log N/β + βσ²/2" : "σ√(2 log N)"),
                score, Relation::equals, linear(cell(frame, "retrieval_signal", {n, t}), unit),
                unit * (threshold_remainder(log_n, load) +
                        partition_error(frame, n, t) / (2.0 * load * log_n))));
  }
  return evidence;
}

// At t = 20 log Z is βM up to −log w_max, whose mean is ψ(1) − ψ(1 − 1/t_e) at most: the entropy
// of the weights. The median of M_N is where Φ^N = 1/2.
Evidence hard_limit(const Setting& setting) {
  constexpr double load = 20.0;
  const auto question = noise({1e4, 1e12}, {load}, 4000, setting);
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws at t = {}", question.draws, load);
  for (std::size_t n = 0; n < question.n.size(); ++n) {
    const double log_n = std::log(question.n[n]), root = theory::freezing_beta(log_n);
    const double tail = -std::expm1(-std::numbers::ln2 / question.n[n]);
    const double median = normal::upper_quantile(std::log(tail)) / root;
    const double margin =
        theory::poisson_dirichlet_entropy(theory::edge_load(log_n, load)) / (2.0 * load * log_n);
    const Estimate& measured = cell(frame, "retrieval_signal", {n, 0});
    const double error = margin + partition_error(frame, n, 0) / (2.0 * load * log_n);
    const std::string text = fmt::format("s with median w_* = 1/2, N = {:.0e}", question.n[n]);
    evidence.statement.push_back(compare(text + ": the median of the largest noise", median,
                                         Relation::equals, measured, error));
    evidence.as_printed.push_back(
        compare(text + ": σ√(2 log N)", 1.0, Relation::equals, measured, error));
  }
  return evidence;
}

// E log w_* is βm − E log Z up to E Z⁻¹e^{βm}, which is N to the power of the exponent.
Evidence exponents(const Setting& setting) {
  experiments::Condense question = noise({1e300}, {0.5, 0.8, 1.5, 3.0}, 1000, setting);
  question.signals = {0.5, 0.8};
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e300, m = sσ√(2 log N)", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t];
    const double missed = exact_means(kLongLog, load).log_partition / kLongLog -
                          (load < 1.0 ? 1.0 + squared(load) : 2.0 * load);
    for (std::size_t key = 0; key < question.signals.size(); ++key) {
      evidence.statement.push_back(
          compare(fmt::format("E log w_*/log N, t = {}, s = {}: {}", load, question.signals[key],
                              load < 1.0 ? "2ts − 1 − t²" : "2t(s − 1)"),
                  theory::retrieval_exponent(load, question.signals[key]), Relation::equals,
                  linear(cell(frame, "log_planted_weight", {0, t, key}), 1.0 / kLongLog),
                  std::abs(missed) + theory::kRandomEnergyError * 6.0 +
                      partition_error(frame, 0, t) / kLongLog));
    }
  }
  return evidence;
}

// The weights are 1 and 0 up to N^{2t(s−1)}, N^{−0.6} at least, so the noise keeps its own law.
Evidence noise_or_signal(const Setting& setting) {
  experiments::Condense question = noise({1e300}, {1.5, 3.0, 6.0}, 4000, setting);
  question.signals = {0.8, 1.2};
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e300, s = 0.8 and 1.2", question.draws);
  for (std::size_t t = 0; t < question.loads.size(); ++t) {
    const double load = question.loads[t];
    evidence.statement.push_back(compare(
        fmt::format("weight of the largest noise, s = 0.8, t = {}: Poisson-Dirichlet", load),
        theory::poisson_dirichlet_largest_weight(theory::edge_load(kLongLog, load)),
        Relation::equals, cell(frame, "largest_noise_weight", {0, t, 0}),
        edge_remainder(kLongLog) + cell(frame, "largest_weight_bound", {0, t}).mean));
    evidence.statement.push_back(
        compare(fmt::format("weight of the planted key, s = 1.2, t = {}: 1", load), 1.0,
                Relation::equals, cell(frame, "planted_weight", {0, t, 1}), 1e-12));
  }
  return evidence;
}

// βm − log Z is concave in β, so that on a grid the best load is a neighbour of the best of all: a
// spacing is allowed. That is where m = β(1 − E Σw²), which is t = s up to E Σw². Just below
// freezing rare draws carry what log Z fluctuates by, and a sample does not know its own error:
// threshold_remainder, here in units of log N, allows for the exact deviation of one draw.
Evidence best_temperature(const Setting& setting) {
  constexpr double spacing = 0.02;
  constexpr int first = 15;
  std::vector<double> loads;
  for (int i = first; i <= 65; ++i) loads.push_back(spacing * i);
  experiments::Condense question = noise({1e300}, loads, 200, setting);
  question.signals = {0.4, 0.7, 0.9};
  const Frame frame = experiments::condense(question, setting.context);
  Evidence evidence;
  evidence.parameters = fmt::format("{} draws of N = 1e300, t = 0.3 to 1.3", question.draws);
  for (std::size_t key = 0; key < question.signals.size(); ++key) {
    const double signal = question.signals[key];
    const auto best = static_cast<std::size_t>(std::lround(signal / spacing) - first);
    evidence.statement.push_back(compare(
        fmt::format("t with the largest E log w_*, s = {}: s", signal), theory::best_load(signal),
        Relation::equals, cell(frame, "best_typical_load", {0, key}),
        spacing + exact_means(kLongLog, signal).participation));
    evidence.statement.push_back(compare(
        fmt::format("E log w_*/log N there, s = {}: −(1 − s²)", signal), -(1.0 - squared(signal)),
        Relation::equals, linear(cell(frame, "log_planted_weight", {0, best, key}), 1.0 / kLongLog),
        2.0 * signal * threshold_remainder(kLongLog, signal) +
            partition_error(frame, 0, best) / kLongLog));
  }
  return evidence;
}

}  // namespace

std::vector<Claim> cc_retrieval_claims() {
  return {
      {"cc.eq-13", "CC, Eq (13)",
       "At β = 1 keys with the factor d^{−1/2} stay diffuse; without it they condense as d grows.",
       query_keys},
      {"cc.eq-14", "CC, Eq (14) above freezing",
       "A planted key competes with the largest noise scores: w_* follows from β(m − b_N).",
       planted_above_freezing},
      {"cc.retrieval-threshold", "CC, below Eq (14)",
       "Retrieval needs m = log N/β + βσ²/2 below freezing and σ√(2 log N) at every β above.",
       threshold},
      {"cc.retrieval-hard", "CC, below Eq (14)",
       "In the hard limit the signal must beat the largest noise, which is below σ√(2 log N).",
       hard_limit},
      {"cc.retrieval-exponent", "derived from CC, Eq (14)",
       "What is not retrieved has w_* = N^(2ts−1−t²) below freezing and N^(2t(s−1)) above.",
       exponents},
      {"cc.noise-or-signal", "CC, below Eq (14)",
       "Cold attention condenses on the noise for s < 1 and on the signal for s > 1.",
       noise_or_signal},
      {"cc.best-temperature", "derived from CC, Eq (14)",
       "For s < 1 no temperature retrieves; w_* is largest at t = s, where it is N^(−(1−s²)).",
       best_temperature},
  };
}

}  // namespace dewpoint::claims
