#include "dewpoint/studies/shape_parameters.hpp"

#include <cmath>

#include "dewpoint/studies/parameter_checks.hpp"

namespace dewpoint::studies {

std::vector<Field> shape_parameters(const transformer::Shape& standard) {
  using enum Kind;
  const auto count = [](std::size_t value) { return Value(static_cast<double>(value)); };
  return {
      {"width", whole, count(standard.width), "width m; a multiple of heads"},
      {"layers", whole, count(standard.layers), "layers of attention; in [1, 64]"},
      {"heads", whole, count(standard.heads), "heads of each layer; they divide the width"},
      {"residual", flag, Value(standard.residual), "add what a layer gives to what it is given"},
      {"branch", number, Value(standard.branch),
       "factor of what a residual layer adds; 0 for 1/layers"},
      {"value", word, Value("none"), "none, or matrix for values x WV", true, {"none", "matrix"}},
      {"norm", word, Value("none"), "none, or pre before each layer", true, {"none", "pre"}},
      {"causal", flag, Value(standard.causal), "attend to earlier tokens only"},
      {"start", number, Value(1.0), "deviation of the initial weights in units of 1/width"}};
}

transformer::Shape shape_at(const Point& point) {
  transformer::Shape shape;
  shape.width = whole_between(point, "width", 1.0, 8192.0);
  shape.layers = whole_between(point, "layers", 1.0, 64.0);
  shape.heads = whole_between(point, "heads", 1.0, 8192.0);
  shape.residual = flag_of(point, "residual");
  shape.branch = number_of(point, "branch");
  if (shape.branch == 0.0) {
    shape.branch = shape.residual ? 1.0 / static_cast<double>(shape.layers) : 1.0;
  }
  shape.value_matrix = word_of(point, "value") == "matrix";
  shape.causal = flag_of(point, "causal");
  shape.pre_norm = word_of(point, "norm") == "pre";
  return shape;
}

double deviation_at(const Point& point) {
  const double start = number_of(point, "start");
  require(std::isfinite(start) && start > 0.0, "start", start, "a number above 0");
  return start / number_of(point, "width");
}

}  // namespace dewpoint::studies
