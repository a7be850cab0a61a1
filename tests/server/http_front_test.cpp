#include "dewpoint/server/http_front.hpp"

#include <gtest/gtest.h>

#include <new>
#include <thread>

namespace dewpoint::server {
namespace {

class HttpFrontTest : public testing::Test {
 protected:
  void SetUp() override {
    front_.Get("/fine", [](const httplib::Request&, httplib::Response& to) {
      to.set_content("fine", "text/plain");
    });
    // Behind the library's own catch: the answer is being written.
    front_.Get("/throws", [](const httplib::Request&, httplib::Response& to) {
      to.set_chunked_content_provider(
          "text/plain", [](std::size_t, httplib::DataSink&) -> bool { throw std::bad_alloc(); });
    });
    front_.Post("/echo", [](const httplib::Request& from, httplib::Response& to) {
      to.set_content(from.body, "text/plain");
    });
    front_.set_pre_routing_handler([](const httplib::Request& from, httplib::Response& to) {
      const auto refusal = HttpFront::refusal_of_head(from);
      if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
      to.status = refusal->status();
      to.set_content(refusal->what(), "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
    front_.set_payload_max_length(1 << 20);
    port_ = front_.bind_to_any_port("127.0.0.1");
    ASSERT_GT(port_, 0);
    thread_ = std::thread([this] { front_.answer(); });
  }

  void TearDown() override {
    front_.end();
    thread_.join();
  }

  [[nodiscard]] httplib::Client client() const { return httplib::Client("127.0.0.1", port_); }

  HttpFront front_{2};
  int port_ = 0;
  std::thread thread_;
};

TEST_F(HttpFrontTest, WhatIsThrownEndsItsConnectionOnly) {
  for (int k = 0; k < 5; ++k) {  // more than there are threads
    const auto broken = client().Get("/throws");
    EXPECT_FALSE(broken && broken->body == "fine");
  }
  const auto fine = client().Get("/fine");
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->body, "fine");
}

TEST_F(HttpFrontTest, ABodyArrivesWhole) {
  const std::string body(1 << 20, 'b');
  const auto answer = client().Post("/echo", body, "text/plain");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, body);
}

TEST_F(HttpFrontTest, AHeadThatIsRefusedSaysWhy) {
  const auto answer = client().Get("/fine", {{"A", std::string(40000, 'a')}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 431);
  EXPECT_EQ(answer->body, "head: is larger than 32768 bytes");
  // No peer can pretend to be the one who refuses.
  const auto pretended = client().Get("/fine", {{"Dewpoint-Status", "418"}});
  ASSERT_TRUE(pretended);
  EXPECT_EQ(pretended->body, "fine");
}

}  // namespace
}  // namespace dewpoint::server
