// Conversions of elements, over all 65536 halves and at the edges of the others.
//
// Everything compared here is exact.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/tensor.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "checkpoint/foreign_files.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;

// A tensor of one dimension that owns its bytes, which begin at an odd address.
template <class T>
class Column {
 public:
  Column(ElementType type, const std::vector<T>& values) : bytes_(values.size() * sizeof(T) + 1) {
    if (!values.empty()) std::memcpy(bytes_.data() + 1, values.data(), values.size() * sizeof(T));
    tensor_ = {"x", type, {values.size()}, std::span(bytes_).subspan(1)};
  }
  const Tensor& tensor() const { return tensor_; }

  template <class Number>
  std::vector<Number> as(std::size_t first = 0) const {
    std::vector<Number> out(tensor_.elements() - first);
    copy_elements(tensor_, first, std::span(out));
    return out;
  }

 private:
  std::vector<std::byte> bytes_;
  Tensor tensor_;
};

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = static_cast<std::uint16_t>(k);
  return bits;
}

// IEEE 754 binary16 by its definition.
double half_by_definition(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Equal to the sign of zero, or both NaN.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// --- reading -------------------------------------------------------------------------------------

// Property (1).
TEST(CopyElements, GivesEveryHalfByItsDefinition) {
  const Column<std::uint16_t> column(ElementType::f16, all_halves());
  const auto floats = column.as<float>();
  const auto doubles = column.as<double>();
  for (std::size_t k = 0; k < floats.size(); ++k) {
    const double expected = half_by_definition(static_cast<std::uint16_t>(k));
    ASSERT_TRUE(same(floats[k], expected)) << k;
    ASSERT_TRUE(same(doubles[k], expected)) << k;
  }
}

// Property (1): the definition of bf16 is that it is the upper half of a float.
TEST(CopyElements, GivesEveryBrainFloatAsTheUpperHalfOfAFloat) {
  const auto floats = Column<std::uint16_t>(ElementType::bf16, all_halves()).as<float>();
  for (std::size_t k = 0; k < floats.size(); ++k)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[k]), static_cast<std::uint32_t>(k) << 16);
}

template <class T>
void expect_limits_are_exact(ElementType type) {
  const T low = std::numeric_limits<T>::lowest();
  const T high = std::numeric_limits<T>::max();
  const Column<T> column(type, {low, T{0}, T{1}, high});
  EXPECT_EQ(column.template as<double>(),
            (std::vector<double>{static_cast<double>(low), 0.0, 1.0, static_cast<double>(high)}))
      << name_of(type);
  EXPECT_EQ(column.template as<float>(),
            (std::vector<float>{static_cast<float>(low), 0.0f, 1.0f, static_cast<float>(high)}))
      << name_of(type);
  EXPECT_EQ(size_of(type), sizeof(T));
}

TEST(CopyElements, ReachesTheEndsOfEveryType) {
  expect_limits_are_exact<std::uint8_t>(ElementType::u8);
  expect_limits_are_exact<std::int8_t>(ElementType::i8);
  expect_limits_are_exact<std::uint16_t>(ElementType::u16);
  expect_limits_are_exact<std::int16_t>(ElementType::i16);
  expect_limits_are_exact<std::uint32_t>(ElementType::u32);
  expect_limits_are_exact<std::int32_t>(ElementType::i32);
  expect_limits_are_exact<std::uint64_t>(ElementType::u64);
  expect_limits_are_exact<std::int64_t>(ElementType::i64);
  expect_limits_are_exact<float>(ElementType::f32);
  EXPECT_EQ(Column<double>(ElementType::f64, {0.1, -1e300}).as<double>(),
            (std::vector<double>{0.1, -1e300}));
}

TEST(CopyElements, TakesAnyByteButZeroForTrue) {
  EXPECT_EQ(Column<std::uint8_t>(ElementType::boolean, {0, 1, 255}).as<float>(),
            (std::vector<float>{0.0f, 1.0f, 1.0f}));
}

TEST(CopyElements, BeginsAtTheElementAskedFor) {
  const Column<double> column(ElementType::f64, {1.0, 2.0, 3.0});
  EXPECT_EQ(column.as<float>(1), (std::vector<float>{2.0f, 3.0f}));
  EXPECT_TRUE(column.as<float>(3).empty());
}

TEST(CopyElements, RefusesATypeThatIsNoNumberAndNamesTheTensor) {
  Tensor tensor{"q", ElementType::other, {1}, {}, "F8_E4M3"};
  std::vector<float> out(1);
  const auto refused = outcome([&] { copy_elements(tensor, 0, std::span(out)); });
  EXPECT_EQ(refused.code, Code::bad_value);
  EXPECT_NE(refused.message.find("'q'"), std::string::npos);
  EXPECT_NE(refused.message.find("F8_E4M3"), std::string::npos);
  tensor.foreign_type = "V2";
  const auto raw = outcome([&] { copy_elements(tensor, 0, std::span(out)); });
  EXPECT_NE(raw.message.find("bf16"), std::string::npos) << raw.message;
}

