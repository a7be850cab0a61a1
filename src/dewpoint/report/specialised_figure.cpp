#include <algorithm>

#include "dewpoint/report/backward_heat.hpp"
#include "dewpoint/report/condensation.hpp"
#include "dewpoint/report/critical_weights.hpp"
#include "dewpoint/report/depth.hpp"
#include "dewpoint/report/dew_points.hpp"
#include "dewpoint/report/head_figures.hpp"
#include "dewpoint/report/layer_figures.hpp"
#include "dewpoint/report/output_fluctuations.hpp"
#include "dewpoint/report/scaling_collapse.hpp"
#include "dewpoint/report/study_figure.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/text_training_figures.hpp"
#include "dewpoint/report/three_phases.hpp"
#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::report {
namespace {

using store::StudyRecord;

// The name of an observable as a template argument.
template <std::size_t length>
struct ObservableName {
  char text[length]{};
  constexpr ObservableName(const char (&name)[length]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(name, length, text);
  }
};

// A figure, and what a study must hold to be drawn so: frames, and one variable of the first.
struct Special {
  Names frames;
  std::string variable;
  Figure (*draw)(const StudyRecord& study);
};

template <auto figure_of>
Figure drawn(const StudyRecord& study) {
  return figure_of(study);
}

template <ObservableName observable>
Figure head_map(const StudyRecord& study) {
  return figure_of_head_map(study, observable.text);
}

const std::vector<Special>& specials() {
  static const std::vector<Special> all = {
      {{"phase_depth"}, "log10_gap", drawn<figure_of_depth>},
      {{"three_phases"}, "self_mass", drawn<figure_of_three_phases>},
      {{"scaling_collapse", "crossover"}, "contraction", drawn<figure_of_scaling_collapse>},
      {{"condense", "condense_theory", "condense_law", "condense_limits"},
       "largest_weight",
       drawn<figure_of_condensation>},
      {{"condense", "condense_theory", "condense_law", "condense_limits", "freezing_window"},
       "log_partition",
       drawn<figure_of_free_energies>},
      {{"condense", "condense_theory"}, "planted_weight", drawn<figure_of_retrieval>},
      {{"critical_weights", "limit_weights"}, "largest_weight", drawn<figure_of_critical_weights>},
      {{"convergence"}, "distance", drawn<figure_of_convergence>},
      {{"output_cloud", "output_ellipse", "output_ratio"},
       "along",
       drawn<figure_of_output_fluctuations>},
      {{"value_cloud", "value_ellipse"}, "first", drawn<figure_of_value_fluctuations>},
      {{"heat_drift", "heat_drift_theory", "heat_noise", "harmonics"},
       "across",
       drawn<figure_of_backward_heat>},
      {{"trajectory"}, "loss", drawn<figure_of_training>},
      {{"text run"}, "loss", drawn<figure_of_text_run>},
      {{"text run"}, "attention", drawn<figure_of_text_attention>},
      {{"text run"}, "norms", drawn<figure_of_text_norms>},
      {{"text run"}, "self_attention", drawn<figure_of_text_sentence>},
      {{"layer runs"}, "norm", drawn<figure_of_layer_norms>},
      {{"layer runs"}, "focus", drawn<figure_of_layer_focus>},
      {{"layer runs"}, "loss", drawn<figure_of_layer_losses>},
      {{"heads"}, "phase", head_map<"phase">},
      {{"heads"}, "dew_point", drawn<figure_of_head_curves>},
      {{"heads"}, "effective_share", head_map<"effective_share">},
      {{"heads"}, "largest_weight", head_map<"largest_weight">},
      {{"heads"}, "first_mass", head_map<"first_mass">},
      {{"loss", "iso_phase"}, "loss_change", drawn<figure_of_loss_sweep>},
  };
  return all;
}

bool fits(const StudyRecord& study, const Special& special, const std::string& observable) {
  const bool has_frames =
      std::all_of(special.frames.begin(), special.frames.end(),
                  [&](const std::string& name) { return find_frame(study, name) != nullptr; });
  if (!has_frames || study.frame(special.frames.front()).find_variable(special.variable) == nullptr)
    return false;
  return observable.empty() || observable == special.variable;
}

// Its frames are named after the laws of scores.
bool holds_dew_points(const StudyRecord& study) {
  return std::any_of(study.frames.begin(), study.frames.end(), [&](const Frame& frame) {
    return frame.name().starts_with("dew ") &&
           find_frame(study, "growth " + frame.name().substr(4)) != nullptr;
  });
}

}  // namespace

std::optional<Figure> specialised_figure(const StudyRecord& study, const std::string& observable) {
  for (const Special& special : specials()) {
    if (fits(study, special, observable)) return special.draw(study);
  }
  if (holds_dew_points(study) && (observable.empty() || observable == "beta_dew_median")) {
    return Figure(figure_of_dew_points(study));
  }
  return std::nullopt;
}

}  // namespace dewpoint::report
