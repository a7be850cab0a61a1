// Any bytes are a tokenizer of llama2.c, whose ids are its own, or an Error of one line; anything
// else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/llama2c_tokenizer.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dewpoint;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = text::parse_llama2c_tokenizer(bytes, "fuzz");
    demand(tokenizer->size() >= 259 && tokenizer->size() <= size);
    for (const std::string_view sample : {std::string_view("a bb  \xc3\xa9\xff<0x41>"), bytes}) {
      const auto ids = tokenizer->encode(sample);
      demand(ids.size() <= sample.size() + 1);
      for (const int id : ids) demand(id >= 0 && id < static_cast<int>(tokenizer->size()));
      (void)tokenizer->decode(ids);
    }
  } catch (const Error& error) {
    const std::string_view message = error.what();
    demand(error.code() == Code::malformed_file);
    demand(message.starts_with("fuzz: ") && message.find('\n') == std::string_view::npos);
    demand(message.find(", allowed: ") != std::string_view::npos);
  }
  return 0;
}
