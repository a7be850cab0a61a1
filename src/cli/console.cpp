#include "cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "dewpoint/core/printable.hpp"

namespace dewpoint::cli {
namespace {

std::atomic<int> signal_number{0};
static_assert(std::atomic<int>::is_always_lock_free);

// A signal handler may only set the flag; a thread turns the flag into a stop request.
extern "C" void note_signal(int number) {
  if (signal_number.exchange(number) != 0) std::_Exit(128 + number);
}

WholeProgress* whole_progress = nullptr;
thread_local const Listener* current_listener = nullptr;

std::stop_source& signal_stop() {
  static std::stop_source source;
  return source;
}

}  // namespace

ProgressLine::ProgressLine(std::string label)
    : label_(std::move(label)),
      listener_(current_listener),
      terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

Progress ProgressLine::callback() {
  return [this](double done, double total) {
    if (listener_ != nullptr) {
      listener_->heard_(label_, done, total);
    } else if (whole_progress != nullptr) {
      whole_progress->report(done / total);
    } else {
      show(done, total, note_);
    }
  };
}

void ProgressLine::show(double done, double total, const std::string& note) {
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (elapsed < 1.0 || since < (terminal_ ? 0.1 : 10.0) || done <= 0.0) return;
  last_ = now;
  shown_ = true;
  const double left = elapsed * (total - done) / done;
  const std::string text = fmt::format("{}: {:3.0f} %, {} left{}", label_, 100.0 * done / total,
                                       duration_text(left), note);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

WholeProgress::WholeProgress(std::string label, double cost)
    : line_(std::move(label)), total_(cost) {
  whole_progress = this;
}

WholeProgress::~WholeProgress() { whole_progress = nullptr; }

void WholeProgress::begin(std::string part, double cost) {
  const std::lock_guard lock(mutex_);
  if (part_.empty()) line_.start_ = ProgressLine::Clock::now();  // what came before is no measure
  done_ += cost_;
  cost_ = cost;
  best_ = 0.0;
  part_ = std::move(part);
}

void WholeProgress::report(double fraction) {
  const std::lock_guard lock(mutex_);
  best_ = std::max(best_, fraction);
  line_.show(done_ + best_ * cost_, total_, fmt::format(" ({})", part_));
}

std::string duration_text(double seconds) {
  const auto s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

void stop_on_signals() {
  (void)signal_stop();  // outlives the watcher
  static std::jthread watcher([](const std::stop_token& over) {
    while (!over.stop_requested() && signal_number == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (signal_number != 0) signal_stop().request_stop();
  });
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  // A terminal that closes ends the work as cleanly, unless nohup has the program outlive it.
  if (std::signal(SIGHUP, note_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

std::stop_token stop_token() {
  return current_listener != nullptr ? current_listener->stop_ : signal_stop().get_token();
}

Listener::Listener(std::stop_token stop, Heard heard, Told told)
    : stop_(std::move(stop)), heard_(std::move(heard)), told_(std::move(told)) {
  current_listener = this;
}

Listener::~Listener() { current_listener = nullptr; }

void tell(const std::string& note) {
  if (current_listener != nullptr) return current_listener->told_(note);
  fmt::print(stderr, "{}\n", printable(note));
}

int received_signal() { return signal_number; }

TerminalSize terminal_size() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!known || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace dewpoint::cli
