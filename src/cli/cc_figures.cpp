#include "cli/console.hpp"
#include "cli/figure_study.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/report/condensation.hpp"
#include "dewpoint/studies/condense_theory.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::cli {
namespace {

using experiments::Condense;
using store::StudyRecord;

// −lim log E w_max/log N: the exponent of the law as printed, without its prefactor. No power is
// left above freezing.
double decay_exponent(double load) {
  return load < 1.0 ? -theory::published_log_largest_weight(1.0, load) : 0.0;
}

// lim E log Z/log N: a key of score 0 among the noise has the weight 1/(1 + Z).
double quenched_limit(double load) { return -theory::retrieval_exponent(load, 0.0); }

// Limits of N → ∞; log E Z is L(1 + t²) at any L = log N.
Frame condense_limits(const std::vector<double>& loads) {
  Frame frame("condense_limits");
  frame.add_dimension("t", loads);
  for (const char* name : {"decay_exponent", "annealed_free_energy", "quenched_free_energy"}) {
    frame.add_variable(name, {"t"});
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const double load = loads[i], annealed = theory::annealed_free_energy(1.0, load);
    frame.variable("decay_exponent").cells[i] = exact_value(decay_exponent(load));
    frame.variable("annealed_free_energy").cells[i] = exact_value(annealed);
    frame.variable("quenched_free_energy").cells[i] = exact_value(quenched_limit(load));
  }
  return frame;
}

// lim E log Z − log E Z = log Φ(x) at the load t = 1 − x/√(2 log N).
Frame freezing_window(const std::vector<double>& places) {
  Frame frame("freezing_window");
  frame.add_dimension("scaling_variable", places);
  auto& cells = frame.add_variable("log_ratio", {"scaling_variable"}).cells;
  for (std::size_t i = 0; i < places.size(); ++i) {
    cells[i] = exact_value(normal::log_cdf(places[i]));
  }
  return frame;
}

// Runs the experiment, and the theory on loads of its own.
StudyRecord condense_study(const Condense& question, const std::vector<double>& theory_loads,
                           const StudyEffort& effort) {
  StudyRecord study = begin_study("condense", question.seed, effort.command);
  study.parameters = {{"sigma", "1"}, {"draws", std::to_string(question.draws)}};
  ProgressLine progress("condense");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  Condense fine = question;
  fine.loads = theory_loads;
  fine.signals.clear();
  study.frames = {experiments::condense(question, context),
                  studies::condense_theory(fine, context)};
  return study;
}

// Finer around freezing, where curves bend. An exact weight costs 25 to 60 ms.
std::vector<double> theory_loads() {
  std::vector<double> all;
  for (const char* part : {"0.02:0.68:12", "0.7:1.3:31", "1.36:2.5:20"}) {
    const std::vector<double> loads = parse_grid("t", part);
    all.insert(all.end(), loads.begin(), loads.end());
  }
  return all;
}

// From a short context to one that no machine holds. The exact largest weight ends at t = 2.5.
StudyRecord measure_condensation(const StudyEffort& effort) {
  Condense question;
  question.n = {1e3, 1e6, 1e12, 1e30, 1e100};
  question.loads = parse_grid("t", "0.1:2.5:25");
  question.draws = effort.quick ? 1000 : 20'000;
  question.top = 512;
  question.seed = effort.seed;
  StudyRecord study = condense_study(question, theory_loads(), effort);
  ProgressLine progress("laws at the measured loads");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  study.frames.push_back(studies::condense_theory(question, context).renamed("condense_law"));
  study.frames.push_back(condense_limits(parse_grid("t", "0:2.5:201")));
  study.frames.push_back(freezing_window(parse_grid("x", "-1.5:4:221")));
  return study;
}

StudyRecord measure_retrieval(const StudyEffort& effort) {
  Condense question;
  question.n = {1e4, 1e30, 1e300};
  question.loads = parse_grid("t", "0.05:2:40");
  question.signals = parse_grid("signal", "0.05:2:40");
  question.draws = effort.quick ? 400 : 4000;
  question.top = 256;
  question.seed = effort.seed;
  return condense_study(question, parse_grid("t", "0.25:2:141"), effort);
}

// ---- what there is to see -----------------------------------------------------------------------

StudyFigure condensation() {
  return {
      .name = "cc-condensation",
      .title = "Gaussian scores: attention condenses at t = 1, slowly",
      .see =
          "Left: the mean largest weight over N independent Gaussian scores against the load t = "
          "β/β_c, exact curves with measured points, the limit dashed. In the limit it leaves 0 "
          "at t = 1; for N = 10³ it is 0.4 there already, and even for 10¹⁰⁰ the corner is "
          "rounded. Right: the power of 1/N with which the weight falls.",
      .paper =
          "Eq (9), (11) and (12): below β_c = √(2 log N)/σ the largest weight falls as "
          "N^(−(1−t)²), above it stays of order one; the power lacks a prefactor (erratum 21). "
          "The dotted series is Eq (118) of CAS, which has no transition at all (erratum 18).",
      .claims = {"cc.eq-11", "cc.eq-12", "cas.proposition-d.1", "cas.appendix-d"},
      .figure_of = report::figure_of_condensation};
}

StudyFigure weight_collapse() {
  return {
      .name = "cc-collapse",
      .title = "Gaussian scores: the largest weight against its limit laws",
      .see =
          "Left: the largest weight against β/b_N, with b_N the score that one of N keys exceeds "
          "on average: well above 1 all N lie on the dashed curve. Right: below freezing, the "
          "weight over its law, 1 for small t and, the larger N, the longer. Few draws carry "
          "this mean, and the same draws serve all N and t, so points stray together.",
      .paper =
          "Below Eq (11) the largest weight is N^(−(1−t)²); the right panel divides by the "
          "missing factor (4π log N)^(−t/2) Γ(1 − t) as well (erratum 21). Eq (12) calls it of "
          "order one above β_c; its law there is Poisson-Dirichlet.",
      .claims = {"cc.eq-11", "cc.eq-12"},
      .figure_of = report::figure_of_weight_collapse};
}

StudyFigure free_energies() {
  return {
      .name = "cc-free-energies",
      .title = "Gaussian scores: annealed and quenched free energies part at t = 1",
      .see =
          "Left: E log Z over log N against the load t. Up to t = 1 it follows 1 + t², and log E "
          "Z stays on that curve for ever (dotted); above, it goes on along a straight line "
          "(dashed). Right: the difference of the two in a window of width 1/√(2 log N) around "
          "freezing, where all N fall onto log Φ: −log 2 at t = 1.",
      .paper =
          "Eq (6) and (7): log Z is log N + β²σ²/2 up to β_c, to leading order, and by Eq (8) "
          "and (9) βσ√(2 log N) from there on. Curves approach the straight line as slowly as "
          "the largest score does, which erratum 20 corrects; the window is ours.",
      .claims = {"cc.eq-6", "cc.eq-7", "cc.eq-9"},
      .figure_of = report::figure_of_free_energies};
}

StudyFigure retrieval() {
  return {
      .name = "cc-retrieval",
      .title = "One planted key among Gaussian noise: where attention finds it",
      .see =
          "Colour is the mean weight of one key of score m = sσ√(2 log N) among N of noise: "
          "across the load t, up the signal s. It turns at the solid boundary, (1 + t²)/(2t) up "
          "to t = 1 and 1 from there on: softly for N = 10⁴, within a cell for 10³⁰⁰. Below s = "
          "1 no temperature finds the key; its typical weight is largest on the dashed line.",
      .paper =
          "Below Eq (14): retrieval needs m of at least log N/β + βσ²/2 in the diffuse phase, "
          "and more than σ√(2 log N) when cold, or attention condenses on noise. The printed "
          "weight is right where it is small (erratum 22).",
      .claims = {"cc.eq-14", "cc.retrieval-threshold", "cc.retrieval-hard", "cc.retrieval-exponent",
                 "cc.noise-or-signal", "cc.best-temperature"},
      .figure_of = report::figure_of_retrieval};
}

constexpr const char* kCcPaper = "A condensation crossover (CC)";

}  // namespace

std::vector<FigureStudy> cc_figures() {
  return {{"cc-condensation",
           kCcPaper,
           {9.0, 17.0},
           measure_condensation,
           {condensation(), weight_collapse(), free_energies()}},
          {"cc-retrieval", kCcPaper, {6.7, 9.0}, measure_retrieval, {retrieval()}}};
}

}  // namespace dewpoint::cli
