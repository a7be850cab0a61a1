// Keys around a fixed query, as vectors.
//
// The query is the first axis, q = e_1, whatever the law: a law that has a direction of its own
// places it in the plane of e_1 and e_2. Where only the scores ⟨q, k⟩ matter, score_law.hpp draws
// them without drawing keys, and for far more keys; vectors are needed for what attention returns,
// Σ w_j V k_j, and to check that law.
//
// Keys are functions of their address: any block of a row of n keys can be drawn anywhere.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/core/distributions/sphere_mixture_gap.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/scores/law_text.hpp"

namespace dewpoint::scores {

class KeyLaw {
 public:
  virtual ~KeyLaw() = default;

  /// Name with parameters, in the syntax that key_law() reads: "sphere:d=5".
  [[nodiscard]] virtual std::string name() const = 0;

  /// Length of a key as a vector, D.
  [[nodiscard]] virtual std::size_t dimension() const = 0;

  /// Keys first, first + 1, ... as the rows of a matrix with D columns. The same key for the same
  /// stream and number, whatever the block it is drawn in.
  virtual void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const = 0;
};

/// Uniform on S^{d−1}: a standard normal vector over its length. 2 ≤ d ≤ 512.
class SphereKeys final : public KeyLaw {
 public:
  explicit SphereKeys(int dimension);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override;

 private:
  std::size_t dimension_;
};

/// A mixture of von Mises-Fisher laws on S^{d−1}, whose mean directions are at given angles from
/// the query, cos α e_1 + sin α e_2.
///
/// A key around e_1 is drawn by rejection. A uniform point u of the sphere is moved towards e_1 by
///
///     k_1 = 1 − 2b (1 − u_1)/s,   k_j = 2 √b u_j/s,   s = 1 + b + (1 − b) u_1,
///
/// which maps the sphere onto itself and keeps the direction around the axis uniform. With
/// b = (d − 1)/(2κ + √(4κ² + (d − 1)²)) and y = (1 − b)/(1 + b) the point is kept with probability
///
///     e^{κ (k_1 − y)} ((1 − y k_1)/(1 − y²))^{d−1}.
///
/// That is never below 0.6 on average. Every key has an address for each of its kMostAttempts
/// attempts, of which the last is kept anyway: once in 1e25 keys.
///
///   Domain      2 ≤ d ≤ 512, 0 ≤ κ ≤ kMostConcentration, 0 ≤ α ≤ π, shares positive with sum 1.
///   Properties  (1) E⟨μ, k⟩ = I_{d/2}(κ)/I_{d/2−1}(κ).
///               (2) κ = 0: uniform.
///   Reference   [Wood 1994; Ulrich 1984].
class VonMisesFisherKeys final : public KeyLaw {
 public:
  static constexpr double kMostConcentration = SphereMixtureGap::kMostConcentration;
  static constexpr std::uint64_t kMostAttempts = 64;

  /// Throws bad_value outside the domain.
  VonMisesFisherKeys(int dimension, std::vector<SphereComponent> components);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  [[nodiscard]] const std::vector<SphereComponent>& components() const { return components_; }
  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override;

 private:
  std::size_t dimension_;
  std::vector<SphereComponent> components_;
};

/// Uniform on a great subsphere of intrinsic dimension d' in R^D, whose nearest point to the query
/// is q' = cos α e_1 + sin α e_2: the scores are ⟨q, k⟩ = cos α ⟨q', k⟩. With noise ε > 0 the
/// subsphere is thickened: k = (x + ε g)/|x + ε g|, x on the subsphere and g standard normal in
/// R^D.
///
///   Domain      d' ≥ 1, 0 ≤ α < π/2, d' + 1 ≤ D ≤ 512, or d' + 2 ≤ D when α > 0; ε ≥ 0.
class SubsphereKeys final : public KeyLaw {
 public:
  struct Shape {
    int intrinsic = 2;   // d'
    int ambient = 16;    // D
    double angle = 0.0;  // α
    double noise = 0.0;  // ε
  };

  /// Throws bad_value outside the domain.
  explicit SubsphereKeys(const Shape& shape);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t dimension() const override {
    return static_cast<std::size_t>(shape_.ambient);
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override;

 private:
  Shape shape_;
};

/// Standard normal keys in R^d. A query of another length than 1 multiplies β. 1 ≤ d.
class GaussianKeys final : public KeyLaw {
 public:
  explicit GaussianKeys(int dimension);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  void draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const override;

 private:
  std::size_t dimension_;
};

/// The law of a name with parameters:
///
///     sphere:d=5
///     vmf:d=5,kappa=5,angle=0.3
///     vmf:d=9,kappa=0,share=0.98+kappa=60,angle=0,share=0.02
///     subsphere:dim=2,ambient=16,angle=0.5,noise=0.03
///     gaussian-keys:d=64
///
/// Throws bad_value.
///
///   Properties  (1) key_law(law.name()) is the same law.
[[nodiscard]] std::unique_ptr<KeyLaw> key_law(std::string_view name);

/// The parts kappa, angle, share of a text that has them.
[[nodiscard]] std::vector<SphereComponent> sphere_components(const LawText& text);

/// The shape of a text with dim, ambient, angle and noise.
[[nodiscard]] SubsphereKeys::Shape subsphere_shape(const LawText& text);

/// The names that key_law() reads, for help texts.
[[nodiscard]] const std::vector<LawForm>& key_law_names();

}  // namespace dewpoint::scores
