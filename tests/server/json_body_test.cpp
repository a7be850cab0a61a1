#include "dewpoint/server/json_body.hpp"

#include <gtest/gtest.h>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

std::string refusal_of_body(const std::string& text) {
  try {
    (void)parse_body(text);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    return refusal.what();
  }
  return {};
}

TEST(JsonBody, IsAnObjectOfBoundedDepth) {
  EXPECT_EQ(parse_body(R"({"a": 1})")["a"], 1);
  for (const char* text : {"", "{", "nul", "\xff\xfe", "{\"a\":1}x"}) {
    EXPECT_EQ(refusal_of_body(text), "body: is not JSON") << text;
  }
  EXPECT_EQ(refusal_of_body("{\"q\": {\"n\": 1e999}}"), "n: a number is larger than 1.8e308");
  for (const char* text : {"[]", "1", "null", "\"a\""}) {
    EXPECT_EQ(refusal_of_body(text), "body: is not a JSON object") << text;
  }
  EXPECT_EQ(refusal_of_body("{\"a\":" + std::string(100000, '[')),
            "body: JSON is deeper than 8 levels");
}

TEST(JsonBody, AnUnknownFieldIsAnErrorWithTheNearest) {
  try {
    refuse_unknown_fields({{"gama", 1}}, {"rho", "gamma"});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "gama: is not known; did you mean 'gamma'? Allowed: rho, gamma");
    EXPECT_EQ(refusal.field(), "gama");
  }
}

TEST(JsonBody, AClientHasAPlainName) {
  EXPECT_EQ(body_client({{"client", "tab-5f0c9a"}}), "tab-5f0c9a");
  for (const Json& client : {Json("abc"), Json("tab 1234"), Json(12345), Json(nullptr),
                             Json(std::string(65, 'a')), Json("../../etc")}) {
    EXPECT_THROW((void)body_client({{"client", client}}), Refusal) << client;
  }
}

}  // namespace
}  // namespace dewpoint::server
