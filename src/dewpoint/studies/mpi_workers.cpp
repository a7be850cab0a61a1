#include "dewpoint/studies/mpi_workers.hpp"

#include <mpi.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dewpoint/studies/mpi_post.hpp"
#include "dewpoint/studies/task_bytes.hpp"
#include "dewpoint/studies/thread_pool.hpp"

namespace dewpoint::studies {
namespace {

int threads_or_one(int threads) { return std::max(threads, 1); }

// Rank 0's view of everybody. Its own tasks go to its own threads.
class MpiWorkers final : public Workers {
 public:
  MpiWorkers(MpiPost& post, const Experiment& experiment, std::uint64_t seed, int threads)
      : post_(post),
        pool_(experiment, seed, threads, 0),
        tasks_of_rank_(static_cast<std::size_t>(post.ranks()), 0) {}

  // The others may be in the middle of something, and their answers on the way: each says when it
  // has left, and what comes before that is thrown away.
  ~MpiWorkers() override {
    post_.send_to_others(Subject::over);
    pool_.stop();
    for (int left = 1; left < post_.ranks();) {
      if (post_.wait().subject == Subject::left) ++left;
    }
    post_.drain();
  }

  [[nodiscard]] int threads() const override { return pool_.threads() * post_.ranks(); }
  [[nodiscard]] int ranks() const override { return post_.ranks(); }
  // One task more than threads on every rank: it begins while the result of another travels.
  [[nodiscard]] std::size_t capacity() const override {
    return tasks_of_rank_.size() * (static_cast<std::size_t>(pool_.threads()) + 1);
  }

  void submit(Task task) override {
    const auto least = std::min_element(tasks_of_rank_.begin(), tasks_of_rank_.end());
    const int rank = static_cast<int>(least - tasks_of_rank_.begin());
    ++*least;
    ++under_way_;
    pace_.hurry();
    if (rank == 0) {
      pool_.submit(std::move(task));
    } else {
      post_.send(rank, Subject::task, to_bytes(task));
    }
  }

  [[nodiscard]] std::vector<TaskResult> collect(std::chrono::milliseconds patience) override {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::vector<TaskResult> results;
    while (under_way_ > 0) {
      receive_all(results);
      const auto pause = results.empty() ? pace_.pause() : std::chrono::microseconds{0};
      for (TaskResult& result : pool_.wait(pause)) results.push_back(std::move(result));
      if (!results.empty() || std::chrono::steady_clock::now() >= end) break;
    }
    for (const TaskResult& result : results) {
      --tasks_of_rank_[static_cast<std::size_t>(result.rank)];
    }
    under_way_ -= results.size();
    if (!results.empty()) pace_.hurry();
    return results;
  }

  void stop() override {
    pool_.stop();
    post_.send_to_others(Subject::stop);
  }

 private:
  void receive_all(std::vector<TaskResult>& results) {
    while (const std::optional<Message> message = post_.receive()) {
      if (message->subject != Subject::result) continue;
      TaskResult result = result_from_bytes(message->bytes);
      result.rank = message->from;
      results.push_back(std::move(result));
    }
  }

  MpiPost& post_;
  ThreadPool pool_;
  std::vector<std::size_t> tasks_of_rank_;
  std::size_t under_way_ = 0;
  Pace pace_;
};

}  // namespace

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name = name.substr(0, name.find_first_of(",\n"));  // "Open MPI v4.1.4, package: ..."
  const std::size_t letter = name.find(" v");
  if (letter != std::string::npos) name.erase(letter + 1, 1);
  return name;
}

MpiJob::MpiJob()
    : post_(std::make_unique<MpiPost>()),
      rank_(post_->rank()),
      ranks_(post_->ranks()),
      exceptions_(std::uncaught_exceptions()) {}

// Rank 0 releases the others wherever they are; they wait for it, asleep.
MpiJob::~MpiJob() {
  if (rank_ == 0) {
    post_->send_to_others(Subject::end);
    post_->drain();
    return;
  }
  if (!ended_ && std::uncaught_exceptions() > exceptions_) MPI_Abort(MPI_COMM_WORLD, 1);
  while (!ended_) ended_ = post_->wait().subject == Subject::end;
  post_->drain();
}

std::string MpiJob::share(const std::string& text) {
  if (rank_ == 0) {
    post_->send_to_others(Subject::text, text);
    return text;
  }
  while (!ended_) {
    Message message = post_->wait();
    if (message.subject == Subject::text) return std::move(message.bytes);
    ended_ = message.subject == Subject::end;
  }
  throw Error(Code::stopped, "rank 0 has ended");
}

std::unique_ptr<Workers> MpiJob::workers(const Experiment& experiment, std::uint64_t seed,
                                         int threads) {
  return std::make_unique<MpiWorkers>(*post_, experiment, seed, threads_or_one(threads));
}

void MpiJob::serve(const Experiment& experiment, std::uint64_t seed, int threads,
                   std::stop_token stop) {
  ThreadPool pool(experiment, seed, threads_or_one(threads), rank_);
  Pace pace;
  bool over = false;
  while (!over && !ended_) {
    if (stop.stop_requested()) pool.stop();
    std::optional<Message> message = post_->receive();
    if (message) {
      pace.hurry();
      if (message->subject == Subject::task) pool.submit(task_from_bytes(message->bytes));
      if (message->subject == Subject::stop) pool.stop();
      over = message->subject == Subject::over;
      ended_ = message->subject == Subject::end;
    }
    const auto pause = message ? std::chrono::microseconds{0} : pace.pause();
    for (const TaskResult& result : pool.wait(pause)) {
      pace.hurry();
      post_->send(0, Subject::result, to_bytes(result));
    }
  }
  if (over) post_->send(0, Subject::left);
}

}  // namespace dewpoint::studies
