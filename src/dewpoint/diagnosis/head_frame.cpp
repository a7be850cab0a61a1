#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/head_diagnosis.hpp"

namespace dewpoint::diagnosis {
namespace {

template <class Get>
std::vector<double> distinct(const std::vector<HeadDiagnosis>& heads, Get get) {
  std::set<std::size_t> values;
  for (const HeadDiagnosis& head : heads) values.insert(get(head));
  return {values.begin(), values.end()};
}

std::size_t place_of(const std::vector<double>& coordinates, std::size_t value) {
  const auto found =
      std::lower_bound(coordinates.begin(), coordinates.end(), static_cast<double>(value));
  return static_cast<std::size_t>(found - coordinates.begin());
}

/// Cells of one head, in the order of its own frame, into the frame of all.
void copy_cells(Frame& all, const HeadDiagnosis& head, std::size_t block) {
  for (const Variable& variable : head.statistics.variables()) {
    std::vector<Estimate>& cells = all.variable(variable.name).cells;
    std::copy(variable.cells.begin(), variable.cells.end(),
              cells.begin() + static_cast<std::ptrdiff_t>(block * variable.cells.size()));
  }
}

void set_growth(Frame& all, const std::string& name, const std::optional<HeadGrowth>& growth,
                std::size_t block) {
  if (!growth) return;
  all.variable("slope_" + name).cells[block] = growth->slope;
  if (!growth->verdict.law) return;
  const auto law = static_cast<std::size_t>(*growth->verdict.law);
  const LawFit& fit = growth->verdict.fits[law];
  all.variable("law_" + name).cells[block] = {static_cast<double>(law), 0.0, 1};
  all.variable("law_offset_" + name).cells[block] = fit.offset;
  all.variable("law_exponent_" + name).cells[block] = fit.exponent;
}

void add_variables(Frame& all, const Frame& one) {
  for (const Variable& variable : one.variables()) {
    std::vector<std::string> over = {"layer", "head"};
    over.insert(over.end(), variable.dimensions.begin(), variable.dimensions.end());
    all.add_variable(variable.name, over);
  }
  for (const char* name : {"along_rows", "thinned"})
    for (const char* what : {"slope_", "law_", "law_offset_", "law_exponent_"})
      all.add_variable(std::string(what) + name, {"layer", "head"});
  for (const char* name : {"edge_shape", "edge_beta"}) all.add_variable(name, {"layer", "head"});
  for (const char* name : {"verdict", "verdict_probability", "verdict_without_sink",
                           "verdict_probability_without_sink"})
    all.add_variable(name, {"layer", "head", "multiplier"});
}

void set_verdicts(Frame& all, const std::vector<PhaseVerdict>& verdicts, const std::string& ending,
                  std::size_t block) {
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    const std::size_t cell = block * verdicts.size() + k;
    all.variable("verdict_probability" + ending).cells[cell] = {verdicts[k].probability, 0.0, 1};
    if (!verdicts[k].phase) continue;
    all.variable("verdict" + ending).cells[cell] = {static_cast<double>(*verdicts[k].phase), 0.0,
                                                    1};
  }
}

std::string sentence_of(const HeadDiagnosis& head, const std::string& multiplier, const char* sinks,
                        const PhaseVerdict& verdict) {
  return fmt::format("layer {} head {} × {}, {}: {}, {}", head.layer, head.head, multiplier, sinks,
                     verdict.phase ? name_of(*verdict.phase) : "cannot tell",
                     verdict.reason.empty() ? "no rows" : verdict.reason);
}

/// Words are labels: a line per verdict, with its reason.
void add_reasons(Frame& all, const std::vector<HeadDiagnosis>& heads,
                 const std::vector<std::string>& multipliers) {
  std::vector<std::string> sentences;
  std::vector<Estimate> probabilities;
  for (const HeadDiagnosis& head : heads) {
    for (std::size_t k = 0; k < multipliers.size(); ++k) {
      for (const bool sinks : {false, true}) {
        const PhaseVerdict& verdict = (sinks ? head.verdicts : head.verdicts_without_first)[k];
        sentences.push_back(
            sentence_of(head, multipliers[k], sinks ? "with sinks" : "without sinks", verdict));
        probabilities.push_back({verdict.probability, 0.0, 1});
      }
    }
  }
  all.add_labelled_dimension("reason", std::move(sentences));
  all.add_variable("reason_probability", {"reason"}).cells = std::move(probabilities);
}

void set_edge(Frame& all, const EdgeFit& edge, std::size_t block) {
  if (!edge.refusal.empty()) return;
  const double beta = std::exp(edge.log_edge_beta.mean);
  all.variable("edge_shape").cells[block] = edge.shape;
  all.variable("edge_beta").cells[block] = {beta, beta * edge.log_edge_beta.standard_error,
                                            edge.log_edge_beta.samples};
}

}  // namespace

Frame frame_of_heads(const std::vector<HeadDiagnosis>& heads, const HeadOptions& options) {
  if (heads.empty()) throw Error(Code::bad_value, "heads: 0 heads are below 1");
  Frame all("heads");
  const auto layers = distinct(heads, [](const HeadDiagnosis& head) { return head.layer; });
  const auto numbers = distinct(heads, [](const HeadDiagnosis& head) { return head.head; });
  all.add_dimension("layer", layers);
  all.add_dimension("head", numbers);
  all.add_dimension("n", {options.bins.ends.begin(), options.bins.ends.end()});
  all.add_labelled_dimension("multiplier", options.multipliers);
  add_variables(all, heads.front().statistics);
  for (const HeadDiagnosis& head : heads) {
    const std::size_t block =
        place_of(layers, head.layer) * numbers.size() + place_of(numbers, head.head);
    copy_cells(all, head, block);
    set_growth(all, "along_rows", head.along_rows, block);
    set_growth(all, "thinned", head.thinned, block);
    set_edge(all, head.edge, block);
    set_verdicts(all, head.verdicts, "", block);
    set_verdicts(all, head.verdicts_without_first, "_without_sink", block);
  }
  add_reasons(all, heads, options.multipliers);
  return all;
}

}  // namespace dewpoint::diagnosis
