#include "dewpoint/attention/variants/attention_kind.hpp"

#include <gtest/gtest.h>

#include <string>

#include "dewpoint/core/error.hpp"

namespace dewpoint::attention {
namespace {

std::string complaint(const std::string& text) {
  try {
    (void)parse_attention_kind(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "accepted";
}

TEST(AttentionKind, ItsNameParsesBackToIt) {
  for (const std::string name : {"softmax", "off-by-one", "sink:-1.5", "sink:30", "top:1", "top:12",
                                 "linear", "features:1", "features:256"}) {
    EXPECT_EQ(name_of(parse_attention_kind(name)), name);
  }
}

TEST(AttentionKind, OffByOneIsASinkOfLogitZero) {
  EXPECT_EQ(parse_attention_kind("sink:0"), parse_attention_kind("off-by-one"));
}

TEST(AttentionKind, TheTopKeepsNoMoreThanThereAre) {
  EXPECT_EQ(Softmax::top(5).kept(3), 3U);
  EXPECT_EQ(Softmax::top(5).kept(9), 5U);
  EXPECT_EQ(Softmax::plain().kept(9), 9U);
}

TEST(AttentionKind, WhatMeansNothingIsRefusedWithTheReason) {
  EXPECT_EQ(complaint("top:0"),
            "attention: top:0 leaves every query without a key; K must be >= 1");
  EXPECT_EQ(complaint("features:0"), "attention: features:0 knows no kernel; M must be >= 1");
  EXPECT_EQ(complaint("sink:inf"), "attention: sink:inf has no finite logit; softmax has no sink");
  EXPECT_EQ(complaint("sink:nan"), "attention: sink:nan has no finite logit; softmax has no sink");
}

TEST(AttentionKind, AnythingElseIsRefusedByName) {
  for (const std::string text : {"", "Softmax", "sink", "sink:", "sink:x", "top", "top:-1",
                                 "top:2.5", "features", "features:3:4", "linear:2", "off-by-two"}) {
    EXPECT_NE(complaint(text).find("'" + text + "' is not softmax, sink:B"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace dewpoint::attention
