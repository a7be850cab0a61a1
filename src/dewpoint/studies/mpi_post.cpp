#include "dewpoint/studies/mpi_post.hpp"

#include <algorithm>
#include <climits>
#include <thread>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

int length_of(const std::string& bytes) {
  if (bytes.size() > static_cast<std::size_t>(INT_MAX)) {
    throw Error(Code::bad_value, "a message of more than 2 GiB between two ranks");
  }
  return static_cast<int>(bytes.size());
}

}  // namespace

std::chrono::microseconds Pace::pause() {
  return std::exchange(pause_, std::min(2 * pause_, kLongest));
}

MpiPost::MpiPost() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw Error(Code::missing_tool,
                "MPI: this library allows no threads beside it; allowed: MPI_THREAD_FUNNELED");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

MpiPost::~MpiPost() { MPI_Finalize(); }

void MpiPost::send(int rank, Subject subject, std::string bytes) {
  forget_delivered();
  const int length = length_of(bytes);
  Parcel& parcel = sent_.emplace_back(Parcel{std::move(bytes)});
  MPI_Isend(parcel.bytes.data(), length, MPI_BYTE, rank, static_cast<int>(subject), MPI_COMM_WORLD,
            &parcel.request);
}

void MpiPost::send_to_others(Subject subject, const std::string& bytes) {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_) send(rank, subject, bytes);
  }
}

std::optional<Message> MpiPost::receive() {
  forget_delivered();
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  Message message{status.MPI_SOURCE, static_cast<Subject>(status.MPI_TAG),
                  std::string(static_cast<std::size_t>(length), '\0')};
  MPI_Recv(message.bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

Message MpiPost::wait() {
  Pace pace;
  while (true) {
    if (std::optional<Message> message = receive()) return std::move(*message);
    std::this_thread::sleep_for(pace.pause());
  }
}

void MpiPost::drain() {
  Pace pace;
  for (forget_delivered(); !sent_.empty(); forget_delivered()) {
    std::this_thread::sleep_for(pace.pause());
  }
}

void MpiPost::forget_delivered() {
  sent_.remove_if([](Parcel& parcel) {
    int delivered = 0;
    MPI_Test(&parcel.request, &delivered, MPI_STATUS_IGNORE);
    return delivered != 0;
  });
}

}  // namespace dewpoint::studies
