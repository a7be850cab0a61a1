// Any bytes are a tokenizer in JSON or an Error of one line, and any such tokenizer gives ids of
// its own or an Error for a text; anything else is a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/json_tokenizer.hpp"
#include "fuzz/demand.hpp"

using dewpoint::fuzz::demand;

namespace {

using namespace dewpoint;

void check(const Error& error, Code code, std::string_view beginning) {
  const std::string_view message = error.what();
  demand(error.code() == code && message.starts_with(beginning));
  demand(message.find('\n') == std::string_view::npos);
  demand(message.find("allowed: ") != std::string_view::npos);
}

void use(const text::Tokenizer& tokenizer) {
  for (const std::string_view sample :
       {"it's  12 ab<s>\n\n caf\xc3\xa9 \xe2\x96\x81 \xf0\x9f\x98\x80<|endoftext|> ",
        "e\xcc\x81"}) {
    try {
      const auto ids = tokenizer.encode(sample);
      for (const int id : ids) demand(id >= 0 && id < static_cast<int>(tokenizer.size()));
      (void)tokenizer.decode(ids);
    } catch (const Error& error) {
      check(error, Code::bad_value, "text: ");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<text::Tokenizer> tokenizer;
  try {
    tokenizer = text::parse_json_tokenizer(bytes, "fuzz");
  } catch (const Error& error) {
    check(error, Code::malformed_file, "fuzz: ");
    return 0;
  }
  use(*tokenizer);
  return 0;
}
