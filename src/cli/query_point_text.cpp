#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/answer.hpp"
#include "cli/query_point.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/studies/query_theory.hpp"

namespace dewpoint::cli {
namespace {

std::string plain(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6g}", value); }

/// A measurement in as many digits as its error deserves, in powers of ten where it is very small
/// or very large.
std::string with_error(const Estimate& estimate) {
  const double size = std::abs(estimate.mean), error = estimate.standard_error;
  if (estimate.samples == 0) return "-";
  if ((size >= 1e-3 && size < 1e6 && error > 1e-8) || size == 0.0 || error == 0.0) {
    return to_string(estimate);
  }
  const double digits = std::clamp(std::log10(size / error) + 2.0, 2.0, 12.0);
  return fmt::format("{:.{}g} ± {:.1g}", estimate.mean, static_cast<int>(digits), error);
}

/// One quantity: where it is measured, and the fields of the theory that predict it.
struct Quantity {
  const char* symbol;
  const char* measured;
  const char* exact;
  const char* limit;
  const char* gaussian;
  const char* condensed;
  const char* meaning;
};
constexpr Quantity kQuantities[] = {
    {"1 - w_1", "remainder", "exact_remainder", "limit_remainder", "", "condensed_remainder",
     "left over by the nearest key"},
    {"Σ w²", "participation", "exact_participation", "limit_participation",
     "gaussian_participation", "", "1/n diffuse, 1 condensed"},
    {"H", "entropy", "exact_entropy", "limit_entropy", "", "", "entropy of the weights, nats"},
    {"β*(1 - <q,ATT>)", "scaled_bias", "exact_bias", "limit_bias", "gaussian_bias",
     "condensed_bias", "the output falls short of the query by 1/β* of this"},
    {"β*|ATT_⊥|²", "scaled_scatter", "exact_scatter", "limit_scatter", "gaussian_scatter",
     "condensed_scatter", "and misses it sideways"},
    {"n Var along", "radial_variance", "", "", "gaussian_radial_variance", "",
     "of the output along the query"},
    {"n Var across", "across_variance", "exact_across_variance", "", "gaussian_across_variance", "",
     "of one coordinate across it"},
    {"skewness", "skewness", "", "", "gaussian_skewness", "", "of 1 - <q,ATT>"},
    {"virial", "virial_residual", "", "", "", "",
     "(d-1)<q,ATT> - β Σ w(1-w)(1-<q,k>²): 0 in the mean, exactly"}};

/// The frames at one cell.
struct Cell {
  const Frame& measured;
  const Frame& theory;
  std::size_t index;

  [[nodiscard]] const Estimate& measure(const char* name) const {
    return measured.variable(name).cells[index];
  }
  [[nodiscard]] double predicted(const char* name) const {
    return *name == '\0' ? std::nan("") : theory.variable(name).cells[index].mean;
  }
  [[nodiscard]] const Estimate& weight(std::size_t rank) const {
    return ranked(measured.variable("weight"), rank);
  }
  [[nodiscard]] const Estimate& limit_weight(std::size_t rank) const {
    return ranked(theory.variable("limit_weight"), rank);
  }

