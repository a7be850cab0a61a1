#include "dewpoint/server/answer_cache.hpp"

#include <gtest/gtest.h>

namespace dewpoint::server {
namespace {

std::shared_ptr<const SentResult> answer_of(std::size_t letters) {
  auto answer = std::make_shared<SentResult>();
  answer->text.assign(letters, 'x');
  return answer;
}

// Properties (1) and (3).
TEST(AnswerCache, ForgetsTheLeastRecentlyUsed) {
  AnswerCache cache(4000);
  cache.put("a", answer_of(1000));
  cache.put("b", answer_of(1000));
  cache.put("c", answer_of(1000));
  ASSERT_NE(cache.find("a"), nullptr);
  cache.put("d", answer_of(1000));
  EXPECT_EQ(cache.find("b"), nullptr);
  for (const char* key : {"a", "c", "d"}) EXPECT_NE(cache.find(key), nullptr) << key;
  EXPECT_LE(cache.bytes(), 4000u);
}

// Property (2).
TEST(AnswerCache, DoesNotKeepWhatIsLargerThanItself) {
  AnswerCache cache(4000);
  cache.put("small", answer_of(100));
  cache.put("large", answer_of(5000));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_NE(cache.find("small"), nullptr);
}

TEST(AnswerCache, ReplacesAnAnswer) {
  AnswerCache cache(4000);
  cache.put("a", answer_of(100));
  const std::size_t bytes = cache.bytes();
  cache.put("a", answer_of(100));
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(AnswerCache, CountsArraysAndStudies) {
  auto answer = std::make_shared<SentResult>();
  const std::size_t bare = answer->bytes();
  answer->arrays.push_back({"gram", {10, 10}, std::vector<double>(100)});
  EXPECT_EQ(answer->bytes(), bare + 800);
  store::StudyRecord study;
  study.attachments.push_back({"state", std::vector<std::byte>(5000)});
  answer->study = std::make_shared<const store::StudyRecord>(std::move(study));
  EXPECT_GE(answer->bytes(), bare + 5800);
}

}  // namespace
}  // namespace dewpoint::server
