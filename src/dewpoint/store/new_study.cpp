#include "dewpoint/store/new_study.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::store {

StudyRecord begin_study(const std::string& experiment, std::uint64_t seed,
                        const std::string& command) {
  StudyRecord study;
  study.experiment = experiment;
  study.seed = seed;
  study.version = full_version();
  study.command = command;
  study.created = utc_now();
  return study;
}

void require_writable(const std::filesystem::path& file) {
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const auto fail = [&](const char* why) {
    throw Error(Code::unwritable_file, fmt::format("{}: {}", file.string(), why));
  };
  if (std::filesystem::is_directory(file)) fail("is a folder; a file name is needed");
  if (!std::filesystem::is_directory(folder)) fail("its folder does not exist");
  if (access(folder.c_str(), W_OK) != 0) fail("its folder may not be written to");
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace dewpoint::store
