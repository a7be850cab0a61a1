#include "dewpoint/training/layered_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::training {
namespace {

template <class Real>
void fill_zero(Matrix<Real>& matrix) {
  std::fill_n(matrix.data(), matrix.size(), Real{});
}

// c = a b
template <class Real>
void set_ab(const Matrix<Real>& a, const Matrix<Real>& b, Matrix<Real>& c) {
  fill_zero(c);
  add_ab(a, b, c);
}

// c = aᵀ b for an `a` of few rows.
template <class Real>
void set_atb(const Matrix<Real>& a, const Matrix<Real>& b, Matrix<Real>& c) {
  for (std::size_t i = 0; i < c.rows(); ++i) {
    const std::span<Real> out = c.row(i);
    std::fill(out.begin(), out.end(), Real{});
    for (std::size_t k = 0; k < a.rows(); ++k) {
      const Real factor = a(k, i);
      const Real* from = b.row(k).data();
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += factor * from[j];
    }
  }
}

template <class Real>
void add(const Matrix<Real>& from, Matrix<Real>& to) {
  std::transform(to.data(), to.data() + to.size(), from.data(), to.data(), std::plus<>());
}

template <class To, class From>
void convert(const Matrix<From>& from, Matrix<To>& to) {
  std::transform(from.data(), from.data() + from.size(), to.data(),
                 [](From x) { return static_cast<To>(x); });
}

template <class To, class From>
void convert_transposed(const Matrix<From>& from, Matrix<To>& to) {
  for (std::size_t i = 0; i < from.rows(); ++i) {
    for (std::size_t j = 0; j < from.cols(); ++j) to(j, i) = static_cast<To>(from(i, j));
  }
}

std::vector<Matrix<double>> token_maps(std::size_t count, std::size_t vocabulary) {
  return {count, Matrix<double>(vocabulary, vocabulary)};
}

// The softmax of x in its place; returns log Σ exp x.
double take_softmax(std::span<double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  double total = 0.0;
  for (double& entry : x) total += entry = std::exp(entry - top);
  for (double& entry : x) entry /= total;
  return top + std::log(total);
}

}  // namespace

// ---- weights ------------------------------------------------------------------------------------

template <class Real>
LayeredParameters<Real> initial_layers(std::size_t vocabulary, std::size_t width,
                                       std::size_t layers, double deviation, std::uint64_t seed,
                                       std::uint64_t replica) {
  DEWPOINT_EXPECTS(vocabulary >= 1 && width >= 1 && layers >= 1);
  const Stream stream(seed, "training/initial", replica);
  LayeredParameters<Real> start(vocabulary, width, layers);
  std::uint64_t first = 0;
  std::vector<double> draws;
  for (Matrix<Real>* weights : matrices_of(start)) {
    draws.resize(weights->size());
    stream.normals(first, draws);
    std::transform(draws.begin(), draws.end(), weights->data(),
                   [&](double draw) { return static_cast<Real>(deviation * draw); });
    first += draws.size();
  }
  return start;
}

template <class Real>
std::vector<double> embedding_norms(const LayeredParameters<Real>& parameters) {
  std::vector<double> norms;
  for (std::size_t token = 0; token < parameters.vocabulary(); ++token) {
    double squares = 0.0;
    for (const Real x : parameters.embedding.row(token)) squares += double{x} * double{x};
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

template <class Real>
std::vector<Matrix<double>> layer_attention(const LayeredParameters<Real>& parameters,
                                            bool residual) {
  const std::size_t d = parameters.vocabulary(), layers = parameters.layers();
  std::vector<Matrix<double>> attention = token_maps(layers, d);
  Matrix<Real> query(d, parameters.width()), key(d, parameters.width()), scores(d, d);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    set_ab(parameters.embedding, parameters.query[layer], query);
    set_ab(parameters.embedding, parameters.key[layer], key);
    multiply_abt(query, key, scores);
    convert(scores, attention[layer]);
  }
  LayeredPass pass(d, layers, residual);
  pass.forward(std::vector<double>(d, 1.0), attention);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::copy_n(pass.weights(layer).data(), d * d, attention[layer].data());
  }
  return attention;
}

// ---- the model ----------------------------------------------------------------------------------

template <class Real>
LayeredModel<Real>::LayeredModel(const HistogramRows& rows, std::size_t width, std::size_t layers,
                                 bool residual)
    : rows_(rows),
      histograms_(groups_of(rows)),
      pass_(rows.vocabulary, layers, residual),
      attention_(token_maps(layers, rows.vocabulary)),
      attention_slope_(token_maps(layers, rows.vocabulary)),
      value_(rows.vocabulary, rows.vocabulary),
      value_slope_(rows.vocabulary, rows.vocabulary),
      excess_(rows.vocabulary),
      query_(layers, Matrix<Real>(rows.vocabulary, width)),
      key_(layers, Matrix<Real>(rows.vocabulary, width)),
      slope_(rows.vocabulary, width),
      product_(rows.vocabulary, width),
      small_(rows.vocabulary, rows.vocabulary) {
  DEWPOINT_EXPECTS(rows.size() >= 1 && layers >= 1 && width >= 1);
}

// Φ of every layer and M.
template <class Real>
void LayeredModel<Real>::project(const LayeredParameters<Real>& at) {
  for (std::size_t layer = 0; layer < attention_.size(); ++layer) {
    set_ab(at.embedding, at.query[layer], query_[layer]);
    set_ab(at.embedding, at.key[layer], key_[layer]);
    multiply_abt(query_[layer], key_[layer], small_);
    convert(small_, attention_[layer]);
  }
  set_ab(at.embedding, at.unembedding, small_);
  convert(small_, value_);
}

