#include "dewpoint/server/room.hpp"

#include <fmt/format.h>

#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/store/new_study.hpp"

namespace dewpoint::server {

Json Room::to_json() const {
  return {{"room", name_}, {"verb", verb_}, {"title", title_}, {"fields", fields_.to_json()}};
}

std::vector<std::unique_ptr<Room>> make_rooms(const StudyFolder& folder) {
  std::vector<std::unique_ptr<Room>> rooms;
  rooms.push_back(make_phase_room());
  rooms.push_back(make_phase_cell_room());
  rooms.push_back(make_phase_depth_room());
  rooms.push_back(make_condense_room());
  rooms.push_back(make_query_room());
  rooms.push_back(make_dew_room());
  rooms.push_back(make_cycle_room());
  rooms.push_back(make_heads_room(folder));
  return rooms;
}

void require_live_work(double work, const std::string& field) {
  if (work <= kMostLiveWork) return;
  throw TooLarge(fmt::format("{}: {:.1e} operations are more than the {:.0e} that are done live",
                             field, work, kMostLiveWork),
                 field);
}

store::StudyRecord study_of(const Room& room, const Question& question, std::vector<Frame> frames) {
  store::StudyRecord study =
      store::begin_study(room.verb(), question.seed(), room.command(question));
  study.parameters = question.parameters();
  study.frames = std::move(frames);
  return study;
}

Json means_json(const Frame& frame) {
  Json json = dewpoint::to_json(frame);
  for (auto& [name, variable] : json["variables"].items()) {
    variable.erase("standard_error");
    variable.erase("samples");
  }
  return json;
}

}  // namespace dewpoint::server
