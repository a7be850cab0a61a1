// Any bytes are a sentencepiece model that the library can use, or an Error of one line; anything
// else is a crash, in our code or in the library's.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/sentencepiece_tokenizer.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dewpoint;
  using namespace std::string_view_literals;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = text::parse_sentencepiece(bytes, "fuzz");
    const auto ids =
        tokenizer->encode("A  boat\xc3\xa9 \xef\xac\x81 <x>\0\n\xf0\x9f\x98\x80 12 "sv);
    for (const int id : ids) demand(id >= 0 && id < static_cast<int>(tokenizer->size()));
    (void)tokenizer->decode(ids);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    demand(error.code() == Code::malformed_file || error.code() == Code::bad_value);
    demand(message.find('\n') == std::string_view::npos);
    demand(message.find("allowed: ") != std::string_view::npos);
  }
  return 0;
}
