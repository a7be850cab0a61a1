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

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/number_options.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/server/access_rules.hpp"
#include "dewpoint/server/explorer.hpp"
#include "dewpoint/server/secret.hpp"

extern char** environ;

namespace dewpoint::cli {
namespace {

constexpr const char* kTokenVariable = "DEWPOINT_TOKEN";

struct ServeOptions {
  server::ExplorerOptions explorer;
  std::string folder = ".";
  std::optional<std::string> token;
  std::string token_file;
  bool no_token = false;
  bool open = false;
};

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
std::string token_of(const ServeOptions& o) {
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

int run_serve(ServeOptions& o) {
  mallopt(M_ARENA_MAX, 4);  // threads that answer share their memory, which is then given back
  o.explorer.folder = o.folder;
  o.explorer.token = token_of(o);
  server::Explorer explorer(o.explorer);
  const std::string address = address_of(o.explorer, explorer.bind());
  fmt::print("Dewpoint explorer: {}\nstudies in {}; Ctrl-C ends it\n", address, o.folder);
  std::fflush(stdout);
  std::optional<LinkFile> link;
  if (o.open) open_in_browser(link.emplace(address).name());
  const std::stop_callback end(stop_token(), [&explorer] { explorer.stop(); });
  explorer.listen();
  return 0;
}

}  // namespace

void add_serve(Program& program) {
  CLI::App* verb = program.app.add_subcommand(
      "serve", "The explorer in a browser: live questions, and a home for long runs");
  const auto o = std::make_shared<ServeOptions>();
  o->explorer.port = 8017;
  verb->add_option("--port", o->explorer.port, "Port; 0: any that is free")
      ->transform(whole_number(question::in(0.0, 65535.0)))
      ->capture_default_str();
  verb->add_option("--dir", o->folder, "Folder of studies: all that is read and written")
      ->capture_default_str();
  verb->add_option("--host", o->explorer.host, "Address to listen on")->capture_default_str();
  CLI::Option* token = verb->add_option(
      "--token", o->token,
      fmt::format("Asked of every request, at least {} letters; default: {}, or a fresh one. Other "
                  "users see it in the list of processes",
                  server::kLeastTokenLength, kTokenVariable));
  CLI::Option* file =
      verb->add_option("--token-file", o->token_file, "File whose first line is the token")
          ->excludes(token);
  verb->add_flag("--no-token", o->no_token, "Ask for none: every user of this machine may come in")
      ->excludes(token)
      ->excludes(file);
  verb->add_flag("--open", o->open, "Open the page in the browser");
  verb->add_option("--threads", o->explorer.threads, "Threads, 0 for all; never changes a result")
      ->transform(whole_number(question::in(0.0, 4096.0)))
      ->capture_default_str();
  add_example(*verb, "dewpoint serve --dir studies --open");
  verb->callback([&program, o] { program.action = [o] { return run_serve(*o); }; });
}

}  // namespace dewpoint::cli
