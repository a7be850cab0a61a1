#include "dewpoint/attention/variants/variant_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "dewpoint/attention/variants/linear_attention.hpp"

namespace dewpoint::attention {
namespace {

// Of both scalars, with no modulus anywhere.
template <class Scalar>
Scalar product(std::span<const Scalar> a, std::span<const Scalar> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Scalar{});
}

template <class Scalar>
Scalar elu_plus_one(Scalar x) {
  return std::real(x) > 0.0 ? 1.0 + x : std::exp(x);
}

template <class Scalar>
double largest_real(const std::vector<Scalar>& numbers) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Scalar& number : numbers) largest = std::max(largest, std::real(number));
  return largest;
}

// log Σ exp(number)
template <class Scalar>
Scalar log_sum(const std::vector<Scalar>& numbers) {
  const double shift = largest_real(numbers);
  Scalar sum{};
  for (const Scalar& number : numbers) sum += std::exp(number - shift);
  return shift + std::log(sum);
}

// ℓ_ji of every kind.
template <class Scalar>
class Logits {
 public:
  using Row = std::span<const Scalar>;

  Logits(const AttentionVariant& variant, std::size_t d)
      : kind_(variant.kind), beta_(variant.inverse_temperature) {
    if (const auto* map = std::get_if<FeatureMap>(&kind_); map != nullptr && map->is_random()) {
      directions_ = feature_directions(variant, d);
    }
  }

  Scalar operator()(Row query, Row key) const {
    if (std::holds_alternative<Softmax>(kind_)) return beta_ * product(query, key);
    return std::get<FeatureMap>(kind_).is_random() ? random(query, key) : elu(query, key);
  }

 private:
  [[nodiscard]] Scalar elu(Row query, Row key) const {
    const double root = std::sqrt(beta_);
    Scalar sum{};
    for (std::size_t k = 0; k < query.size(); ++k) {
      sum += elu_plus_one(root * query[k]) * elu_plus_one(root * key[k]);
    }
    return std::log(sum);
  }

  [[nodiscard]] Scalar random(Row query, Row key) const {
    const Scalar squares = product(query, query) + product(key, key);
    std::vector<Scalar> exponents;
    for (std::size_t m = 0; m < directions_.rows(); ++m) {
      Scalar along{};
      for (std::size_t k = 0; k < query.size(); ++k) {
        along += directions_(m, k) * (query[k] + key[k]);
      }
      exponents.push_back(std::sqrt(beta_) * along - 0.5 * beta_ * squares);
    }
    return log_sum(exponents) - std::log(static_cast<double>(directions_.rows()));
  }

  AttentionKind kind_;
  double beta_;
  Matrix<double> directions_;  // ω_m
};

// The keys of one query that have weight, increasing, and their logits.
template <class Scalar>
struct KeptKeys {
  std::size_t visible = 0;
  std::vector<std::size_t> keys;
  std::vector<Scalar> logits;
};

template <class Scalar>
KeptKeys<Scalar> kept_keys(const QueriesKeysValues<Scalar>& inputs, const AttentionVariant& variant,
                           const Logits<Scalar>& logit, std::size_t query) {
  KeptKeys<Scalar> kept;
  kept.keys = variant.mask.visible(query, inputs.keys.rows()).keys();
  kept.visible = kept.keys.size();
  const auto asks = inputs.queries.row(query);
  if (const auto* softmax = std::get_if<Softmax>(&variant.kind)) {
    // The K largest scores ⟨q, k⟩, not logits: for β = 0 these would all tie.
    std::vector<double> scores(inputs.keys.rows());
    for (const std::size_t key : kept.keys) {
      scores[key] = std::real(product<Scalar>(asks, inputs.keys.row(key)));
    }
    std::ranges::stable_sort(kept.keys, std::greater<>(),
                             [&](std::size_t key) { return scores[key]; });
    kept.keys.resize(softmax->kept(kept.visible));
    std::ranges::sort(kept.keys);
  }
  for (const std::size_t key : kept.keys) kept.logits.push_back(logit(asks, inputs.keys.row(key)));
  return kept;
}

