#include "cli/condense_theory.hpp"
#include "cli/console.hpp"
#include "cli/figure_study.hpp"
#include "cli/grid.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/distributions/normal.hpp"
#include "dewpoint/report/condensation.hpp"
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
  const RunContext context{effort.threads, stop_on_signals(), progress.callback()};
  Condense fine = question;
  fine.loads = theory_loads;
  fine.signals.clear();
  study.frames = {experiments::condense(question, context), condense_theory(fine, context)};
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
  const RunContext context{effort.threads, stop_on_signals(), progress.callback()};
  study.frames.push_back(condense_theory(question, context).renamed("condense_law"));
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

}  // namespace

std::vector<FigureStudy> cc_figures() {
  return {
      {"cc-condensation",
       measure_condensation,
       {{"cc-condensation", "Gaussian scores: attention condenses at t = 1, slowly",
         drawn_by(report::figure_of_condensation)},
        {"cc-collapse", "Gaussian scores: the largest weight against its limit laws",
         drawn_by(report::figure_of_weight_collapse)},
        {"cc-free-energies", "Gaussian scores: annealed and quenched free energies part at t = 1",
         drawn_by(report::figure_of_free_energies)}}},
      {"cc-retrieval",
       measure_retrieval,
       {{"cc-retrieval", "One planted key among Gaussian noise: where attention finds it",
         drawn_by(report::figure_of_retrieval)}}}};
}

}  // namespace dewpoint::cli
