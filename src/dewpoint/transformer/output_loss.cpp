#include "dewpoint/transformer/output_loss.hpp"

#include <algorithm>
#include <numeric>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/transformer/costs.hpp"
#include "dewpoint/transformer/row_kernels.hpp"

namespace dewpoint::transformer {
namespace {

// Rows whose logits exist at the same time, rows of one product, columns of one slope of W1.
constexpr std::size_t kLogitRows = 512, kLogitBlock = 128, kSlopeColumns = 256;

// Logits become their slopes; the loss is returned.
template <class Real>
double take_logit_slopes(std::span<const Question> questions, std::span<Real> logits) {
  double total = 0.0, at_labels = 0.0;
  for (const Question& question : questions) {
    const auto weight = static_cast<double>(question.weight);
    total += weight;
    at_labels += weight * static_cast<double>(logits[static_cast<std::size_t>(question.label)]);
  }
  const double log_sum = weigh(logits, static_cast<Real>(total));
  for (const Question& question : questions) {
    logits[static_cast<std::size_t>(question.label)] -= static_cast<Real>(question.weight);
  }
  return total * log_sum - at_labels;
}

}  // namespace

template <class Real>
OutputLoss<Real>::OutputLoss(const Shape& shape, const Capacity& capacity)
    : vocabulary_(shape.vocabulary),
      logits_(std::min(capacity.asked, kLogitRows) * shape.vocabulary),
      losses_(capacity.asked) {}

template <class Real>
double OutputLoss<Real>::operations(const Shape& shape, std::size_t asked) {
  return 3.0 * product_cost(asked, shape.width, shape.vocabulary);
}

template <class Real>
void OutputLoss<Real>::make_losses(const IndexedBatch<Real>& batch, Range asked,
                                   MatrixView<Real> logits) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Range about = batch.index.questions_about(asked.begin + i);
    losses_[asked.begin + i] = take_logit_slopes(
        std::span(batch.batch.questions).subspan(about.begin, about.size()), logits.row(i));
  }
}

template <class Real>
double OutputLoss<Real>::loss(const Matrix<Real>& unembedding, MatrixView<const Real> states,
                              const IndexedBatch<Real>& batch, const Crew& crew) {
  const std::size_t asked = states.rows();
  for (std::size_t first = 0; first < asked; first += kLogitRows) {
    const std::size_t rows = std::min(kLogitRows, asked - first);
    const MatrixView<Real> logits = logits_.view(rows, vocabulary_);
    crew.for_blocks(
        rows, kLogitBlock, product_cost(rows, states.cols(), vocabulary_), [&](Range block) {
          const Range of{first + block.begin, first + block.end};
          multiply_ab(states.row_range(of), unembedding.view(), logits.row_range(block));
          make_losses(batch, of, logits.row_range(block));
        });
  }
  return std::accumulate(losses_.begin(), losses_.begin() + asked, 0.0);
}

template <class Real>
double OutputLoss<Real>::gradient(const Matrix<Real>& unembedding, MatrixView<const Real> states,
                                  const IndexedBatch<Real>& batch, const Crew& crew,
                                  Matrix<Real>& unembedding_slope, MatrixView<Real> state_slope) {
  const std::size_t asked = states.rows();
  for (std::size_t first = 0; first < asked; first += kLogitRows) {
    const std::size_t rows = std::min(kLogitRows, asked - first);
    const MatrixView<Real> logits = logits_.view(rows, vocabulary_);
    const MatrixView<const Real> slopes = logits;
    const double cost = product_cost(rows, states.cols(), vocabulary_);
    crew.for_blocks(rows, kLogitBlock, 2.0 * cost, [&](Range block) {
      const Range of{first + block.begin, first + block.end};
      multiply_ab(states.row_range(of), unembedding.view(), logits.row_range(block));
      make_losses(batch, of, logits.row_range(block));
      multiply_abt(slopes.row_range(block), unembedding.view(), state_slope.row_range(of));
    });
    crew.for_blocks(vocabulary_, kSlopeColumns, cost, [&](Range block) {
      const MatrixView<const Real> own = states.row_range({first, first + rows});
      const MatrixView<const Real> part = slopes.block({0, rows}, block);
      const MatrixView<Real> target =
          unembedding_slope.view().block({0, unembedding_slope.rows()}, block);
      if (first == 0) {
        multiply_atb(own, part, target);
      } else {
        add_atb(own, part, target);
      }
    });
  }
  return std::accumulate(losses_.begin(), losses_.begin() + asked, 0.0);
}

template class OutputLoss<float>;
template class OutputLoss<double>;

}  // namespace dewpoint::transformer
