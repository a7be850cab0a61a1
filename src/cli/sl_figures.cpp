#include "cli/figure_study.hpp"

#include "cli/sl_studies.hpp"
#include "dewpoint/report/backward_heat.hpp"
#include "dewpoint/report/critical_weights.hpp"
#include "dewpoint/report/dew_points.hpp"
#include "dewpoint/report/output_fluctuations.hpp"

namespace dewpoint::cli {

std::vector<FigureStudy> sl_figures() {
  return {
      {"sl-critical-weights",
       critical_weights_study,
       {{"sl-critical-weights", "Uniform keys at criticality: a few nearest keys share the weight",
         drawn_by(report::figure_of_critical_weights)},
        {"sl-convergence", "How fast the limit law is reached: slowly in high dimension",
         drawn_by(report::figure_of_convergence)}}},
      {"sl-output",
       output_study,
       {{"sl-output", "Uniform keys below criticality: the output is biased and Gaussian",
         drawn_by(report::figure_of_output_fluctuations)}}},
      {"sl-values",
       values_study,
       {{"sl-values", "A value matrix turns and stretches the fluctuations of the output",
         drawn_by(report::figure_of_value_fluctuations)}}},
      {"sl-backward-heat",
       backward_heat_study,
       {{"sl-backward-heat", "Attention runs the heat equation backwards, until noise drowns it",
         drawn_by(report::figure_of_backward_heat)}}},
      {"dew-points",
       dew_points_study,
       {{"dew-points", "One definition, three laws: where attention condenses",
         drawn_by(report::figure_of_dew_points)}}}};
}

}  // namespace dewpoint::cli
