#include "dewpoint/scores/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::scores {
namespace {

// Where the uniform numbers begin: far beyond the blocks of the normal ones.
constexpr std::uint64_t kFirstUniform = std::uint64_t{1} << 62;

/// Normal numbers come in pairs; a key begins with a new pair.
std::uint64_t even(std::size_t count) { return count + count % 2; }

std::size_t checked_dimension(const char* key, int dimension, int least) {
  if (dimension < least || dimension > SphereGap::kMostDimension) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not in [{}, {}]", key, dimension, least,
                                             SphereGap::kMostDimension));
  }
  return static_cast<std::size_t>(dimension);
}

void normalise(std::span<double> vector) {
  const double length = std::sqrt(inner(vector, vector));
  for (double& coordinate : vector) coordinate /= length;
}

/// Turns the first two axes by an angle, e_1 towards e_2.
void turn(std::span<double> key, double angle) {
  if (angle == 0.0) return;
  const double first = key[0], second = key[1];
  key[0] = std::cos(angle) * first - std::sin(angle) * second;
  key[1] = std::sin(angle) * first + std::cos(angle) * second;
}

void check_component(const SphereComponent& component) {
  const auto refuse = [](const char* key, double value, const std::string& allowed) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not {}", key, value, allowed));
  };
  const double most = VonMisesFisherKeys::kMostConcentration;
  if (!(0.0 <= component.concentration && component.concentration <= most))
    refuse("kappa", component.concentration, fmt::format("in [0, {}]", most));
  if (!(0.0 <= component.angle && component.angle <= std::numbers::pi))
    refuse("angle", component.angle, "in [0, pi]");
  if (!(0.0 < component.share && component.share <= 1.0))
    refuse("share", component.share, "in (0, 1]");
}

/// The rejection of one component; b, y and so on as in the header.
struct TowardsAxis {
  double concentration, pull, power;  // κ, b, d − 1

  TowardsAxis(double kappa, double dimension)
      : concentration(kappa),
        pull((dimension - 1.0) / (2.0 * kappa + std::hypot(2.0 * kappa, dimension - 1.0))),
        power(dimension - 1.0) {}

  /// Moves a uniform point; the logarithm of the probability to keep it.
  double move(std::span<double> point) const {
    const double scale = 1.0 + pull + (1.0 - pull) * point[0];
    const double gap = 2.0 * pull * (1.0 - point[0]) / scale;
    point[0] = 1.0 - gap;
    for (double& coordinate : point.subspan(1)) coordinate *= 2.0 * std::sqrt(pull) / scale;
    const double ratio = (2.0 * pull + (1.0 - pull) * gap) * (1.0 + pull) / (4.0 * pull);
    return concentration * (2.0 * pull / (1.0 + pull) - gap) + power * std::log(ratio);
  }
};

}  // namespace

SphereKeys::SphereKeys(int dimension) : dimension_(checked_dimension("d", dimension, 2)) {}

std::string SphereKeys::name() const { return fmt::format("sphere:d={}", dimension_); }

void SphereKeys::draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const {
  DEWPOINT_EXPECTS(keys.cols() == dimension_);
  for (std::size_t i = 0; i < keys.rows(); ++i) {
    stream.normals((first + i) * even(dimension_), keys.row(i));
    normalise(keys.row(i));
  }
}

VonMisesFisherKeys::VonMisesFisherKeys(int dimension, std::vector<SphereComponent> components)
    : dimension_(checked_dimension("d", dimension, 2)), components_(std::move(components)) {
  DEWPOINT_EXPECTS(!components_.empty());
  double sum = 0.0;
  for (const SphereComponent& component : components_) {
    check_component(component);
    sum += component.share;
  }
  if (std::abs(sum - 1.0) > 1e-12) {
    throw Error(Code::bad_value, fmt::format("share: the sum {} of the shares is not 1", sum));
  }
}

std::string VonMisesFisherKeys::name() const {
  std::string text = fmt::format("vmf:d={},", dimension_);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const auto& [concentration, angle, share] = components_[i];
    text += fmt::format("{}kappa={},angle={}", i > 0 ? "+" : "", concentration, angle);
    if (components_.size() > 1) text += fmt::format(",share={}", share);
  }
  return text;
}

void VonMisesFisherKeys::draw(std::size_t first, MatrixView<double> keys,
                              const Stream& stream) const {
  DEWPOINT_EXPECTS(keys.cols() == dimension_);
  const auto dimension = static_cast<double>(dimension_);
  for (std::size_t i = 0; i < keys.rows(); ++i) {
    const std::uint64_t attempts = (first + i) * kMostAttempts;
    const std::uint64_t uniforms = kFirstUniform + (first + i) * (kMostAttempts + 1);
    double left = stream.uniform(uniforms);
    std::size_t chosen = 0;
    while (chosen + 1 < components_.size() && (left -= components_[chosen].share) >= 0.0) ++chosen;
    const TowardsAxis axis(components_[chosen].concentration, dimension);
    for (std::uint64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
      stream.normals((attempts + attempt) * even(dimension_), keys.row(i));
      normalise(keys.row(i));
      const double log_keep = axis.move(keys.row(i));
      if (log_keep >= 0.0 || std::log(stream.uniform(uniforms + 1 + attempt)) <= log_keep) break;
    }
    turn(keys.row(i), components_[chosen].angle);
  }
}

