#include "dewpoint/checkpoint/model_config.hpp"

#include <algorithm>
#include <system_error>

#include "dewpoint/checkpoint/foreign_file.hpp"
#include "dewpoint/checkpoint/gguf.hpp"
#include "dewpoint/checkpoint/llama2c.hpp"
#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr auto kAllowed =
    "a config.json, a folder with one, a .gguf file, or a .bin file of llama2.c";

constexpr std::size_t kFront = 4096;  // bytes in which a JSON file begins

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
  const auto opened = std::make_shared<const ForeignFile>(file, kAllowed);
  const ByteSource bytes(opened);
  if (is_gguf(bytes)) return parse_gguf_config(bytes, name);
  if (is_llama2c(bytes)) return parse_llama2c(bytes, name).config;
  const std::string front = bytes.text(0, kFront);
  if (begins_like_json(front)) return parse_hugging_face_config(opened->text(), name);
  throw to_error(Code::malformed_file, name,
                 {"file", "'" + excerpt(front.substr(0, 16)) + "'", kAllowed});
}

}  // namespace dewpoint::checkpoint
