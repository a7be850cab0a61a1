#include <cmath>
#include <functional>

#include "cli/console.hpp"
#include "cli/sl_studies.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/experiments/dew.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/theory/key_scales.hpp"

namespace dewpoint::cli {
namespace {

/// A law of scores and how its dew point grows, up to a constant.
struct Growing {
  const char* label;
  const char* law;
  std::function<double(double log_n)> log_scale;
};

// A head of 64 dimensions is no power law at any length that matters: its scale interpolates
// between √(log n) and n^{2/63}.
std::vector<Growing> laws() {
  return {{"simplex ρ = 0.5: log n", "simplex:rho=0.5",
           [](double l) { return std::log(std::log(std::expm1(l))); }},
          {"Gaussian: √(log n)", "gaussian:sigma=1", [](double l) { return 0.5 * std::log(l); }},
          {"sphere d = 64: between", "sphere:d=64",
           [](double l) { return theory::log_freezing_interpolation(64, l); }},
          {"sphere d = 5: n^(1/2)", "sphere:d=5", [](double l) { return l / 2.0; }},
          {"sphere d = 3: n", "sphere:d=3", [](double l) { return l; }}};
}

// The curve passes through the last measured median. Slopes are taken as they are measured, from
// one neighbour of n to the other, a decade to each side.
Frame growth(const Growing& law, const Frame& dew, const std::vector<double>& n) {
  Frame frame(std::string("growth ") + law.label);
  frame.add_dimension("n", n);
  frame.add_variable("beta", {"n"});
  frame.add_variable("slope", {"n"});
  const double last_n = dew.dimension("n").coordinates.back();
  const double shift =
      std::log(dew.variable("beta_dew_median").cells.back().mean) - law.log_scale(std::log(last_n));
  const double decade = std::log(10.0);
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double l = std::log(n[i]);
    frame.variable("beta").cells[i] = exact_value(std::exp(law.log_scale(l) + shift));
    frame.variable("slope").cells[i] =
        exact_value((law.log_scale(l + decade) - law.log_scale(l - decade)) / (2.0 * decade));
  }
  return frame;
}

}  // namespace

store::StudyRecord dew_points_study(const StudyEffort& effort) {
  store::StudyRecord study = begin_study("dew points", effort.seed, effort.command);
  ProgressLine progress("dew points");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  experiments::DewCurve question;
  question.n = {1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  question.draws = effort.quick ? 300 : 4000;
  question.seed = effort.seed;
  const std::vector<double> fine = parse_grid("n", "1e2:1e15:121:log");
  for (const Growing& law : laws()) {
    const auto score_law = scores::score_law(law.law);
    const Frame dew = experiments::dew_curve(*score_law, question, context);
    study.frames.push_back(dew.renamed(std::string("dew ") + law.label));
    study.frames.push_back(growth(law, dew, fine));
  }
  return study;
}

}  // namespace dewpoint::cli
