// Hugging Face's tokenizer.json with a model of type BPE, at the byte level (GPT-2, Llama 3, Qwen,
// SmolLM) or with sentencepiece's blanks and byte fallback (Llama 2, Mistral).
//
//   added_tokens    found in the text first (added_tokens.hpp)
//   normalizer      normalizer.hpp
//   pre_tokenizer   pre_tokenizer.hpp
//   model           type BPE: vocab, merges ("a b" or ["a", "b"]), unk_token, fuse_unk,
//                   byte_fallback, ignore_merges
//   decoder         token_decoder.hpp
//   post_processor  read only for the token that begins a text: encode adds no special tokens
//
// truncation and padding are about batches and change no id; they are not looked at. Whatever else
// would change an id and is not known here is refused by its name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::text {

/// Throws Refusal with the path of the field.
///
///   Properties  of what is returned
///               (1) encode gives the ids of the Python package `tokenizers` with
///                   add_special_tokens=False, or throws: where a character has no token and the
///                   file names no unknown token, the package drops it silently.
///               (2) decode gives the text of that package with skip_special_tokens=False, except
///                   that bytes which form no character stay as they are.
///               (3) the token that begins a text is the one that the post-processor puts in front;
///                   without one, a special token of a customary name (<s>, <|begin_of_text|>,
///                   <bos>), or none. The one that ends it: </s>, <|end_of_text|>, <eos>,
///                   <|endoftext|>, or none.
[[nodiscard]] std::unique_ptr<Tokenizer> read_hugging_face_tokenizer(
    const nlohmann::ordered_json& document);

}  // namespace dewpoint::text
