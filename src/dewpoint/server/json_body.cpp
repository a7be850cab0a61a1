#include "dewpoint/server/json_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/server/refusal.hpp"

namespace dewpoint::server {

Json parse_body(std::string_view text) {
  std::string field;  // whose value is being read
  const auto shallow = [&field](int depth, Json::parse_event_t event, Json& part) {
    if (event == Json::parse_event_t::key) field = part.get<std::string>().substr(0, 64);
    if (depth > static_cast<int>(kMostJsonDepth)) {
      throw Refusal(400, fmt::format("body: JSON is deeper than {} levels", kMostJsonDepth));
    }
    return true;
  };
  Json body;
  try {
    body = Json::parse(text, shallow);
  } catch (const Json::out_of_range&) {
    throw Refusal(400, fmt::format("{}: a number is larger than 1.8e308", field), field);
  } catch (const Json::exception&) {
    throw Refusal(400, "body: is not JSON");
  }
  if (!body.is_object()) throw Refusal(400, "body: is not a JSON object");
  return body;
}

void refuse_unknown_fields(const Json& object, const std::vector<std::string>& known) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string shown = name.substr(0, 64);
    throw Refusal(400, fmt::format("{}: is not known{}", shown, instead_of(shown, known)), shown);
  }
}

std::string body_text(const Json& body, const std::string& field, std::size_t most) {
  const auto found = body.find(field);
  if (found == body.end() || !found->is_string()) {
    throw Refusal(400, fmt::format("{}: a text is needed", field), field);
  }
  std::string text = found->get<std::string>();
  if (text.size() > most) {
    throw Refusal(400, fmt::format("{}: {} bytes are more than {}", field, text.size(), most),
                  field);
  }
  return text;
}

std::string body_text(const Json& body, const std::string& field, std::size_t most,
                      const std::string& standard) {
  const auto found = body.find(field);
  return found == body.end() || found->is_null() ? standard : body_text(body, field, most);
}

bool body_flag(const Json& body, const std::string& field) {
  const auto found = body.find(field);
  if (found == body.end() || found->is_null()) return false;
  if (!found->is_boolean()) {
    throw Refusal(400, fmt::format("{}: is not true or false", field), field);
  }
  return found->get<bool>();
}

std::string body_client(const Json& body) {
  const std::string client = body_text(body, "client", 64);
  const bool named =
      client.size() >= 4 && std::all_of(client.begin(), client.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
      });
  if (!named) {
    throw Refusal(400, "client: 4 to 64 letters, digits, - and _ are needed", "client");
  }
  return client;
}

}  // namespace dewpoint::server
