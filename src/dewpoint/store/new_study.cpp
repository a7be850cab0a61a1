#include "dewpoint/store/new_study.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::store {
namespace {

namespace fs = std::filesystem;

// What a name promises that a study is not, and how to get it.
struct Promise {
  std::vector<std::string_view> endings;
  std::string_view remedy;  // of a study {0} and the name {1}
};

const std::vector<Promise>& promises() {
  static const std::vector<Promise> all = {
      {{".svg", ".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif"},
       "write {0}, and draw it with: dewpoint figure {0} -o {1}"},
      {{".csv", ".jsonl", ".npz", ".nc"}, "write {0}, and then: dewpoint export {0} -o {1}"},
      {{".json", ".npy", ".tsv", ".h5", ".safetensors"},
       "write {0}, and export it as .csv, .jsonl, .npz or .nc: dewpoint export {0}"},
      {{".html", ".htm"}, "write {0}, and then: dewpoint report {0} -o {1}"},
      {{".toml", ".txt", ".md", ".tex", ".py", ".gp"}, "write {0}"}};
  return all;
}

void expect_name_of_study(const fs::path& file) {
  const std::string ending = file.extension().string();
  for (const Promise& promise : promises()) {
    if (std::ranges::find(promise.endings, ending) == promise.endings.end()) continue;
    const std::string study = fs::path(file).replace_extension(".study").string();
    throw Error(Code::bad_value,
                fmt::format("-o writes a study, and '{}' is not a name for one; {}", file.string(),
                            fmt::format(fmt::runtime(promise.remedy), study, file.string())));
  }
}

}  // namespace

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

void require_study_place(const OutputFile& file, const std::string& experiment) {
  expect_name_of_study(file.path);
  require_writable(file, study_kind(experiment));
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace dewpoint::store
