#include "dewpoint/server/access_rules.hpp"

#include <gtest/gtest.h>

#include "dewpoint/core/error.hpp"

namespace dewpoint::server {
namespace {

const AccessRules kHere{"127.0.0.1", 8017, ""};

int status_of(const AccessRules& rules, const RequestFacts& request) {
  const auto denied = denial(rules, request);
  return denied ? denied->status : 0;
}

RequestFacts reading(const std::string& host) { return {"GET", host, "", "", "", ""}; }

RequestFacts posting(const std::string& origin) {
  return {"POST", "127.0.0.1:8017", origin, "", "", "application/json"};
}

TEST(AccessRules, AHostMustBeANameOfOurs) {
  for (const char* host : {"127.0.0.1:8017", "localhost:8017", "LocalHost:8017", "[::1]:8017"}) {
    EXPECT_EQ(status_of(kHere, reading(host)), 0) << host;
  }
  for (const char* host : {"", "127.0.0.1", "evil.example:8017", "127.0.0.1:80",
                           "127.0.0.1:8017.evil.example", "localhost:8017@evil.example"}) {
    EXPECT_EQ(status_of(kHere, reading(host)), 403) << host;
  }
}

TEST(AccessRules, AnotherSiteMayNotChangeAnything) {
  EXPECT_EQ(status_of(kHere, posting("")), 0);
  EXPECT_EQ(status_of(kHere, posting("http://127.0.0.1:8017")), 0);
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8017",
                             "http://localhost:8017", "http://127.0.0.1:8018"}) {
    EXPECT_EQ(status_of(kHere, posting(origin)), 403) << origin;
  }
}

TEST(AccessRules, ABodyIsJson) {
  RequestFacts request = posting("");
  request.content_type = "text/plain";
  EXPECT_EQ(status_of(kHere, request), 415);
  request.content_type = "Application/JSON; charset=utf-8";
  EXPECT_EQ(status_of(kHere, request), 0);
}

TEST(AccessRules, ATokenComesInAHeaderOrInACookie) {
  const AccessRules rules{"192.168.1.5", 8017, "abcdefghijklmnop"};
  EXPECT_EQ(rules.cookie(), "dewpoint-8017=abcdefghijklmnop; Path=/; HttpOnly; SameSite=Strict");
  RequestFacts request = reading("192.168.1.5:8017");
  EXPECT_EQ(status_of(rules, request), 401);
  for (const char* cookie :
       {"dewpoint-8017=abcdefghijklmnoq", "dewpoint-8018=abcdefghijklmnop", "dewpoint-8017", ";;",
        "x=1; y=dewpoint-8017=abcdefghijklmnop", "dewpoint-8017=\"abcdefghijklmnop\""}) {
    request.cookie = cookie;
    EXPECT_EQ(status_of(rules, request), 401) << cookie;
  }
  for (const char* cookie :
       {"dewpoint-8017=abcdefghijklmnop", "x=1; dewpoint-8017=abcdefghijklmnop;y=2"}) {
    request.cookie = cookie;
    EXPECT_EQ(status_of(rules, request), 0) << cookie;
  }
  request.authorization = "Bearer abcdefghijklmnopx";  // the header counts
  EXPECT_EQ(status_of(rules, request), 401);
  request.authorization = "Bearer abcdefghijklmnop";
  EXPECT_EQ(status_of(rules, request), 0);
}

TEST(AccessRules, ATokenFitsAnAddressAndACookie) {
  EXPECT_NO_THROW(require_token("correct-horse-battery"));
  for (const char* token :
       {"", "short", "sixteen letters!", "0123456789abcde;", "0123456789abcde/"}) {
    EXPECT_THROW(require_token(token), Error) << token;
  }
}

TEST(AccessRules, EqualityLooksAtEverything) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"", "a", "abd", "bbc", "abcabc", "ab"}) {
    EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
    EXPECT_FALSE(equal_in_constant_time(other, "abc")) << other;
  }
}

TEST(AccessRules, TheLoopbackIsKnown) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.168.0.1", "example.org"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

}  // namespace
}  // namespace dewpoint::server
