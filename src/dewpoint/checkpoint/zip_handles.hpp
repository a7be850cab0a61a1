// Owners of libzip's objects, for whoever reads or writes a ZIP archive. Includes zip.h, so it
// stays out of other headers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zip.h>

#include <memory>

namespace dewpoint::checkpoint::zip {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct Release {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

/// Thrown away, not written, unless it is released to zip_close.
using Archive = std::unique_ptr<zip_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Release>;
using File = std::unique_ptr<zip_file_t, Close>;

class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }

 private:
  zip_error_t error_;
};

}  // namespace dewpoint::checkpoint::zip
