// Whether a file is as it was written: what every reader and every writer asks before it believes
// a number.
//
// Private to the store. Since schema 4 a file carries hashes: one per cell of a sweep
// (cell_tables.hpp), over its key, parameters, moments and predictions, and in the table `seal` one
// for each part that is read as a whole: what the study says about itself, the plan of a sweep, the
// frames and the attachments of a result. Who ran it and for how long (session, effort) has none.
// Older files have no hashes and are believed as before; a sweep gets them when it is opened to be
// continued, its cells when they are next written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dewpoint/store/database.hpp"
#include "dewpoint/store/schema.hpp"

namespace dewpoint::store {

inline constexpr int kFirstHashedSchema = 4;

enum class Sealed { head, plan, frames, attachments };

/// Writes the hash of a part as its tables are now; within a transaction of the caller.
void seal(Database& database, StudyKind kind, Sealed part);

/// Throws damage unless every part has its hash, and every place of a plan its cell.
void expect_seals(Database& database, const StudyForm& form);

/// The same for the head alone, for whoever reads no numbers.
void expect_head(Database& database, const StudyForm& form);

/// Throws damage unless SQLite finds its pages in order; cost grows with the file.
void expect_sound_pages(Database& database);

/// Whether it is about what the file holds, and not about a disk or memory that failed.
[[nodiscard]] bool is_damage(const DatabaseError& error);

/// The same error; of damage it says what to do about a sweep.
[[nodiscard]] DatabaseError with_remedy(const DatabaseError& error);

/// What `read` returns, after the parts were checked; cells are checked as they are read, and named
/// where they are damaged. What has its hash needs no sound pages around it: SQLite's check, which
/// takes as long as reading, is for files without hashes.
template <class Read>
auto read_soundly(Database& database, const StudyForm& form, Read&& read) {
  try {
    if (form.schema < kFirstHashedSchema) expect_sound_pages(database);
    expect_seals(database, form);
    return read();
  } catch (const DatabaseError& error) {
    throw form.kind == StudyKind::sweep ? with_remedy(error) : error;
  }
}

}  // namespace dewpoint::store
