#include "cli/console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <utility>

namespace dewpoint::cli {
namespace {

std::atomic<int> signal_number{0};
static_assert(std::atomic<int>::is_always_lock_free);

// A signal handler may only set the flag; a thread turns the flag into a stop request.
extern "C" void note_signal(int number) {
  if (signal_number.exchange(number) != 0) std::_Exit(128 + number);
}

}  // namespace

ProgressLine::ProgressLine(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

Progress ProgressLine::callback() {
  return [this](double done, double total) { show(done, total); };
}

void ProgressLine::show(double done, double total) {
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (elapsed < 1.0 || since < (terminal_ ? 0.1 : 10.0) || done <= 0.0) return;
  last_ = now;
  shown_ = true;
  const double left = elapsed * (total - done) / done;
  const std::string text =
      fmt::format("{}: {:3.0f} %, {} left", label_, 100.0 * done / total, duration_text(left));
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

std::string duration_text(double seconds) {
  const auto s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::stop_token stop_on_signals() {
  static std::stop_source source;
  static std::jthread watcher([](const std::stop_token& over) {
    while (!over.stop_requested() && signal_number == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (signal_number != 0) source.request_stop();
  });
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  return source.get_token();
}

int received_signal() { return signal_number; }

TerminalSize terminal_size() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (!known || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace dewpoint::cli
