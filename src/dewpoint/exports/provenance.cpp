#include "dewpoint/exports/provenance.hpp"

#include "dewpoint/exports/text.hpp"

namespace dewpoint::exports {

Json parameters_of(const store::StudyRecord& study) {
  Json parameters = Json::object();
  for (const auto& [name, value] : study.parameters) {
    parameters[clean_text(name)] = clean_text(value);
  }
  return parameters;
}

Json provenance(const store::StudyRecord& study) {
  return {{"experiment", clean_text(study.experiment)}, {"seed", study.seed},
          {"version", clean_text(study.version)},       {"command", clean_text(study.command)},
          {"created", clean_text(study.created)},       {"parameters", parameters_of(study)}};
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_page(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dewpoint::exports
