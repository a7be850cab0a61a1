// What the tests of corpora share: all of a corpus' ids, and those by the files that it writes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/text/corpus.hpp"
#include "store/scratch_folder.hpp"

namespace dewpoint::test {

/// The training part, then the validation part.
inline std::vector<std::int32_t> all_ids(const text::Corpus& corpus) {
  std::vector<std::int32_t> ids = corpus.training;
  ids.insert(ids.end(), corpus.validation.begin(), corpus.validation.end());
  return ids;
}

/// Writes the corpus' files and encodes a text with what is opened from there.
inline std::vector<std::int32_t> reopened_ids(const text::Corpus& corpus, const std::string& text) {
  ScratchFolder folder;
  for (const auto& [name, content] : corpus.files) write_bytes(folder / name, content);
  const std::vector<int> ids = text::open_tokenizer((folder / "x").parent_path())->encode(text);
  return {ids.begin(), ids.end()};
}

/// What unigram_entropy() promises.
inline double entropy_error(std::size_t vocabulary, double entropy) {
  return (1.0 + (static_cast<double>(vocabulary) + 4.0) * entropy) * 0x1p-53;
}

}  // namespace dewpoint::test
