// The turn that rotary position embedding gives to queries and keys.
//
// Position p turns the plane of coordinates (a, b) number k by the angle θ_k p:
//
//     x_a ← f (x_a cos θ_k p − x_b sin θ_k p),   x_b ← f (x_b cos θ_k p + x_a sin θ_k p)
//
// Hugging Face pairs the halves, (a, b) = (k, k + dim/2); llama2.c pairs neighbours, (2k, 2k + 1).
// Coordinates beyond the rotary ones stay. f multiplies cos and sin, as YaRN and LongRoPE do in
// Hugging Face's code; it meets queries and keys alike, so scores feel f².
//
// Angles are computed in double. Engines that multiply θ_k p in float32 are off by p · 6e-8 rad.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"

namespace dewpoint::models {

enum class RotationPlanes { halves, neighbours };

struct Rotation {
  std::vector<double> frequencies;  // θ_k; empty: nothing turns
  double factor = 1.0;              // f
  RotationPlanes planes = RotationPlanes::halves;

  [[nodiscard]] std::size_t rotary_dimension() const { return 2 * frequencies.size(); }
  bool operator==(const Rotation&) const = default;
};

/// The coordinates of plane k.
struct Plane {
  std::size_t a;
  std::size_t b;
};
[[nodiscard]] Plane plane(const Rotation& rotation, std::size_t k);

/// f cos θ_k p and f sin θ_k p of the positions 0..n−1, in float32.
class RotationTable {
 public:
  RotationTable(Rotation rotation, std::size_t n, const RunContext& context = {});

  /// Turns a vector at a position.
  ///
  ///   Domain      row.size() ≥ the rotary dimension, position < n.
  ///   Accuracy    each coordinate to kRotationError times the length of its plane's vector times
  ///               f: cos and sin rounded to float32, two products, one sum.
  ///   Properties  (1) lengths are multiplied by f.
  ///               (2) ⟨turn(q, p), turn(k, r)⟩ depends on p and r through p − r only.
  ///               (3) position 0 multiplies by f and nothing else.
  void turn(std::size_t position, std::span<float> row) const;

  [[nodiscard]] const Rotation& rotation() const { return rotation_; }

 private:
  void fill(std::size_t position);

  Rotation rotation_;
  Matrix<float> cosines_;
  Matrix<float> sines_;
};

// ε/2 for the tables, ε/2 for each product and for the sum, ε = 2⁻²³: each of the two terms is
// touched three times, and |cos| + |sin| ≤ √2.
inline constexpr double kRotationError = 3 * 1.4143 * 0x1p-24;

}  // namespace dewpoint::models
