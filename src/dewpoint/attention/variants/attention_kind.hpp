// How the scores of a query become weights.
//
// Query j gives key i the score s_ji = ⟨q_j, k_i⟩ and the logit ℓ_ji = β s_ji. The output is
// Σ_i p_ji v_i; the name of a kind says what p is.
//
//   name         weights of query j over the keys it sees
//   softmax      p_i = e^{ℓ_i}/Σ_l e^{ℓ_l}
//   sink:B       p_i = e^{ℓ_i}/(e^B + Σ_l e^{ℓ_l}): a logit B without a key, whose value is 0; the
//                weights of the keys add up to less than 1. β does not multiply B
//   off-by-one   sink:0, a 1 in the denominator
//   top:K        softmax over the K largest scores, 0 for the others
//   linear       p_i ∝ ⟨φ(√β q), φ(√β k_i)⟩ with φ(x) = elu(x) + 1 coordinate by coordinate, that
//                is 1 + x for x > 0 and e^x for x ≤ 0
//   features:M   p_i ∝ ⟨φ(q), φ(k_i)⟩ with M positive random features of the softmax kernel,
//                φ_m(x) = exp(√β⟨ω_m, x⟩ − β‖x‖²/2)/√M,  ω_m ~ N(0, I):  E⟨φ(q), φ(k)⟩ = e^{β⟨q,
//                k⟩}
//
// β = 0 gives every kind equal weights (before a sink takes its share).
//
// Of equal scores at the edge of top:K the ones with the smaller index stay. A query that sees
// fewer than K keys keeps all of them, which every causal mask makes of the first rows; K above
// what any query sees is refused (check in attention_variant.hpp).
//
// The last two never form a weight of one pair: sums over keys of φ(k) vᵀ do, which is why their
// masks are `none` and `causal` and no other.
//
//   Reference   sink: [Xiao et al. 2023], as a logit [OpenAI 2025]; linear: [Katharopoulos et al.
//               2020]; features: [Choromanski et al. 2021], here with independent ω_m.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

namespace dewpoint::attention {

/// The first four kinds: a softmax over scores.
class Softmax {
 public:
  Softmax() = default;
  [[nodiscard]] static Softmax plain() { return {}; }
  /// Throws Error{bad_value} unless the logit is finite.
  [[nodiscard]] static Softmax sink(double logit);
  [[nodiscard]] static Softmax off_by_one() { return sink(0.0); }
  /// Throws Error{bad_value} for 0, which leaves no key.
  [[nodiscard]] static Softmax top(std::size_t keys);

  [[nodiscard]] const std::optional<double>& sink_logit() const { return sink_logit_; }
  /// How many of `visible` keys have weight.
  [[nodiscard]] std::size_t kept(std::size_t visible) const;
  /// K, or 0 where all keys have weight.
  [[nodiscard]] std::size_t largest_kept() const { return kept_; }
  [[nodiscard]] std::string name() const;

  bool operator==(const Softmax&) const = default;

 private:
  std::optional<double> sink_logit_;
  std::size_t kept_ = 0;
};

/// The last two kinds: a kernel with a finite number of features.
class FeatureMap {
 public:
  [[nodiscard]] static FeatureMap elu() { return FeatureMap(0); }
  /// Throws Error{bad_value} for 0 features.
  [[nodiscard]] static FeatureMap random(std::size_t features);

  [[nodiscard]] bool is_random() const { return random_ > 0; }
  /// Features of a query or key of this dimension.
  [[nodiscard]] std::size_t features(std::size_t dimension) const;
  [[nodiscard]] std::string name() const;

  bool operator==(const FeatureMap&) const = default;

 private:
  explicit FeatureMap(std::size_t random) : random_(random) {}
  std::size_t random_;  // M; 0: elu
};

using AttentionKind = std::variant<Softmax, FeatureMap>;

[[nodiscard]] std::string name_of(const AttentionKind& kind);

/// The kind of a name of the table above. Throws Error{bad_value} naming the text and what is
/// allowed.
[[nodiscard]] AttentionKind parse_attention_kind(const std::string& text);

}  // namespace dewpoint::attention
