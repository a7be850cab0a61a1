#include "dewpoint/attention/reference.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace dewpoint::attention {
namespace {

double gap(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return 0.5 * sum;
}

std::vector<double> mean_direction(const TokenCloud& tokens) {
  std::vector<double> mean(tokens.dimension(), 0.0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += tokens.directions(i, k);
  }
  for (double& m : mean) m /= static_cast<double>(tokens.size());
  return mean;
}

}  // namespace

LayerResult reference_layer(const TokenCloud& tokens, const Layer& parameters,
                            std::span<const std::size_t> rows) {
  const double beta = parameters.inverse_temperature;
  const double alpha = parameters.residual;
  const std::vector<double> centre = mean_direction(tokens);
  const std::vector<double> mean_token = mean_of_tokens(tokens);

  LayerResult result{{rows.begin(), rows.end()},
                     centre,
                     Matrix<double>(rows.size(), tokens.dimension()),
                     std::vector<RowMoments>(rows.size())};
  for (std::size_t k = 0; k < centre.size(); ++k) result.base[k] += alpha * mean_token[k];

  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto query = tokens.directions.row(rows[r]);
    const auto output = result.deviations.row(r);
    RowMoments& moments = result.moments[r];
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      const auto key = tokens.directions.row(j);
      const double distance = gap(query, key);
      const double weight = std::exp(-beta * distance);
      moments += {weight, distance * weight, distance * distance * weight, weight * weight};
      for (std::size_t k = 0; k < output.size(); ++k) output[k] += weight * (key[k] - centre[k]);
    }
    for (std::size_t k = 0; k < output.size(); ++k) {
      const double token = tokens.norms[rows[r]] * query[k];
      output[k] = output[k] / moments.partition + alpha * (token - mean_token[k]);
    }
  }
  return result;
}

LayerResult reference_layer(const TokenCloud& tokens, const Layer& parameters) {
  std::vector<std::size_t> all(tokens.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return reference_layer(tokens, parameters, all);
}

}  // namespace dewpoint::attention
