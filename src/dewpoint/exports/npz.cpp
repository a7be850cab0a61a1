#include <stdexcept>
#include <utility>

#include "dewpoint/checkpoint/npy_writer.hpp"
#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/exports/arrays.hpp"
#include "dewpoint/exports/content.hpp"
#include "dewpoint/exports/provenance.hpp"
#include "dewpoint/exports/text.hpp"
#include "dewpoint/exports/zip_archive.hpp"

namespace dewpoint::exports {
namespace {

using checkpoint::npy_bytes;
using checkpoint::NpyShape;

constexpr const char* kMetadata = "dewpoint_metadata";

class Archive {
 public:
  /// Adds every array of a frame; what they are called begins with `prefix`.
  Json add(const FrameArrays& arrays, const std::string& prefix) {
    for (std::size_t k = 0; k < arrays.dimensions.size(); ++k) {
      put(prefix + arrays.dimensions[k], coordinates(arrays.frame->dimensions()[k]));
    }
    Json variables = Json::object();
    for (std::size_t k = 0; k < arrays.variables.size(); ++k) {
      variables[prefix + arrays.variables[k].mean] = add_variable(arrays, k, prefix);
    }
    return {{"name", clean_text(arrays.frame->name())}, {"variables", variables}};
  }

  std::string bytes(const Json& metadata) {
    const std::vector<std::string> text{to_text(metadata)};
    put(kMetadata, npy_bytes(text, {}));
    return zip_bytes(entries_);
  }

 private:
  void put(const std::string& name, std::string bytes) {
    entries_.push_back({name + ".npy", std::move(bytes)});
  }

  static std::string coordinates(const Dimension& dimension) {
    const NpyShape shape{dimension.coordinates.size()};
    if (dimension.labels.empty()) return npy_bytes(dimension.coordinates, shape);
    return npy_bytes(clean_labels(dimension), shape);
  }

  Json add_variable(const FrameArrays& arrays, std::size_t k, const std::string& prefix) {
    const Variable& variable = arrays.frame->variables()[k];
    const auto& [mean, error, samples] = arrays.variables[k];
    NpyShape shape;
    Json dimensions = Json::array();
    for (const std::size_t position : arrays.positions_of(k)) {
      shape.push_back(arrays.frame->dimensions()[position].coordinates.size());
      dimensions.push_back(prefix + arrays.dimensions[position]);
    }

    put(prefix + mean, npy_bytes(means_of(variable), shape));
    if (error.empty()) return {{"dimensions", dimensions}, {"role", "predicted"}};
    put(prefix + error, npy_bytes(errors_of(variable), shape));
    put(prefix + samples, npy_bytes(samples_of(variable), shape));
    return {{"dimensions", dimensions},
            {"role", "measured"},
            {"standard_error", prefix + error},
            {"samples", prefix + samples}};
  }

  std::vector<ZipEntry> entries_;
};

}  // namespace

FileContent npz_file(const Selection& selection) {
  Archive archive;
  Names prefixes;
  Names reserved;
  reserved.claim(kMetadata);
  Json frames = Json::array();
  for (const Frame* frame : selection.frames) {
    const std::string prefix =
        selection.frames.size() == 1 ? "" : prefixes.claim(file_part(frame->name())) + "/";
    frames.push_back(archive.add(arrays_of(*frame, reserved, &file_part), prefix));
  }
  try {
    return {selection.target,
            archive.bytes({{"study", provenance(selection.study)}, {"frames", frames}}),
            npz_kind()};
  } catch (const std::runtime_error& error) {
    throw_unwritable(selection.target, error.what());
  }
}

FileKind npz_kind() { return marked_kind("the arrays of a study", "PK", kMetadata); }

}  // namespace dewpoint::exports
