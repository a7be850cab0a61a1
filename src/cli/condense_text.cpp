#include "cli/condense_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/answer.hpp"
#include "dewpoint/theory/random_energy.hpp"

namespace dewpoint::cli {
namespace {

// A measurement and its theory at one N; `key` counts planted keys.
struct Place {
  const Frame& measured;
  const Frame& theory;
  std::size_t loads;
  std::size_t index;

  [[nodiscard]] std::string value(const char* name, std::size_t t) const {
    return plain(theory.variable(name).cells[index * loads + t].mean);
  }
  [[nodiscard]] std::string measure(const char* name, std::size_t t) const {
    return with_error(measured.variable(name).cells[index * loads + t]);
  }
  [[nodiscard]] std::string value(const char* name, std::size_t t, std::size_t key) const {
    return plain(at(theory.variable(name), t, key).mean);
  }
  [[nodiscard]] std::string measure(const char* name, std::size_t t, std::size_t key) const {
    return with_error(at(measured.variable(name), t, key));
  }
  [[nodiscard]] const Estimate& at(const Variable& variable, std::size_t t, std::size_t key) const {
    const std::size_t keys = variable.cells.size() / (measured.dimension("n").coordinates.size() *
                                                      measured.dimension("t").coordinates.size());
    return variable.cells[(index * loads + t) * keys + key];
  }

  static std::string plain(double value) {
    return std::isnan(value) ? "-" : fmt::format("{:.6g}", value);
  }
  static std::string with_error(const Estimate& estimate) {
    const double size = std::abs(estimate.mean);
    const bool fixed = size >= 1e-3 && size < 1e6 && estimate.standard_error > 1e-8;
    if (fixed || size == 0.0 || estimate.standard_error == 0.0) return to_string(estimate);
    const double digits = std::log10(size / estimate.standard_error) + 2.0;
    return fmt::format("{:.{}g} ± {:.1g}", estimate.mean,
                       static_cast<int>(std::clamp(digits, 2.0, 12.0)), estimate.standard_error);
  }
};

// One table of a block: a line per load, columns of measurements and predictions.
struct Entry {
  const char* title;
  const char* variable;
  bool measured;
};

std::string table(const Place& place, const std::vector<Entry>& entries) {
  Json records = Json::array();
  std::vector<Column> columns = {{"t", "t"}};
  for (std::size_t k = 0; k < entries.size(); ++k) {
    columns.push_back({fmt::format("{}", k), entries[k].title});
  }
  for (std::size_t t = 0; t < place.loads; ++t) {
    Json record = {{"t", Place::plain(place.measured.dimension("t").coordinates[t])}};
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const Entry& entry = entries[k];
      record[fmt::format("{}", k)] =
          entry.measured ? place.measure(entry.variable, t) : place.value(entry.variable, t);
    }
    records.push_back(record);
  }
  return to_text(records, columns);
}

std::string weight_tables(const Place& place) {
  return table(place, {{"E w_max", "largest_weight", true},
                       {"exact", "largest_weight", false},
                       {"law", "largest_weight_law", false},
                       {"N^-(1-t)²", "bare_largest_weight", false},
                       {"PD(t)", "limit_largest_weight", false},
                       {"PD(t_e)", "edge_largest_weight", false},
                       {"(118)", "series_largest_weight", false}}) +
         "\n" +
         table(place, {{"E Σw²", "participation", true},
                       {"exact", "participation", false},
                       {"law", "participation_law", false},
                       {"E H", "entropy", true},
                       {"exact", "entropy", false},
                       {"law", "entropy_law", false}});
}

std::string energy_tables(const Place& place) {
  return table(place, {{"E log Z", "log_partition", true},
                       {"exact", "log_partition", false},
                       {"law", "log_partition_law", false},
                       {"sd log Z", "log_partition_deviation", true},
                       {"exact", "log_partition_deviation", false},
                       {"log E Z", "log_mean_partition", true},
                       {"exact", "log_mean_partition", false},
                       {"s_half", "retrieval_signal", true},
                       {"s_c", "retrieval_signal", false}});
}

std::string planted_table(const Place& place, const experiments::Condense& question,
                          std::size_t key) {
  const double log_n = std::log(question.n[place.index]);
  Json records = Json::array();
  for (std::size_t t = 0; t < place.loads; ++t) {
    const Estimate& log_weight = place.at(place.measured.variable("log_planted_weight"), t, key);
    records.push_back({{"t", Place::plain(question.loads[t])},
                       {"mean", place.measure("planted_weight", t, key)},
                       {"median", place.measure("median_planted_weight", t, key)},
                       {"typical", place.value("typical_planted_weight", t, key)},
                       {"log", Place::plain(log_weight.mean / log_n)},
                       {"exponent", place.value("retrieval_exponent", t, key)},
                       {"noise", place.measure("largest_noise_weight", t, key)}});
  }
  return to_text(records, {{"t", "t"},
                           {"mean", "E w_*"},
                           {"median", "median"},
                           {"typical", "typical"},
                           {"log", "E log w_*/log N"},
                           {"exponent", "N -> ∞"},
                           {"noise", "largest noise weight"}});
}

std::string planted_text(const Place& place, const experiments::Condense& question) {
  const std::size_t keys = std::max(question.signals.size(), question.planted.size());
  const double n = question.n[place.index];
  const double unit = experiments::score_deviation(question) * std::sqrt(2.0 * std::log(n));
  std::string text;
  for (std::size_t key = 0; key < keys; ++key) {
    const double score = experiments::planted_score(question, n, key);
    const auto best = [&](const char* name) {
      return Place::with_error(place.measured.variable(name).cells[place.index * keys + key]);
    };
    const double limit = place.theory.variable("best_load").cells[place.index * keys + key].mean;
    text += fmt::format(
        "\nA key planted at m = {:.6g}, s = m/(sigma sqrt(2 log N)) = {:.4g}\n"
        "best t of the grid: {} for E w_*, {} for E log w_*; N -> ∞: {}\n{}",
        score, score / unit, best("best_load"), best("best_typical_load"), Place::plain(limit),
        planted_table(place, question, key));
  }
  return text;
}

std::string block(const Place& place, const experiments::Condense& question) {
  const double n = question.n[place.index], log_n = std::log(n);
  const double deviation = experiments::score_deviation(question);
  double bound = 0.0;
  for (std::size_t t = 0; t < place.loads; ++t) {
    const auto& cells = place.measured.variable("log_partition_bound").cells;
    bound = std::max(bound, cells[place.index * place.loads + t].mean);
  }
  return fmt::format(
      "\nN = {:g}   beta_c = {:.6g}, b_N = {:.6g}; {} scores drawn per draw, law of log Z right to "
      "{:.1e}\n\n{}\n{}{}",
      n, theory::freezing_beta(log_n, deviation), deviation * theory::edge_score(log_n),
      place.measured.variable("top_count").cells[place.index].mean, bound, weight_tables(place),
      energy_tables(place), planted_text(place, question));
}

constexpr const char* kLegend = R"(
Measured numbers have standard errors; "-": not computed or does not apply there.
exact      mean at this N by quadrature (E w_max: 1000 <= N <= 1e277, t <= 2.5)
law        below t = 1 with its prefactor, above it the Poisson-Dirichlet law at t_e = beta/b_N
N^-(1-t)²  the bare exponent;  PD(t): N -> ∞, 0 below t = 1
(118)      the series of CAS, which has no transition: it does not hold
H          entropy, log Z - beta E[s];  log E Z ± 1: one draw carries the mean, E Z is not seen
s_half     signal that half of the draws retrieve;  s_c: its limit N -> ∞
)";

