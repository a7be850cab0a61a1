// Messages between the ranks of an MPI job, sent and received without waiting. Private to the
// runners.
//
// Only the thread that made it may use it. What was sent is kept until the other side has it, so
// two ranks that send to each other never wait for each other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <chrono>
#include <list>
#include <optional>
#include <string>

namespace dewpoint::studies {

/// What a message is about; the numbers are MPI's tags.
enum class Subject : int {
  text = 1,  // from rank 0, for MpiJob::share
  task,      // from rank 0
  stop,      // from rank 0: end what is under way
  over,      // from rank 0: no more tasks, leave serve()
  end,       // from rank 0: the job is over
  result,    // to rank 0
  left,      // to rank 0: serve() has ended, nothing follows
};

struct Message {
  int from = 0;
  Subject subject = Subject::text;
  std::string bytes;
};

/// How long to sleep between two looks at the messages: short after something happened, then
/// longer and longer, up to a millisecond.
class Pace {
 public:
  void hurry() { pause_ = kShortest; }
  /// The next pause.
  [[nodiscard]] std::chrono::microseconds pause();

 private:
  static constexpr std::chrono::microseconds kShortest{50};
  static constexpr std::chrono::microseconds kLongest{1000};
  std::chrono::microseconds pause_ = kShortest;
};

class MpiPost {
 public:
  MpiPost();
  MpiPost(const MpiPost&) = delete;
  MpiPost& operator=(const MpiPost&) = delete;
  /// Ends MPI. Everything sent must have been received.
  ~MpiPost();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  void send(int rank, Subject subject, std::string bytes = {});
  void send_to_others(Subject subject, const std::string& bytes = {});
  /// The next message, if there is one.
  [[nodiscard]] std::optional<Message> receive();
  /// The next message; sleeps until there is one.
  [[nodiscard]] Message wait();
  /// Sleeps until everything sent has arrived.
  void drain();

 private:
  struct Parcel {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void forget_delivered();

  int rank_ = 0;
  int ranks_ = 1;
  std::list<Parcel> sent_;
};

}  // namespace dewpoint::studies
