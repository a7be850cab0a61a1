#include "dewpoint/training/layered_adam.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {

BatchDraws::BatchDraws(const HistogramRows& rows, std::size_t batch, const Stream& stream)
    : batch_(batch),
      stream_(stream),
      cumulative_(rows.labels.size()),
      labels_(rows.labels.rows(), rows.labels.cols()) {
  std::partial_sum(rows.labels.data(), rows.labels.data() + rows.labels.size(),
                   cumulative_.begin());
  drawn_.reserve(batch);
}

const Matrix<double>& BatchDraws::draw(std::uint64_t step) {
  for (const std::size_t entry : drawn_) labels_.data()[entry] = 0.0;
  drawn_.clear();
  const double all = cumulative_.back();
  const double below_all = std::nextafter(all, 0.0);
  for (std::size_t b = 0; b < batch_; ++b) {
    const double at = std::min(stream_.uniform(step * batch_ + b) * all, below_all);
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
    drawn_.push_back(static_cast<std::size_t>(found - cumulative_.begin()));
    labels_.data()[drawn_.back()] += 1.0;
  }
  return labels_;
}

template <class Real>
LayeredAdam<Real>::LayeredAdam(const HistogramRows& rows, const LayeredParameters<Real>& start,
                               const LayeredRun& run)
    : run_(run),
      model_(rows, start.width(), start.layers(), run.residual),
      draws_(rows, run.batch, Stream(run.seed, "training/batch", run.replica)),
      weights_(start),
      gradient_(start.vocabulary(), start.width(), start.layers()),
      first_(gradient_),
      second_(gradient_) {
  check(run.adam);
  DEWPOINT_EXPECTS(start.vocabulary() == rows.vocabulary);
}

template <class Real>
auto LayeredAdam<Real>::scalars() const -> Scalars {
  const AdamOptions& adam = run_.adam;
  const auto t = static_cast<double>(done_ + 1);
  return {.decay = static_cast<Real>(adam.first_decay),
          .fresh = static_cast<Real>(1.0 - adam.first_decay),
          .decay2 = static_cast<Real>(adam.second_decay),
          .fresh2 = static_cast<Real>(1.0 - adam.second_decay),
          .rate = static_cast<Real>(adam.rate / (1.0 - std::pow(adam.first_decay, t))),
          .root = static_cast<Real>(1.0 / std::sqrt(1.0 - std::pow(adam.second_decay, t))),
          .epsilon = static_cast<Real>(adam.epsilon)};
}

template <class Real>
void LayeredAdam<Real>::descend() {
  const Scalars by = scalars();
  const auto step = [&by](Matrix<Real>& weights, const Matrix<Real>& gradient, Matrix<Real>& first,
                          Matrix<Real>& second) {
    Real *theta = weights.data(), *m = first.data(), *v = second.data();
    const Real* g = gradient.data();
    for (std::size_t e = 0; e < weights.size(); ++e) {
      m[e] = by.decay * m[e] + by.fresh * g[e];
      v[e] = by.decay2 * v[e] + by.fresh2 * g[e] * g[e];
      theta[e] -= by.rate * m[e] / (std::sqrt(v[e]) * by.root + by.epsilon);
    }
  };
  step(weights_.embedding, gradient_.embedding, first_.embedding, second_.embedding);
  step(weights_.unembedding, gradient_.unembedding, first_.unembedding, second_.unembedding);
  for (std::size_t n = 0; n < weights_.layers(); ++n) {
    step(weights_.query[n], gradient_.query[n], first_.query[n], second_.query[n]);
    step(weights_.key[n], gradient_.key[n], first_.key[n], second_.key[n]);
  }
}

template <class Real>
bool LayeredAdam<Real>::advance(std::uint64_t steps, const RunContext& context) {
  while (done_ < steps) {
    context.throw_if_stopped();
    const Matrix<double>& labels = run_.batch > 0 ? draws_.draw(done_) : model_.rows().labels;
    if (!std::isfinite(model_.gradient(weights_, labels, gradient_))) return false;
    descend();
    ++done_;
  }
  return true;
}

template class LayeredAdam<float>;
template class LayeredAdam<double>;

}  // namespace dewpoint::training
