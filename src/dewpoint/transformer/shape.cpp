#include "dewpoint/transformer/shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scaling/schedule.hpp"

namespace dewpoint::transformer {
namespace {

void require_between(const char* option, std::size_t value, std::size_t least, std::size_t most) {
  if (value >= least && value <= most) return;
  throw Error(Code::bad_value,
              fmt::format("{}: {} is not between {} and {}", option, value, least, most));
}

void check_branch(const Shape& shape) {
  if (!(std::isfinite(shape.branch) && shape.branch > 0.0)) {
    throw Error(Code::bad_value,
                fmt::format("branch: {} is not a positive finite number", shape.branch));
  }
  if (!shape.residual && shape.branch != 1.0) {
    throw Error(
        Code::bad_value,
        fmt::format("branch: {} needs a residual model; without residual it is 1", shape.branch));
  }
}

// What is said of a schedule, said of the option.
template <class Body>
auto as_scaling(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(Code::bad_value, fmt::format("scaling: {}", error.what()));
  }
}

void check_scaling(const Shape& shape) {
  if (shape.scaling.empty()) return;
  const scaling::Schedule law =
      as_scaling([&] { return scaling::named_schedule(shape.scaling, 0.0); });
  if (shape.causal || law.kind == scaling::ScheduleKind::constant) return;
  throw Error(Code::bad_value,
              fmt::format("scaling: '{}' needs a causal mask, as without one all queries see the "
                          "same keys; allowed without it: constant",
                          shape.scaling));
}

}  // namespace

std::string scaling_text(const std::string& law, std::size_t context) {
  if (law == "constant") return "";
  return as_scaling([&] { return scaling::name_with_length(law, static_cast<double>(context)); });
}

std::string name_of(const Shape& shape) {
  std::string name = fmt::format("{}L{}H", shape.layers, shape.heads);
  if (shape.residual) name += " residual";
  if (shape.branch != 1.0) name += fmt::format(" branch {}", shape.branch);
  if (shape.value_matrix) name += " value";
  if (shape.causal) name += " causal";
  if (shape.pre_norm) name += " norm";
  if (!shape.scaling.empty()) name += " scaling " + shape.scaling;
  return name;
}

void check(const Shape& shape) {
  require_between("vocabulary", shape.vocabulary, 2, kLargestVocabulary);
  require_between("width", shape.width, 1, kLargestWidth);
  require_between("layers", shape.layers, 1, kMostLayers);
  require_between("heads", shape.heads, 1, shape.width);
  if (shape.width % shape.heads != 0) {
    throw Error(Code::bad_value,
                fmt::format("heads: {} does not divide the width {}", shape.heads, shape.width));
  }
  check_branch(shape);
  check_scaling(shape);
}

}  // namespace dewpoint::transformer
