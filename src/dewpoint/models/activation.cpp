#include "dewpoint/models/activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dewpoint/core/error.hpp"

namespace dewpoint::models {
namespace {

double silu(double x) { return x < -700.0 ? 0.0 : x / (1.0 + std::exp(-x)); }

// erfc keeps its digits where 1 + erf would lose them.
double gelu(double x) {
  if (std::isinf(x)) return std::max(x, 0.0);
  return 0.5 * x * std::erfc(-x * (0.5 * std::numbers::sqrt2));
}

double gelu_tanh(double x) {
  if (std::isinf(x)) return std::max(x, 0.0);
  const double slope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1.0 + std::tanh(slope * (x + 0.044715 * x * x * x)));
}

template <class Function>
void replace(std::span<float> values, Function function) {
  for (float& value : values) value = static_cast<float>(function(static_cast<double>(value)));
}

}  // namespace

Activation parse_activation(const std::string& name) {
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  throw Error(Code::bad_value,
              fmt::format("activation: found '{}', allowed: silu, swish, gelu, gelu_new, "
                          "gelu_pytorch_tanh, relu",
                          name));
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::silu:
      return silu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::relu:
      break;
  }
  return std::max(x, 0.0);
}

void activate(Activation activation, std::span<float> values) {
  switch (activation) {
    case Activation::silu:
      return replace(values, silu);
    case Activation::gelu:
      return replace(values, gelu);
    case Activation::gelu_tanh:
      return replace(values, gelu_tanh);
    case Activation::relu:
      return replace(values, [](double x) { return std::max(x, 0.0); });
  }
}

}  // namespace dewpoint::models
