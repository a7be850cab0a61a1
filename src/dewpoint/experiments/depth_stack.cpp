#include "dewpoint/experiments/depth_stack.hpp"

#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dewpoint/attention/rowwise_layer.hpp"
#include "dewpoint/attention/variants/deep_variant_layer.hpp"

namespace dewpoint::experiments {
namespace {

using attention::DeepTokens;
using attention::JacobianOperator;

// Layers one after the other, J = J_L ... J_1.
template <class Layer>
class Product final : public JacobianOperator {
 public:
  explicit Product(std::span<const Layer> layers) : layers_(layers) {}
  [[nodiscard]] std::size_t rows() const override { return layers_.front().rows(); }
  [[nodiscard]] std::size_t dimension() const override { return layers_.front().dimension(); }
  [[nodiscard]] Matrix<double> jvp(const Matrix<double>& change) const override {
    Matrix<double> result = change;
    for (const Layer& layer : layers_) result = layer.jvp(result);
    return result;
  }
  [[nodiscard]] Matrix<double> vjp(const Matrix<double>& gradient) const override {
    Matrix<double> result = gradient;
    for (std::size_t l = layers_.size(); l > 0; --l) result = layers_[l - 1].vjp(result);
    return result;
  }

 private:
  std::span<const Layer> layers_;
};

class PlainStack final : public DepthStack {
 public:
  PlainStack(const PhaseDepth& p, const attention::Mask& mask, const TokenCloud& cloud,
             const RunContext& context)
      : p_(p), mask_(mask), cloud_(cloud), context_(context) {}

  DeepTokens add(const DeepTokens& tokens, double inverse_temperature) override {
    layers_.push_back({inverse_temperature, p_.residual});
    before_ = tokens.cloud();
    return attention::deep_layer(tokens, layers_.back(), mask_, context_);
  }
  [[nodiscard]] double log_noise() const override {
    return -std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double norm(const attention::NormOptions& options) const override {
    return attention::jacobian_norm(before_, layers_.back(), mask_, options, context_).mean;
  }
  std::unique_ptr<JacobianOperator> first_layers(std::size_t depth) override {
    if (!chain_) chain_.emplace(cloud_, layers_, mask_, context_);
    return std::make_unique<Product<attention::LayerJacobian>>(chain_->layers().first(depth));
  }

 private:
  const PhaseDepth& p_;
  attention::Mask mask_;
  const TokenCloud& cloud_;
  const RunContext& context_;
  std::vector<attention::Layer> layers_;
  TokenCloud before_;
  std::optional<attention::JacobianChain> chain_;
};

class VariantStack final : public DepthStack {
 public:
  VariantStack(const PhaseDepth& p, std::uint64_t replica, const RunContext& context)
      : p_(p), replica_(replica), context_(context) {}

  DeepTokens add(const DeepTokens& tokens, double inverse_temperature) override {
    auto layer = attention::layer_variant(p_.form, tokens.dimension(), inverse_temperature,
                                          p_.residual, p_.seed, replica_, added_++);
    const RunContext quiet{context_.threads, context_.stop, {}};
    DeepTokens after = attention::deep_variant_layer(tokens, layer, quiet);
    log_noise_ = attention::log_deep_variant_noise(tokens, layer, after);
    if (!p_.end_to_end) jacobians_.clear();
    if (p_.norm || p_.end_to_end) jacobians_.emplace_back(tokens.cloud(), std::move(layer), quiet);
    return after;
  }
  [[nodiscard]] double log_noise() const override { return log_noise_; }
  [[nodiscard]] double norm(const attention::NormOptions& options) const override {
    return attention::hutchinson_norm(jacobians_.back(), options).mean;
  }
  std::unique_ptr<JacobianOperator> first_layers(std::size_t depth) override {
    return std::make_unique<Product<attention::VariantJacobian>>(
        std::span<const attention::VariantJacobian>(jacobians_).first(depth));
  }

 private:
  const PhaseDepth& p_;
  std::uint64_t replica_;
  const RunContext& context_;
  std::size_t added_ = 0;
  double log_noise_ = -std::numeric_limits<double>::infinity();
  std::vector<attention::VariantJacobian> jacobians_;  // all where they are multiplied, or the last
};

}  // namespace

std::unique_ptr<DepthStack> variant_stack(const PhaseDepth& parameters, std::uint64_t replica,
                                          const RunContext& context) {
  return std::make_unique<VariantStack>(parameters, replica, context);
}

std::unique_ptr<DepthStack> depth_stack(const PhaseDepth& parameters, const TokenCloud& cloud,
                                        std::uint64_t replica, const RunContext& context) {
  if (const auto mask = parameters.form.plain_mask()) {
    return std::make_unique<PlainStack>(parameters, *mask, cloud, context);
  }
  return variant_stack(parameters, replica, context);
}

}  // namespace dewpoint::experiments
