#include "cli/figure_study.hpp"

#include "cli/depth_study.hpp"
#include "cli/scaling_collapse_study.hpp"
#include "cli/study_run.hpp"
#include "cli/three_phases_study.hpp"
#include "dewpoint/report/depth.hpp"
#include "dewpoint/report/scaling_collapse.hpp"
#include "dewpoint/report/study_heatmap.hpp"
#include "dewpoint/report/three_phases.hpp"

namespace dewpoint::cli {
namespace {

using store::StudyRecord;

// Figures 1 and 2: contraction and Jacobian norm over ρ and γ for three dimensions. Quick: the
// setting of the paper with few clouds; otherwise enough of them for errors below the colour steps.
StudyRecord measure_maps(const StudyEffort& effort) {
  studies::StudyText study;
  study.experiment = "phase";
  study.seed = effort.seed;
  study.precision.replicas = effort.quick ? 4 : 32;
  study.fixed = {{"eta", std::string("auto")}};
  study.grid = {{"n", {512.0}}, {"d", {8.0, 64.0, 512.0}}, {"rho", {}}, {"gamma", {}}};
  for (int k = 0; k < 20; ++k) study.grid[2].values.push_back(k / 20.0);
  for (int k = 1; k <= 32; ++k) study.grid[3].values.push_back(k / 4.0);
  return run_in_memory(study, effort.threads, effort.command, "phase map");
}

report::HeatmapFigure contraction_figure(const StudyRecord& study) {
  return report::heatmap_of_study(study, {});
}

report::HeatmapFigure jacobian_norm_figure(const StudyRecord& study) {
  report::FigureRequest request;
  request.observable = "jacobian_norm";
  report::HeatmapFigure figure = report::heatmap_of_study(study, request);
  figure.z_low = 0.0;
  figure.z_high = 1.0;
  return figure;
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

// ---- what there is to see -----------------------------------------------------------------------

StudyFigure figure_1() {
  return {.name = "cas-figure-1",
          .title = "Figure 1 of 'Critical attention scaling': contraction of angles in one layer",
          .see =
              "Colour is the contraction λ, the mean over pairs of tokens of (1 − cos after)/(1 − "
              "cos before): 1 leaves all angles alone, 0 is collapse. Across is the correlation ρ "
              "of the "
              "tokens, up the scale γ. Look at the border between dark and bright: spread over "
              "most of the panel for d = 8, a narrow band along the dashed curve for d = 512.",
          .paper =
              "Theorem 2.1 puts the transition of a simplex at γ = 1/(1 − ρ), dashed here, and "
              "Figure 1 shows Gaussian tokens approach it as d grows; the solid curve for finite d "
              "is ours. The sum of Eq (26) is over i < j (erratum 12), and for small d such tokens "
              "do not satisfy Assumption 2 (erratum 16).",
          .claims = {"cas.theorem-2.1", "cas.theorem-2.3"},
          .figure_of = contraction_figure};
}

StudyFigure figure_2() {
  return {
      .name = "cas-figure-2",
      .title = "Figure 2 of 'Critical attention scaling': Jacobian norm of one layer",
      .see =
          "Colour is η = ‖J‖²/(nd), the mean squared singular value of the layer's Jacobian: 0 "
          "where gradients vanish, near 1 where they pass. It turns along the same lines as the "
          "contraction, and its bright side is 1 − 1/d: 0.88 for d = 8, almost 1 for d = 512.",
      .paper =
          "Theorem 2.4: on a simplex η tends to 0, (1 − 1/d)/(4q) and (1 − 1/d)/q below, at and "
          "above γ = 1/(1 − ρ); Figure 2 has it for Gaussian tokens. The limit 1 − 1/d needs "
          "tokens of length 1, as here (errata 13 and 14), and formulas of the proof are "
          "corrected (errata 1 to 7).",
      .claims = {"cas.theorem-2.4", "cas.theorem-2.5"},
      .figure_of = jacobian_norm_figure};
}

StudyFigure three_phases() {
  return {.name = "cas-three-phases",
          .title =
              "Theorem C.2: among clusters, attention turns from the rest to its cluster to itself",
          .see =
              "Tokens come in clusters of about n^0.7, with cosine 0.7 inside a cluster and 0.1 "
              "across; curves show how a token divides its attention as γ grows, points are layers "
              "that were computed. Between γ₁ and γ₂ the cluster holds most of it: a hump at n = "
              "10³, a plateau with steep sides at 10¹².",
          .paper =
              "Theorem C.2: attention averages over the rest, the cluster or the token alone. With "
              "one cosine inside and one across, the borders are (1 − 0.7)/(0.7 − 0.1) = 1/2 and "
              "0.7/(1 − 0.7) = 7/3. The theorem needs Assumption 3, not 2 (erratum 10).",
          .claims = {"cas.lemma-c.1", "cas.theorem-c.2"},
          .figure_of = report::figure_of_three_phases};
}

StudyFigure scaling_collapse() {
  return {
      .name = "cas-scaling-collapse",
      .title = "Theorems 2.1 and 2.4 at finite length: all transitions on one curve",
      .see =
          "Contraction λ and Jacobian norm η on a simplex with ρ = 0.5 and d = n, against (c − "
          "1) log n with c = γ(1 − ρ). Curves from n = 128 to 10⁸ and the computed layers all lie "
          "on the dashed limit, η at n = 128 a little above it: the transition is as wide as "
          "1/log n. At 0, where c = 1, λ is 0.4 and η is 1/4.",
      .paper =
          "Theorems 2.1 and 2.4 give the values far left, at 0 and far right: λ = 0, 1/(1 + 3ρ), "
          "1 and, for large d and q = 1, η = 0, 1/4, 1. The curve between them is ours, with the "
          "lemmas on η as corrected (errata 3 to 6).",
      .claims = {"cas.theorem-2.1", "cas.theorem-2.4"},
      .figure_of = report::figure_of_scaling_collapse};
}

StudyFigure simplex_depth() {
  return {
      .name = "cas-depth",
      .title = "Many layers on a simplex follow the exact recursion",
      .see =
          "Twelve layers on a simplex of 256 tokens with ρ = 0.5, so that c = γ/2: the gap 1 − "
          "cos, λ, the effective rank n²/Σcos² and η of each layer. Angles shrink slowly until "
          "they tip over and collapse, at γ = 2.8 by layer 4, at 3.4 by layer 9, at 4 not within "
          "twelve; points lie on the dashed recursion.",
      .paper =
          "Section 2.2 says that the theorems persist over poly(n) layers. They do, but the "
          "polynomial can be tiny: a simplex with c > 1 collapses after about n^(c−1)/(2ρ(1 − "
          "ρ)γ log n) layers (erratum 24).",
      .claims = {"cas.theorem-2.1", "cas.theorem-2.4"},
      .figure_of = depth_figure};
}

StudyFigure gaussian_depth() {
  return {
      .name = "cas-depth-gaussian",
      .title = "Many layers on Gaussian tokens: softer than on a simplex (dashed), and earlier",
      .see =
          "The same twelve layers on 256 Gaussian tokens in 64 dimensions: points are measured, "
          "dashed curves belong to a simplex with the same γ. At γ = 2.8, 3.4 and 4 the points "
          "of λ and η leave the dashed curves early and come down less steeply; at γ = 4 these "
          "tokens collapse where a simplex hardly moves.",
      .paper =
          "Theorems 2.3 and 2.5, for almost a simplex, are about one layer; Section 2.2 carries "
          "them on to poly(n) layers, which can be few (erratum 24).",
      .claims = {"cas.theorem-2.3", "cas.theorem-2.5"},
      .figure_of = depth_figure};
}

StudyFigure end_to_end() {
  return {.name = "cas-end-to-end",
          .title = "Many layers on Gaussian tokens: what is left of a gradient from end to end",
          .see =
              "64 Gaussian tokens in 32 dimensions: the gap 1 − cos, and of the product of all "
              "Jacobians so far the norm ‖J‖²/(nd) and the largest singular value. Where tokens "
              "collapse, up to γ = 3.4, the norm falls and then stays level at a few hundredths: "
              "what is left moves all tokens as one. At γ = 4 much more survives, in few strong "
              "directions.",
          .paper =
              "Theorem 2.5 is about one layer, and bounds η on both sides of the transition. The "
              "product of many layers is ours.",
          .claims = {"cas.theorem-2.5"},
          .figure_of = end_to_end_figure};
}

constexpr const char* kCasPaper = "Critical attention scaling (CAS)";

}  // namespace

std::vector<FigureStudy> cas_figures() {
  return {{"cas-figures-1-2", kCasPaper, {27.0, 220.0}, measure_maps, {figure_1(), figure_2()}},
          {"cas-three-phases", kCasPaper, {1.0, 1.0}, measure_three_phases, {three_phases()}},
          {"cas-scaling-collapse",
           kCasPaper,
           {0.3, 0.3},
           measure_scaling_collapse,
           {scaling_collapse()}},
          {"cas-depth", kCasPaper, {0.5, 0.5}, measure_simplex_depth, {simplex_depth()}},
          {"cas-depth-gaussian", kCasPaper, {0.7, 2.5}, measure_gaussian_depth, {gaussian_depth()}},
          {"cas-end-to-end", kCasPaper, {10.0, 38.0}, measure_end_to_end, {end_to_end()}}};
}

}  // namespace dewpoint::cli
