#include "dewpoint/checkpoint/utf8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dewpoint::checkpoint {
namespace {

// Property (1), at the ends of every length of sequence.
TEST(Utf8, GivesWellFormedTextBack) {
  const std::u32string ends{0,      0x7f,   0x80,   0x7ff,   0x800,   0xd7ff,
                            0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff};
  EXPECT_EQ(decode_utf8(encode_utf8(ends)), ends);
  EXPECT_EQ(encode_utf8(U"\u00e9\u03bc\u221e\U0001f4a7"),
            "\xc3\xa9\xce\xbc\xe2\x88\x9e\xf0\x9f\x92\xa7");
}

TEST(Utf8, ReplacesEveryByteThatBelongsToNothing) {
  constexpr char32_t bad = 0xfffd;
  EXPECT_EQ(decode_utf8("a\x80z"), (std::u32string{U'a', bad, U'z'}));      // continuation
  EXPECT_EQ(decode_utf8("\xff\xfe"), (std::u32string{bad, bad}));           // never a lead
  EXPECT_EQ(decode_utf8("\xc3"), (std::u32string{bad}));                    // cut
  EXPECT_EQ(decode_utf8("\xe2\x88z"), (std::u32string{bad, bad, U'z'}));    // cut by a letter
  EXPECT_EQ(decode_utf8("\xc0\xaf"), (std::u32string{bad, bad}));           // '/' too long
  EXPECT_EQ(decode_utf8("\xe0\x80\xaf"), (std::u32string{bad, bad, bad}));  // longer still
  EXPECT_EQ(decode_utf8("\xed\xa0\x80"), (std::u32string{bad, bad, bad}));  // a surrogate
  EXPECT_EQ(decode_utf8("\xf4\x90\x80\x80"), std::u32string(4, bad));       // above U+10FFFF
  EXPECT_EQ(decode_utf8("\xf8\x88\x80\x80\x80"), std::u32string(5, bad));   // five bytes
}

// Property (2): what has been mended needs no mending.
RC_GTEST_PROP(Utf8, MendsAnyBytes, (const std::string& bytes)) {
  const std::u32string once = decode_utf8(bytes);
  RC_ASSERT(decode_utf8(encode_utf8(once)) == once);
}

RC_GTEST_PROP(Utf8, KeepsAscii, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f'));
  RC_ASSERT(encode_utf8(decode_utf8(text)) == text);
}

}  // namespace
}  // namespace dewpoint::checkpoint
