#include "dewpoint/server/event_feed.hpp"

#include <gtest/gtest.h>

namespace dewpoint::server {
namespace {

std::shared_ptr<const SentResult> answer_of(const std::string& text) {
  auto answer = std::make_shared<SentResult>();
  answer->text = text;
  return answer;
}

std::shared_ptr<Job> job_of() {
  return std::make_shared<Job>("1-a", "tab-1", "phase", Json::object(), "dewpoint phase map");
}

TEST(JobFeed, TellsResultsThenTheEnd) {
  const auto job = job_of();
  JobFeed feed(job, 0);
  ASSERT_TRUE(job->begin());
  job->publish(answer_of("{\"a\":1}"));
  const FeedPiece first = feed.next();
  EXPECT_TRUE(first.text.starts_with("id: 1\nevent: result\ndata: {\"job\":\"1-a\""));
  EXPECT_TRUE(first.text.ends_with(",\"result\":{\"a\":1}}\n\n"));
  EXPECT_FALSE(first.last);
  job->publish(answer_of("2"));
  job->publish(answer_of("3"));  // 2 is outdated before anybody saw it
  job->finish();
  const FeedPiece rest = feed.next();
  EXPECT_TRUE(rest.text.starts_with("id: 3\n"));
  EXPECT_NE(rest.text.find("event: end\ndata: {\"job\":\"1-a\",\"state\":\"done\""),
            std::string::npos);
  EXPECT_TRUE(rest.last);
}

TEST(JobFeed, LeavesOutWhatTheClientHas) {
  const auto job = job_of();
  ASSERT_TRUE(job->begin());
  job->publish(answer_of("1"));
  job->finish();
  JobFeed feed(job, 1);
  const FeedPiece piece = feed.next();
  EXPECT_EQ(piece.text.find("event: result"), std::string::npos);
  EXPECT_TRUE(piece.last);
}

TEST(JobFeed, KeepsItsJobWatched) {
  const auto job = job_of();
  const auto later = Clock::now() + std::chrono::hours(1);
  EXPECT_GT(job->unwatched_for(later), std::chrono::minutes(59));
  {
    const JobFeed feed(job, 0);
    EXPECT_EQ(job->unwatched_for(later), Clock::duration::zero());
  }
  EXPECT_GT(job->unwatched_for(later), std::chrono::minutes(59));
}

TEST(JobView, HasTheResultOnlyWhereItIsNew) {
  const auto job = job_of();
  ASSERT_TRUE(job->begin());
  job->publish(answer_of("{\"map\":[]}"));
  const JobStatus status = job->status();
  EXPECT_EQ(Json::parse(view_text(*job, status, 0))["result"], Json({{"map", Json::array()}}));
  EXPECT_TRUE(Json::parse(view_text(*job, status, 1))["result"].is_null());
}

}  // namespace
}  // namespace dewpoint::server