std::string heading_of(const experiments::Condense& question) {
  std::string scores = fmt::format("N Gaussian scores, sigma = {}", question.deviation);
  std::string note;
  if (question.query_keys) {
    const auto& [dimension, scaled] = *question.query_keys;
    scores = fmt::format("N scores {} of Gaussian keys and a Gaussian query in R^{}, sigma = {}",
                         scaled ? "<q,k>/sqrt(d)" : "<q,k>", dimension,
                         experiments::score_deviation(question));
    note = fmt::format(
        "Predictions are for that sigma; the sigma of a query is |q|{}, which varies by {:.1f} %\n",
        scaled ? "/sqrt(d)" : "", 100.0 / std::sqrt(2.0 * static_cast<double>(dimension)));
  }
  return fmt::format(
      "Softmax over {}; {} draws, seed {}\nt = beta/beta_c, beta_c = sqrt(2 log "
      "N)/sigma\n{}",
      scores, question.draws, question.seed, note);
}

}  // namespace

std::string condense_text(const experiments::Condense& question, const Frame& measured,
                          const Frame& theory) {
  std::string text = heading_of(question);
  for (std::size_t index = 0; index < question.n.size(); ++index) {
    text += block({measured, theory, question.loads.size(), index}, question);
  }
  const bool planted = !question.signals.empty() || !question.planted.empty();
  return text + kLegend +
         fmt::format(
             "Next: {}-o FILE keeps the numbers; dewpoint predict condense is the theory alone.\n",
             planted ? "" : "--signal 0.9,1.2 plants a key to be found; ");
}

}  // namespace dewpoint::cli