std::optional<double> sink_of(const AttentionVariant& variant) {
  const auto* softmax = std::get_if<Softmax>(&variant.kind);
  return softmax == nullptr ? std::nullopt : softmax->sink_logit();
}

// o = Σ e^ℓ v/(e^b + Σ e^ℓ), everything divided by the largest of the exponentials.
template <class Scalar>
void mix(const KeptKeys<Scalar>& kept, std::optional<double> sink, MatrixView<const Scalar> values,
         std::span<Scalar> output) {
  const double best = largest_real(kept.logits);
  const double shift = std::max(best, sink.value_or(best));
  Scalar partition = sink ? std::exp(*sink - shift) : 0.0;
  for (std::size_t i = 0; i < kept.keys.size(); ++i) {
    const Scalar weight = std::exp(kept.logits[i] - shift);
    partition += weight;
    const auto value = values.row(kept.keys[i]);
    for (std::size_t k = 0; k < output.size(); ++k) output[k] += weight * value[k];
  }
  for (Scalar& x : output) x /= partition;
}

// p_jj, from its definition; 0 where the query does not keep itself.
double self_weight(const KeptKeys<double>& kept, std::optional<double> sink, std::size_t query) {
  const auto self = std::ranges::find(kept.keys, query);
  if (self == kept.keys.end()) return 0.0;
  const double own = kept.logits[static_cast<std::size_t>(self - kept.keys.begin())];
  double partition = sink ? std::exp(*sink - own) : 0.0;
  for (const double logit : kept.logits) partition += std::exp(logit - own);
  return 1.0 / partition;
}

SoftmaxRow statistics(const KeptKeys<double>& kept, std::optional<double> sink) {
  SoftmaxRow row;
  if (sink) row.sink = *sink;
  const std::size_t rest = kept.keys.front() == 0 ? 1 : 0;
  if (rest == 1) row.first = kept.logits.front();
  for (std::size_t i = rest; i < kept.logits.size(); ++i) {
    row.largest = std::max(row.largest, kept.logits[i]);
  }
  for (std::size_t i = rest; i < kept.logits.size(); ++i) {
    const double gap = row.largest - kept.logits[i], weight = std::exp(-gap);
    row.rest += {weight, gap * weight, gap * gap * weight, weight * weight};
    row.plain_gap += gap;
    row.plain_squared_gap += gap * gap;
  }
  return row;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> reference_outputs(const QueriesKeysValues<Scalar>& inputs,
                                 const AttentionVariant& variant) {
  const Logits<Scalar> logit(variant, inputs.keys.cols());
  Matrix<Scalar> outputs(inputs.queries.rows(), inputs.values.cols());
  for (std::size_t j = 0; j < outputs.rows(); ++j) {
    mix(kept_keys(inputs, variant, logit, j), sink_of(variant), inputs.values, outputs.row(j));
  }
  return outputs;
}

template Matrix<double> reference_outputs(const QueriesKeysValues<double>&,
                                          const AttentionVariant&);
template Matrix<std::complex<double>> reference_outputs(
    const QueriesKeysValues<std::complex<double>>&, const AttentionVariant&);

AttentionResult reference_attention(const AttentionInputs& inputs,
                                    const AttentionVariant& variant) {
  const Logits<double> logit(variant, inputs.keys.cols());
  AttentionResult result{reference_outputs(inputs, variant), {}};
  for (std::size_t j = 0; j < inputs.queries.rows(); ++j) {
    const auto kept = kept_keys(inputs, variant, logit, j);
    result.rows.push_back(
        {kept.visible, statistics(kept, sink_of(variant)), self_weight(kept, sink_of(variant), j)});
  }
  return result;
}

}  // namespace dewpoint::attention
