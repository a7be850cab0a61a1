#include "dewpoint/models/reference_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dewpoint/models/layer_scheme.hpp"
#include "dewpoint/models/model.hpp"

namespace dewpoint::models {
namespace {

using Vector = std::vector<double>;

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

Vector normed(const Norm& norm, const Vector& x) {
  const auto size = static_cast<double>(x.size());
  double mean = 0.0;
  if (norm.kind == NormKind::layer) {
    for (const double value : x) mean += value / size;
  }
  double variance = 0.0;
  for (const double value : x) variance += (value - mean) * (value - mean) / size;
  Vector y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    y[k] = static_cast<double>(norm.scale[k]) * (x[k] - mean) / std::sqrt(variance + norm.epsilon);
    if (!norm.shift.empty()) y[k] += static_cast<double>(norm.shift[k]);
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

// One layer and what it remembers: keys and values of the tokens so far, [key head][token].
class ReferenceLayer {
 public:
  ReferenceLayer(const Architecture& model, LayerWeights weights, LayerScheme scheme)
      : model_(&model),
        weights_(std::move(weights)),
        scheme_(std::move(scheme)),
        keys_(model.key_heads),
        values_(model.key_heads) {}

  void run(Vector& x, const attention::LogitMultiplier& multiplier) {
    const Vector attended = attention(normed(weights_.attention_norm, x), multiplier);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += attended[k];
    const Vector change = feed_forward(normed(weights_.feed_forward_norm, x));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += change[k];
  }

 private:
  Vector attention(const Vector& y, const attention::LogitMultiplier& multiplier) {
    const std::size_t position = keys_[0].size();
    remember(y, position);
    const Vector queries = product(weights_.query, y);
    Vector mixed;
    for (std::size_t head = 0; head < model_->heads; ++head) {
      Vector query = head_part(queries, head, model_->head_dimension);
      if (model_->query_key_norm) query = normed(weights_.query_norm, query);
      rotate(scheme_.rotation, position, query);
      scale(query, position);
      const Vector out = mix(query, head / model_->group(), position, multiplier);
      mixed.insert(mixed.end(), out.begin(), out.end());
    }
    return product(weights_.output, mixed);
  }

  void remember(const Vector& y, std::size_t position) {
    const Vector keys = product(weights_.key, y);
    const Vector values = product(weights_.value, y);
    for (std::size_t head = 0; head < model_->key_heads; ++head) {
      Vector key = head_part(keys, head, model_->head_dimension);
      if (model_->query_key_norm) key = normed(weights_.key_norm, key);
      rotate(scheme_.rotation, position, key);
      keys_[head].push_back(key);
      values_[head].push_back(head_part(values, head, model_->head_dimension));
    }
  }

  void scale(Vector& query, std::size_t position) const {
    const QueryFactors factors = query_factors(scheme_, position);
    for (std::size_t k = 0; k < query.size(); ++k) {
      query[k] *= k < scheme_.rotation.rotary_dimension() ? factors.rotary : factors.other;
    }
  }

  Vector mix(const Vector& query, std::size_t key_head, std::size_t position,
             const attention::LogitMultiplier& multiplier) const {
    const Range seen = scheme_.mask.visible(position, position + 1);
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

  Vector feed_forward(const Vector& y) const {
    Vector inner = product(weights_.up, y);
    const bool gated = model_->family == Family::llama;
    const Vector gate = gated ? product(weights_.gate, y) : inner;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      const double active = activated(model_->activation, gate[k]);
      inner[k] = gated ? active * inner[k] : active;
    }
    return product(weights_.down, inner);
  }

  const Architecture* model_;
  LayerWeights weights_;
  LayerScheme scheme_;
  std::vector<std::vector<Vector>> keys_, values_;
};

Matrix<double> embeddings(const Model& model, std::span<const int> tokens) {
  Matrix<float> rounded(tokens.size(), model.architecture.hidden);
  model.weights.embed(tokens, rounded);
  Matrix<double> x(tokens.size(), model.architecture.hidden);
  std::copy_n(rounded.data(), x.size(), x.data());
  return x;
}

}  // namespace

Matrix<double> reference_logits(const std::filesystem::path& path, std::span<const int> tokens,
                                const std::optional<scaling::RopeScaling>& rope,
                                const attention::LogitMultiplier& multiplier) {
  const Model model = open_model(path);
  check_tokens(model, tokens);
  const auto schemes = layer_schemes(model.config, rope, tokens.size());
  std::vector<ReferenceLayer> layers;
  for (std::size_t layer = 0; layer < schemes.size(); ++layer) {
    layers.emplace_back(model.architecture, model.weights.layer(layer), schemes[layer]);
  }
  const Norm last_norm = model.weights.last_norm();
  const Linear head{model.weights.head({0, model.architecture.vocabulary}), {}};
  const Matrix<double> embedded = embeddings(model, tokens);

  Matrix<double> logits(tokens.size(), model.architecture.vocabulary);
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    const auto row = embedded.row(token);
    Vector x(row.begin(), row.end());
    for (ReferenceLayer& layer : layers) layer.run(x, multiplier);
    const Vector y = product(head, normed(last_norm, x));
    std::copy(y.begin(), y.end(), logits.row(token).begin());
  }
  return logits;
}

}  // namespace dewpoint::models
