// Matrix products, by OpenBLAS on the calling thread.
//
// Parallelism is ours (parallel_for), so BLAS is kept to one thread: nested threads slow each other
// down, and one thread gives the same bytes every time. A product for which the system has no
// memory left throws std::bad_alloc.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// What OpenBLAS 0.3 takes per product under way and per thread of its own, with room to spare for
/// the page tables of the allocator: it is 128 MiB on every x86-64 and ARMv8 processor.
inline constexpr std::size_t kBlasBufferBytes = (std::size_t{128} << 20) + (std::size_t{1} << 20);

/// Whether the system would give so much memory now. Calls nothing but the system, so it may run
/// before libraries are initialised.
[[nodiscard]] bool memory_is_left(std::size_t bytes);

/// Library, version and the kernel it chose for this processor, e.g. "OpenBLAS 0.3.21 (Zen)".
[[nodiscard]] std::string blas_description();

}  // namespace dewpoint
