#include "dewpoint/transformer/shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"

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

}  // namespace

std::string name_of(const Shape& shape) {
  std::string name = fmt::format("{}L{}H", shape.layers, shape.heads);
  if (shape.residual) name += " residual";
  if (shape.branch != 1.0) name += fmt::format(" branch {}", shape.branch);
  if (shape.value_matrix) name += " value";
  if (shape.causal) name += " causal";
  if (shape.pre_norm) name += " norm";
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
}

}  // namespace dewpoint::transformer
