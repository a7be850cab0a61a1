#include "dewpoint/transformer/adam.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/transformer/adam_kernels.hpp"
#include "dewpoint/transformer/crew.hpp"

namespace dewpoint::transformer {
namespace {

constexpr double kOperationsPerEntry = 14;

// Matrix n in the order of matrices_of(), without a list of them. Layers have 2 or 3 matrices.
template <class AnyWeights>
auto& matrix_at(AnyWeights& weights, std::size_t n) {
  if (n == 0) return weights.embedding;
  if (n == 1) return weights.unembedding;
  const std::size_t per_layer = weights.layers[0].value.size() > 0 ? 3 : 2;
  auto& layer = weights.layers[(n - 2) / per_layer];
  const std::size_t kind = (n - 2) % per_layer;
  return kind == 0 ? layer.query : kind == 1 ? layer.key : layer.value;
}

template <class Real>
std::size_t matrix_count(const Weights<Real>& weights) {
  if (weights.layers.empty()) return 2;
  return 2 + weights.layers.size() * (weights.layers[0].value.size() > 0 ? 3 : 2);
}

std::size_t blocks_in(std::size_t entries) { return (entries + kAdamBlock - 1) / kAdamBlock; }

template <class Real>
AdamFactors<Real> factors_of(const training::AdamOptions& options, std::uint64_t step) {
  const double root = std::sqrt(one_minus_power(options.second_decay, step));
  const double rate = options.rate / one_minus_power(options.first_decay, step);
  return {.first_decay = static_cast<Real>(options.first_decay),
          .first_fresh = static_cast<Real>(1.0 - options.first_decay),
          .second_decay = static_cast<Real>(options.second_decay),
          .second_fresh = static_cast<Real>(1.0 - options.second_decay),
          .step = static_cast<Real>(rate * root),
          .epsilon = static_cast<Real>(root * options.epsilon)};
}

// One step over blocks of entries, numbered through all matrices.
template <class Real>
class Step {
 public:
  Step(const AdamFactors<Real>& factors, const Weights<Real>& gradient, AdamState<Real>& state)
      : factors_(factors), gradient_(gradient), state_(state) {}

  [[nodiscard]] std::size_t blocks() const {
    std::size_t count = 0;
    for (std::size_t n = 0; n < matrix_count(gradient_); ++n) {
      count += blocks_in(matrix_at(gradient_, n).size());
    }
    return count;
  }

  void take(std::size_t block) const {
    std::size_t n = 0;
    while (block >= blocks_in(matrix_at(gradient_, n).size())) {
      block -= blocks_in(matrix_at(gradient_, n).size());
      ++n;
    }
    const std::size_t begin = block * kAdamBlock;
    const Matrix<Real>& gradient = matrix_at(gradient_, n);
    adam_update(factors_, {.weights = matrix_at(state_.weights, n).data() + begin,
                           .first = matrix_at(state_.first, n).data() + begin,
                           .second = matrix_at(state_.second, n).data() + begin,
                           .gradient = gradient.data() + begin,
                           .count = std::min(kAdamBlock, gradient.size() - begin)});
  }

 private:
  AdamFactors<Real> factors_;
  const Weights<Real>& gradient_;
  AdamState<Real>& state_;
};

template <class Real>
[[maybe_unused]] bool same_sizes(const Weights<Real>& a, const Weights<Real>& b) {
  if (a.layers.size() != b.layers.size() || matrix_count(a) != matrix_count(b)) return false;
  for (std::size_t n = 0; n < matrix_count(a); ++n) {
    const Matrix<Real>&x = matrix_at(a, n), &y = matrix_at(b, n);
    if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
  }
  return true;
}

}  // namespace

template <class Real>
AdamState<Real>::AdamState(const Shape& shape, Weights<Real> start)
    : weights(std::move(start)), first(shape), second(shape) {
  DEWPOINT_EXPECTS(same_sizes(weights, first));
}

template <class Real>
void adam_step(const training::AdamOptions& options, const Weights<Real>& gradient,
               AdamState<Real>& state, const RunContext& context) {
  training::check(options);
  DEWPOINT_EXPECTS(same_sizes(gradient, state.weights) && same_sizes(gradient, state.first) &&
                   same_sizes(gradient, state.second));
  const Crew crew(RunContext{context.threads, {}, {}});
  const Step<Real> step(factors_of<Real>(options, state.done + 1), gradient, state);
  const double operations = static_cast<double>(step.blocks() * kAdamBlock) * kOperationsPerEntry;
  crew.for_each(step.blocks(), operations, [&step](std::size_t block) { step.take(block); });
  ++state.done;
}

template struct AdamState<float>;
template struct AdamState<double>;
template void adam_step(const training::AdamOptions&, const Weights<float>&, AdamState<float>&,
                        const RunContext&);
template void adam_step(const training::AdamOptions&, const Weights<double>&, AdamState<double>&,
                        const RunContext&);

}  // namespace dewpoint::transformer
