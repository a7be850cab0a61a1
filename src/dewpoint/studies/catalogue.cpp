// The experiments that a study can run, in the order of the documentation.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/studies/condense_experiment.hpp"
#include "dewpoint/studies/depth_experiment.hpp"
#include "dewpoint/studies/dew_experiment.hpp"
#include "dewpoint/studies/experiment.hpp"
#include "dewpoint/studies/harmonics_experiment.hpp"
#include "dewpoint/studies/heat_experiment.hpp"
#include "dewpoint/studies/lengths_experiment.hpp"
#include "dewpoint/studies/limit_experiment.hpp"
#include "dewpoint/studies/output_experiment.hpp"
#include "dewpoint/studies/phase_experiment.hpp"
#include "dewpoint/studies/query_experiment.hpp"
#include "dewpoint/studies/train_experiment.hpp"
#include "dewpoint/studies/train_layers_experiment.hpp"
#include "dewpoint/studies/train_scaling_experiment.hpp"
#include "dewpoint/studies/train_text_experiment.hpp"
#include "dewpoint/studies/variants_experiment.hpp"

namespace dewpoint::studies {

const std::vector<const Experiment*>& experiments() {
  static const std::vector<const Experiment*> all = {
      &phase_experiment(),        &depth_experiment(),      &lengths_experiment(),
      &variants_experiment(),     &condense_experiment(),   &query_experiment(),
      &output_experiment(),       &heat_experiment(),       &harmonics_experiment(),
      &dew_experiment(),          &limit_experiment(),      &train_experiment(),
      &train_layers_experiment(), &train_text_experiment(), &train_scaling_experiment()};
  return all;
}

}  // namespace dewpoint::studies
