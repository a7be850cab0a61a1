#include "dewpoint/server/explorer_page.hpp"

#include <gtest/gtest.h>

namespace dewpoint::server {
namespace {

TEST(ExplorerPage, HasAFreshNonceInPageAndPolicy) {
  const ServedPage one = explorer_page();
  const ServedPage other = explorer_page();
  EXPECT_EQ(one.html.find(kNoncePlace), std::string::npos);
  EXPECT_NE(one.policy, other.policy);
  const auto begin = one.policy.find("'nonce-") + 7;
  const std::string nonce = one.policy.substr(begin, one.policy.find('\'', begin) - begin);
  EXPECT_EQ(nonce.size(), 32u);
  EXPECT_NE(one.html.find("nonce=\"" + nonce + "\""), std::string::npos);
}

TEST(ExplorerPage, AllowsNothingThatItDoesNotName) {
  const std::string policy = explorer_page().policy;
  EXPECT_TRUE(policy.starts_with("default-src 'none';"));
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  const auto scripts = policy.find("script-src");
  EXPECT_EQ(policy.substr(scripts, policy.find(';', scripts) - scripts).find("unsafe"),
            std::string::npos);
}

}  // namespace
}  // namespace dewpoint::server
