#include "dewpoint/attention/variants/layer_form.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "dewpoint/core/error.hpp"

namespace dewpoint::attention {
namespace {

std::string refusal(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

std::string refusal_of(const LayerForm& form, std::size_t n, std::size_t d) {
  return refusal([&] { check(form, n, d); });
}

TEST(LayerForm, NamesComeBack) {
  for (const char* mask : {"none", "causal", "window:7", "dilated:4:2", "global:4:1"}) {
    for (const char* kind : {"softmax", "sink:-1.5", "off-by-one", "top:3", "linear"}) {
      for (const char* projections : {"none", "orthogonal:4"}) {
        const LayerForm form = parse_layer_form(mask, kind, projections, 0.0);
        EXPECT_EQ(form.mask.name(), mask);
        EXPECT_EQ(name_of(form.attention), kind);
        EXPECT_EQ(projections_name(form), projections);
      }
    }
  }
  EXPECT_EQ(name_of(LayerForm{}), "plain softmax");
  EXPECT_EQ(name_of(parse_layer_form("window:8", "top:4", "orthogonal:2", 1e4)),
            "mask window:8, attention top:4, projections orthogonal:2, rope 10000");
}

TEST(LayerForm, IsPlainWhereTheLayersWithoutVariantsServeIt) {
  EXPECT_EQ(parse_layer_form("window:8", "softmax", "none", 0.0).plain_mask(), Mask::window(8));
  EXPECT_EQ(LayerForm{}.plain_mask(), Mask::none());
  EXPECT_FALSE(parse_layer_form("dilated:8:2", "softmax", "none", 0.0).plain_mask());
  EXPECT_FALSE(parse_layer_form("none", "off-by-one", "none", 0.0).plain_mask());
  EXPECT_FALSE(parse_layer_form("none", "softmax", "orthogonal:1", 0.0).plain_mask());
  EXPECT_FALSE(parse_layer_form("none", "softmax", "none", 1e4).plain_mask());
}

TEST(LayerForm, KnowsWhatIsDrawn) {
  EXPECT_FALSE(parse_layer_form("causal", "linear", "none", 1e4).is_random());
  EXPECT_TRUE(parse_layer_form("causal", "features:8", "none", 0.0).is_random());
  EXPECT_TRUE(parse_layer_form("none", "softmax", "orthogonal:1", 0.0).is_random());
}

TEST(LayerForm, RefusesNamesThatThereAreNot) {
  const auto of = [](const char* mask, const char* kind, const char* projections, double base) {
    return refusal([&] { (void)parse_layer_form(mask, kind, projections, base); });
  };
  EXPECT_EQ(of("window:0", "softmax", "none", 0.0),
            "mask: window:0 leaves every query without a visible key; the width must be >= 1");
  EXPECT_EQ(of("none,causal", "softmax", "none", 0.0).substr(0, 26), "mask: 'none,causal' is not");
  EXPECT_EQ(of("none", "top:0", "none", 0.0).substr(0, 22), "attention: top:0 leave");
  for (const char* projections : {"orthogonal", "orthogonal:0", "orthogonal:-1", "orthogonal:2x"}) {
    EXPECT_EQ(of("none", "softmax", projections, 0.0),
              "projections: '" + std::string(projections) +
                  "' is not none (queries, keys and values are the tokens) or orthogonal:H (random "
                  "orthogonal matrices, H >= 1 heads)");
  }
  for (const double base : {-1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(of("none", "softmax", "none", base).substr(0, 10), "rope: base");
  }
}

TEST(LayerForm, RefusesWhatContradictsItself) {
  EXPECT_EQ(refusal_of(parse_layer_form("none", "top:9", "none", 0.0), 8, 4),
            "attention: top:9 keeps more keys than a query sees, 8 of 8 tokens under mask none; K "
            "is at most 8");
  EXPECT_EQ(
      refusal_of(parse_layer_form("window:4", "top:5", "none", 0.0), 8, 4),
      "attention: top:5 keeps more keys than a query sees, 4 of 8 tokens under mask window:4; "
      "K is at most 4");
  EXPECT_EQ(refusal_of(parse_layer_form("global:2:2", "top:5", "none", 0.0), 8, 4),
            "attention: top:5 keeps more keys than a query sees, 4 of 8 tokens under mask "
            "global:2:2; K is at most 4");
  EXPECT_EQ(refusal_of(parse_layer_form("window:4", "linear", "none", 0.0), 8, 4),
            "attention: linear needs the mask none or causal, not window:4");
  EXPECT_EQ(refusal_of(parse_layer_form("none", "softmax", "orthogonal:3", 0.0), 8, 4),
            "projections: 3 heads do not divide the dimension 4 of the tokens");
  EXPECT_NE(refusal_of(parse_layer_form("none", "softmax", "orthogonal:4", 1e4), 8, 4), "accepted");
  EXPECT_EQ(refusal_of(parse_layer_form("window:4", "top:4", "orthogonal:2", 1e4), 8, 4),
            "accepted");
}

TEST(LayerForm, EachLayerOfAStackHasMatricesOfItsOwn) {
  const LayerForm form = parse_layer_form("none", "softmax", "orthogonal:2", 0.0);
  const auto first = layer_variant(form, 6, 1.5, 0.5, 7, 3);
  const auto again = layer_variant(form, 6, 1.5, 0.5, 7, 3, 0);
  const auto second = layer_variant(form, 6, 1.5, 0.5, 7, 3, 1);
  EXPECT_EQ(first.projections.heads, 2u);
  EXPECT_EQ(first.residual, 0.5);
  EXPECT_EQ(first.projections.queries(0, 0), again.projections.queries(0, 0));
  EXPECT_NE(first.projections.queries(0, 0), second.projections.queries(0, 0));
  EXPECT_NE(first.projections.queries(0, 0), first.projections.keys(0, 0));
}

}  // namespace
}  // namespace dewpoint::attention
