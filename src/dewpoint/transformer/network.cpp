#include "dewpoint/transformer/network.hpp"

#include <algorithm>
#include <limits>

#include "dewpoint/transformer/network_pass.hpp"

namespace dewpoint::transformer {
namespace {

// The context alone, every row of it asked for.
Batch context_alone(const Batch& batch, std::size_t number) {
  const Range rows = batch.context(number);
  const auto part = [&](const auto& numbers, auto& to) {
    if (numbers.empty()) return;
    to.assign(numbers.begin() + rows.begin, numbers.begin() + rows.end);
  };
  Batch alone;
  part(batch.tokens, alone.tokens);
  part(batch.log_counts, alone.log_counts);
  alone.begins = {0, static_cast<std::uint32_t>(rows.size())};
  for (std::uint32_t row = 0; row < rows.size(); ++row) alone.asked.push_back(row);
  return alone;
}

}  // namespace

Capacity capacity_of(std::size_t contexts, std::size_t s, Targets targets) {
  const std::size_t rows = contexts * s, asked = targets == Targets::all ? rows : contexts;
  return {rows, contexts, asked, asked, s};
}

template <class Real>
struct Network<Real>::Parts {
  NetworkPass<Real> pass;
};

template <class Real>
Network<Real>::Network(const Shape& shape, const Capacity& capacity) {
  check(shape);
  const bool few_asked = capacity.asked <= capacity.contexts;
  parts_ =
      std::make_unique<Parts>(Parts{NetworkPass<Real>(shape, capacity, kKeptContext, few_asked)});
}

template <class Real>
Network<Real>::~Network() = default;

template <class Real>
const Shape& Network<Real>::shape() const {
  return parts_->pass.shape();
}

template <class Real>
double Network<Real>::gradient(const Weights<Real>& at, const Batch& batch, Weights<Real>& gradient,
                               const RunContext& context) {
  const Crew crew(context);
  parts_->pass.forward(at, batch, crew);
  return parts_->pass.backward(at, batch, crew, gradient);
}

template <class Real>
double Network<Real>::loss(const Weights<Real>& at, const Batch& batch, const RunContext& context) {
  const Crew crew(context);
  parts_->pass.forward(at, batch, crew);
  return parts_->pass.loss(at, batch, crew);
}

// A pass through all layers of one context, every row of which is asked for, and then `read` of
// every layer and head, which writes to a matrix of rows x rows.
template <class Real>
template <class Read>
std::vector<std::vector<Matrix<double>>> Network<Real>::of_heads(const Weights<Real>& at,
                                                                 const Batch& alone,
                                                                 const RunContext& context,
                                                                 const Read& read) const {
  const std::size_t n = alone.rows();
  NetworkPass<Real> pass(shape(), {n, 1, n, n, n}, n, false);
  pass.forward(at, alone, Crew(context));
  std::vector<std::vector<Matrix<double>>> all(shape().layers);
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    for (std::size_t head = 0; head < shape().heads; ++head) {
      read(pass, layer, head, all[layer].emplace_back(n, n));
    }
  }
  return all;
}

template <class Real>
std::vector<std::vector<Matrix<double>>> Network<Real>::attention(const Weights<Real>& at,
                                                                  const Batch& batch,
                                                                  std::size_t context_number,
                                                                  const RunContext& context) {
  const Batch alone = context_alone(batch, context_number);
  return of_heads(
      at, alone, context,
      [&](NetworkPass<Real>& pass, std::size_t layer, std::size_t head, Matrix<double>& weights) {
        const std::span<const Real> kept = pass.kept_weights(alone, layer, 0);
        std::copy_n(kept.data() + head * weights.size(), weights.size(), weights.data());
      });
}

template <class Real>
std::vector<std::vector<Matrix<double>>> Network<Real>::scores(const Weights<Real>& at,
                                                               const Batch& batch,
                                                               std::size_t context_number,
                                                               const RunContext& context) {
  const Batch alone = context_alone(batch, context_number);
  Matrix<Real> found(alone.rows(), alone.rows());
  return of_heads(
      at, alone, context,
      [&](NetworkPass<Real>& pass, std::size_t layer, std::size_t head, Matrix<double>& scores) {
        pass.scores(alone, layer, 0, head, found.view());
        std::copy_n(found.data(), found.size(), scores.data());
        if (!shape().causal) return;
        for (std::size_t i = 0; i < scores.rows(); ++i) {
          std::ranges::fill(scores.row(i).subspan(i + 1), -std::numeric_limits<double>::infinity());
        }
      });
}

template <class Real>
double Network<Real>::product_operations(const Batch& batch) const {
  return parts_->pass.operations(batch);
}

template class Network<float>;
template class Network<double>;

}  // namespace dewpoint::transformer
