// adam(): the arithmetic is in adam_kernels.hpp, whose notation is used here.
#include <cmath>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/adam_kernels.hpp"
#include "dewpoint/training/step_trainer.hpp"
#include "dewpoint/training/trainer_state.hpp"

namespace dewpoint::training {
namespace {

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

template <class Real>
std::span<Real> numbers(Matrix<Real>& matrix) {
  return {matrix.data(), matrix.size()};
}

template <class Real>
std::span<const Real> numbers(const Matrix<Real>& matrix) {
  return {matrix.data(), matrix.size()};
}

// TQ and D, which one step leaves to the next.
template <class Real>
struct TokenSums {
  Matrix<Real> query;  // TQ: d x columns
  Matrix<Real> key;    // D: (d − 1) x columns

  TokenSums(std::size_t vocabulary, std::size_t columns)
      : query(vocabulary, columns), key(vocabulary - 1, columns) {}

  void clear() {
    std::fill_n(query.data(), query.size(), Real{0});
    std::fill_n(key.data(), key.size(), Real{0});
  }
};

template <class Real>
class FusedAdam final : public StepTrainer {
 public:
  FusedAdam(const TokenLoss& loss, const Parameters<double>& start, const AdamOptions& options);

  [[nodiscard]] Parameters<double> parameters() const override;
  [[nodiscard]] std::vector<std::byte> state() const override;
  void restore(std::span<const std::byte> state) override;

 private:
  [[nodiscard]] bool step(std::uint64_t done) override;

  void set_weights(const Parameters<double>& start);
  void set_sums(const Parameters<double>& weights);
  void set_slopes();
  [[nodiscard]] AdamScalars<Real> scalars(std::uint64_t done) const;
  [[nodiscard]] AdamPass<Real> pass(std::uint64_t done);
  void read_maps();
  [[nodiscard]] TrainerShape shape() const;
  [[nodiscard]] std::size_t payload() const;

  // Where entry (i, j) of WQ (0) or WK (1) is.
  [[nodiscard]] std::size_t place(std::size_t matrix, std::size_t i, std::size_t j) const {
    constexpr std::size_t line = kLine<Real>;
    return i * inner_.cols() + 3 * matrix * columns_ + 3 * (j / line) * line + j % line;
  }

  const TokenLoss& loss_;
  AdamOptions options_;
  std::size_t vocabulary_;
  std::size_t width_;
  std::size_t columns_;
  std::size_t rows_;
  Matrix<Real> inner_;  // rows x (6 columns and a line, so that rows do not share cache sets)
  Matrix<Real> outer_;  // 3 x 2d x rows
  TokenSums<Real> sums_;
  TokenMaps maps_;

  TokenSums<Real> next_sums_;
  Matrix<Real> key_basis_;   // H
  Matrix<Real> value_sums_;  // d² x kBlockRows
  TokenMaps slope_;
  Matrix<Real> attention_slope_;
  Matrix<Real> value_slope_;
  Matrix<Real> scratch_;
};

template <class Real>
FusedAdam<Real>::FusedAdam(const TokenLoss& loss, const Parameters<double>& start,
                           const AdamOptions& options)
    : loss_(loss),
      options_(options),
      vocabulary_(start.vocabulary()),
      width_(start.width()),
      columns_(rounded_up(width_, kGroup<Real>)),
      rows_(rounded_up(width_, kBlockRows)),
      inner_(rows_, 6 * columns_ + kLine<Real>),
      outer_(6 * vocabulary_, rows_),
      sums_(vocabulary_, columns_),
      maps_(vocabulary_),
      next_sums_(vocabulary_, columns_),
      key_basis_(vocabulary_ - 1, columns_),
      value_sums_(vocabulary_ * vocabulary_, kBlockRows),
      slope_(vocabulary_),
      attention_slope_(vocabulary_, vocabulary_),
      value_slope_(vocabulary_, vocabulary_),
      scratch_(1, pass(0).scratch_size()) {
  set_weights(start);
  set_sums(parameters());
}

template <class Real>
void FusedAdam<Real>::set_weights(const Parameters<double>& start) {
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t j = 0; j < width_; ++j) {
      inner_.data()[place(0, i, j)] = static_cast<Real>(start.query(i, j));
      inner_.data()[place(1, i, j)] = static_cast<Real>(start.key(i, j));
    }
    for (std::size_t k = 0; k < vocabulary_; ++k) {
      outer_(k, i) = static_cast<Real>(start.embedding(k, i));
      outer_(vocabulary_ + k, i) = static_cast<Real>(start.unembedding(i, k));
    }
  }
}

template <class Real>
Parameters<double> FusedAdam<Real>::parameters() const {
  Parameters<double> now(vocabulary_, width_);
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t j = 0; j < width_; ++j) {
      now.query(i, j) = static_cast<double>(inner_.data()[place(0, i, j)]);
      now.key(i, j) = static_cast<double>(inner_.data()[place(1, i, j)]);
    }
    for (std::size_t k = 0; k < vocabulary_; ++k) {
      now.embedding(k, i) = static_cast<double>(outer_(k, i));
      now.unembedding(i, k) = static_cast<double>(outer_(vocabulary_ + k, i));
    }
  }
  return now;
}

