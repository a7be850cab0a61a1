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

namespace fs = std::filesystem;

void write_whole(const OutputFile& file, const FileKind& kind, std::span<const std::byte> bytes) {
  PendingFile pending(file, kind);
  std::ofstream out(pending.path(), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw_unwritable(file.path, "it could not be written to the end");
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

fs::path looks_file(const fs::path& checkpoint) { return fs::path(checkpoint) += ".looks"; }

}  // namespace

void write_checkpoint(const OutputFile& file, const experiments::TextRun& run) {
  const auto attachments = run.attachments();
  const auto write = [&](const char* name, const OutputFile& target, const FileKind& kind) {
    const auto found = std::find_if(attachments.begin(), attachments.end(),
                                    [&](const store::Attachment& one) { return one.name == name; });
    if (found != attachments.end()) write_whole(target, kind, found->bytes);
  };
  write(kLooksAttachment, file.beside(looks_file(file.path)), transformer::looks_kind());
  write(kStateAttachment, file, transformer::state_kind());
}

void require_checkpoint_places(const OutputFile& file) {
  require_writable(file, transformer::state_kind());
  require_writable(file.beside(looks_file(file.path)), transformer::looks_kind());
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
