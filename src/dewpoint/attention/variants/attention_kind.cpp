#include "dewpoint/attention/variants/attention_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/attention/named_numbers.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::attention {

Softmax Softmax::sink(double logit) {
  if (!std::isfinite(logit)) {
    throw Error(Code::bad_value,
                fmt::format("attention: sink:{} has no finite logit; softmax has no sink", logit));
  }
  Softmax kind;
  kind.sink_logit_ = logit;
  return kind;
}

Softmax Softmax::top(std::size_t keys) {
  if (keys == 0) {
    throw Error(Code::bad_value,
                "attention: top:0 leaves every query without a key; K must be >= 1");
  }
  Softmax kind;
  kind.kept_ = keys;
  return kind;
}

std::size_t Softmax::kept(std::size_t visible) const {
  return kept_ == 0 ? visible : std::min(kept_, visible);
}

std::string Softmax::name() const {
  if (kept_ > 0) return fmt::format("top:{}", kept_);
  if (!sink_logit_) return "softmax";
  return *sink_logit_ == 0.0 ? "off-by-one" : fmt::format("sink:{}", *sink_logit_);
}

FeatureMap FeatureMap::random(std::size_t features) {
  if (features == 0) {
    throw Error(Code::bad_value, "attention: features:0 knows no kernel; M must be >= 1");
  }
  return FeatureMap(features);
}

std::size_t FeatureMap::features(std::size_t dimension) const {
  return is_random() ? random_ : dimension;
}

std::string FeatureMap::name() const {
  return is_random() ? fmt::format("features:{}", random_) : "linear";
}

std::string name_of(const AttentionKind& kind) {
  return std::visit([](const auto& which) { return which.name(); }, kind);
}

AttentionKind parse_attention_kind(const std::string& text) {
  if (text == "softmax") return Softmax::plain();
  if (text == "off-by-one") return Softmax::off_by_one();
  if (text == "linear") return FeatureMap::elu();
  if (const auto logit = numbers_behind<double>("sink", text, 1)) {
    return Softmax::sink((*logit)[0]);
  }
  if (const auto keys = numbers_behind<std::size_t>("top", text, 1)) {
    return Softmax::top((*keys)[0]);
  }
  if (const auto features = numbers_behind<std::size_t>("features", text, 1)) {
    return FeatureMap::random((*features)[0]);
  }
  throw Error(
      Code::bad_value,
      fmt::format("attention: '{}' is not softmax, sink:B with a logit B, off-by-one, top:K "
                  "with K >= 1 keys, linear or features:M with M >= 1",
                  text));
}

}  // namespace dewpoint::attention
