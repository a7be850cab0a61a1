#include "dewpoint/models/reference_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dewpoint/models/layer_scheme.hpp"
#include "dewpoint/models/model.hpp"

namespace dewpoint::models {
namespace {

using Vector = std::vector<double>;

// One vector per token.
using Text = std::vector<Vector>;

Vector product(const Linear& linear, const Vector& x) {
  Vector y(linear.weight.rows());
  for (std::size_t o = 0; o < y.size(); ++o) {
    y[o] = linear.bias.empty() ? 0.0 : static_cast<double>(linear.bias[o]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[o] += static_cast<double>(linear.weight(o, i)) * x[i];
    }
  }
  return y;
}

Vector product_if(const std::optional<Linear>& linear, const Vector& x) {
  return linear ? product(*linear, x) : x;
}

Vector normed(const std::optional<Norm>& norm, const Vector& x) {
  if (!norm) return x;
  const auto size = static_cast<double>(x.size());
  double mean = 0.0;
  if (norm->kind == NormKind::layer) {
    for (const double value : x) mean += value / size;
  }
  double variance = 0.0;
  for (const double value : x) variance += (value - mean) * (value - mean) / size;
  Vector y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double scale = norm->scale.empty() ? 1.0 : static_cast<double>(norm->scale[k]);
    y[k] = scale * (x[k] - mean) / std::sqrt(variance + norm->epsilon);
    if (!norm->shift.empty()) y[k] += static_cast<double>(norm->shift[k]);
  }
  return y;
}

Vector head_part(const Vector& all, std::size_t head, std::size_t d) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(head * d);
  return {first, first + static_cast<std::ptrdiff_t>(d)};
}

void rotate(const Rotation& rotation, std::size_t position, Vector& x) {
  const std::size_t half = rotation.frequencies.size();
  for (std::size_t k = 0; k < half; ++k) {
    const bool neighbours = rotation.planes == RotationPlanes::neighbours;
    double& first = x[neighbours ? 2 * k : k];
    double& second = x[neighbours ? 2 * k + 1 : k + half];
    const double angle = rotation.frequencies[k] * static_cast<double>(position);
    const double a = first;
    const double b = second;
    first = rotation.factor * (a * std::cos(angle) - b * std::sin(angle));
    second = rotation.factor * (a * std::sin(angle) + b * std::cos(angle));
  }
}

// One layer over a whole text: first the keys and values of all tokens, [key head][token], then
// each token in turn.
class ReferenceLayer {
 public:
  ReferenceLayer(const Architecture& model, LayerWeights weights, LayerScheme scheme)
      : model_(&model),
        weights_(std::move(weights)),
        scheme_(std::move(scheme)),
        keys_(model.key_heads),
        values_(model.key_heads) {}

  void run(Text& text, const attention::LogitMultiplier& multiplier) {
    for (const Vector& x : text) remember(normed(weights_.attention_norm, x));
    for (std::size_t position = 0; position < text.size(); ++position) {
      Vector& x = text[position];
      join(x, attention(normed(weights_.attention_norm, x), position, multiplier));
      if (weights_.feed_forward) join(x, feed_forward(*weights_.feed_forward, x));
    }
  }

 private:
  void join(Vector& x, const Vector& change) const {
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = model_->parts.residual ? x[k] + model_->parts.branch * change[k] : change[k];
    }
  }

  void remember(const Vector& y) {
    const std::size_t position = keys_[0].size();
    const Vector keys = product(weights_.key, y);
    const Vector values = product_if(weights_.value, y);
    for (std::size_t head = 0; head < model_->key_heads; ++head) {
      Vector key = normed(weights_.key_norm, head_part(keys, head, model_->head_dimension));
      rotate(scheme_.rotation, position, key);
      keys_[head].push_back(key);
      values_[head].push_back(head_part(values, head, model_->head_dimension));
    }
  }

  Vector attention(const Vector& y, std::size_t position,
                   const attention::LogitMultiplier& multiplier) const {
    const Vector queries = product(weights_.query, y);
    Vector mixed;
    for (std::size_t head = 0; head < model_->heads; ++head) {
      Vector query = normed(weights_.query_norm, head_part(queries, head, model_->head_dimension));
      rotate(scheme_.rotation, position, query);
      scale(query, position);
      const Vector out = mix(query, head / model_->group(), position, multiplier);
      mixed.insert(mixed.end(), out.begin(), out.end());
    }
    return product_if(weights_.output, mixed);
  }

  void scale(Vector& query, std::size_t position) const {
    const QueryFactors factors = query_factors(scheme_, position);
    for (std::size_t k = 0; k < query.size(); ++k) {
      query[k] *= k < scheme_.rotation.rotary_dimension() ? factors.rotary : factors.other;
    }
  }

  Vector mix(const Vector& query, std::size_t key_head, std::size_t position,
             const attention::LogitMultiplier& multiplier) const {
    const Range seen = scheme_.mask.visible(position, keys_[key_head].size());
    const double m = multiplier ? multiplier(seen.size()) : 1.0;
    Vector scores;
    for (std::size_t j = seen.begin; j < seen.end; ++j) {
      double score = 0.0;
      for (std::size_t k = 0; k < query.size(); ++k) score += query[k] * keys_[key_head][j][k];
      score *= m * scheme_.scale;
      const double cap = scheme_.softcap;
      scores.push_back(cap > 0.0 ? cap * std::tanh(score / cap) : score);
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    Vector out(query.size(), 0.0);
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const double weight = std::exp(scores[j] - largest);
      total += weight;
      const Vector& value = values_[key_head][seen.begin + j];
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += weight * value[k];
    }
    for (double& value : out) value /= total;
    return out;
  }

  [[nodiscard]] Vector feed_forward(const FeedForward& weights, const Vector& x) const {
    const Vector y = normed(weights.norm, x);
    Vector inner = product(weights.up, y);
    const Vector gate = weights.gate ? product(*weights.gate, y) : inner;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      const double active = activated(model_->activation, gate[k]);
      inner[k] = weights.gate ? active * inner[k] : active;
    }
    return product(weights.down, inner);
  }

  const Architecture* model_;
  LayerWeights weights_;
  LayerScheme scheme_;
  std::vector<Text> keys_, values_;
};

Text embeddings(const Model& model, std::span<const int> tokens) {
  Matrix<float> rounded(tokens.size(), model.architecture.hidden);
  model.weights.embed(tokens, rounded);
  Text text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    text.emplace_back(rounded.row(i).begin(), rounded.row(i).end());
  }
  return text;
}

}  // namespace

Matrix<double> reference_logits(const std::filesystem::path& path, std::span<const int> tokens,
                                const std::optional<scaling::RopeScaling>& rope,
                                const attention::LogitMultiplier& multiplier) {
  const Model model = open_model(path);
  check_tokens(model, tokens);
  const auto schemes = layer_schemes(model.config, rope, tokens.size());
  Text text = embeddings(model, tokens);
  for (std::size_t layer = 0; layer < schemes.size(); ++layer) {
    ReferenceLayer(model.architecture, model.weights.layer(layer), schemes[layer])
        .run(text, multiplier);
  }

  const std::optional<Norm> last_norm = model.weights.last_norm();
  const Linear head{model.weights.head({0, model.architecture.vocabulary}), {}};
  Matrix<double> logits(tokens.size(), model.architecture.vocabulary);
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    const Vector y = product(head, normed(last_norm, text[token]));
    std::copy(y.begin(), y.end(), logits.row(token).begin());
  }
  return logits;
}

}  // namespace dewpoint::models
