#include "dewpoint/exports/export.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/exports/content.hpp"

namespace dewpoint::exports {
namespace {

namespace fs = std::filesystem;

struct FormatNames {
  Format format;
  std::string_view name;
  std::string_view extension;
};

constexpr std::array<FormatNames, 4> kFormats{{{Format::csv, "csv", ".csv"},
                                               {Format::jsonl, "jsonl", ".jsonl"},
                                               {Format::npz, "npz", ".npz"},
                                               {Format::netcdf, "netcdf", ".nc"}}};

// No table has room for a matrix over twice the same axis, and xarray does not open it.
void check_dimensions(const Frame& frame) {
  for (const Variable& variable : frame.variables()) {
    std::set<std::string> seen;
    for (const std::string& name : variable.dimensions) {
      if (seen.insert(name).second) continue;
      throw Error(Code::bad_value,
                  fmt::format("variable '{}' has dimension '{}' twice, allowed: each once",
                              variable.name, name));
    }
  }
}

std::vector<const Frame*> selected_frames(const store::StudyRecord& study,
                                          const std::string& name) {
  std::vector<const Frame*> frames;
  std::vector<std::string> known;
  for (const Frame& frame : study.frames) {
    known.push_back("'" + frame.name() + "'");
    if (name.empty() || frame.name() == name) frames.push_back(&frame);
  }
  if (known.empty()) throw Error(Code::bad_value, "the study has no frame to export");
  if (frames.empty()) {
    throw Error(Code::bad_value, fmt::format("the study has no frame named '{}', allowed: {}", name,
                                             fmt::join(known, ", ")));
  }
  for (const Frame* frame : frames) check_dimensions(*frame);
  return frames;
}

std::vector<FileContent> contents(const Selection& selection, Format format) {
  switch (format) {
    case Format::csv:
      return csv_files(selection);
    case Format::jsonl:
      return {jsonl_file(selection)};
    case Format::npz:
      return {npz_file(selection)};
    case Format::netcdf:
      break;
  }
  return {netcdf_file(selection)};
}

void fill(const fs::path& temporary, const FileContent& content) {
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out.write(content.bytes.data(), static_cast<std::streamsize>(content.bytes.size()));
  out.close();
  if (!out) throw_unwritable(content.file, std::generic_category().message(errno));
}

// All temporaries are complete before the first takes its place.
void write_all(const std::vector<FileContent>& files, bool force) {
  std::vector<std::unique_ptr<PendingFile>> pending;
  for (const FileContent& content : files) {
    pending.push_back(std::make_unique<PendingFile>(OutputFile(content.file, force), content.kind));
    fill(pending.back()->path(), content);
  }
  for (const auto& file : pending) file->commit();
}

}  // namespace

Format format_of(const fs::path& target) {
  const std::string extension = target.extension().string();
  for (const FormatNames& known : kFormats) {
    if (known.extension == extension) return known.format;
  }
  throw Error(Code::bad_value,
              fmt::format("'{}': found extension '{}', allowed: .csv, .jsonl, .npz, .nc",
                          target.string(), extension));
}

Format format_named(std::string_view name) {
  for (const FormatNames& known : kFormats) {
    if (known.name == name) return known.format;
  }
  throw Error(Code::bad_value,
              fmt::format("format: found '{}', allowed: csv, jsonl, npz, netcdf", name));
}

void require_export_places(const OutputFile& target, Format format) {
  switch (format) {
    case Format::csv:
      require_writable(target, csv_kind(target.path));
      return require_writable(target.beside(description_of(target.path)), description_kind());
    case Format::jsonl:
      return require_writable(target, jsonl_kind());
    case Format::npz:
      return require_writable(target, npz_kind());
    case Format::netcdf:
      return require_writable(target, netcdf_kind());
  }
}

std::vector<fs::path> write(const store::StudyRecord& study, const fs::path& target, Format format,
                            const Options& options) {
  const Selection selection{study, selected_frames(study, options.frame), target};
  const std::vector<FileContent> files = contents(selection, format);
  write_all(files, options.force);
  std::vector<fs::path> names;
  for (const FileContent& content : files) names.push_back(content.file);
  return names;
}

}  // namespace dewpoint::exports
