#include <fmt/format.h>

#include "dewpoint/core/pending_file.hpp"
#include "dewpoint/core/quantity.hpp"
#include "dewpoint/exports/arrays.hpp"
#include "dewpoint/exports/content.hpp"
#include "dewpoint/exports/netcdf_writer.hpp"
#include "dewpoint/exports/provenance.hpp"
#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {
namespace {

using Group = NetcdfWriter::Group;

constexpr const char* kSource = "Dewpoint ";

// "mean_cosine" as figures call it: "mean cosine".
std::string words_of(std::string_view name) { return title_of(clean_text(name)); }

void set_unit(NetcdfWriter& writer, Group group, int variable, std::string_view name) {
  const Quantity* known = find_quantity(name);
  if (known == nullptr || known->unit.empty()) return;
  writer.set_attribute(group, variable, "units", known->unit);
}

void write_provenance(NetcdfWriter& writer, const store::StudyRecord& study) {
  const auto put = [&](const char* name, const std::string& value) {
    writer.set_attribute(writer.root(), NetcdfWriter::kGlobal, name, value);
  };
  put("source", kSource + clean_text(study.version));
  put("experiment", clean_text(study.experiment));
  writer.set_attribute(writer.root(), NetcdfWriter::kGlobal, "seed", study.seed);
  put("version", clean_text(study.version));
  put("command", clean_text(study.command));
  put("created", clean_text(study.created));
  put("parameters", to_text(parameters_of(study)));
}

int write_dimension(NetcdfWriter& writer, Group group, const std::string& name,
                    const Dimension& dimension) {
  const int id = writer.add_dimension(group, name, dimension.coordinates.size());
  const int variable = dimension.labels.empty()
                           ? writer.add_variable(group, name, {id}, dimension.coordinates,
                                                 NetcdfWriter::Missing::never)
                           : writer.add_variable(group, name, {id}, clean_labels(dimension));
  writer.set_attribute(group, variable, "long_name", words_of(dimension.name));
  set_unit(writer, group, variable, dimension.name);
  return id;
}

void write_variable(NetcdfWriter& writer, Group group, const VariableNames& names,
                    const Variable& variable, const NetcdfWriter::Ids& ids) {
  using enum NetcdfWriter::Missing;
  const std::string words = words_of(variable.name);
  const int mean = writer.add_variable(group, names.mean, ids, means_of(variable), is_nan);
  writer.set_attribute(group, mean, "long_name", words);
  set_unit(writer, group, mean, variable.name);
  if (names.error.empty()) return;
  writer.set_attribute(group, mean, "ancillary_variables",
                       fmt::format("{} {}", names.error, names.samples));
  const int error = writer.add_variable(group, names.error, ids, errors_of(variable), is_nan);
  writer.set_attribute(group, error, "long_name", "standard error of " + words);
  set_unit(writer, group, error, variable.name);
  const int samples = writer.add_variable(group, names.samples, ids, samples_of(variable));
  writer.set_attribute(group, samples, "long_name", "number of samples of " + words);
}

void write_frame(NetcdfWriter& writer, Group group, const Frame& frame) {
  const FrameArrays arrays = arrays_of(frame, {}, &netcdf_name);
  writer.set_attribute(group, NetcdfWriter::kGlobal, "frame", clean_text(frame.name()));
  NetcdfWriter::Ids ids;
  for (std::size_t k = 0; k < arrays.dimensions.size(); ++k) {
    ids.push_back(write_dimension(writer, group, arrays.dimensions[k], frame.dimensions()[k]));
  }
  for (std::size_t k = 0; k < arrays.variables.size(); ++k) {
    const Variable& variable = frame.variables()[k];
    NetcdfWriter::Ids of_variable;
    for (const std::size_t position : arrays.positions_of(k)) of_variable.push_back(ids[position]);
    write_variable(writer, group, arrays.variables[k], variable, of_variable);
  }
}

std::string netcdf_bytes(const Selection& selection) {
  NetcdfWriter writer;
  write_provenance(writer, selection.study);
  Names groups;
  for (const Frame* frame : selection.frames) {
    const bool alone = selection.frames.size() == 1;
    const Group group =
        alone ? writer.root() : writer.add_group(groups.claim(netcdf_name(frame->name())));
    write_frame(writer, group, *frame);
  }
  return writer.finish();
}

}  // namespace

FileContent netcdf_file(const Selection& selection) {
  try {
    return {selection.target, netcdf_bytes(selection), netcdf_kind()};
  } catch (const NetcdfError& error) {
    throw_unwritable(selection.target, error.what());
  }
}

FileKind netcdf_kind() { return marked_kind("the netCDF of a study", "\x89HDF", kSource); }

}  // namespace dewpoint::exports
