// Archives that NumPy writes while the test runs, and archives that mean harm.
//
// SPDX-License-Identifier: Apache-2.0
#include "dewpoint/checkpoint/npz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint/foreign_files.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::checkpoint {
namespace {

using test::outcome;
using test::Outcome;

NpzContent parse(const std::string& bytes, const NpzLimits& limits = {}) {
  return parse_npz(std::as_bytes(std::span(bytes)), "x.npz", limits);
}

const Tensor& named(const NpzContent& content, const std::string& name) {
  const auto it = std::find_if(content.tensors.begin(), content.tensors.end(),
                               [&](const Tensor& tensor) { return tensor.name == name; });
  if (it == content.tensors.end()) throw std::runtime_error("no array " + name);
  return *it;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out(tensor.elements());
  copy_elements(tensor, 0, std::span(out));
  return out;
}

void expect_refused(const std::string& bytes, const std::string& begin, const std::string& found,
                    const NpzLimits& limits = {}) {
  const Outcome refused = outcome([&] { (void)parse(bytes, limits); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_TRUE(refused.message.starts_with("x.npz: " + begin)) << refused.message;
  EXPECT_NE(refused.message.find(found), std::string::npos) << refused.message;
  EXPECT_EQ(refused.message.find('\n'), std::string::npos) << refused.message;
}

class Npz : public test::NumPyFiles {
 protected:
  std::string archive(const std::string& name) const { return test::read_bytes(folder_ / name); }
  std::string archive_of(const std::string& script) const {
    run("import io, struct, zipfile\n"
        "def npy(x):\n"
        "    out = io.BytesIO(); np.save(out, x); return out.getvalue()\n" +
        script);
    return archive("x.npz");
  }
  // q, a (2, 3) matrix of eighths, stored or deflated.
  std::string small(bool deflated) const {
    return archive_of(std::string("np.savez") + (deflated ? "_compressed" : "") +
                      "('x.npz', q=np.arange(6).reshape(2, 3) / 8)\n");
  }
};

// --- archives that are read ----------------------------------------------------------------------

// Property (1).
TEST_F(Npz, StoredAndDeflatedGiveTheSameArrays) {
  run("x = np.arange(24).reshape(2, 3, 4)\n"
      "arrays = {'q': (x / 8).astype('f2'), 'layers.0.k': np.asfortranarray(x / 4),\n"
      "          'big': (-x).astype('>f4'), 'ids': x.astype('i8'), 'one': np.float64(0.1)}\n"
      "np.savez('stored.npz', **arrays)\n"
      "np.savez_compressed('deflated.npz', **arrays)\n");
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const NpzContent content = parse(archive(name));
    ASSERT_EQ(content.tensors.size(), 5u);
    EXPECT_EQ(named(content, "q").type, ElementType::f16);
    EXPECT_EQ(named(content, "layers.0.k").shape, (std::vector<std::size_t>{2, 3, 4}));
    EXPECT_EQ(values(named(content, "one")), std::vector<double>{0.1});
    for (std::size_t i = 0; i < 24; ++i) {
      const auto x = static_cast<double>(i);
      EXPECT_EQ(values(named(content, "q"))[i], x / 8);
      EXPECT_EQ(values(named(content, "layers.0.k"))[i], x / 4);
      EXPECT_EQ(values(named(content, "big"))[i], -x);
      EXPECT_EQ(values(named(content, "ids"))[i], x);
    }
  }
}

// NumPy writes ZIP64 local headers whenever it cannot know the size; zipfile can be told to.
TEST_F(Npz, MayBeZip64) {
  const std::string bytes = archive_of(
      "with zipfile.ZipFile('x.npz', 'w') as z:\n"
      "    with z.open('q.npy', 'w', force_zip64=True) as f: f.write(npy(np.ones(3)))\n");
  EXPECT_EQ(values(parse(bytes).tensors.at(0)), (std::vector<double>{1, 1, 1}));
}

TEST_F(Npz, MayBeEmptyAndMayCarryOtherFiles) {
  EXPECT_TRUE(parse(archive_of("np.savez('x.npz')\n")).tensors.empty());
  const std::string mixed = archive_of(
      "with zipfile.ZipFile('x.npz', 'w') as z:\n"
      "    z.writestr('README', 'not an array')\n"
      "    z.writestr('folder/', '')\n"
      "    z.writestr('folder/q.npy', npy(np.ones(1)))\n");
  const NpzContent content = parse(mixed);
  ASSERT_EQ(content.tensors.size(), 1u);
  EXPECT_EQ(content.tensors[0].name, "folder/q");
}

TEST_F(Npz, OutliveTheBytesTheyCameFrom) {
  NpzContent content;
  {
    std::string bytes = small(true);
    content = parse(bytes);
    std::fill(bytes.begin(), bytes.end(), 'x');
  }
  EXPECT_EQ(values(content.tensors.at(0)).back(), 5.0 / 8);
}

// --- archives that are not -----------------------------------------------------------------------

TEST_F(Npz, OfObjectsAreRefused) {
  expect_refused(archive_of("np.savez('x.npz', o=np.array([1, 'a'], dtype=object))\n"),
                 "member 'o': descr: found '|O'", "Python objects");
}

TEST_F(Npz, WithANameTwiceAreRefused) {
  expect_refused(archive_of("with zipfile.ZipFile('x.npz', 'w') as z:\n"
                            "    for k in range(2): z.writestr('q.npy', npy(np.ones(1)))\n"),
                 "member 'q'", "twice");
}

TEST_F(Npz, WithOtherCompressionsAreRefused) {
  expect_refused(archive_of("with zipfile.ZipFile('x.npz', 'w', zipfile.ZIP_BZIP2) as z:\n"
                            "    z.writestr('q.npy', npy(np.ones(100)))\n"),
                 "member 'q': found compression method 12", "deflated");
}

// Bit 0 of the flags, in the local header and in the directory, says that a member is encrypted.
TEST_F(Npz, ThatAreEncryptedAreRefused) {
  std::string bytes = small(false);
  bytes[6] = static_cast<char>(bytes[6] | 1);
  const std::size_t directory = bytes.find("PK\x01\x02");
  bytes[directory + 8] = static_cast<char>(bytes[directory + 8] | 1);
  expect_refused(bytes, "member 'q': found encryption", "no encryption");
}

TEST_F(Npz, WithAWrongChecksumAreRefused) {
  std::string stored = small(false);
  const std::size_t number = stored.find("\n", stored.find("NUMPY")) + 9;
  stored[number] = static_cast<char>(stored[number] ^ 1);
  expect_refused(stored, "member 'q'", "CRC");
}

// The size in the directory of a member, which is 4 bytes at offset 24 of its entry.
TEST_F(Npz, ThatPromiseMoreThanDeflateCanAreRefusedBeforeAnythingIsAllocated) {
  std::string bytes = small(true);
  const std::size_t directory = bytes.find("PK\x01\x02");
  bytes.replace(directory + 24, 4, "\xff\xff\xff\x7f");
  expect_refused(bytes, "member 'q': found 2147483647 bytes unpacked", "1032 times");
}

TEST_F(Npz, WithAWrongSizeAreRefused) {
  for (const int change : {-1, 1}) {
    std::string bytes = small(true);
    const std::size_t directory = bytes.find("PK\x01\x02");
    bytes[directory + 24] = static_cast<char>(bytes[directory + 24] + change);
    expect_refused(bytes, "member 'q'", "");
  }
}

// A megabyte of zeros packs a thousandfold, and its directory says the truth about it.
TEST_F(Npz, ThatExplodeAreRefusedBeyondTheSlack) {
  const std::string bytes = archive_of("np.savez_compressed('x.npz', z=np.zeros(2**20, 'u1'))\n");
  ASSERT_LT(bytes.size(), std::size_t{1} << 12);
  EXPECT_EQ(parse(bytes).tensors.at(0).elements(), std::size_t{1} << 20);
  expect_refused(bytes, "member 'z': found 1048704 bytes unpacked", "at most",
                 {.slack = std::size_t{1} << 19});
}

// Many entries of the directory that share one member's bytes.
TEST_F(Npz, WhoseMembersOverlapAreRefused) {
  const std::string bytes = archive_of(
      "out = io.BytesIO()\n"
      "with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:\n"
      "    z.writestr('a.npy', npy(np.zeros(100000, 'u1')))\n"
      "raw = out.getvalue()\n"
      "begin, end = raw.find(b'PK\\x01\\x02'), raw.find(b'PK\\x05\\x06')\n"
      "entry = raw[begin:end]\n"
      "count = 60\n"
      "entries = b''.join(entry.replace(b'a.npy', b'%c.npy' % (65 + k)) for k in range(count))\n"
      "tail = b'PK\\x05\\x06' + struct.pack('<HHHHIIH', 0, 0, count, count, len(entries), begin, "
      "0)\n"
      "open('x.npz', 'wb').write(raw[:begin] + entries + tail)\n");
  const Outcome refused = outcome([&] { (void)parse(bytes); });
  EXPECT_EQ(refused.code, Code::malformed_file) << refused.message;
  EXPECT_NE(refused.message.find("packed bytes, allowed: at most"), std::string::npos)
      << refused.message;
}

// Property (4): 64 MiB of zeros behind a header that promises 1 KiB, and damage in their middle
// that whoever unpacks them meets first.
TEST_F(Npz, WhoseMembersAreLongerThanTheirHeaderSaysAreRefusedBeforeTheyAreUnpacked) {
  std::string bytes = archive_of(
      "with zipfile.ZipFile('x.npz', 'w', zipfile.ZIP_DEFLATED) as z:\n"
      "    z.writestr('z.npy', npy(np.zeros(1024, 'u1')) + bytes(1 << 26))\n");
  bytes[bytes.size() / 2] ^= 0x55;
  expect_refused(bytes, "member 'z': data: found 67109888 bytes",
                 "allowed: 1024 bytes, for shape (1024,) of 1-byte elements");
}

// --- property (5) --------------------------------------------------------------------------------

TEST(NpzDamage, WhatIsNoArchiveIsRefused) {
  expect_refused("", "archive", "allowed: a ZIP archive");
  expect_refused("PK", "archive", "allowed: a ZIP archive");
  const Stream stream = test::stream("NpzDamage/RandomBytes");
  for (std::uint64_t k = 0; k < 1000; ++k) {
    std::string bytes(k % 300, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(stream.bits(300 * k + i)[0]);
    expect_refused(bytes, "archive", "");
  }
}

TEST_F(Npz, AreRefusedAtEveryBeginning) {
  for (const bool deflated : {false, true}) {
    const std::string bytes = small(deflated);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      expect_refused(bytes.substr(0, length), "", "");
  }
}

// A bit of the numbers or of their packing cannot change them unseen.
TEST_F(Npz, GiveTheSameNumbersOrNoneWithAnyBitTurned) {
  for (const bool deflated : {false, true}) {
    const std::string good = small(deflated);
    const std::vector<double> expected = values(parse(good).tensors.at(0));
    for (std::size_t place = 0; place < good.size(); ++place) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ 1 << place % 8);
      const Outcome result = outcome([&] {
        const NpzContent content = parse(bytes, {.slack = 1 << 20});
        for (const Tensor& tensor : content.tensors) EXPECT_EQ(values(tensor), expected) << place;
      });
      EXPECT_TRUE(result.code == Code::stopped || result.code == Code::malformed_file);
    }
  }
}

}  // namespace
}  // namespace dewpoint::checkpoint
