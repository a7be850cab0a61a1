#include "dewpoint/core/build_info.hpp"

#include <unistd.h>

#include <fstream>

#include "dewpoint_commit.hpp"

namespace dewpoint {

std::string version() { return DEWPOINT_VERSION; }

std::string commit() { return DEWPOINT_COMMIT; }

std::string full_version() { return version() + "+" + commit(); }

std::string commit_date() { return DEWPOINT_DATE; }

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown compiler";
#endif
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

double memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace dewpoint
