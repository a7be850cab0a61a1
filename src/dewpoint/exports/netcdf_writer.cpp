#include "dewpoint/exports/netcdf_writer.hpp"

#include <netcdf.h>
#include <netcdf_mem.h>

#include <cstdlib>
#include <limits>
#include <memory>

namespace dewpoint::exports {
namespace {

void check(int status) {
  if (status != NC_NOERR) throw NetcdfError(nc_strerror(status));
}

int define(int group, const std::string& name, nc_type type, const NetcdfWriter::Ids& dimensions) {
  int variable = 0;
  check(nc_def_var(group, name.c_str(), type, static_cast<int>(dimensions.size()),
                   dimensions.data(), &variable));
  return variable;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

const int NetcdfWriter::kGlobal = NC_GLOBAL;

NetcdfWriter::NetcdfWriter() {
  // The name is never used: the file lives in memory until finish() returns it.
  check(nc_create_mem("dewpoint", NC_NETCDF4, 0, &file_));
  open_ = true;
}

NetcdfWriter::~NetcdfWriter() {
  if (open_) nc_abort(file_);
}

NetcdfWriter::Group NetcdfWriter::add_group(const std::string& name) {
  Group group = 0;
  check(nc_def_grp(file_, name.c_str(), &group));
  return group;
}

// An extent of 0 is how netCDF spells "unlimited"; without a value that is a dimension of length 0.
int NetcdfWriter::add_dimension(Group group, const std::string& name, std::size_t extent) {
  int dimension = 0;
  check(nc_def_dim(group, name.c_str(), extent, &dimension));
  return dimension;
}

int NetcdfWriter::add_variable(Group group, const std::string& name, const Ids& dimensions,
                               std::span<const double> values, Missing missing) {
  const int variable = define(group, name, NC_DOUBLE, dimensions);
  if (missing == Missing::is_nan) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    check(nc_def_var_fill(group, variable, NC_FILL, &nan));
  }
  if (!values.empty()) check(nc_put_var_double(group, variable, values.data()));
  return variable;
}

int NetcdfWriter::add_variable(Group group, const std::string& name, const Ids& dimensions,
                               std::span<const std::int64_t> values) {
  const int variable = define(group, name, NC_INT64, dimensions);
  const std::vector<long long> copies(values.begin(), values.end());
  if (!values.empty()) check(nc_put_var_longlong(group, variable, copies.data()));
  return variable;
}

int NetcdfWriter::add_variable(Group group, const std::string& name, const Ids& dimensions,
                               std::span<const std::string> values) {
  const int variable = define(group, name, NC_STRING, dimensions);
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  if (!values.empty()) check(nc_put_var_string(group, variable, pointers.data()));
  return variable;
}

void NetcdfWriter::set_attribute(Group group, int variable, const std::string& name,
                                 const std::string& value) {
  check(nc_put_att_text(group, variable, name.c_str(), value.size(), value.data()));
}

void NetcdfWriter::set_attribute(Group group, int variable, const std::string& name,
                                 std::uint64_t value) {
  const unsigned long long copy = value;
  check(nc_put_att_ulonglong(group, variable, name.c_str(), NC_UINT64, 1, &copy));
}

std::string NetcdfWriter::finish() {
  NC_memio image{};
  open_ = false;
  check(nc_close_memio(file_, &image));
  const std::unique_ptr<void, Free> owner(image.memory);
  return {static_cast<const char*>(image.memory), image.size};
}

}  // namespace dewpoint::exports
