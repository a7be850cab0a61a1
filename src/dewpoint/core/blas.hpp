// Matrix products, by OpenBLAS on the calling thread.
//
// Parallelism is ours (parallel_for), so BLAS is kept to one thread: nested threads slow each other
// down, and one thread gives the same bytes every time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint {

/// c = a bᵀ
void multiply_abt(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// c = a b
void multiply_ab(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// c = aᵀ b
void multiply_atb(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// c += a bᵀ
void add_abt(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// c += a b
void add_ab(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// c += aᵀ b
void add_atb(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);

/// c = a bᵀ
void multiply_abt(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// c = a b
void multiply_ab(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// c = aᵀ b
void multiply_atb(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// c += a bᵀ
void add_abt(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// c += a b
void add_ab(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// c += aᵀ b
void add_atb(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);

/// Library, version and the kernel it chose for this processor, e.g. "OpenBLAS 0.3.21 (Zen)".
[[nodiscard]] std::string blas_description();

}  // namespace dewpoint
