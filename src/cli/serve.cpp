// dewpoint serve: the explorer in a browser, computed live by this program.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "dewpoint/server/access_rules.hpp"
#include "dewpoint/server/explorer.hpp"

extern char** environ;

namespace dewpoint::cli {
namespace {

struct ServeOptions {
  server::ExplorerOptions explorer;
  std::string folder = ".";
  bool open = false;
};

std::string address_of(const ServeOptions& o, int port) {
  const bool anywhere = o.explorer.host == "0.0.0.0" || o.explorer.host == "::";
  const std::string& host = anywhere ? "localhost" : o.explorer.host;
  const bool bare_v6 = host.find(':') != std::string::npos;
  const std::string token = o.explorer.token.empty() ? "" : "?token=" + o.explorer.token;
  return fmt::format("http://{}:{}/{}", bare_v6 ? "[" + host + "]" : host, port, token);
}

// The desktop's own way; where there is none the address is on the terminal anyway.
void open_in_browser(const std::string& address) {
  std::string program = "xdg-open", argument = address;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
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
  server::Explorer explorer(o.explorer);
  const int port = explorer.bind();
  const std::string address = address_of(o, port);
  fmt::print("Dewpoint explorer: {}\nstudies in {}; Ctrl-C ends it\n", address, o.folder);
  std::fflush(stdout);
  if (o.open) open_in_browser(address);
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
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--dir", o->folder, "Folder of studies: all that is read and written")
      ->capture_default_str();
  verb->add_option("--host", o->explorer.host, "Address to listen on; beyond this machine: --token")
      ->capture_default_str();
  verb->add_option(
      "--token", o->explorer.token,
      fmt::format("Asked of every request; at least {} letters", server::kLeastTokenLength));
  verb->add_flag("--open", o->open, "Open the page in the browser");
  verb->add_option("--threads", o->explorer.threads, "Threads, 0 for all; never changes a result")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  add_example(*verb, "dewpoint serve --dir studies --open");
  verb->callback([&program, o] { program.action = [o] { return run_serve(*o); }; });
}

}  // namespace dewpoint::cli
