#include "dewpoint/transformer/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"

namespace dewpoint::transformer {
namespace {

// The one line that check() says about a shape; empty: it lets it pass.
std::string complaint(const Shape& shape) {
  try {
    check(shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return {};
}

TEST(CheckOfAShape, LetsOrdinaryModelsPass) {
  EXPECT_EQ(complaint({.vocabulary = 2000}), "");
  EXPECT_EQ(complaint({.vocabulary = 2, .width = 1}), "");
  EXPECT_EQ(complaint({.vocabulary = 5, .width = 512, .layers = 8, .heads = 8, .causal = true}),
            "");
  EXPECT_EQ(complaint({.vocabulary = 5, .layers = 8, .residual = true, .branch = 0.125}), "");
  EXPECT_EQ(complaint({kLargestVocabulary, kLargestWidth, kMostLayers, kLargestWidth}), "");
}

TEST(CheckOfAShape, NamesTheOptionItsValueAndWhatIsAllowed) {
  EXPECT_EQ(complaint({.vocabulary = 10, .width = 10, .heads = 4}),
            "heads: 4 does not divide the width 10");
  EXPECT_EQ(complaint({.vocabulary = 10, .width = 10, .heads = 0}),
            "heads: 0 is not between 1 and 10");
  EXPECT_EQ(complaint({.vocabulary = 10, .width = 10, .heads = 20}),
            "heads: 20 is not between 1 and 10");
  EXPECT_EQ(complaint({.vocabulary = 10, .width = 0}), "width: 0 is not between 1 and 65536");
  EXPECT_EQ(complaint({.vocabulary = 10, .layers = 0}), "layers: 0 is not between 1 and 1024");
  EXPECT_EQ(complaint({.vocabulary = 1}), "vocabulary: 1 is not between 2 and 1048576");
}

TEST(CheckOfAShape, RefusesSizesThatCountsOfWeightsWouldOverflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_NE(complaint({.vocabulary = most}).find("vocabulary: "), std::string::npos);
  EXPECT_NE(complaint({.vocabulary = 10, .width = most}).find("width: "), std::string::npos);
  EXPECT_NE(complaint({.vocabulary = 10, .layers = most}).find("layers: "), std::string::npos);
}

TEST(CheckOfAShape, RefusesABranchThatIsNoFactorOrHasNoResidual) {
  const auto with_branch = [](double branch) {
    return complaint({.vocabulary = 10, .residual = true, .branch = branch});
  };
  EXPECT_EQ(with_branch(0.0), "branch: 0 is not a positive finite number");
  EXPECT_EQ(with_branch(-0.5), "branch: -0.5 is not a positive finite number");
  EXPECT_EQ(with_branch(kUnknown), "branch: nan is not a positive finite number");
  EXPECT_EQ(with_branch(std::numeric_limits<double>::infinity()),
            "branch: inf is not a positive finite number");
  EXPECT_EQ(complaint({.vocabulary = 10, .branch = 0.5}),
            "branch: 0.5 needs a residual model; without residual it is 1");
}

TEST(CheckOfAShape, RefusesALawOfTheLogitsThatThereIsNotOrThatNeedsAMask) {
  const auto with_law = [](const std::string& law, bool causal = true) {
    return complaint({.vocabulary = 10, .causal = causal, .scaling = law});
  };
  EXPECT_EQ(with_law("ssmax:n0=32"), "");
  EXPECT_EQ(with_law("linear-log:s=0.43,b=0"), "");
  EXPECT_EQ(with_law("constant:1.5", false), "");
  EXPECT_EQ(with_law("ssmax"), "scaling: schedule: 'ssmax' needs the training length n0");
  EXPECT_NE(with_law("nosuch").find("scaling: schedule: 'nosuch' is unknown"), std::string::npos);
  EXPECT_EQ(with_law("ssmax:n0=32", false),
            "scaling: 'ssmax:n0=32' needs a causal mask, as without one all queries see the same "
            "keys; allowed without it: constant");
}

TEST(ScalingText, WritesTheLengthOfTrainingOutAndNothingForNoLaw) {
  EXPECT_EQ(scaling_text("ssmax", 32), "ssmax:n0=32");
  EXPECT_EQ(scaling_text("log-n:n0=64", 32), "log-n:n0=64");
  EXPECT_EQ(scaling_text("constant", 32), "");
  EXPECT_EQ(scaling_text("constant:1.2", 32), "constant:1.2");
  try {
    (void)scaling_text("sqrt-log", 1);
    ADD_FAILURE() << "log 1 is divided by";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    EXPECT_EQ(std::string(error.what()).find("scaling: n0: 1 "), 0U) << error.what();
  }
}

TEST(NameOfAShape, SaysWhatTheModelHas) {
  EXPECT_EQ(name_of({.vocabulary = 10}), "1L1H");
  EXPECT_EQ(name_of({.vocabulary = 10, .layers = 2, .heads = 4}), "2L4H");
  EXPECT_EQ(name_of({.vocabulary = 10, .residual = true, .value_matrix = true}),
            "1L1H residual value");
  EXPECT_EQ(name_of({10, 8, 8, 2, true, 0.125, true, true, true}),
            "8L2H residual branch 0.125 value causal norm");
  EXPECT_EQ(name_of({.vocabulary = 10, .causal = true, .scaling = "ssmax:n0=32"}),
            "1L1H causal scaling ssmax:n0=32");
}

// Property (1).
TEST(NameOfAShape, TellsShapesApart) {
  std::set<std::string> names;
  std::size_t shapes = 0;
  for (const std::size_t layers : {1, 12}) {
    for (const std::size_t heads : {1, 2}) {
      for (unsigned parts = 0; parts < 16; ++parts) {
        Shape shape{10, 8, layers, heads};
        shape.residual = parts & 1U;
        shape.value_matrix = parts & 2U;
        shape.causal = parts & 4U;
        shape.pre_norm = parts & 8U;
        names.insert(name_of(shape));
        ++shapes;
        if (!shape.residual) continue;
        shape.branch = 0.1 + 0.2;  // not 0.3
        names.insert(name_of(shape));
        shape.branch = 0.3;
        names.insert(name_of(shape));
        shapes += 2;
      }
    }
  }
  EXPECT_EQ(names.size(), shapes);
}

TEST(AShape, IsPermutationEquivariantUnlessItHasAMask) {
  EXPECT_TRUE(Shape{.vocabulary = 10}.permutation_equivariant());
  EXPECT_FALSE((Shape{.vocabulary = 10, .causal = true}.permutation_equivariant()));
}

}  // namespace
}  // namespace dewpoint::transformer