// The sums of the first step, which no pass has left behind.
template <class Real>
void FusedAdam<Real>::set_sums(const Parameters<double>& weights) {
  const std::size_t last = vocabulary_ - 1;
  for (std::size_t k = 0; k < vocabulary_; ++k) {
    for (std::size_t j = 0; j < width_; ++j) {
      double query = 0.0, key = 0.0;
      for (std::size_t i = 0; i < width_; ++i) {
        query += weights.embedding(k, i) * weights.query(i, j);
        key += (weights.embedding(k, i) - weights.embedding(last, i)) * weights.key(i, j);
      }
      sums_.query(k, j) = static_cast<Real>(query);
      if (k < last) sums_.key(k, j) = static_cast<Real>(key);
    }
  }
  maps_ = token_maps(weights);
  for (std::size_t l = 0; l < vocabulary_; ++l) {
    const double origin = maps_.attention(l, last);
    for (double& score : maps_.attention.row(l)) score -= origin;
  }
}

template <class Real>
AdamScalars<Real> FusedAdam<Real>::scalars(std::uint64_t done) const {
  const auto t = static_cast<double>(done + 1);
  const double first_rest = -std::expm1(t * std::log(options_.first_decay));
  const double second_rest = -std::expm1(t * std::log(options_.second_decay));
  const double kappa = std::sqrt(second_rest / (1.0 - options_.second_decay));
  const double rate = options_.rate * (1.0 - options_.first_decay) / first_rest;
  return {static_cast<Real>(options_.first_decay), static_cast<Real>(options_.second_decay),
          static_cast<Real>(kappa * options_.epsilon), static_cast<Real>(kappa * rate)};
}

template <class Real>
AdamPass<Real> FusedAdam<Real>::pass(std::uint64_t done) {
  return {vocabulary_,
          rows_,
          columns_,
          inner_.cols(),
          inner_.data(),
          outer_.data(),
          attention_slope_.data(),
          value_slope_.data(),
          sums_.key.data(),
          key_basis_.data(),
          next_sums_.query.data(),
          next_sums_.key.data(),
          value_sums_.data(),
          scratch_.data(),
          scalars(done)};
}

// ∂L/∂Φ and ∂L/∂M in our precision, and H.
template <class Real>
void FusedAdam<Real>::set_slopes() {
  for (std::size_t n = 0; n < vocabulary_ * vocabulary_; ++n) {
    attention_slope_.data()[n] = static_cast<Real>(slope_.attention.data()[n]);
    value_slope_.data()[n] = static_cast<Real>(slope_.value.data()[n]);
  }
  for (std::size_t k = 0; k + 1 < vocabulary_; ++k) {
    combine_rows(sums_.query.data(), vocabulary_, columns_, attention_slope_.data() + k,
                 vocabulary_, key_basis_.row(k).data());
  }
}

// Φ, up to the last entry of each row, and M, from what the pass left.
template <class Real>
void FusedAdam<Real>::read_maps() {
  for (std::size_t l = 0; l < vocabulary_; ++l) {
    for (std::size_t j = 0; j + 1 < vocabulary_; ++j) {
      maps_.attention(l, j) =
          dot_rows(sums_.query.row(l).data(), sums_.key.row(j).data(), columns_);
    }
    for (std::size_t c = 0; c < vocabulary_; ++c) {
      double sum = 0.0;
      for (const Real part : value_sums_.row(l * vocabulary_ + c)) sum += static_cast<double>(part);
      maps_.value(l, c) = sum;
    }
  }
}

template <class Real>
bool FusedAdam<Real>::step(std::uint64_t done) {
  if (!std::isfinite(loss_.slope(done, maps_, slope_))) return false;
  set_slopes();
  next_sums_.clear();
  std::fill_n(value_sums_.data(), value_sums_.size(), Real{0});
  adam_pass(pass(done));
  std::swap(sums_, next_sums_);
  read_maps();
  return is_finite(maps_);
}

template <class Real>
TrainerShape FusedAdam<Real>::shape() const {
  return {TrainerKind::adam, sizeof(Real), vocabulary_, width_};
}

template <class Real>
std::size_t FusedAdam<Real>::payload() const {
  const std::size_t reals = inner_.size() + outer_.size() + sums_.query.size() + sums_.key.size();
  return reals * sizeof(Real) + 2 * vocabulary_ * vocabulary_ * sizeof(double);
}

template <class Real>
std::vector<std::byte> FusedAdam<Real>::state() const {
  StateWriter writer(shape(), done());
  writer.add(numbers(inner_)).add(numbers(outer_));
  writer.add(numbers(sums_.query)).add(numbers(sums_.key));
  writer.add(numbers(maps_.attention)).add(numbers(maps_.value));
  return writer.take();
}

template <class Real>
void FusedAdam<Real>::restore(std::span<const std::byte> state) {
  StateReader reader(state, shape(), payload());
  set_done(reader.done());
  reader.take(numbers(inner_)).take(numbers(outer_));
  reader.take(numbers(sums_.query)).take(numbers(sums_.key));
  reader.take(numbers(maps_.attention)).take(numbers(maps_.value));
}

}  // namespace

std::unique_ptr<Trainer> adam(const TokenLoss& loss, const Parameters<double>& start,
                              const AdamOptions& options, Precision precision) {
  check(options);
  DEWPOINT_EXPECTS(start.vocabulary() == loss.vocabulary());
  DEWPOINT_EXPECTS(start.vocabulary() >= 2 && start.width() >= 1);
  if (precision == Precision::single_) {
    return std::make_unique<FusedAdam<float>>(loss, start, options);
  }
  return std::make_unique<FusedAdam<double>>(loss, start, options);
}

}  // namespace dewpoint::training
