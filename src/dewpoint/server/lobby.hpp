// Connections that need no thread: those whose request is still on its way in, and those that have
// their answer and are about to leave. One thread looks at all of them.
//
// A peer that says nothing, or little, costs a place here and a few bytes; when the places are
// taken, whoever has been here longest is sent away for the next.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "dewpoint/server/connection.hpp"

namespace dewpoint::server {

inline constexpr std::size_t kMostGuests = 256;

/// A connection whose head is there, or too long to be one.
struct Arrival {
  OwnedSocket socket;
  Connection::Time deadline;  // of its whole request
  std::string bytes;          // read so far
};

class Lobby {
 public:
  using Receive = std::function<void(Arrival&&)>;

  /// `receive` is called by the thread that attends. What it throws ends that connection.
  Lobby(const Patience& patience, Receive receive);

  /// Accepts from the listening socket until stop().
  void attend(int listening);
  /// From any thread, also before attend().
  void stop();

  /// From any thread: what the peer still sends is read for a moment, so that closing does not take
  /// its answer away from it.
  void see_off(OwnedSocket socket);

 private:
  struct Guest {
    OwnedSocket socket;
    Connection::Time deadline;
    bool leaving = false;
    std::string bytes = {};   // of its head
    std::size_t drained = 0;  // of what nobody reads
    bool is_over = false;
  };

  void wait(int listening);
  [[nodiscard]] int patience_left() const;
  void accept_some(int listening);
  void take_leaving();
  void add(Guest guest);
  void look_at(Guest& guest) const;
  void read_from(Guest& guest) const;

  const Patience patience_;
  const Receive receive_;
  const OwnedSocket woken_;  // an eventfd
  std::atomic<bool> is_stopped_{false};
  std::list<Guest> guests_;  // whoever came first is first
  bool is_short_ = false;    // of sockets or memory: nobody is let in for a moment
  std::vector<pollfd> looked_for_;
  std::mutex mutex_;
  std::vector<OwnedSocket> leaving_;
};

}  // namespace dewpoint::server
