#include "dewpoint/tokens/token_block.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint::tokens {
namespace {

// 66 tokens in clusters of 6; an odd d, so that blocks begin in the middle of a pair of normals.
CloudParameters parameters(const std::string& law, std::size_t d, Norm norm) {
  CloudParameters p;
  p.law = law;
  p.n = 66;
  p.d = d;
  p.rho = 0.3;
  p.rho_inner = 0.7;
  p.cluster_size = 6;
  p.norm = norm;
  return resolved(p);
}

bool same_token(const TokenCloud& a, std::size_t i, const TokenCloud& b, std::size_t j) {
  const auto row = a.directions.row(i);
  return a.norms[i] == b.norms[j] &&
         std::memcmp(row.data(), b.directions.row(j).data(), row.size_bytes()) == 0;
}

std::vector<CloudParameters> laws_with_blocks() {
  std::vector<CloudParameters> laws;
  for (const char* law : {"equicorrelated", "clustered", "sphere", "half-sphere"}) {
    for (const std::size_t d : {5U, 8U}) {
      for (const Norm norm : {Norm::unit, Norm::gauss_per_d, Norm::gauss}) {
        laws.push_back(parameters(law, d, norm));
      }
    }
  }
  return laws;
}

// Property (1), for blocks that cut clusters and pairs of normals.
TEST(TokenBlock, HasTheTokensOfTheCloudBitForBit) {
  for (CloudParameters p : laws_with_blocks()) {
    for (const Common common : {Common::random, Common::fixed}) {
      p.common = common;
      const TokenCloud cloud = make_cloud(p, test::seed(), 3);
      for (const Range range : {Range{0, 66}, Range{0, 1}, Range{7, 32}, Range{65, 66}}) {
        const TokenCloud block = make_block(p, test::seed(), 3, range);
        ASSERT_EQ(block.size(), range.size());
        for (std::size_t i = 0; i < block.size(); ++i) {
          EXPECT_TRUE(same_token(block, i, cloud, range.begin + i)) << p.law << " " << p.d;
        }
      }
    }
  }
}

TEST(TokenBlock, ChosenTokensAreThoseOfTheCloud) {
  const std::vector<std::size_t> chosen = {3, 64, 11};
  for (const CloudParameters& p : laws_with_blocks()) {
    const TokenCloud cloud = make_cloud(p, test::seed(), 1);
    const TokenCloud some = make_tokens(p, test::seed(), 1, chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_TRUE(same_token(some, i, cloud, chosen[i])) << p.law << " " << p.d;
    }
  }
}

TEST(TokenBlock, AnEmptyBlockHasNoTokens) {
  for (const CloudParameters& p : laws_with_blocks()) {
    EXPECT_EQ(make_block(p, 1, 0, {12, 12}).size(), 0U) << p.law;
  }
}

TEST(TokenBlock, OnlyRandomLawsHaveBlocks) {
  for (const std::string& law : law_names()) {
    CloudParameters p;
    p.law = law;
    EXPECT_NE(has_blocks(p), is_deterministic(p)) << law;
  }
  CloudParameters file;
  file.law = "tokens.npy";
  EXPECT_FALSE(has_blocks(file));
}

}  // namespace
}  // namespace dewpoint::tokens
