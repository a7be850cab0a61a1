#include "dewpoint/studies/law_edge.hpp"

#include <cmath>

#include "dewpoint/theory/critical_scales.hpp"

namespace dewpoint::studies {

std::optional<double> edge_of(const scores::TopLaw& law, double n) {
  const auto* tail = dynamic_cast<const scores::TailLaw*>(&law);
  if (tail == nullptr) return {};
  return theory::edge_beta(*tail->distribution(), std::log(n));
}

}  // namespace dewpoint::studies
