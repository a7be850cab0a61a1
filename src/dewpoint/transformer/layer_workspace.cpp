#include "dewpoint/transformer/layer_workspace.hpp"

#include <algorithm>
#include <thread>

namespace dewpoint::transformer {
namespace {

// Threads that work on contexts at once have a workspace each.
constexpr std::size_t kMostLanes = 16;

std::size_t lane_count() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostLanes);
}

}  // namespace

// Three products per state and matrix, and three of m x m to merge two matrices into one.
bool merges_keys(const Shape& shape, std::size_t states) {
  return shape.heads == 1 && states > shape.width;
}

std::size_t projected_columns(const Shape& shape, bool merged) {
  return ((merged ? 1U : 2U) + (shape.value_matrix ? 1U : 0U)) * shape.width;
}

template <class Real>
LayerWorkspace<Real>::LayerWorkspace(const Shape& shape, const Capacity& capacity,
                                     std::size_t full_layers) {
  const std::size_t m = shape.width, tokens = std::min(shape.vocabulary, capacity.rows);
  const std::size_t projected = projected_columns(shape, false);
  token_slope = Room<Real>(tokens * m);
  if (shape.layers > 1 || full_layers > 0) slope = Room<Real>(capacity.rows * m);
  if (full_layers == 0) return;
  state_slope = Room<Real>(capacity.rows * m);
  projected_slope = Room<Real>(capacity.rows * projected);
  token_projected = Room<Real>(tokens * projected);
  if (shape.pre_norm && shape.residual) token_carried = Room<Real>(tokens * m);
  partial = Room<Real>(kParts * m * projected);
  for (std::size_t lane = 0; lane < lane_count(); ++lane) {
    lanes.push_back({ContextAttention<Real>(shape, capacity.context),
                     Room<Real>(capacity.context * (projected + m)),
                     Room<Real>(capacity.context * m)});
  }
}

template struct LayerWorkspace<float>;
template struct LayerWorkspace<double>;

}  // namespace dewpoint::transformer
