#include "dewpoint/theory/training_origin.hpp"

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/theory/markov_chain.hpp"

namespace dewpoint::theory {

OriginGrowth origin_growth(std::span<const double> law) {
  DEWPOINT_EXPECTS(law.size() >= 2);
  Ray embedding = ray_of(law);
  Ray output = ray_of(centred(law), kOriginGrowthError);
  return {embedding.length * output.length, std::move(embedding.direction),
          std::move(output.direction)};
}

std::vector<EigenvalueGroup> origin_spectrum(std::span<const double> law, std::size_t width) {
  DEWPOINT_EXPECTS(width >= 1);
  const double rate = origin_growth(law).rate;
  const std::size_t weights = 2 * width * (law.size() + width);
  return {{rate, width}, {-rate, width}, {0.0, weights - 2 * width}};
}

Condensate condensate(std::span<const double> law, MatrixView<const double> embedding,
                      MatrixView<const double> unembedding) {
  const std::size_t width = embedding.cols();
  DEWPOINT_EXPECTS(embedding.rows() == law.size() && unembedding.cols() == law.size());
  DEWPOINT_EXPECTS(unembedding.rows() == width);
  const OriginGrowth growth = origin_growth(law);
  std::vector<double> sum(width);
  for (std::size_t k = 0; k < width; ++k) {
    sum[k] = inner(unembedding.row(k), growth.output_direction);
    for (std::size_t i = 0; i < law.size(); ++i) {
      sum[k] += growth.embedding_direction[i] * embedding(i, k);
    }
  }
  Ray together = ray_of(sum);
  return {std::move(together.direction), together.length / 2.0};
}

}  // namespace dewpoint::theory
