#include "dewpoint/experiments/phase_cell.hpp"

namespace dewpoint::experiments {

PhaseValues phase_values(const observables::Contraction& pairs, const observables::RowMeans& rows,
                         double norm) {
  return {pairs.contraction,
          pairs.smallest_cosine,
          pairs.mean_cosine,
          pairs.largest_cosine,
          rows.entropy.mean(),
          rows.largest_weight.mean(),
          rows.participation.mean(),
          rows.self_mass.mean(),
          rows.cluster_mass.mean(),
          rows.rest_mass.mean(),
          norm};
}

void PhaseMeans::add(const PhaseValues& values) {
  for (std::size_t k = 0; k < values.size(); ++k) means_[k].add(values[k]);
}

Estimate PhaseMeans::estimate(std::size_t observable, bool exact) const {
  Estimate estimate = means_[observable].estimate();
  if (exact) estimate.standard_error = 0.0;
  return estimate;
}

}  // namespace dewpoint::experiments
