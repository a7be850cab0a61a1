#include "dewpoint/server/request_head.hpp"

#include <gtest/gtest.h>

#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {
namespace {

constexpr std::size_t kMostBody = 1000;

std::string head(const std::string& headers) {
  return "POST /api/phase HTTP/1.1\r\n" + headers + "\r\n";
}

int status_of(const std::string& bytes) {
  try {
    (void)read_head(bytes, kMostBody);
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
  return 0;
}

// Property (1).
TEST(RequestHead, TheLibrarySeesWhatTheServerReads) {
  const std::string bytes = head(
      "HOST:  a:1 \r\nAccept: */*\r\nRange: bytes=0-1\r\ncookie: x=1\r\nContent-Length: 5\r\n");
  const RequestHead found = read_head(bytes + "hello, and more", kMostBody);
  EXPECT_EQ(found.text,
            "POST /api/phase HTTP/1.1\r\nhost: a:1\r\ncookie: x=1\r\ncontent-length: 5\r\n\r\n");
  EXPECT_EQ(found.size, bytes.size());
  EXPECT_EQ(found.body, 5u);
  EXPECT_EQ(read_head(head(""), kMostBody).body, 0u);
}

TEST(RequestHead, IsBounded) {
  const std::string full(kMostHeadBytes - head("A: \r\n").size(), 'a');
  EXPECT_EQ(status_of(head("A: " + full + "\r\n")), 0);
  EXPECT_EQ(status_of(head("A: a" + full + "\r\n")), 431);
  std::string many;
  for (std::size_t k = 0; k < kMostHeaders; ++k) many += "A: b\r\n";
  EXPECT_EQ(status_of(head(many)), 0);
  EXPECT_EQ(status_of(head(many + "A: b\r\n")), 431);
  EXPECT_EQ(status_of("GET /" + std::string(kMostAddressBytes, 'a') + " HTTP/1.1\r\n\r\n"), 414);
  EXPECT_EQ(status_of(head("Content-Length: 1000\r\n")), 0);
  EXPECT_EQ(status_of(head("Content-Length: 1001\r\n")), 413);
  EXPECT_EQ(status_of(head("Content-Length: 99999999999999999999\r\n")), 413);
}

TEST(RequestHead, ABodyComesAsItIsAndWithItsLength) {
  EXPECT_EQ(status_of(head("Transfer-Encoding: chunked\r\n")), 411);
  EXPECT_EQ(status_of(head("Content-Encoding: gzip\r\n")), 415);
  EXPECT_EQ(status_of(head("Content-Encoding: identity\r\n")), 0);
  for (const char* length : {"", "-1", "+1", "1x", "0x10", "1, 1"}) {
    EXPECT_EQ(status_of(head(std::string("Content-Length: ") + length + "\r\n")), 400) << length;
  }
}

TEST(RequestHead, NothingIsSaidTwice) {
  for (const char* name : {"Host", "Content-Length", "Content-Type", "Origin", "Cookie"}) {
    const std::string line = std::string(name) + ": 1\r\n";
    EXPECT_EQ(status_of(head(line)), 0) << name;
    EXPECT_EQ(status_of(head(line + line)), 400) << name;
  }
  EXPECT_EQ(status_of(head("Accept: a\r\nAccept: b\r\n")), 0);  // nobody reads it
}

TEST(RequestHead, LinesAreHeaders) {
  for (const char* line : {"no colon", ": no name", " folded: line", "a b: c", "a: b\nhost: c",
                           "a: b\rc", "a: \x01"}) {
    EXPECT_EQ(status_of(head(std::string(line) + "\r\n")), 400) << line;
  }
  EXPECT_EQ(status_of("\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n"), 431);  // no end of it
}

}  // namespace
}  // namespace dewpoint::server
