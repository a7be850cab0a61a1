#include "dewpoint/models/rotation.hpp"

#include <cmath>
#include <utility>

#include "dewpoint/models/row_blocks.hpp"

namespace dewpoint::models {

Plane plane(const Rotation& rotation, std::size_t k) {
  if (rotation.planes == RotationPlanes::neighbours) return {2 * k, 2 * k + 1};
  return {k, k + rotation.frequencies.size()};
}

RotationTable::RotationTable(Rotation rotation, std::size_t n, const RunContext& context)
    : rotation_(std::move(rotation)),
      cosines_(n, rotation_.frequencies.size()),
      sines_(n, rotation_.frequencies.size()) {
  const double work = 50.0 * static_cast<double>(rotation_.frequencies.size());
  for_row_blocks(n, work, context, [&](Range positions) {
    for (std::size_t p = positions.begin; p < positions.end; ++p) fill(p);
  });
}

void RotationTable::fill(std::size_t position) {
  for (std::size_t k = 0; k < rotation_.frequencies.size(); ++k) {
    const double angle = rotation_.frequencies[k] * static_cast<double>(position);
    cosines_(position, k) = static_cast<float>(rotation_.factor * std::cos(angle));
    sines_(position, k) = static_cast<float>(rotation_.factor * std::sin(angle));
  }
}

void RotationTable::turn(std::size_t position, std::span<float> row) const {
  DEWPOINT_EXPECTS(row.size() >= rotation_.rotary_dimension());
  const auto cosine = cosines_.row(position);
  const auto sine = sines_.row(position);
  for (std::size_t k = 0; k < cosine.size(); ++k) {
    const auto [a, b] = plane(rotation_, k);
    const float x = row[a];
    const float y = row[b];
    row[a] = x * cosine[k] - y * sine[k];
    row[b] = y * cosine[k] + x * sine[k];
  }
}

}  // namespace dewpoint::models
