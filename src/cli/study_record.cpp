#include "cli/study_record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::cli {

std::string full_version() { return version() + "+" + commit(); }

store::StudyRecord begin_study(const std::string& experiment, std::uint64_t seed,
                               const std::string& command) {
  store::StudyRecord study;
  study.experiment = experiment;
  study.seed = seed;
  study.version = full_version();
  study.command = command;
  study.created = utc_now();
  return study;
}

Estimate exact_value(double value) { return {value, 0.0, 0}; }

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

}  // namespace dewpoint::cli
