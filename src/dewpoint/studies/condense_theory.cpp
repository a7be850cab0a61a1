#include "dewpoint/studies/condense_theory.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/theory/gaussian_extremes.hpp"
#include "dewpoint/theory/poisson_dirichlet.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::studies {
namespace {

// The variance of log Z is right to kRandomEnergyError: its root is shown where that is 1e-3 of it.
constexpr double kLeastVariance = 1e3 * theory::kRandomEnergyError;

struct Field {
  const char* name;
  double CondensePrediction::*value;
};
constexpr Field kFields[] = {
    {"edge_load", &CondensePrediction::edge_load},
    {"largest_weight", &CondensePrediction::largest_weight},
    {"largest_weight_law", &CondensePrediction::largest_weight_law},
    {"bare_largest_weight", &CondensePrediction::bare_largest_weight},
    {"limit_largest_weight", &CondensePrediction::limit_largest_weight},
    {"edge_largest_weight", &CondensePrediction::edge_largest_weight},
    {"series_largest_weight", &CondensePrediction::series_largest_weight},
    {"participation", &CondensePrediction::participation},
    {"participation_law", &CondensePrediction::participation_law},
    {"entropy", &CondensePrediction::entropy},
    {"entropy_law", &CondensePrediction::entropy_law},
    {"log_partition", &CondensePrediction::log_partition},
    {"log_partition_law", &CondensePrediction::log_partition_law},
    {"log_partition_deviation", &CondensePrediction::log_partition_deviation},
    {"log_partition_spread_law", &CondensePrediction::log_partition_spread_law},
    {"log_mean_partition", &CondensePrediction::log_mean_partition},
    {"retrieval_signal", &CondensePrediction::retrieval_signal}};

void add_largest_weights(double log_n, double load, CondensePrediction& p) {
  if (log_n >= theory::kLeastLogScores && log_n <= 640.0 && load <= 2.5) {
    p.largest_weight = theory::mean_largest_weight(log_n, load * theory::freezing_beta(log_n));
  }
  if (load < 1.0) {
    const double law = std::exp(theory::log_largest_weight_law(log_n, load));
    p.largest_weight_law = law <= 1.0 ? law : kUnknown;  // its prefactor diverges at t = 1
    p.bare_largest_weight = std::exp(theory::published_log_largest_weight(log_n, load));
  }
  p.limit_largest_weight = theory::poisson_dirichlet_largest_weight(load);
  if (!std::isnan(p.edge_load)) {
    p.edge_largest_weight = theory::poisson_dirichlet_largest_weight(p.edge_load);
  }
  p.series_largest_weight = theory::published_largest_weight(load);
}

void add_exact_means(double log_n, double load, CondensePrediction& p) {
  const double beta = load * theory::freezing_beta(log_n);
  if (beta < 0.001 || load > 20.0) return;
  const theory::RandomEnergyMeans means = theory::random_energy_means(log_n, beta);
  p.participation = means.participation;
  p.entropy = means.entropy;
  p.log_partition = means.log_partition;
  if (means.log_partition_variance >= kLeastVariance) {
    p.log_partition_deviation = std::sqrt(means.log_partition_variance);
  }
}

void add_laws(double log_n, double load, CondensePrediction& p) {
  if (load < 0.5) p.participation_law = std::exp(theory::log_participation_law(log_n, load));
  if (load < 1.0) p.entropy_law = theory::entropy_law(log_n, load);
  if (log_n < 1.0) return;
  p.log_partition_law = theory::quenched_free_energy_law(log_n, load);
  if (load <= 1.0) return;
  p.participation_law = theory::poisson_dirichlet_participation(p.edge_load);
  p.entropy_law = theory::poisson_dirichlet_entropy(p.edge_load);
  p.log_partition_spread_law = theory::free_energy_deviation_law(log_n, load);
}

double& cell(Frame& frame, const char* name, std::size_t index) {
  Estimate& estimate = frame.variable(name).cells[index];
  estimate = {kUnknown, 0.0, 0};
  return estimate.mean;
}

Frame empty_frame(const experiments::Condense& question) {
  Frame frame("condense_theory");
  frame.add_dimension("n", question.n);
  frame.add_dimension("t", question.loads);
  for (const Field& field : kFields) frame.add_variable(field.name, {"n", "t"});
  if (question.signals.empty() && question.planted.empty()) return frame;
  const char* key = question.planted.empty() ? "signal" : "planted";
  frame.add_dimension(key, question.planted.empty() ? question.signals : question.planted);
  frame.add_variable("retrieval_exponent", {"n", "t", key});
  frame.add_variable("typical_planted_weight", {"n", "t", key});
  frame.add_variable("best_load", {"n", key});
  return frame;
}

// The planted keys at one N. A negative signal is found at no load; its theory is not written.
void add_planted(const experiments::Condense& question, std::size_t index, Frame& frame) {
  const double n = question.n[index], log_n = std::log(n);
  const std::size_t loads = question.loads.size();
  const std::size_t keys = std::max(question.signals.size(), question.planted.size());
  const double unit = experiments::score_deviation(question) * std::sqrt(2.0 * log_n);
  for (std::size_t key = 0; key < keys; ++key) {
    const double signal = experiments::planted_score(question, n, key) / unit;
    double& best = cell(frame, "best_load", index * keys + key);
    if (signal >= 0.0) best = theory::best_load(signal);
    for (std::size_t t = 0; t < loads; ++t) {
      const double load = question.loads[t];
      double& exponent = cell(frame, "retrieval_exponent", (index * loads + t) * keys + key);
      if (signal >= 0.0) exponent = theory::retrieval_exponent(load, signal);
      const double log_partition = frame.variable("log_partition").cells[index * loads + t].mean;
      cell(frame, "typical_planted_weight", (index * loads + t) * keys + key) =
          theory::planted_weight(log_partition, 2.0 * load * signal * log_n);
    }
  }
}

}  // namespace

CondensePrediction condense_prediction(double log_n, double load) {
  CondensePrediction p;
  for (const Field& field : kFields) p.*field.value = kUnknown;
  if (log_n >= 1.0) p.edge_load = theory::edge_load(log_n, load);  // b_N = 0 at N = 2
  p.log_mean_partition = theory::annealed_free_energy(log_n, load);
  p.retrieval_signal = theory::retrieval_signal(load);
  add_largest_weights(log_n, load, p);
  add_exact_means(log_n, load, p);
  add_laws(log_n, load, p);
  return p;
}

Frame condense_theory(const experiments::Condense& question, const RunContext& context) {
  Frame frame = empty_frame(question);
  const std::size_t loads = question.loads.size();
  std::vector<CondensePrediction> predictions(question.n.size() * loads);
  parallel_for(predictions.size(), context, [&](std::size_t i) {
    predictions[i] =
        condense_prediction(std::log(question.n[i / loads]), question.loads[i % loads]);
  });
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    for (const Field& field : kFields) cell(frame, field.name, i) = predictions[i].*field.value;
  }
  if (question.signals.empty() && question.planted.empty()) return frame;
  for (std::size_t index = 0; index < question.n.size(); ++index) {
    add_planted(question, index, frame);
  }
  return frame;
}

}  // namespace dewpoint::studies
