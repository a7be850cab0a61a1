// What several tests of the store need: records compared, errors caught, files changed behind the
// library's back, disks that are full.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::test {

using store::read_study;
using store::StudyRecord;

// Equal as the store promises: bit for bit, one NaN as good as another.
inline void expect_same(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << a << " " << b;
}

inline void expect_same(const Dimension& a, const Dimension& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.coordinates.size(), b.coordinates.size());
  for (std::size_t i = 0; i < a.coordinates.size(); ++i) {
    expect_same(a.coordinates[i], b.coordinates[i]);
  }
  EXPECT_EQ(a.labels, b.labels);
}

inline void expect_same(const Variable& a, const Variable& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.dimensions, b.dimensions);
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    expect_same(a.cells[i].mean, b.cells[i].mean);
    expect_same(a.cells[i].standard_error, b.cells[i].standard_error);
    EXPECT_EQ(a.cells[i].samples, b.cells[i].samples);
  }
}

inline void expect_same(const Frame& a, const Frame& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.dimensions().size(), b.dimensions().size());
  for (std::size_t i = 0; i < a.dimensions().size(); ++i) {
    expect_same(a.dimensions()[i], b.dimensions()[i]);
  }
  ASSERT_EQ(a.variables().size(), b.variables().size());
  for (std::size_t i = 0; i < a.variables().size(); ++i) {
    expect_same(a.variables()[i], b.variables()[i]);
  }
}

inline void expect_same(const StudyRecord& a, const StudyRecord& b) {
  EXPECT_EQ(a.experiment, b.experiment);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.created, b.created);
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) expect_same(a.frames[i], b.frames[i]);
  ASSERT_EQ(a.attachments.size(), b.attachments.size());
  for (std::size_t i = 0; i < a.attachments.size(); ++i) {
    EXPECT_EQ(a.attachments[i].name, b.attachments[i].name);
    EXPECT_EQ(a.attachments[i].bytes, b.attachments[i].bytes);
  }
}

template <class Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {Code::stopped, ""};
}

inline Error read_error(const std::filesystem::path& file) {
  return error_of([&] { static_cast<void>(read_study(file)); });
}

/// Changes a study behind the library's back.
inline void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

/// Runs the action in a child process whose files may not grow beyond `bytes`, as on a full disk,
/// and returns what it returned.
inline int with_full_disk(rlim_t bytes, const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::_exit(::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? action() : 100);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

/// What the sqlite3 shell prints for a query; empty when there is no shell.
inline std::string shell(const std::filesystem::path& file, const std::string& query) {
  const std::string command = fmt::format("sqlite3 -batch '{}' \"{}\"", file.string(), query);
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  ::pclose(pipe);
  return output;
}

inline bool has_shell() { return std::system("command -v sqlite3 >/dev/null") == 0; }

/// Whether a message has a part.
inline bool says(const Error& error, const std::string& part) {
  return std::string(error.what()).find(part) != std::string::npos;
}

}  // namespace dewpoint::test
