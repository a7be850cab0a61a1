// What a safetensors header calls the types of elements.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "dewpoint/checkpoint/tensor.hpp"

namespace dewpoint::checkpoint {

struct SafetensorsType {
  std::string_view name;
  ElementType type;
  std::size_t bits;  // of one element; the format also has types narrower than a byte
};

inline constexpr std::array kSafetensorsTypes{
    SafetensorsType{"BOOL", ElementType::boolean, 8},
    SafetensorsType{"U8", ElementType::u8, 8},
    SafetensorsType{"I8", ElementType::i8, 8},
    SafetensorsType{"U16", ElementType::u16, 16},
    SafetensorsType{"I16", ElementType::i16, 16},
    SafetensorsType{"U32", ElementType::u32, 32},
    SafetensorsType{"I32", ElementType::i32, 32},
    SafetensorsType{"U64", ElementType::u64, 64},
    SafetensorsType{"I64", ElementType::i64, 64},
    SafetensorsType{"F16", ElementType::f16, 16},
    SafetensorsType{"BF16", ElementType::bf16, 16},
    SafetensorsType{"F32", ElementType::f32, 32},
    SafetensorsType{"F64", ElementType::f64, 64},
    SafetensorsType{"F4", ElementType::other, 4},
    SafetensorsType{"F6_E2M3", ElementType::other, 6},
    SafetensorsType{"F6_E3M2", ElementType::other, 6},
    SafetensorsType{"F8_E5M2", ElementType::other, 8},
    SafetensorsType{"F8_E4M3", ElementType::other, 8},
    SafetensorsType{"F8_E8M0", ElementType::other, 8},
    SafetensorsType{"F8_E4M3FNUZ", ElementType::other, 8},
    SafetensorsType{"F8_E5M2FNUZ", ElementType::other, 8},
    SafetensorsType{"C64", ElementType::other, 64},
};

}  // namespace dewpoint::checkpoint
