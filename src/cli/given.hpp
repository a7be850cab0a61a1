// What another program hands over in the place of files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::cli {

struct Given {
  std::shared_ptr<const checkpoint::DumpPieces> heads;  // for `heads`
  std::shared_ptr<const Matrix<double>> scores;         // for `dew`
  std::shared_ptr<const Matrix<double>> tokens;         // for `phase`
};

}  // namespace dewpoint::cli
