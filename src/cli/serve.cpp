// dewpoint serve: the explorer in a browser, computed live by this program.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/server/access_rules.hpp"
#include "dewpoint/server/explorer.hpp"
#include "dewpoint/server/secret.hpp"

extern char** environ;

namespace dewpoint::cli {
namespace {

constexpr const char* kTokenVariable = "DEWPOINT_TOKEN";

struct ServeVerb {
  int port = 8017;
  std::string folder = ".";
  std::string host = server::ExplorerOptions().host;
  std::optional<std::string> token;
  std::string token_file;
  bool no_token = false;
  bool open = false;
  int threads = 0;
};

template <class Visitor>
void describe(Visitor& visit, ServeVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("port", q.port, in(0.0, 65535.0), "port; 0: any that is free");
  visit("dir", q.folder, file("folder"), "folder of studies: all that is read and written");
  visit("host", q.host, "address to listen on");
  visit("token", q.token,
        fmt::format("asked of every request, at least {} letters. Other users see it in the list "
                    "of processes",
                    server::kLeastTokenLength),
        otherwise("DEWPOINT_TOKEN, or a fresh one"));
  visit("token-file", q.token_file, file("token"), "file whose first line is the token",
        instead_of("token"));
  visit("no-token", q.no_token, "ask for none: every user of this machine may come in",
        instead_of("token"));
  visit("open", q.open, "open the page in the browser");
  describe_threads(visit, q.threads);
}

std::string first_line_of(const std::string& name) {
  std::ifstream file(name);
  std::string line;
  if (!std::getline(file, line)) {
    throw Error(Code::unreadable_file, fmt::format("{}: has no token to read", name));
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

std::string checked_token(const std::string& token, const std::string& name) {
  server::require_token(token, name);
  return token;
}

/// As told, or a fresh one; empty: none is asked for.
std::string token_of(const ServeVerb& o) {
  if (o.no_token) return {};
  if (o.token) return checked_token(*o.token, "--token");
  if (!o.token_file.empty()) return checked_token(first_line_of(o.token_file), o.token_file);
  const char* const set = std::getenv(kTokenVariable);
  return set != nullptr ? checked_token(set, kTokenVariable) : server::fresh_secret();
}

std::string address_of(const server::ExplorerOptions& o, int port) {
  const bool anywhere = o.host == "0.0.0.0" || o.host == "::";
  const std::string& host = anywhere ? "localhost" : o.host;
  const bool bare_v6 = host.find(':') != std::string::npos;
  const std::string token = o.token.empty() ? "" : "?token=" + o.token;
  return fmt::format("http://{}:{}/{}", bare_v6 ? "[" + host + "]" : host, port, token);
}

/// A page that leads to the address, for this user's eyes only: the arguments of a program, and so
/// an address given to the browser, are seen by every user of the machine.
class LinkFile {
 public:
  explicit LinkFile(const std::string& address)
      : name_((std::filesystem::temp_directory_path() / "dewpoint-XXXXXX.html").string()) {
    const int file = mkstemps(name_.data(), 5);  // of mode 0600
    const std::string page = fmt::format(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={0}\"><a "
        "href=\"{0}\">Dewpoint explorer</a>\n",
        address);
    const bool written =
        file >= 0 && write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
    if (file >= 0) close(file);
    if (!written) throw Error(Code::unwritable_file, fmt::format("{}: cannot be written", name_));
  }
  LinkFile(const LinkFile&) = delete;
  LinkFile& operator=(const LinkFile&) = delete;
  ~LinkFile() { unlink(name_.c_str()); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// The desktop's own way; where there is none the address is on the terminal anyway.
void open_in_browser(std::string page) {
  std::string program = "xdg-open";
  char* const arguments[] = {program.data(), page.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "xdg-open", nullptr, nullptr, arguments, environ) != 0) {
    fmt::print(stderr, "dewpoint: there is no xdg-open; open the address yourself\n");
    return;
  }
  std::thread([child] { waitpid(child, nullptr, 0); }).detach();
}

int run_serve(const ServeVerb& o) {
  mallopt(M_ARENA_MAX, 4);  // threads that answer share their memory, which is then given back
  const server::ExplorerOptions options{o.folder, o.host, o.port, token_of(o), o.threads};
  server::Explorer explorer(options);
  const std::string address = address_of(options, explorer.bind());
  fmt::print("Dewpoint explorer: {}\nstudies in {}; Ctrl-C ends it\n", address, o.folder);
  std::fflush(stdout);
  std::optional<LinkFile> link;
  if (o.open) open_in_browser(link.emplace(address).name());
  const std::stop_callback end(stop_token(), [&explorer] { explorer.stop(); });
  explorer.listen();
  return 0;
}

}  // namespace

Verb serve_verb() {
  return verb_of<ServeVerb>("serve",
                            "The explorer in a browser: live questions, and a home for long runs",
                            "dewpoint serve --dir studies --open", run_serve);
}

}  // namespace dewpoint::cli
