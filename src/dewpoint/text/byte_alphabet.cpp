#include "dewpoint/text/byte_alphabet.hpp"

#include <array>
#include <cstddef>
#include <optional>

#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/text/characters.hpp"

namespace dewpoint::text {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr std::size_t kLetters = 0x144;  // 256 values below U+0100 and 68 stand-ins

struct Alphabet {
  std::array<std::string, 256> letters;
  std::array<std::optional<char>, kLetters> bytes;
};

bool stands_for_itself(char32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

Alphabet make_alphabet() {
  Alphabet alphabet;
  char32_t stand_in = kFirstStandIn;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const char32_t letter = stands_for_itself(byte) ? byte : stand_in++;
    alphabet.letters[byte] = checkpoint::encode_utf8(std::u32string(1, letter));
    alphabet.bytes[letter] = static_cast<char>(static_cast<unsigned char>(byte));
  }
  return alphabet;
}

const Alphabet& alphabet() {
  static const Alphabet made = make_alphabet();
  return made;
}

}  // namespace

std::string letters_of_bytes(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) letters += alphabet().letters[static_cast<unsigned char>(byte)];
  return letters;
}

std::string bytes_of_letters(std::string_view letters) {
  std::string bytes;
  for (std::size_t place = 0; place < letters.size();) {
    const Character letter = character_at(letters, place);
    const bool known =
        letter.length > 0 && letter.value < kLetters && alphabet().bytes[letter.value].has_value();
    if (!known) return std::string(letters);
    bytes += *alphabet().bytes[letter.value];
    place += letter.length;
  }
  return bytes;
}

}  // namespace dewpoint::text
