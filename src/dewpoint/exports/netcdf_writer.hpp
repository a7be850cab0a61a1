// The netCDF-4 C interface with an owner: a file made in memory.
//
// Private to the exports. Every failure throws NetcdfError with the reason that netCDF gives. Names
// are taken as they are: see netcdf_name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dewpoint::exports {

class NetcdfError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class NetcdfWriter {
 public:
  using Group = int;
  using Ids = std::vector<int>;

  NetcdfWriter();
  NetcdfWriter(const NetcdfWriter&) = delete;
  NetcdfWriter& operator=(const NetcdfWriter&) = delete;
  /// Drops the file unless finish() was called.
  ~NetcdfWriter();

  [[nodiscard]] Group root() const { return file_; }
  [[nodiscard]] Group add_group(const std::string& name);
  [[nodiscard]] int add_dimension(Group group, const std::string& name, std::size_t extent);

  /// Variables over the given dimensions, with their values in row-major order. Doubles have the
  /// _FillValue NaN, except where they are coordinates.
  enum class Missing { never, is_nan };
  int add_variable(Group group, const std::string& name, const Ids& dimensions,
                   std::span<const double> values, Missing missing);
  int add_variable(Group group, const std::string& name, const Ids& dimensions,
                   std::span<const std::int64_t> values);
  int add_variable(Group group, const std::string& name, const Ids& dimensions,
                   std::span<const std::string> values);

  /// Attributes of a variable, or of the group for kGlobal.
  static const int kGlobal;
  void set_attribute(Group group, int variable, const std::string& name, const std::string& value);
  void set_attribute(Group group, int variable, const std::string& name, std::uint64_t value);

  /// The bytes of the file; the writer is of no use afterwards.
  [[nodiscard]] std::string finish();

 private:
  int file_ = 0;
  bool open_ = false;
};

}  // namespace dewpoint::exports