SubsphereKeys::SubsphereKeys(const Shape& shape) : shape_(shape) {
  checked_dimension("dim", shape.intrinsic, 1);
  checked_dimension("ambient", shape.ambient, shape.intrinsic + (shape.angle > 0.0 ? 2 : 1));
  if (!(0.0 <= shape.angle && shape.angle < 0.5 * std::numbers::pi)) {
    throw Error(Code::bad_value, fmt::format("angle: {} is not in [0, pi/2)", shape.angle));
  }
  if (!(shape.noise >= 0.0) || std::isinf(shape.noise)) {
    throw Error(Code::bad_value, fmt::format("noise: {} is not a number >= 0", shape.noise));
  }
}

std::string SubsphereKeys::name() const {
  return fmt::format("subsphere:dim={},ambient={},angle={},noise={}", shape_.intrinsic,
                     shape_.ambient, shape_.angle, shape_.noise);
}

void SubsphereKeys::draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const {
  DEWPOINT_EXPECTS(keys.cols() == dimension());
  const auto own = static_cast<std::size_t>(shape_.intrinsic) + 1;
  const std::size_t apart = shape_.angle > 0.0 ? 1 : 0;  // e_2 belongs to q' alone
  const std::uint64_t stride = even(own) + even(dimension());
  std::vector<double> point(own), noise(dimension());
  for (std::size_t i = 0; i < keys.rows(); ++i) {
    const std::uint64_t index = (first + i) * stride;
    const std::span<double> key = keys.row(i);
    stream.normals(index, point);
    normalise(point);
    std::fill(key.begin(), key.end(), 0.0);
    key[0] = point[0];
    std::copy(point.begin() + 1, point.end(), key.begin() + 1 + static_cast<std::ptrdiff_t>(apart));
    turn(key, shape_.angle);
    if (shape_.noise == 0.0) continue;
    stream.normals(index + even(own), noise);
    for (std::size_t k = 0; k < key.size(); ++k) key[k] += shape_.noise * noise[k];
    normalise(key);
  }
}

GaussianKeys::GaussianKeys(int dimension) : dimension_(checked_dimension("d", dimension, 1)) {}

std::string GaussianKeys::name() const { return fmt::format("gaussian-keys:d={}", dimension_); }

void GaussianKeys::draw(std::size_t first, MatrixView<double> keys, const Stream& stream) const {
  DEWPOINT_EXPECTS(keys.cols() == dimension_);
  for (std::size_t i = 0; i < keys.rows(); ++i)
    stream.normals((first + i) * even(dimension_), keys.row(i));
}

std::vector<SphereComponent> sphere_components(const LawText& text) {
  std::vector<SphereComponent> components;
  for (std::size_t part = 0; part < text.parts(); ++part) {
    components.push_back({.concentration = text.number("kappa", part),
                          .angle = text.number("angle", part),
                          .share = text.number("share", part)});
  }
  return components;
}

SubsphereKeys::Shape subsphere_shape(const LawText& text) {
  return {.intrinsic = text.whole("dim"),
          .ambient = text.whole("ambient"),
          .angle = text.number("angle"),
          .noise = text.number("noise")};
}

const std::vector<LawForm>& key_law_names() {
  static const std::vector<LawForm> names = {
      {"sphere", {{"d", {}}}, "uniform on the sphere of R^d"},
      {"vmf",
       {{"d", {}}, {"kappa", {}, true}, {"angle", 0.0, true}, {"share", 1.0, true}},
       "von Mises-Fisher, mean direction at an angle from the query; mixtures with +"},
      {"subsphere",
       {{"dim", {}}, {"ambient", {}}, {"angle", 0.0}, {"noise", 0.0}},
       "great subsphere of dimension dim at an angle from the query, thickened by noise"},
      {"gaussian-keys", {{"d", {}}}, "standard normal vectors of R^d"}};
  return names;
}

std::unique_ptr<KeyLaw> key_law(std::string_view name) try {
  const LawText text(name, key_law_names());
  if (text.name() == "sphere") return std::make_unique<SphereKeys>(text.whole("d"));
  if (text.name() == "gaussian-keys") return std::make_unique<GaussianKeys>(text.whole("d"));
  if (text.name() == "vmf") {
    return std::make_unique<VonMisesFisherKeys>(text.whole("d"), sphere_components(text));
  }
  return std::make_unique<SubsphereKeys>(subsphere_shape(text));
} catch (const Error& error) {
  refuse_law(name, error.what());
}

}  // namespace dewpoint::scores
