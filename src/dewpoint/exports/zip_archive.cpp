#include "dewpoint/exports/zip_archive.hpp"

#include <stdexcept>

#include "dewpoint/checkpoint/zip_handles.hpp"

namespace dewpoint::exports {
namespace {

// The first day that a ZIP archive can express: 1980-01-01, midnight.
constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;

using checkpoint::zip::Archive;
using checkpoint::zip::Source;
using checkpoint::zip::ZipError;

[[noreturn]] void fail(zip_error_t* error) { throw std::runtime_error(zip_error_strerror(error)); }

// `entry` must live until the archive is closed, which is when libzip copies it.
void add(zip_t* archive, const ZipEntry& entry) {
  ZipError error;
  Source source(zip_source_buffer_create(entry.bytes.data(), entry.bytes.size(), 0, error.get()));
  if (!source) fail(error.get());
  const zip_int64_t added =
      zip_file_add(archive, entry.name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (added < 0) fail(zip_get_error(archive));
  static_cast<void>(source.release());  // the archive's from here on
  const auto index = static_cast<zip_uint64_t>(added);
  const bool done = zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) == 0 &&
                    zip_file_set_dostime(archive, index, 0, kFirstDay, 0) == 0;
  if (!done) fail(zip_get_error(archive));
}

std::string content_of(zip_source_t* source) {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_source_stat(source, &status) != 0 || zip_source_open(source) != 0) {
    fail(zip_source_error(source));
  }
  std::string bytes(status.size, '\0');
  const zip_int64_t count = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (count != static_cast<zip_int64_t>(bytes.size())) fail(zip_source_error(source));
  return bytes;
}

}  // namespace

std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  ZipError error;
  Source memory(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!memory) fail(error.get());
  Archive archive(zip_open_from_source(memory.get(), ZIP_TRUNCATE, error.get()));
  if (!archive) fail(error.get());
  zip_source_keep(memory.get());  // one owner is the archive, one we are

  for (const ZipEntry& entry : entries) add(archive.get(), entry);
  if (zip_close(archive.get()) != 0) fail(zip_get_error(archive.get()));
  static_cast<void>(archive.release());
  return content_of(memory.get());
}

}  // namespace dewpoint::exports
