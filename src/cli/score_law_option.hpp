// A law of scores as an option of a verb.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dewpoint/core/distributions/depth_distribution.hpp"
#include "dewpoint/core/distributions/sphere_enrichment.hpp"
#include "dewpoint/question/field.hpp"

namespace dewpoint::cli {

/// "Law of the scores: gaussian:sigma=1, sphere:d=..., ...", from the table of laws.
[[nodiscard]] std::string score_law_help();

/// The names of the laws alone.
[[nodiscard]] std::vector<std::string> score_law_words();

template <class Visitor>
void describe_law(Visitor& visit, std::string& law) {
  visit("law", law, score_law_help(), question::suggest(score_law_words()), question::required);
}

/// A law whose scores are independent with a density.
struct ContinuousLaw {
  std::string name;  // with every parameter
  std::shared_ptr<const DepthDistribution> depth;
  double origin;  // score of depth 0
};

/// log f(q) of a mixture of von Mises-Fisher laws around a query: densities add.
[[nodiscard]] double log_density_at_query(int dimension,
                                          const std::vector<SphereComponent>& components);

/// Throws Error{bad_value} for an unknown law, and for one with atoms or a random query.
[[nodiscard]] ContinuousLaw continuous_law(const std::string& text);

}  // namespace dewpoint::cli