 private:
  [[nodiscard]] const Estimate& ranked(const Variable& variable, std::size_t rank) const {
    return variable.cells[index * measured.dimension("rank").coordinates.size() + rank];
  }
};

/// The columns of the theory that have something to say here.
struct Columns {
  bool limit, gaussian, condensed;
};

std::vector<Json> predictions(const Columns& columns, double exact, double limit, double gaussian,
                              double condensed) {
  std::vector<Json> values = {plain(exact)};
  if (columns.limit) values.push_back(plain(limit));
  if (columns.gaussian) values.push_back(plain(gaussian));
  if (columns.condensed) values.push_back(plain(condensed));
  return values;
}

Row row_of(const char* symbol, const std::string& measured, const std::vector<Json>& theory,
           const char* meaning) {
  Row row{symbol, symbol, {measured}, meaning};
  row.values.insert(row.values.end(), theory.begin(), theory.end());
  return row;
}

void add_weights(Sheet& sheet, const Cell& cell, const Columns& columns) {
  const std::size_t ranks = cell.measured.dimension("rank").coordinates.size();
  for (std::size_t rank = 0; rank < ranks && cell.weight(rank).samples > 0; ++rank) {
    const bool first = rank == 0;
    std::vector<Json> theory = {plain(first ? cell.predicted("exact_largest_weight") : kUnknown)};
    if (columns.limit) {
      theory.emplace_back(first ? plain(cell.predicted("limit_largest_weight"))
                                : with_error(cell.limit_weight(rank)));
    }
    sheet.rows.push_back(row_of(fmt::format("w_{}", rank + 1).c_str(),
                                with_error(cell.weight(rank)), theory,
                                first ? "weight of the nearest key, then of the next" : ""));
  }
}

std::string cell_text(const Cell& cell) {
  const Columns columns{!std::isnan(cell.predicted("limit_participation")),
                        !std::isnan(cell.predicted("gaussian_bias")),
                        !std::isnan(cell.predicted("condensed_remainder"))};
  Sheet sheet{{"measured", "exact"}, {}};
  if (columns.limit) sheet.columns.emplace_back("n -> ∞");
  if (columns.gaussian) sheet.columns.emplace_back("Gaussian");
  if (columns.condensed) sheet.columns.emplace_back("condensed");
  add_weights(sheet, cell, columns);
  for (const Quantity& q : kQuantities) {
    sheet.rows.push_back(
        row_of(q.symbol, with_error(cell.measure(q.measured)),
               predictions(columns, cell.predicted(q.exact), cell.predicted(q.limit),
                           cell.predicted(q.gaussian), cell.predicted(q.condensed)),
               q.meaning));
  }
  return to_text(sheet);
}

std::string cell_heading(const experiments::Query& question, const Cell& cell, double edge) {
  const double beta = cell.measure("inverse_temperature").mean;
  const double keys = cell.predicted("effective_keys");
  const std::size_t width = question.temperatures.size();
  const double value = question.temperatures[cell.index % width];
  const std::string given =
      question.unit == experiments::TemperatureUnit::beta
          ? ""
          : fmt::format("{} = {:g}, ", experiments::name_of(question.unit), value);
  const std::string shared = std::isnan(keys) ? "" : fmt::format(", n_eff = {:.4g}", keys);
  return fmt::format("\n{}beta = {:.6g}: {}{}; keys drawn one by one hold {:.3g} of the weight\n",
                     given, beta, studies::query_regime(cell.theory, cell.index, beta, edge),
                     shared, 1.0 - cell.measure("rest_weight").mean);
}

std::string bound_text(const Cell& cell) {
  return fmt::format(
      "Gaussian rest: law of log Z right to {:.1g}, of w_1 to {:.1g} (bounds); "
      "output to the order of {:.1g}\n",
      cell.measure("log_partition_bound").mean, cell.measure("largest_weight_bound").mean,
      cell.measure("exchange").mean);
}

}  // namespace

std::string query_point_text(const experiments::Query& question, const Frame& measured,
                             const Frame& theory) {
  const std::size_t width = question.temperatures.size();
  std::string text;
  for (std::size_t i = 0; i < question.n.size(); ++i) {
    const auto scale = [&](const char* name) { return measured.variable(name).cells[i].mean; };
    text += fmt::format(
        "{}n = {:g} keys, d = {}: β* = {:.6g}, 1/t_n = {:.6g}, β_edge = {:.6g}; {:g} nearest keys, "
        "{} draws, seed {}\n",
        i == 0 ? "" : "\n", question.n[i], question.dimension, scale("beta_star"),
        scale("inverse_typical_gap"), scale("beta_edge"), scale("top_count"), question.draws,
        question.seed);
    for (std::size_t t = 0; t < width; ++t) {
      const Cell cell{measured, theory, i * width + t};
      text += cell_heading(question, cell, scale("beta_edge")) + cell_text(cell) + bound_text(cell);
    }
  }
  return text;
}

}  // namespace dewpoint::cli
