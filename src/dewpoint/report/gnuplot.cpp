#include "dewpoint/report/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Number of bytes of the UTF-8 character that the text begins with; 0 when there is none
// [RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF]. U+FFFE and U+FFFF, which
// XML does not allow, count as none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() < length) return 0;
  unsigned long point = length == 1 ? lead : lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    point = (point << 6U) | (byte(i) & 0x3fU);
  }
  const bool too_long = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  const bool no_character = point > 0x10ffff || (point & 0xfffeU) == 0xfffeU;
  return too_long || surrogate || no_character ? 0 : length;
}

// Gnuplot knows '' as a quote inside a string, but at the very start of one it sees an empty string
// and takes the rest for commands. So a quote becomes a string of its own: 'it' . "'" . 's'.
std::string in_single_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? R"(' . "'" . ')" : std::string(1, c);
  return result + "'";
}

// A file in memory, for what the child reads and writes: it needs no name, and unlike a pipe it
// neither fills up nor raises SIGPIPE.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content = {})
      : descriptor_(::memfd_create("gnuplot", MFD_CLOEXEC)) {
    while (descriptor_ >= 0 && !content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written <= 0) fail();
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (descriptor_ < 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) fail();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string content() const {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::pread(descriptor_, buffer.data(), buffer.size(), 0);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  [[noreturn]] void fail() {
    const std::string reason = std::generic_category().message(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(Code::unwritable_file, "cannot hand a script to gnuplot: " + reason);
  }
  int descriptor_;
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void connect(int ours, int childs) { posix_spawn_file_actions_adddup2(&actions_, ours, childs); }
  void discard(int childs) {
    posix_spawn_file_actions_addopen(&actions_, childs, "/dev/null", O_WRONLY, 0);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t start_gnuplot(const FileActions& actions) {
  // -d: without the settings in ~/.gnuplot and the system's.
  std::array<char, 8> program{"gnuplot"};
  std::array<char, 3> defaults{"-d"};
  std::array<char*, 3> arguments{program.data(), defaults.data(), nullptr};
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, program.data(), actions.get(), nullptr, arguments.data(), environ);
  if (failure == ENOENT) {
    throw Error(Code::missing_tool,
                "gnuplot is not installed or not on PATH, install package gnuplot-nox");
  }
  if (failure != 0) {
    throw Error(Code::missing_tool,
                "gnuplot cannot be started: " + std::generic_category().message(failure));
  }
  return child;
}

bool ended_well(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Gnuplot shows the line, a caret and then what is wrong with it: the last line that has words.
std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n\t");
  if (end == std::string_view::npos) return "gnuplot failed without a message";
  text = text.substr(0, end + 1);
  text.remove_prefix(text.find_last_of('\n') + 1);  // npos + 1 = 0
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return "gnuplot says: " + std::string(text);
}

struct Outcome {
  bool well;
  std::string complaints;
};

Outcome outcome_of(const std::string& script) {
  const MemoryFile input(script);
  const MemoryFile complaints;
  FileActions actions;
  actions.connect(input.descriptor(), STDIN_FILENO);
  actions.discard(STDOUT_FILENO);
  actions.connect(complaints.descriptor(), STDERR_FILENO);
  const bool well = ended_well(start_gnuplot(actions));
  return {well, complaints.content()};
}

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      clean += kReplacement;
    } else if (is_control(text[0])) {
      clean += ' ';
    } else {
      const bool ends_xml_section = text[0] == '>' && clean.ends_with("]]");
      if (ends_xml_section) clean += ' ';  // gnuplot escapes < and &, but not this one
      clean += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return in_single_quotes(clean);
}

std::string quoted_path(const std::filesystem::path& path) {
  const std::string name = std::filesystem::absolute(path).string();
  if (std::any_of(name.begin(), name.end(), is_control)) {
    throw_unwritable(path, "gnuplot takes no control characters in a name");
  }
  return in_single_quotes(name);
}

std::string run_gnuplot(const std::string& script) {
  const Outcome outcome = outcome_of(script);
  return outcome.well ? std::string() : last_line(outcome.complaints);
}

std::optional<std::string> gnuplot_version() {
  try {
    // print writes to the same stream as complaints.
    std::string text = outcome_of("print GPVAL_VERSION\n").complaints;
    text.erase(text.find_last_not_of(" \n") + 1);
    return "gnuplot " + text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace dewpoint::report
