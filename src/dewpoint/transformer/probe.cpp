#include "dewpoint/transformer/probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/training/leading_pair.hpp"

namespace dewpoint::transformer {
namespace {

using Maps = std::vector<Matrix<double>>;  // per layer and head

// ---- sizes --------------------------------------------------------------------------------------

template <class Real>
double squares(std::span<const Real> numbers) {
  double sum = 0.0;
  for (const Real number : numbers) {
    sum += static_cast<double>(number) * static_cast<double>(number);
  }
  return sum;
}

template <class Real>
double squares(const Matrix<Real>& matrix) {
  return squares(std::span(matrix.data(), matrix.size()));
}

template <class Real>
double frobenius(const Matrix<Real>& matrix) {
  return std::sqrt(squares(matrix));
}

/// The Gram matrix of the columns is summed a strip of rows at a time: a copy of all weights in
/// double would be as large as they are.
template <class Real>
double rank_one_share(const Matrix<Real>& weights) {
  constexpr std::size_t kStrip = 512;
  const std::size_t width = weights.cols();
  Matrix<double> gram(width, width), strip(kStrip, width);
  for (std::size_t begin = 0; begin < weights.rows(); begin += kStrip) {
    const std::size_t rows = std::min(kStrip, weights.rows() - begin);
    std::copy_n(weights.data() + begin * width, rows * width, strip.data());
    const MatrixView<const double> part = strip.view().row_range({0, rows});
    add_atb(part, part, gram.view());
  }
  const training::LeadingPair pair = training::leading_pair(gram.view());
  if (!std::isfinite(pair.trace)) return kUnknown;
  return pair.trace > 0.0 ? pair.values[0] / pair.trace : 0.0;
}

template <class Real>
void measure_sizes(const Weights<Real>& weights, const Probe& probe, Look& look) {
  for (const std::int32_t token : probe.norms) {
    look.norms.push_back(
        std::sqrt(squares(weights.embedding.row(static_cast<std::size_t>(token)))));
  }
  look.rank_one = rank_one_share(weights.embedding);
  look.embedding_size = frobenius(weights.embedding);
  look.unembedding_size = frobenius(weights.unembedding);
  for (const LayerWeights<Real>& layer : weights.layers) {
    look.query_size.push_back(frobenius(layer.query));
    look.key_size.push_back(frobenius(layer.key));
  }
}

// ---- attention ----------------------------------------------------------------------------------

/// Attention among these tokens, as one context.
template <class Real>
Maps attention_among(const Shape& shape, const Weights<Real>& weights,
                     const std::vector<std::int32_t>& tokens, const RunContext& context) {
  Windows windows{tokens, tokens.size()};
  windows.tokens.push_back(tokens.back());  // a label, which no state depends on
  Batch batch;
  fill_explicit(windows, Targets::last, batch);
  Network<Real> network(shape, capacity_of(1, tokens.size(), Targets::last));
  Maps maps;
  for (auto& heads : network.attention(weights, batch, 0, context)) {
    std::move(heads.begin(), heads.end(), std::back_inserter(maps));
  }
  return maps;
}

/// Mean over the maps and over the medium queries, of their attention to `key(query)`.
template <class Key>
double mean_of_medium(const Maps& maps, Key key) {
  double sum = 0.0;
  std::size_t terms = 0;
  for (const Matrix<double>& map : maps) {
    for (std::size_t query = first_medium(map.rows()); query < map.rows(); ++query, ++terms) {
      sum += map(query, key(query));
    }
  }
  return sum / static_cast<double>(terms);
}

/// Attention of every position to the positions of its own token, mean over maps.
std::vector<double> self_attention(const Maps& maps, const std::vector<std::int32_t>& sentence) {
  std::vector<double> shares(sentence.size());
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    for (const Matrix<double>& map : maps) {
      for (std::size_t j = 0; j < sentence.size(); ++j) {
        if (sentence[j] == sentence[i]) shares[i] += map(i, j);
      }
    }
    shares[i] /= static_cast<double>(maps.size());
  }
  return shares;
}

// ---- frame --------------------------------------------------------------------------------------

Estimate seen_value(double value) {
  return std::isnan(value) ? Estimate{} : Estimate{value, 0.0, 1};
}

std::vector<double> counted_from_zero(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

std::vector<std::string> numbered_words(const std::vector<std::string>& words) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < words.size(); ++i) {
    labels.push_back(std::to_string(i) + " " + words[i]);
  }
  return labels;
}

