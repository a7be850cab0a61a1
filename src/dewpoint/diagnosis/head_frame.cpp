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
  }
  return all;
}

}  // namespace dewpoint::diagnosis
