#include "cli/text_file.hpp"

#include <fstream>

#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::cli {

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  PendingFile pending(file);
  std::ofstream out(pending.path(), std::ios::binary);
  out << text;
  out.close();
  if (!out) throw_unwritable(file, "the disk is full or went away");
  pending.commit();
}

}  // namespace dewpoint::cli
