#include "cli/text_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::cli {
namespace {

void write_whole(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  PendingFile pending(file);
  std::ofstream out(pending.path(), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw_unwritable(file, "it could not be written to the end");
  pending.commit();
}

std::vector<std::byte> bytes_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in.is_open() || in.bad()) {
    throw Error(Code::unreadable_file, fmt::format("cannot read '{}'", file.string()));
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string looks_file(const std::string& checkpoint) { return checkpoint + ".looks"; }

}  // namespace

void write_checkpoint(const std::string& file, const experiments::TextRun& run) {
  const auto attachments = run.attachments();
  for (const auto& [name, target] :
       {std::pair{kLooksAttachment, looks_file(file)}, std::pair{kStateAttachment, file}}) {
    const auto found = std::find_if(attachments.begin(), attachments.end(),
                                    [&](const store::Attachment& one) { return one.name == name; });
    if (found != attachments.end()) write_whole(target, found->bytes);
  }
}

store::StudyRecord study_of_checkpoint(const std::string& file) {
  const transformer::StateFile state = transformer::read_state(file);
  std::vector<transformer::Look> looks = transformer::looks_from(bytes_of_file(looks_file(file)));
  std::erase_if(looks, [&](const transformer::Look& look) {
    return look.step > static_cast<double>(state.state.done);
  });
  store::StudyRecord study;
  study.attachments = {{kStateAttachment, bytes_of_file(file)},
                       {kLooksAttachment, transformer::to_bytes(looks)}};
  return study;
}

bool is_study_file(const std::string& file) {
  constexpr std::string_view kBeginning = "SQLite format 3";
  std::ifstream in(file, std::ios::binary);
  std::string begin(kBeginning.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kBeginning;
}

}  // namespace dewpoint::cli
