#include "dewpoint/attention/variants/layer_form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "dewpoint/attention/named_numbers.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::attention {
namespace {

std::size_t parse_heads(const std::string& text) {
  if (text == "none") return 0;
  const auto heads = numbers_behind<std::size_t>("orthogonal", text, 1);
  if (heads && (*heads)[0] > 0) return (*heads)[0];
  throw Error(Code::bad_value,
              fmt::format("projections: '{}' is not none (queries, keys and values are the tokens) "
                          "or orthogonal:H (random orthogonal matrices, H >= 1 heads)",
                          text));
}

std::optional<double> base_of(const LayerForm& form) {
  return form.rotary_base > 0.0 ? std::optional(form.rotary_base) : std::nullopt;
}

}  // namespace

std::optional<Mask> LayerForm::plain_mask() const {
  const bool plain = attention == AttentionKind() && heads == 0 && rotary_base == 0.0;
  return plain ? mask.mask() : std::nullopt;
}

bool LayerForm::is_random() const {
  const auto* features = std::get_if<FeatureMap>(&attention);
  return heads > 0 || (features != nullptr && features->is_random());
}

LayerForm parse_layer_form(const std::string& mask, const std::string& attention,
                           const std::string& projections, double rotary_base) {
  if (!(rotary_base >= 0.0) || !std::isfinite(rotary_base)) {
    throw Error(Code::bad_value,
                fmt::format("rope: base {} is not a finite number above 0, or 0 for no rotations",
                            rotary_base));
  }
  return {parse_key_pattern(mask), parse_attention_kind(attention), parse_heads(projections),
          rotary_base};
}

std::string projections_name(const LayerForm& form) {
  return form.heads == 0 ? "none" : fmt::format("orthogonal:{}", form.heads);
}

std::string name_of(const LayerForm& form) {
  const LayerForm plain;
  std::vector<std::string> parts;
  if (form.mask != plain.mask) parts.push_back("mask " + form.mask.name());
  if (form.attention != plain.attention) parts.push_back("attention " + name_of(form.attention));
  if (form.heads > 0) parts.push_back("projections " + projections_name(form));
  if (form.rotary_base > 0.0) parts.push_back(fmt::format("rope {}", form.rotary_base));
  return parts.empty() ? "plain softmax" : fmt::format("{}", fmt::join(parts, ", "));
}

void check(const LayerForm& form, std::size_t n, std::size_t d) {
  check(form.attention, form.mask, n);
  Projections projections;
  projections.heads = std::max<std::size_t>(form.heads, 1);
  projections.rotary_base = base_of(form);
  check(projections, d);
}

LayerVariant layer_variant(const LayerForm& form, std::size_t d, double inverse_temperature,
                           double residual, std::uint64_t seed, std::uint64_t replica,
                           std::size_t layer) {
  LayerVariant variant{
      {inverse_temperature, form.mask, form.attention, seed, replica}, {}, residual};
  if (form.heads > 0) {
    variant.projections = random_projections(d, form.heads, seed, replica, layer);
  }
  variant.projections.rotary_base = base_of(form);
  return variant;
}

}  // namespace dewpoint::attention
