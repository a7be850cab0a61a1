// The table by which a sentencepiece model normalises text: a double-array trie of what is
// replaced, and the replacements.
//
//     [size of the trie in bytes: 4 bytes, little-endian][trie: units of 4 bytes][texts, each
//     ended by a zero byte]
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dewpoint::text {

/// Property (3) of check_sentencepiece_model. Throws Refusal.
void check_normalisation_table(std::string_view table);

}  // namespace dewpoint::text
