#include "cli/figure_study.hpp"

#include "cli/sl_studies.hpp"
#include "dewpoint/report/backward_heat.hpp"
#include "dewpoint/report/critical_weights.hpp"
#include "dewpoint/report/dew_points.hpp"
#include "dewpoint/report/output_fluctuations.hpp"

namespace dewpoint::cli {
namespace {

StudyFigure critical_weights() {
  return {
      .name = "sl-critical-weights",
      .title = "Uniform keys at criticality: a few nearest keys share the weight",
      .see =
          "n uniform keys on a sphere in 3, 5 and 8 dimensions, at β = β*. Above: quantiles of "
          "the largest weight against those of its limit law, equal on the dashed diagonal; "
          "below: mean weights by rank, on a logarithmic axis. In d = 3 points and law agree "
          "from n = 10³ on, in d = 8 only at 10¹⁵; the largest weight stays random.",
      .paper =
          "The abstract announces limit laws of the ordered weights, and at the critical scale a "
          "finite collection of nearest keys that holds the mass without collapse onto one. We "
          "know no more of the paper; the law drawn, e^(−θΓ_k^(1/a))/Z with a = (d − 1)/2 and "
          "Γ_k the points of a Poisson process, is derived here.",
      .claims = {"sl.critical-weights", "sl.finite-collection"},
      .figure_of = report::figure_of_critical_weights};
}

StudyFigure convergence() {
  return {
      .name = "sl-convergence",
      .title = "How fast the limit law is reached: slowly in high dimension",
      .see =
          "Left: how far the mean largest weight at β = β* is from its limit, exactly, against "
          "n. Right: the slope of these points, with the predicted power dashed. Each dimension "
          "takes its power sooner or later; in d = 17 the weight is still almost twice its limit "
          "at n = 10¹², and the power not yet reached.",
      .paper = "",
      .claims = {"sl.convergence-rate"},
      .figure_of = report::figure_of_convergence};
}

StudyFigure output_fluctuations() {
  return {
      .name = "sl-output",
      .title = "Uniform keys below criticality: the output is biased and Gaussian",
      .see =
          "A dot is what attention returns from one draw of 10⁵ keys in three dimensions, less "
          "its limit and times √n; the ellipse is two standard deviations of the Gaussian law. "
          "Dots fill it while two thousand keys share the weight (θ = 0.001) and spill over its "
          "lower edge where four do (θ = 0.5). Last panel: variances and bias over their "
          "predictions, which hold from some tens of effective keys on.",
      .paper =
          "The abstract: below the critical scale the output is a local average around the "
          "query, with an explicit bias and Gaussian fluctuations. The constants drawn are "
          "derived here.",
      .claims = {"sl.subcritical-output"},
      .figure_of = report::figure_of_output_fluctuations};
}

StudyFigure value_fluctuations() {
  return {
      .name = "sl-values",
      .title = "A value matrix turns and stretches the fluctuations of the output",
      .see =
          "Two coordinates of Σ w_j V k_j for one fixed matrix V and 10⁹ keys in five "
          "dimensions, less their limit and times √n, a dot per draw; the ellipse is two "
          "standard deviations of the Gaussian law. It stands upright at β = 1 and leans over as "
          "β grows, because noise along the query fades beside noise across it, and the dots "
          "follow.",
      .paper = "",
      .claims = {"sl.value-matrix"},
      .figure_of = report::figure_of_value_fluctuations};
}

StudyFigure backward_heat() {
  return {
      .name = "sl-backward-heat",
      .title = "Attention runs the heat equation backwards, until noise drowns it",
      .see =
          "Left: keys of density f pull the query up the gradient; β times the output across the "
          "query, over |∇ log f|, tends to 1 as β grows. Middle: noise over signal at two "
          "lengths, on one line that passes 1 at β_heat. Right: the factor on a harmonic of the "
          "density in one step; particles follow 1 + x e^(−x/2), which begins as e^x and turns "
          "back.",
      .paper =
          "The abstract: below the critical scale, and with the identity as value matrix, "
          "attention is approximately a backward heat equation. To first order it is; short "
          "waves grow less than that, and noise ends it at β_heat ∝ n^(2/(d+1)), far below β*.",
      .claims = {"sl.backward-heat", "sl.harmonics", "sl.heat-threshold"},
      .figure_of = report::figure_of_backward_heat};
}

StudyFigure dew_points() {
  return {
      .name = "dew-points",
      .title = "One definition, three laws: where attention condenses",
      .see =
          "The dew point β_dew of a query is where its best key weighs as much as all others "
          "together. Left: its median against the number of keys; right: the slope. Spheres of 3 "
          "and 5 dimensions keep the slopes 1 and 1/2, those of simplex and Gaussian scores go "
          "on falling, and so does that of a sphere of 64 dimensions, the size of a head, up to "
          "n = 10¹⁴.",
      .paper =
          "The laws are those of the papers: log n on a simplex (CAS, Theorem 2.1), √(log n) for "
          "Gaussian scores (CC, Eq (9), and CAS, Appendix D), n^(2/(d−1)) for uniform keys on a "
          "sphere (SL, abstract).",
      .claims = {"sl.one-definition", "sl.critical-scale", "cas.appendix-d"},
      .figure_of = report::figure_of_dew_points};
}

constexpr const char* kSlPaper = "Scaling limits (SL)";

}  // namespace

std::vector<FigureStudy> sl_figures() {
  return {{"sl-critical-weights",
           kSlPaper,
           {6.0, 48.0},
           critical_weights_study,
           {critical_weights(), convergence()}},
          {"sl-output", kSlPaper, {3.7, 35.0}, output_study, {output_fluctuations()}},
          {"sl-values", kSlPaper, {0.4, 0.4}, values_study, {value_fluctuations()}},
          {"sl-backward-heat", kSlPaper, {7.8, 75.0}, backward_heat_study, {backward_heat()}},
          {"dew-points", "Dew points", {5.9, 60.0}, dew_points_study, {dew_points()}}};
}

}  // namespace dewpoint::cli