/// Adds variables that have step as their first dimension, one field of Look each.
class LookFields {
 public:
  LookFields(Frame& frame, std::span<const Look> looks) : frame_(frame), looks_(looks) {}

  /// A number of each look: a field or a function of it.
  template <class Number>
  void add(const char* name, Number number) {
    auto cell = cells(name, {"step"});
    for (const Look& look : looks_) *cell++ = seen_value(std::invoke(number, look));
  }
  void add(const char* name, std::vector<double> Look::*field, const char* dimension) {
    auto cell = cells(name, {"step", dimension});
    for (const Look& look : looks_) cell = put(look.*field, cell);
  }
  void add_attention() {
    auto cell = cells("attention", {"step", "layer", "head", "query", "key"});
    for (const Look& look : looks_) {
      for (const Matrix<double>& map : look.attention) {
        cell = put(std::span(map.data(), map.size()), cell);
      }
    }
  }

 private:
  using Cell = std::vector<Estimate>::iterator;
  Cell cells(const char* name, std::vector<std::string> dimensions) {
    return frame_.add_variable(name, std::move(dimensions)).cells.begin();
  }
  static Cell put(std::span<const double> values, Cell cell) {
    return std::transform(values.begin(), values.end(), cell, seen_value);
  }

  Frame& frame_;
  std::span<const Look> looks_;
};

void add_look_variables(Frame& frame, std::span<const Look> looks) {
  LookFields fields(frame, looks);
  fields.add("loss", &Look::loss);
  fields.add("validation_loss", &Look::validation_loss);
  fields.add_attention();
  fields.add("norms", &Look::norms, "token");
  fields.add("rank_one", &Look::rank_one);
  fields.add("embedding_size", &Look::embedding_size);
  fields.add("unembedding_size", &Look::unembedding_size);
  fields.add("query_size", &Look::query_size, "layer");
  fields.add("key_size", &Look::key_size, "layer");
  fields.add("gradient_size", &Look::gradient_size);
  fields.add("focus", focus_of);
  fields.add("self_share", self_share_of);
  if (!looks[0].self_attention.empty()) {
    fields.add("self_attention", &Look::self_attention, "position");
  }
}

}  // namespace

template <class Real>
Look look_at(double step, const Shape& shape, const Weights<Real>& weights, const Probe& probe,
             const RunContext& context) {
  DEWPOINT_EXPECTS(probe.tokens.size() >= 2);
  Look look;
  look.step = step;
  measure_sizes(weights, probe, look);
  look.attention = attention_among(shape, weights, probe.tokens, context);
  if (!probe.sentence.empty()) {
    look.self_attention =
        self_attention(attention_among(shape, weights, probe.sentence, context), probe.sentence);
  }
  return look;
}

double focus_of(const Look& look) {
  return mean_of_medium(look.attention, [](std::size_t) { return std::size_t{0}; });
}

double self_share_of(const Look& look) {
  return mean_of_medium(look.attention, [](std::size_t query) { return query; });
}

template <class Real>
double size_of(const Weights<Real>& weights) {
  double sum = 0.0;
  for (const Matrix<Real>* matrix : matrices_of(weights)) sum += squares(*matrix);
  return std::sqrt(sum);
}

template Look look_at(double, const Shape&, const Weights<float>&, const Probe&, const RunContext&);
template Look look_at(double, const Shape&, const Weights<double>&, const Probe&,
                      const RunContext&);
template double size_of(const Weights<float>&);
template double size_of(const Weights<double>&);

Frame looks_frame(std::span<const Look> looks, const Shape& shape,
                  const std::vector<std::string>& probe_labels,
                  const std::vector<std::string>& norm_labels,
                  const std::vector<std::string>& sentence_labels) {
  DEWPOINT_EXPECTS(!looks.empty());
  DEWPOINT_EXPECTS(looks[0].self_attention.size() == sentence_labels.size());
  std::vector<double> steps;
  for (const Look& look : looks) steps.push_back(look.step);
  Frame frame("text run");
  frame.add_dimension("step", std::move(steps));
  frame.add_dimension("layer", counted_from_zero(shape.layers));
  frame.add_dimension("head", counted_from_zero(shape.heads));
  frame.add_labelled_dimension("query", probe_labels);
  frame.add_labelled_dimension("key", probe_labels);
  frame.add_labelled_dimension("token", norm_labels);
  if (!sentence_labels.empty()) {
    frame.add_labelled_dimension("position", numbered_words(sentence_labels));
  }
  add_look_variables(frame, looks);
  return frame;
}

}  // namespace dewpoint::transformer