// --- writing -------------------------------------------------------------------------------------

std::vector<float> read_back(const std::vector<float>& values, ElementType type) {
  const std::vector<std::byte> bytes = element_bytes(values, type);
  const Tensor tensor{"x", type, {values.size()}, bytes};
  std::vector<float> back(values.size());
  copy_elements(tensor, 0, std::span(back));
  return back;
}

// Property (3).
TEST(ElementBytes, GivesBackEveryHalf) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    const auto values = Column<std::uint16_t>(type, all_halves()).as<float>();
    const auto back = read_back(values, type);
    for (std::size_t k = 0; k < values.size(); ++k) {
      ASSERT_TRUE(same(values[k], back[k])) << name_of(type) << " " << k;
    }
  }
}

// Between two neighbours the middle goes to the even one, and a hair beside it to the nearer. The
// neighbour of the largest number is the power of two above it, which is written as infinity.
TEST(ElementBytes, RoundsToTheNearestAndTiesToEven) {
  struct Format {
    ElementType type;
    std::uint16_t infinity;
    float beyond;  // 2^16 for halves; for bf16 it is 2^128, which a float has not
  };
  for (const auto& [type, infinity, beyond] :
       {Format{ElementType::f16, 0x7c00, 65536.0f}, Format{ElementType::bf16, 0x7f80, 0.0f}}) {
    const auto values = Column<std::uint16_t>(type, all_halves()).as<float>();
    for (std::uint16_t k = 0; k < infinity; ++k) {
      const bool last = k + 1 == infinity;
      if (last && beyond == 0.0f) break;
      const float low = values[k];
      const float high = last ? beyond : values[k + 1u];
      const float middle = low + (high - low) / 2;
      const float above = last ? values[infinity] : high;
      const std::vector<float> asked{middle, std::nextafter(middle, low),
                                     std::nextafter(middle, high), -middle};
      const float even = k % 2 == 0 ? low : above;
      EXPECT_EQ(read_back(asked, type), (std::vector<float>{even, low, above, -even})) << k;
    }
  }
}

TEST(ElementBytes, SendsWhatIsTooLargeToInfinity) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(read_back({65519.0f, 65520.0f, -largest}, ElementType::f16),
            (std::vector<float>{65504.0f, infinity, -infinity}));
  EXPECT_EQ(read_back({largest, -infinity}, ElementType::bf16),
            (std::vector<float>{infinity, -infinity}));
  const float nan = std::numeric_limits<float>::signaling_NaN();
  EXPECT_TRUE(std::isnan(read_back({nan}, ElementType::f16)[0]));
  EXPECT_TRUE(std::isnan(read_back({nan}, ElementType::bf16)[0]));
}

TEST(ElementBytes, KeepsFloatsAsTheyAre) {
  const std::vector<float> values{0.1f, -3e38f, 1e-45f, -0.0f};
  EXPECT_EQ(read_back(values, ElementType::f32), values);
  EXPECT_EQ(read_back(values, ElementType::f64), values);
}

// --- shapes and texts ----------------------------------------------------------------------------

TEST(CheckedProduct, SeesAnOverflowUnlessAnExtentIsZero) {
  constexpr std::size_t half = std::size_t{1} << 32;
  EXPECT_EQ(checked_product({}), 1u);
  EXPECT_EQ(checked_product({half, half - 1}), half * (half - 1));
  EXPECT_EQ(checked_product({half, half}), std::nullopt);
  EXPECT_EQ(checked_product({half, half, 0}), 0u);
}

TEST(ShapeText, IsAListInBrackets) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text({4, 64, 192}), "[4, 64, 192]");
}

TEST(TextOf, ReadsBytesAndNumPysTexts) {
  const std::vector<char> bytes{'h', 'i', '\0'};
  EXPECT_EQ(text_of(Column<char>(ElementType::u8, bytes).tensor()), std::string("hi\0", 3));
  const auto raw = std::as_bytes(std::span(bytes));
  EXPECT_EQ(text_of({"m", ElementType::other, {}, raw, "S3"}), "hi");
  const std::u32string points = {U'\u03b2', U'=', U'1', char32_t{0x110000}, U'\0'};
  const auto wide = std::as_bytes(std::span(points));
  EXPECT_EQ(text_of({"m", ElementType::other, {1}, wide, "U5"}), "\xce\xb2=1\xef\xbf\xbd");
}

TEST(TextOf, IsNothingForNumbersAndForSeveralTexts) {
  EXPECT_EQ(text_of(Column<float>(ElementType::f32, {1.0f}).tensor()), std::nullopt);
  const std::vector<std::byte> two(2);
  EXPECT_EQ(text_of({"m", ElementType::other, {2}, two, "S1"}), std::nullopt);
  EXPECT_EQ(text_of({"m", ElementType::other, {1}, two, "V2"}), std::nullopt);
}

}  // namespace
}  // namespace dewpoint::checkpoint
