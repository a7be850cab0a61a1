#include "dewpoint/checkpoint/model_config.hpp"

#include <algorithm>
#include <system_error>

#include "dewpoint/checkpoint/gguf.hpp"
#include "dewpoint/checkpoint/llama2c.hpp"
#include "dewpoint/checkpoint/mapped_file.hpp"
#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr auto kAllowed =
    "a config.json, a folder with one, a .gguf file, or a .bin file of llama2.c";

bool begins_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

ModelConfig read_model_config(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path file = folder ? path / "config.json" : path;
  const std::string name = file.string();
  const MappedFile mapped(file, kAllowed);
  if (is_gguf(mapped.bytes())) return parse_gguf_config(mapped.bytes(), name);
  if (is_llama2c(mapped.bytes())) return parse_llama2c(mapped.bytes(), name).config;
  if (begins_like_json(mapped.text())) return parse_hugging_face_config(mapped.text(), name);
  throw to_error(Code::malformed_file, name,
                 {"file", "'" + excerpt(mapped.text().substr(0, 16)) + "'", kAllowed});
}

}  // namespace dewpoint::checkpoint
