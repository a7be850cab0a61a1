#include "dewpoint/server/cloud_fields.hpp"

#include <iterator>

namespace dewpoint::server {

std::vector<Field> shape_fields(std::vector<std::string> laws, int tokens, double least_tokens,
                                double most_tokens, int dimension) {
  return {word_field("tokens", "equicorrelated", std::move(laws), "Token law"),
          live(whole_field("n", tokens, least_tokens, most_tokens, "Tokens")),
          live(whole_field("d", dimension, 0.0, 2048.0, "Dimension; 0: the law's own"))};
}

std::vector<Field> token_fields() {
  return {number_field("alpha", 0.0, 0.0, 100.0, "Residual strength in x' = ATT(N(x)) + alpha x"),
          word_field("norm", "unit", {"unit", "gauss/d", "gauss"}, "Norms of the tokens"),
          word_field("common", "random", {"random", "fixed"}, "Length of the common vector"),
          number_field("rho-inner", 0.8, 0.0, kMostLiveCorrelation,
                       "Correlation within a cluster (two-level, clustered)"),
          whole_field("cluster-size", 16, 2.0, 1024.0, "Tokens per cluster; divides n")};
}

Field norm_field(const std::string& standard) {
  return with_verb_standard(
      word_field("eta", standard, {"none", "auto", "exact", "mixed", "hutchinson"},
                 "Jacobian norm"),
      "auto");
}

tokens::CloudParameters cloud_of(const Question& question) {
  tokens::CloudParameters cloud;
  cloud.law = question.text("tokens");
  cloud.n = question.whole("n");
  cloud.d = question.whole("d");
  cloud.rho_inner = question.number("rho-inner");
  cloud.cluster_size = question.whole("cluster-size");
  cloud.norm = tokens::parse_norm(question.text("norm"));
  cloud.common = tokens::parse_common(question.text("common"));
  return cloud;
}

std::optional<attention::NormOptions> norm_of(const Question& question) {
  const auto method = attention::parse_norm_method(question.text("eta"));
  if (!method) return {};
  attention::NormOptions options;
  options.method = *method;
  return options;
}

std::vector<Field> joined(std::vector<std::vector<Field>> lists) {
  std::vector<Field> all;
  for (std::vector<Field>& list : lists) {
    std::move(list.begin(), list.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace dewpoint::server
