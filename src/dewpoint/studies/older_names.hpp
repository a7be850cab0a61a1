// What an experiment says of itself when its parameters were renamed after cells had been kept.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dewpoint::studies {

/// Base of experiments in whose keys of cells parameters go by their older names (`formerly`), so
/// that the cells are found again. Others were given a new schema with the new names.
struct KeyedByOlderNames {};

}  // namespace dewpoint::studies
