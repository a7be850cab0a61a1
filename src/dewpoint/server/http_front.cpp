#include "dewpoint/server/http_front.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "dewpoint/server/request_head.hpp"

namespace dewpoint::server {
namespace {

constexpr int kWaitingConnections = 256;  // one that finds the line full tries again after a second

// Headers that no peer can send: read_head() lets none through but those of its list.
constexpr const char* kRefusedStatus = "Dewpoint-Status";
constexpr const char* kRefusedReason = "Dewpoint-Refusal";

RequestHead empty_head(const std::string& bytes) {
  return {"GET / HTTP/1.1\r\n\r\n", bytes.size(), 0};
}

void mark(httplib::Request& request, const Refusal& refusal) {
  request.set_header(kRefusedStatus, std::to_string(refusal.status()));
  request.set_header(kRefusedReason, refusal.what());
}

}  // namespace

HttpFront::HttpFront(std::size_t threads, const Patience& patience)
    : patience_(patience),
      lobby_(patience,
             [this](Arrival&& arrival) {
               const auto shared = std::make_shared<Arrival>(std::move(arrival));
               pool_.enqueue([this, shared] { serve(*shared); });
             }),
      pool_(threads) {}

HttpFront::~HttpFront() {
  pool_.shutdown();
  if (svr_sock_ != INVALID_SOCKET) ::close(svr_sock_);
}

void HttpFront::answer() {
  ::listen(svr_sock_, kWaitingConnections);
  lobby_.attend(svr_sock_);
  ::close(svr_sock_.exchange(INVALID_SOCKET));  // the library's streams see it, and end
}

void HttpFront::serve(Arrival& arrival) {
  try {
    RequestHead head;
    std::optional<Refusal> refusal;
    try {
      head = read_head(arrival.bytes, payload_max_length_);
    } catch (const Refusal& found) {
      refusal = found;
      head = empty_head(arrival.bytes);
    }
    const std::string begun = arrival.bytes.substr(head.size, head.body);
    Connection connection(arrival.socket.get(), head.text + begun, head.body - begun.size(),
                          arrival.deadline, patience_);
    bool closed = false;
    (void)process_request(connection, true, closed, [&](httplib::Request& request) {
      if (refusal) mark(request, *refusal);
    });
    lobby_.see_off(std::move(arrival.socket));
  } catch (...) {
    arrival.socket = OwnedSocket();  // out of memory, most likely: the peer sees the end
  }
}

std::optional<Refusal> HttpFront::refusal_of_head(const httplib::Request& request) {
  if (!request.has_header(kRefusedStatus)) return {};
  return Refusal(std::stoi(request.get_header_value(kRefusedStatus)),
                 request.get_header_value(kRefusedReason));
}

}  // namespace dewpoint::server
