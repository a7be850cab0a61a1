#include "cli/figure_study.hpp"

#include "cli/depth_study.hpp"
#include "cli/phase_study.hpp"
#include "cli/scaling_collapse_study.hpp"
#include "cli/three_phases_study.hpp"
#include "dewpoint/report/depth.hpp"
#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/phase_map.hpp"
#include "dewpoint/report/scaling_collapse.hpp"
#include "dewpoint/report/three_phases.hpp"

namespace dewpoint::cli {
namespace {

using store::StudyRecord;

// Figures 1 and 2: contraction and Jacobian norm over ρ and γ for three dimensions. Quick: the
// setting of the paper with few clouds; otherwise enough of them for errors below the colour steps.
StudyRecord measure_maps(const StudyEffort& effort) {
  experiments::PhaseMap map;
  map.n = {512};
  map.d = {8, 64, 512};
  map.replication.replicas = effort.quick ? 4 : 32;
  map.seed = effort.seed;
  return phase_map_study(map, effort.threads, effort.command);
}

report::HeatmapFigure contraction_figure(const StudyRecord& study) {
  return report::heatmap_of_phase_map(study);
}

report::HeatmapFigure jacobian_norm_figure(const StudyRecord& study) {
  return report::heatmap_of_phase_map(study, report::PhaseQuantity::jacobian_norm);
}

StudyRecord measure_three_phases(const StudyEffort& effort) {
  ThreePhases parameters;
  parameters.seed = effort.seed;
  return three_phases_study(parameters, effort.threads, effort.command);
}

StudyRecord measure_scaling_collapse(const StudyEffort& effort) {
  ScalingCollapse parameters;
  parameters.seed = effort.seed;
  return scaling_collapse_study(parameters, effort.threads, effort.command);
}

// Twelve layers in all regimes: c = γ (1 − ρ) = 0.8, 1, 1.4, 1.7, 2.
experiments::PhaseDepth twelve_layers(const StudyEffort& effort) {
  experiments::PhaseDepth parameters;
  parameters.cloud.rho = 0.5;
  parameters.cloud.common = tokens::Common::fixed;
  parameters.gamma = {1.6, 2.0, 2.8, 3.4, 4.0};
  parameters.layers = 12;
  parameters.replication.replicas = effort.quick ? 4 : 16;
  parameters.seed = effort.seed;
  return parameters;
}

StudyRecord measure_simplex_depth(const StudyEffort& effort) {
  experiments::PhaseDepth parameters = twelve_layers(effort);
  parameters.cloud.law = "simplex";
  parameters.cloud.n = 256;
  parameters.replication.replicas = 1;  // nothing is random
  return depth_study(parameters, effort.threads, effort.command);
}

StudyRecord measure_gaussian_depth(const StudyEffort& effort) {
  experiments::PhaseDepth parameters = twelve_layers(effort);
  parameters.cloud.n = 256;
  parameters.cloud.d = 64;
  return depth_study(parameters, effort.threads, effort.command);
}

// Singular values of a product of n d × n d matrices: fewer tokens. There is no recursion beside
// them, because a simplex of so many tokens does not fit into so few dimensions.
StudyRecord measure_end_to_end(const StudyEffort& effort) {
  experiments::PhaseDepth parameters = twelve_layers(effort);
  parameters.cloud.n = 64;
  parameters.cloud.d = 32;
  parameters.norm.reset();
  parameters.end_to_end = experiments::EndToEnd{1, 16};
  StudyRecord study = depth_study(parameters, effort.threads, effort.command);
  std::erase_if(study.frames, [](const Frame& frame) { return frame.name() == "depth_theory"; });
  return study;
}

// After the collapse the exponent of the gap triples in every layer: only its beginning is shown.
report::LineFigure depth_figure(const StudyRecord& study) {
  report::LineFigure figure = report::figure_of_depth(study);
  for (report::LinePanel& panel : figure.panels) {
    if (panel.y.scale == report::AxisScale::exponent) panel.y.range = report::Range{-42.0, 2.0};
  }
  return figure;
}

// The gap of the tokens, and norm and largest singular value of the product: all logarithmic.
report::LineFigure end_to_end_figure(const StudyRecord& study) {
  report::LineFigure figure = depth_figure(study);
  std::erase_if(figure.panels, [](const report::LinePanel& panel) {
    return panel.y.scale == report::AxisScale::linear;
  });
  return figure;
}

}  // namespace

std::vector<FigureStudy> cas_figures() {
  return {{"cas-figures-1-2",
           measure_maps,
           {{"cas-figure-1",
             "Figure 1 of 'Critical attention scaling': contraction of angles in one layer",
             drawn_by(contraction_figure)},
            {"cas-figure-2", "Figure 2 of 'Critical attention scaling': Jacobian norm of one layer",
             drawn_by(jacobian_norm_figure)}}},
          {"cas-three-phases",
           measure_three_phases,
           {{"cas-three-phases",
             "Theorem C.2: among clusters, attention turns from the rest to its cluster to itself",
             drawn_by(report::figure_of_three_phases)}}},
          {"cas-scaling-collapse",
           measure_scaling_collapse,
           {{"cas-scaling-collapse",
             "Theorems 2.1 and 2.4 at finite length: all transitions on one curve",
             drawn_by(report::figure_of_scaling_collapse)}}},
          {"cas-depth",
           measure_simplex_depth,
           {{"cas-depth", "Many layers on a simplex follow the exact recursion",
             drawn_by(depth_figure)}}},
          {"cas-depth-gaussian",
           measure_gaussian_depth,
           {{"cas-depth-gaussian",
             "Many layers on Gaussian tokens: softer than on a simplex (dashed), and earlier",
             drawn_by(depth_figure)}}},
          {"cas-end-to-end",
           measure_end_to_end,
           {{"cas-end-to-end",
             "Many layers on Gaussian tokens: what is left of a gradient from end to end",
             drawn_by(end_to_end_figure)}}}};
}

}  // namespace dewpoint::cli