// One row of a histogram whose forward pass is done: its loss, its part of ∂L/∂M and of ∂L/∂C.
template <class Real>
double LayeredModel<Real>::add_row(std::size_t row, std::span<const double> labels) {
  const std::size_t d = rows_.vocabulary, last = rows_.last[row];
  const std::span<const double> state = pass_.state(last);
  const std::span<double> state_slope = pass_.state_slope(last);
  std::fill(excess_.begin(), excess_.end(), 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    const double* value = value_.row(i).data();
    for (std::size_t k = 0; k < d; ++k) excess_[k] += state[i] * value[k];
  }
  double loss = 0.0, weight = 0.0;
  for (std::size_t k = 0; k < d; ++k) {
    loss -= labels[k] * excess_[k];
    weight += labels[k];
  }
  loss += weight * take_softmax(excess_);
  for (std::size_t k = 0; k < d; ++k) excess_[k] = weight * excess_[k] - labels[k];
  for (std::size_t i = 0; i < d; ++i) {
    const double* value = value_.row(i).data();
    double* slope = value_slope_.row(i).data();
    for (std::size_t k = 0; k < d; ++k) {
      slope[k] += state[i] * excess_[k];
      state_slope[i] += value[k] * excess_[k];
    }
  }
  return loss;
}

template <class Real>
double LayeredModel<Real>::add_group(const Range& group, const Matrix<double>& labels,
                                     bool with_slopes) {
  const auto has_weight = [&](std::size_t row) {
    return std::ranges::any_of(labels.row(row), [](double label) { return label > 0.0; });
  };
  double loss = 0.0;
  bool met = false;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (!has_weight(histograms_.order[i])) continue;
    if (!met) pass_.forward(rows_.counts.row(histograms_.order[i]), attention_);
    met = true;
    loss += add_row(histograms_.order[i], labels.row(histograms_.order[i]));
  }
  if (met && with_slopes) pass_.backward(attention_, attention_slope_);
  return loss;
}

// Sums of losses and slopes, divided by the weight of the labels.
template <class Real>
double LayeredModel<Real>::pass_over(const Matrix<double>& labels, bool with_slopes) {
  for (Matrix<double>& slope : attention_slope_) fill_zero(slope);
  fill_zero(value_slope_);
  double loss = 0.0;
  for (const Range& group : histograms_.groups) loss += add_group(group, labels, with_slopes);
  const double share = 1.0 / std::accumulate(labels.data(), labels.data() + labels.size(), 0.0);
  const auto scale = [&](Matrix<double>& slope) {
    for (double& x : std::span(slope.data(), slope.size())) x *= share;
  };
  for (Matrix<double>& slope : attention_slope_) scale(slope);
  scale(value_slope_);
  return loss * share;
}

// With TQ = W0 WQ and TK = W0 WK of each layer, the formulas of parameters.hpp.
template <class Real>
void LayeredModel<Real>::pull_back(const LayeredParameters<Real>& at,
                                   LayeredParameters<Real>& gradient) {
  convert(value_slope_, small_);
  multiply_abt(small_, at.unembedding, gradient.embedding);
  set_atb(at.embedding, small_, gradient.unembedding);
  for (std::size_t layer = 0; layer < attention_.size(); ++layer) {
    convert(attention_slope_[layer], small_);
    set_ab(small_, key_[layer], slope_);  // ∂L/∂TQ
    set_atb(at.embedding, slope_, gradient.query[layer]);
    multiply_abt(slope_, at.query[layer], product_);
    add(product_, gradient.embedding);

    convert_transposed(attention_slope_[layer], small_);
    set_ab(small_, query_[layer], slope_);  // ∂L/∂TK
    set_atb(at.embedding, slope_, gradient.key[layer]);
    multiply_abt(slope_, at.key[layer], product_);
    add(product_, gradient.embedding);
  }
}

template <class Real>
double LayeredModel<Real>::gradient(const LayeredParameters<Real>& at, const Matrix<double>& labels,
                                    LayeredParameters<Real>& gradient) {
  DEWPOINT_EXPECTS(labels.rows() == rows_.size() && labels.cols() == rows_.vocabulary);
  DEWPOINT_EXPECTS(at.layers() == attention_.size() && gradient.layers() == at.layers());
  project(at);
  const double loss = pass_over(labels, true);
  pull_back(at, gradient);
  return loss;
}

template <class Real>
double LayeredModel<Real>::loss(const LayeredParameters<Real>& at) {
  DEWPOINT_EXPECTS(at.layers() == attention_.size());
  project(at);
  return pass_over(rows_.labels, false);
}

template class LayeredModel<float>;
template class LayeredModel<double>;
template LayeredParameters<float> initial_layers(std::size_t, std::size_t, std::size_t, double,
                                                 std::uint64_t, std::uint64_t);
template LayeredParameters<double> initial_layers(std::size_t, std::size_t, std::size_t, double,
                                                  std::uint64_t, std::uint64_t);
template std::vector<double> embedding_norms(const LayeredParameters<float>&);
template std::vector<double> embedding_norms(const LayeredParameters<double>&);
template std::vector<Matrix<double>> layer_attention(const LayeredParameters<float>&, bool);
template std::vector<Matrix<double>> layer_attention(const LayeredParameters<double>&, bool);

}  // namespace dewpoint::training
