#include "dewpoint/training/record_bytes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dewpoint/core/error.hpp"
#include "support/matrices.hpp"

namespace dewpoint::training {
namespace {

using Bytes = std::vector<std::byte>;

// Different numbers in every field.
Record some_record(std::size_t tokens, std::size_t width, const std::string& name) {
  Record record(tokens, width);
  record.time = 5.0;
  record.loss = 0.1;
  record.embedding_rank_one = 0.2;
  record.unembedding_rank_one = 0.3;
  record.embedding_size = 0.4;
  record.unembedding_size = 0.5;
  record.query_size = 0.6;
  record.key_size = 0.7;
  record.conserved_drift = std::numeric_limits<double>::quiet_NaN();
  double next = 1.0;
  for (auto* values : {&record.group_loss, &record.entropy, &record.weighted_entropy,
                       &record.embedding_norm, &record.parallel, &record.perpendicular,
                       &record.embedding_singular_values, &record.unembedding_singular_values}) {
    for (double& value : *values) value = next += 1.0;
  }
  record.attention = test::normal_matrix(tokens, tokens, name + "/attention");
  record.weighted_attention = test::normal_matrix(tokens, tokens, name + "/weighted");
  record.embedding = test::normal_matrix(tokens, width, name + "/W0");
  return record;
}

std::vector<Condensation> some_moments() {
  std::vector<Condensation> moments(2);
  for (Condensation& moment : moments) {
    moment.time = 200.0;
    for (const char* name : {"W0", "WQ"}) {
      moment.blocks.push_back({name, test::normal_matrix(3, 3, name), 0.97, 0.5});
    }
  }
  moments[1].blocks.pop_back();
  return moments;
}

void expect_equal(const Matrix<double>& a, const Matrix<double>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(std::equal(a.data(), a.data() + a.size(), b.data()));
}

template <class Read>
void expect_refused(const Bytes& bytes, Read read, const std::string& what) {
  try {
    static_cast<void>(read(bytes));
    ADD_FAILURE() << what << " was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::malformed_file) << what;
  }
}

template <class Read>
void expect_only_whole_bytes_accepted(const Bytes& bytes, Read read) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    expect_refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, read,
                   std::to_string(size) + " bytes");
  }
  Bytes more = bytes;
  more.push_back(std::byte{0});
  expect_refused(more, read, "one byte more");
  for (std::size_t place = 0; place < 16; ++place) {  // mark and version
    Bytes damaged = bytes;
    damaged[place] ^= std::byte{1};
    expect_refused(damaged, read, "damage at " + std::to_string(place));
  }
}

TEST(RecordBytes, GiveEveryFieldBack) {
  const std::vector<Record> records = {some_record(3, 5, "a"), some_record(3, 5, "b")};
  const std::vector<Record> found = records_from_bytes(to_bytes(records));
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    const Record &a = records[t], &b = found[t];
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.embedding_rank_one, b.embedding_rank_one);
    EXPECT_EQ(a.unembedding_rank_one, b.unembedding_rank_one);
    EXPECT_EQ(a.embedding_size, b.embedding_size);
    EXPECT_EQ(a.unembedding_size, b.unembedding_size);
    EXPECT_EQ(a.query_size, b.query_size);
    EXPECT_EQ(a.key_size, b.key_size);
    EXPECT_TRUE(std::isnan(b.conserved_drift));
    EXPECT_EQ(a.group_loss, b.group_loss);
    EXPECT_EQ(a.entropy, b.entropy);
    EXPECT_EQ(a.weighted_entropy, b.weighted_entropy);
    EXPECT_EQ(a.embedding_norm, b.embedding_norm);
    EXPECT_EQ(a.parallel, b.parallel);
    EXPECT_EQ(a.perpendicular, b.perpendicular);
    EXPECT_EQ(a.embedding_singular_values, b.embedding_singular_values);
    EXPECT_EQ(a.unembedding_singular_values, b.unembedding_singular_values);
    expect_equal(a.attention, b.attention);
    expect_equal(a.weighted_attention, b.weighted_attention);
    expect_equal(a.embedding, b.embedding);
  }
}

TEST(RecordBytes, AreTheSameAfterAWayThere) {
  const Bytes bytes = to_bytes(std::vector<Record>{some_record(4, 2, "again")});
  EXPECT_EQ(to_bytes(records_from_bytes(bytes)), bytes);
  EXPECT_TRUE(records_from_bytes(to_bytes(std::vector<Record>{})).empty());
}

TEST(RecordBytes, AreRefusedWhenDamaged) {
  const Bytes bytes = to_bytes(std::vector<Record>{some_record(2, 3, "damaged")});
  expect_only_whole_bytes_accepted(bytes, records_from_bytes);
  for (std::size_t bit = 0; bit < 24 * 8; ++bit) {  // count, vocabulary, width
    Bytes damaged = bytes;
    damaged[16 + bit / 8] ^= std::byte{1} << (bit % 8);
    expect_refused(damaged, records_from_bytes, "bit " + std::to_string(bit));
  }
}

TEST(CondensationBytes, GiveEveryMomentBack) {
  const std::vector<Condensation> moments = some_moments();
  const std::vector<Condensation> found = condensations_from_bytes(to_bytes(moments));
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(found[t].time, moments[t].time);
    ASSERT_EQ(found[t].blocks.size(), moments[t].blocks.size());
    for (std::size_t b = 0; b < found[t].blocks.size(); ++b) {
      const auto &ours = found[t].blocks[b], &given = moments[t].blocks[b];
      EXPECT_EQ(ours.matrix, given.matrix);
      EXPECT_EQ(ours.mean_modulus, given.mean_modulus);
      EXPECT_EQ(ours.rank_one, given.rank_one);
      expect_equal(ours.cosines, given.cosines);
    }
  }
}

TEST(CondensationBytes, AreRefusedWhenDamaged) {
  const Bytes bytes = to_bytes(some_moments());
  expect_only_whole_bytes_accepted(bytes, condensations_from_bytes);
  expect_refused(bytes, records_from_bytes, "condensation as records");
  expect_refused(to_bytes(std::vector<Record>{}), condensations_from_bytes,
                 "records as condensation");
}

// Whatever is changed, the reader answers or refuses: it neither asks for all memory nor reads
// beyond the end.
RC_GTEST_PROP(CondensationBytes, AreReadOrRefusedWhateverTheySay, (unsigned char value)) {
  Bytes bytes = to_bytes(some_moments());
  const auto place = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[place] = std::byte{value};
  try {
    static_cast<void>(condensations_from_bytes(bytes));
  } catch (const Error& error) {
    RC_ASSERT(error.code() == Code::malformed_file);
  }
}

}  // namespace
}  // namespace dewpoint::training
