#include "cli/text_file.hpp"

#include <fstream>

#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::cli {

void write_text_file(const OutputFile& file, const FileKind& kind, std::string_view text) {
  PendingFile pending(file, kind);
  std::ofstream out(pending.path(), std::ios::binary);
  out << text;
  out.close();
  if (!out) throw_unwritable(file.path, "the disk is full or went away");
  pending.commit();
}

}  // namespace dewpoint::cli
