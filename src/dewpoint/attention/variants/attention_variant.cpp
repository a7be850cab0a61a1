#include "dewpoint/attention/variants/attention_variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "dewpoint/attention/variants/linear_attention.hpp"
#include "dewpoint/attention/variants/score_strip.hpp"
#include "dewpoint/attention/variants/softmax_attention.hpp"

namespace dewpoint::attention {
namespace {

constexpr double kLargestBeta = 1e30;  // a float, with room
constexpr double kLogitLimit = 1e18;

double longest_row(MatrixView<const double> rows, const char* what) {
  double longest = 0.0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double square = 0.0;
    for (const double x : rows.row(i)) square += x * x;
    if (!std::isfinite(square)) {
      throw Error(Code::bad_value,
                  fmt::format("attention: {} {} holds a number that is not finite or whose square "
                              "is not",
                              what, i));
    }
    longest = std::max(longest, square);
  }
  return std::sqrt(longest);
}

void check_temperature(const AttentionInputs& inputs, double beta) {
  if (!(beta >= 0.0 && beta <= kLargestBeta)) {
    throw Error(Code::bad_value,
                fmt::format("beta: {} is not a number from 0 to {:.0e}", beta, kLargestBeta));
  }
  const double scale = longest_row(inputs.queries, "query") * longest_row(inputs.keys, "key");
  (void)longest_row(inputs.values, "value");
  if (!(beta * scale < kLogitLimit)) {
    throw Error(Code::bad_value,
                fmt::format("beta: {} times the longest query and key reaches {:.2g}; logits must "
                            "stay below {:.0e}",
                            beta, beta * scale, kLogitLimit));
  }
}

void check_kind(const Softmax& kind, const KeyPattern& mask, std::size_t n) {
  const std::size_t seen = mask.visible(n - 1, n).size();  // no query sees more than the last
  if (kind.largest_kept() <= seen) return;
  throw Error(Code::bad_value,
              fmt::format("attention: {} keeps more keys than a query sees, {} of {} tokens under "
                          "mask {}; K is at most {}",
                          kind.name(), seen, n, mask.name(), seen));
}

void check_kind(const FeatureMap& kind, const KeyPattern& mask, std::size_t) {
  if (mask == KeyPattern() || mask == KeyPattern(Mask::causal())) return;
  throw Error(Code::bad_value, fmt::format("attention: {} needs the mask none or causal, not {}",
                                           kind.name(), mask.name()));
}

}  // namespace

void check(const AttentionKind& kind, const KeyPattern& mask, std::size_t n) {
  std::visit([&](const auto& which) { check_kind(which, mask, n); }, kind);
}

void check(const AttentionInputs& inputs, const AttentionVariant& variant) {
  const std::size_t n = inputs.queries.rows();
  DEWPOINT_EXPECTS(n > 0 && inputs.keys.rows() == n && inputs.values.rows() == n);
  DEWPOINT_EXPECTS(inputs.queries.cols() > 0 && inputs.keys.cols() == inputs.queries.cols());
  check_temperature(inputs, variant.inverse_temperature);
  check(variant.kind, variant.mask, n);
}

AttentionResult variant_attention(const AttentionInputs& inputs, const AttentionVariant& variant,
                                  std::span<const std::size_t> queries, const RunContext& context) {
  check(inputs, variant);
  if (std::holds_alternative<Softmax>(variant.kind)) {
    return softmax_attention(inputs, variant, queries, context);
  }
  return {rows_of<double>(LinearAttention(inputs, variant, context).outputs(), queries), {}};
}

std::vector<std::size_t> all_queries(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

AttentionResult variant_attention(const AttentionInputs& inputs, const AttentionVariant& variant,
                                  const RunContext& context) {
  return variant_attention(inputs, variant, all_queries(inputs.queries.rows()), context);
}

Matrix<double> attention_in_double(const AttentionInputs& inputs, const AttentionVariant& variant,
                                   const RunContext& context) {
  check(inputs, variant);
  if (std::holds_alternative<Softmax>(variant.kind)) {
    return softmax_in_double(inputs, variant, context);
  }
  return LinearAttention(inputs, variant, context).outputs();
}

double mixing_error(const AttentionVariant& variant, std::size_t n, std::size_t d) {
  const double beta = variant.inverse_temperature, dimension = static_cast<double>(d);
  double exponent = beta, sums = static_cast<double>(n) + 4.0 * dimension + 20.0;
  if (const auto* map = std::get_if<FeatureMap>(&variant.kind)) {
    exponent += std::sqrt(beta) * (std::sqrt(dimension) + 6.0);
    sums += 2.0 * static_cast<double>(map->features(d));
  }
  return 0x1p-52 * (sums + 2.0 * (dimension + 4.0) * exponent);
}

Matrix<double> variant_jvp(const AttentionInputs& inputs, const AttentionVariant& variant,
                           const AttentionInputs& change, const RunContext& context) {
  check(inputs, variant);
  if (std::holds_alternative<Softmax>(variant.kind)) {
    return softmax_jvp(inputs, variant, change, context);
  }
  return LinearAttention(inputs, variant, context).jvp(change);
}

AttentionMatrices variant_vjp(const AttentionInputs& inputs, const AttentionVariant& variant,
                              MatrixView<const double> gradient, const RunContext& context) {
  check(inputs, variant);
  if (std::holds_alternative<Softmax>(variant.kind)) {
    return softmax_vjp(inputs, variant, gradient, context);
  }
  return LinearAttention(inputs, variant, context).vjp(gradient);
}

double variant_error(std::size_t n, std::size_t d, double scale) {
  constexpr double epsilon = 0x1p-23;
  const double weight =
      kernels::kExpUlp + (1.5 + kernels::kExpUlpPerUnit) * std::log(static_cast<double>(n));
  const double logit = 0.5 * (static_cast<double>(d) + 2.0) * scale;
  return epsilon * (2.0 * (weight + logit) + 0.5 * static_cast<double>(kMixedKeys) + 1.0);
}

}  // namespace dewpoint::attention
