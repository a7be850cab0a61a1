// The kinds of attention and the masks that tests of variants go through.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dewpoint/attention/variants/attention_variant.hpp"
#include "support/matrices.hpp"

namespace dewpoint::test {

inline const std::vector<std::string> kSoftmaxKinds = {"softmax",    "sink:1.5", "sink:-3",
                                                       "off-by-one", "top:1",    "top:5"};
inline const std::vector<std::string> kLinearKinds = {"linear", "features:1", "features:24"};

inline const std::vector<std::string> kPatterns = {
    "none",        "causal",      "window:1",   "window:7",   "window:64",
    "dilated:5:3", "dilated:1:4", "global:4:3", "global:1:1", "global:8:1000"};
inline const std::vector<std::string> kLinearPatterns = {"none", "causal"};

inline attention::AttentionVariant variant(const std::string& kind, const std::string& mask,
                                           double beta) {
  return {beta, attention::parse_key_pattern(mask), attention::parse_attention_kind(kind), seed(),
          0};
}

/// Every kind that n tokens allow under every mask that it allows.
inline std::vector<attention::AttentionVariant> every_variant(double beta, std::size_t n) {
  std::vector<attention::AttentionVariant> variants;
  for (const std::string& mask : kPatterns) {
    for (const std::string& kind : kSoftmaxKinds) {
      const std::size_t seen = attention::parse_key_pattern(mask).visible(n - 1, n).size();
      if (kind != "top:5" || seen >= 5) variants.push_back(variant(kind, mask, beta));
    }
  }
  for (const std::string& mask : kLinearPatterns) {
    for (const std::string& kind : kLinearKinds) variants.push_back(variant(kind, mask, beta));
  }
  return variants;
}

inline std::string text(const attention::AttentionVariant& variant) {
  return name_of(variant.kind) + ", " + variant.mask.name() +
         ", beta = " + std::to_string(variant.inverse_temperature);
}

inline attention::AttentionMatrices normal_inputs(std::size_t n, std::size_t d,
                                                  std::size_t value_columns,
                                                  const std::string& name) {
  return {normal_matrix(n, d, name + "/queries"), normal_matrix(n, d, name + "/keys"),
          normal_matrix(n, value_columns, name + "/values")};
}

}  // namespace dewpoint::test
