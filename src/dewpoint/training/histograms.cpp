#include "dewpoint/training/histograms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/training/histogram_index.hpp"

namespace dewpoint::training {
namespace {

HistogramRows empty_rows(std::size_t vocabulary, std::size_t context, std::size_t size) {
  HistogramRows rows{vocabulary, context, 0.0, {}, {}, {}};
  rows.last.reserve(size);
  rows.counts = Matrix<double>(size, vocabulary);
  rows.labels = Matrix<double>(size, vocabulary);
  return rows;
}

// --- sequences -----------------------------------------------------------------------------------

// l, n_0, n_1, ...: keys in lexicographic order are rows in order.
using Key = std::u32string;

void set_key(Key& key, std::span<const std::uint8_t> context) {
  std::fill(key.begin(), key.end(), U'\0');
  key[0] = context.back();
  for (const std::uint8_t token : context) ++key[1 + token];
}

// What is known of the rows while sequences are still coming in.
struct Tally {
  std::unordered_map<Key, std::size_t> number;  // of a row, as they come
  std::vector<double> labels;                   // d for each
};

Tally tally_rows(const SequenceSet& sequences) {
  Tally tally;
  Key key(sequences.vocabulary + 1, U'\0');
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::span<const std::uint8_t> sequence = sequences.sequence(i);
    set_key(key, sequence.first(sequences.context));
    const auto [row, is_new] = tally.number.try_emplace(key, tally.number.size());
    if (is_new) tally.labels.resize(tally.labels.size() + sequences.vocabulary);
    tally.labels[row->second * sequences.vocabulary + sequence.back()] += 1.0;
  }
  return tally;
}

using TalliedRow = std::pair<const Key, std::size_t>;

std::vector<const TalliedRow*> in_order(const Tally& tally) {
  std::vector<const TalliedRow*> rows;
  rows.reserve(tally.number.size());
  for (const TalliedRow& row : tally.number) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const TalliedRow* a, const TalliedRow* b) { return a->first < b->first; });
  return rows;
}

// --- the exact law -------------------------------------------------------------------------------

[[noreturn]] void refuse(std::size_t d, std::size_t context, const std::string& needs,
                         const std::string& most) {
  throw Error(Code::bad_value,
              fmt::format("exact data: {} tokens in contexts of {} need {}, not at most {}", d,
                          context, needs, most));
}

void check_cost(std::size_t vocabulary, std::size_t context) {
  const auto d = static_cast<double>(vocabulary), s = static_cast<double>(context);
  const double rows = d * binomial(s + d - 2.0, d - 1.0);
  if (rows > kMostExactRows) {
    refuse(vocabulary, context, fmt::format("{:.10g} rows", rows),
           fmt::format("{:.10g}", kMostExactRows));
  }
  // Doubles: two per token of a row, and two laws over (histogram, last token). Also two numbers of
  // four bytes per histogram and token.
  const double bytes = 16.0 * d * rows + 24.0 * d * binomial(s + d - 1.0, d - 1.0);
  if (bytes > kMostExactBytes) {
    refuse(vocabulary, context, fmt::format("{:.3g} GiB", bytes * 0x1p-30),
           fmt::format("{:.3g} GiB", kMostExactBytes * 0x1p-30));
  }
  // d² for every histogram of 1 to s − 1 tokens.
  const double products = d * d * (binomial(s + d - 1.0, d) - 1.0);
  if (products > kMostExactProducts) {
    refuse(vocabulary, context, fmt::format("{:.3g} products", products),
           fmt::format("{:.3g}", kMostExactProducts));
  }
}

// The law of (histogram, last token) after t tokens: one row per number of a histogram.
using JointLaw = Matrix<double>;

// One token more. An entry whose histogram lacks its last token is never written: it stays 0.
void append_token(const Chain& chain, const HistogramIndex& index, std::size_t t,
                  const JointLaw& law, JointLaw& longer) {
  const std::size_t d = chain.vocabulary();
  std::vector<double> arriving(d);
  for (std::size_t rank = 0; rank < index.size(t); ++rank) {
    std::fill(arriving.begin(), arriving.end(), 0.0);
    for (std::size_t last = 0; last < d; ++last) {
      const double here = law(rank, last);
      if (here == 0.0) continue;
      const std::span<const double> row = chain.transition.row(last);
      for (std::size_t j = 0; j < d; ++j) arriving[j] += here * row[j];
    }
    for (std::size_t j = 0; j < d; ++j) longer(index.with_one_more(rank, j), j) = arriving[j];
  }
}

JointLaw joint_law(const Chain& chain, const HistogramIndex& index, std::size_t context) {
  const std::size_t d = chain.vocabulary();
  JointLaw law(index.size(context), d), longer(index.size(context), d);
  for (std::size_t j = 0; j < d; ++j) {
    law(index.with_one_more(0, j), j) = 1.0 / static_cast<double>(d);
  }
  for (std::size_t t = 1; t < context; ++t) {
    append_token(chain, index, t, law, longer);
    std::swap(law, longer);
  }
  return law;
}

}  // namespace

HistogramRows collapse(const SequenceSet& sequences) {
  DEWPOINT_EXPECTS(sequences.size() >= 1);
  const Tally tally = tally_rows(sequences);
  const std::size_t d = sequences.vocabulary;
  HistogramRows rows = empty_rows(d, sequences.context, tally.number.size());
  rows.weight = static_cast<double>(sequences.size());
  for (const TalliedRow* row : in_order(tally)) {
    const auto& [key, number] = *row;
    const std::size_t at = rows.size();
    std::copy_n(key.begin() + 1, d, rows.counts.row(at).begin());
    std::copy_n(&tally.labels[number * d], d, rows.labels.row(at).begin());
    rows.last.push_back(static_cast<std::uint8_t>(key[0]));
  }
  return rows;
}

HistogramRows exact_rows(const Chain& chain, std::size_t context) {
  DEWPOINT_EXPECTS(context >= 1);
  const std::size_t d = chain.vocabulary();
  check_cost(d, context);
  const HistogramIndex index(d, context);
  const JointLaw law = joint_law(chain, index, context);
  const auto possible = [](double p) { return p > 0.0; };
  const auto size = std::count_if(law.data(), law.data() + law.size(), possible);
  HistogramRows rows = empty_rows(d, context, static_cast<std::size_t>(size));
  rows.weight = 1.0;
  for (std::size_t last = 0; last < d; ++last) {
    for (std::size_t rank = law.rows(); rank-- > 0;) {
      if (!possible(law(rank, last))) continue;
      const std::size_t at = rows.size();
      index.counts(rank, context, rows.counts.row(at));
      for (std::size_t k = 0; k < d; ++k) {
        rows.labels(at, k) = law(rank, last) * chain.transition(last, k);
      }
      rows.last.push_back(static_cast<std::uint8_t>(last));
    }
  }
  return rows;
}

}  // namespace dewpoint::training
