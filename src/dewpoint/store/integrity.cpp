#include "dewpoint/store/integrity.hpp"

#include <fmt/format.h>

#include <vector>

#include "dewpoint/store/digest.hpp"

namespace dewpoint::store {
namespace {

constexpr const char* kMeta = "SELECT key, value FROM meta ORDER BY key";
constexpr const char* kParameters = "SELECT position, name, value FROM parameter ORDER BY position";

/// Every column of every row of some tables, in the order of their keys.
struct SealedPart {
  Sealed part;
  const char* name;
  std::vector<const char*> queries;
};

const std::vector<SealedPart>& parts_of(StudyKind kind) {
  static const std::vector<SealedPart> result = {
      {Sealed::head, "head", {kMeta, kParameters}},
      {Sealed::frames,
       "frames",
       {"SELECT id, name FROM frame ORDER BY id",
        "SELECT frame, position, name, extent FROM dimension ORDER BY frame, position",
        "SELECT frame, dimension, position, value, label FROM coordinate"
        " ORDER BY frame, dimension, position",
        "SELECT frame, position, name FROM variable ORDER BY frame, position",
        "SELECT frame, variable, position, dimension, stride FROM axis"
        " ORDER BY frame, variable, position",
        "SELECT frame, variable, position, mean, standard_error, samples FROM frame_value"
        " ORDER BY frame, variable, position"}},
      {Sealed::attachments,
       "attachments",
       {"SELECT rowid, name, bytes FROM attachment ORDER BY rowid"}}};
  static const std::vector<SealedPart> sweep = {
      {Sealed::head, "head", {kMeta, kParameters}},
      {Sealed::plan,
       "plan",
       {"SELECT id, name, extent, inner FROM sweep_dimension ORDER BY id",
        "SELECT dimension, position, value, label FROM sweep_coordinate"
        " ORDER BY dimension, position",
        "SELECT id, name, predicted, positions FROM sweep_variable ORDER BY id",
        "SELECT variable, position, dimension, stride FROM sweep_axis ORDER BY variable, position",
        "SELECT cell, place, level FROM sweep_place ORDER BY cell"}}};
  return kind == StudyKind::sweep ? sweep : result;
}

std::int64_t hash_of(Database& database, const SealedPart& part) {
  Digest digest;
  for (const char* sql : part.queries) {
    auto query = database.prepare(sql);
    while (query.step()) query.add_row(digest);
    digest.add(std::string_view("end of table"));
  }
  return digest.value();
}

void expect_seal(Database& database, const SealedPart& part) {
  auto query = database.prepare("SELECT hash FROM seal WHERE part = ?");
  const bool sealed = query.bind(std::string_view(part.name)).step();
  if (sealed && query.integer(0) == hash_of(database, part)) return;
  damaged(fmt::format("its {} {} not as it was written", part.name,
                      part.part == Sealed::head || part.part == Sealed::plan ? "is" : "are"));
}

void expect_cells_of_the_plan(Database& database) {
  const auto missing = single_number(
      database,
      "SELECT EXISTS (SELECT 1 FROM sweep_place WHERE cell NOT IN (SELECT id FROM cell))");
  if (missing != 0) damaged("a place of its plan without a cell");
}

}  // namespace

void seal(Database& database, StudyKind kind, Sealed part) {
  for (const SealedPart& one : parts_of(kind)) {
    if (one.part != part) continue;
    database.prepare("INSERT OR REPLACE INTO seal VALUES (?, ?)")
        .run(std::string_view(one.name), hash_of(database, one));
  }
}

void expect_seals(Database& database, const StudyForm& form) {
  if (form.schema < kFirstHashedSchema) return;
  for (const SealedPart& part : parts_of(form.kind)) expect_seal(database, part);
  if (form.kind == StudyKind::sweep) expect_cells_of_the_plan(database);
}

void expect_head(Database& database, const StudyForm& form) {
  if (form.schema >= kFirstHashedSchema) expect_seal(database, parts_of(form.kind).front());
}

bool is_damage(const DatabaseError& error) {
  return error.code() == SQLITE_CORRUPT || error.code() == SQLITE_ERROR ||
         error.code() == SQLITE_CONSTRAINT;
}

DatabaseError with_remedy(const DatabaseError& error) {
  constexpr std::string_view kRemedy = ": dewpoint run --repair computes again what is damaged";
  const std::string what = error.what();
  if (!is_damage(error) || what.ends_with(kRemedy)) return error;
  return {error.code(), what + kRemedy.data()};
}

void expect_sound_pages(Database& database) {
  auto check = database.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") damaged("its pages contradict each other");
}

}  // namespace dewpoint::store
