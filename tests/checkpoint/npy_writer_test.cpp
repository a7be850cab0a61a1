#include "dewpoint/checkpoint/npy_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/npy.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::checkpoint {
namespace {

using namespace std::string_literals;

TEST(NpyWriter, WritesTheFormatToTheByte) {
  const std::vector<double> values{1.0, -0.0};
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
  const std::string blanks(128 - 10 - header.size() - 1, ' ');
  EXPECT_EQ(npy_bytes(values, {2}), "\x93NUMPY\x01\x00\x76\x00"s + header + blanks + "\n" +
                                        "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x80"s);
}

TEST(NpyWriter, AlignsTheElementsForEveryShape) {
  NpyShape shape;
  for (int dimensions = 0; dimensions < 40; ++dimensions) {
    const std::string bytes = npy_bytes(std::vector<double>{1.0}, shape);
    EXPECT_EQ((bytes.size() - sizeof(double)) % 64, 0U) << dimensions;
    shape.push_back(1);
  }
}

// Property (2).
TEST(NpyWriter, IsReadByOurReader) {
  const std::vector<double> values{1.0, 2.0, 3.0, -4.5, 1e-300, 6.0};
  const std::string bytes = npy_bytes(values, {2, 3});
  const auto matrix = parse_npy_matrix(std::as_bytes(std::span(bytes)), "written");
  ASSERT_EQ(matrix.rows(), 2U);
  ASSERT_EQ(matrix.cols(), 3U);
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(matrix(k / 3, k % 3), values[k]);
}

// Property (1).
class NpyForNumPy : public test::NumPyFiles {};

TEST_F(NpyForNumPy, EveryTypeAndShapeIsReadBitForBit) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers{-0.0,      std::numeric_limits<double>::denorm_min(), infinity,
                                    -infinity, std::numeric_limits<double>::quiet_NaN(),  0.1};
  const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::min(), -1, 0,
                                           std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::string> texts{"", "dew", "\xc3\xa9\xf0\x9f\x92\xa7", "a\xff"};
  test::write_bytes(folder_ / "numbers.npy", npy_bytes(numbers, {3, 1, 2}));
  test::write_bytes(folder_ / "integers.npy", npy_bytes(integers, {2, 2}));
  test::write_bytes(folder_ / "texts.npy", npy_bytes(texts, {4}));
  test::write_bytes(folder_ / "one.npy", npy_bytes(std::vector<double>{7.0}, {}));
  test::write_bytes(folder_ / "none.npy", npy_bytes(std::vector<double>{}, {2, 0}));
  test::write_bytes(folder_ / "words.npy", npy_bytes(std::vector<std::string>{}, {0}));
  run(R"(
def same(name, expected, dtype):
    found = np.load(name + '.npy', allow_pickle=False)
    assert found.dtype == np.dtype(dtype), (name, found.dtype)
    assert found.shape == expected.shape, (name, found.shape)
    assert found.tobytes() == expected.astype(dtype).tobytes(), (name, found)

same('numbers', np.array([[[-0.0, 5e-324]], [[np.inf, -np.inf]], [[np.nan, 0.1]]]), '<f8')
same('integers', np.array([[-2**63, -1], [0, 2**63 - 1]]), '<i8')
same('texts', np.array(['', 'dew', '\u00e9\U0001f4a7', 'a\ufffd']), '<U3')
same('one', np.array(7.0), '<f8')
same('none', np.zeros((2, 0)), '<f8')
same('words', np.array([], dtype='<U1'), '<U1')
assert np.load('numbers.npy', mmap_mode='r').offset % 64 == 0
)");
}

}  // namespace
}  // namespace dewpoint::checkpoint
