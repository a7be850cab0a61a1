// Tasks and results as bytes, for processes of one job on one kind of machine. Private to the
// runners.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dewpoint/studies/task.hpp"

namespace dewpoint::studies {

[[nodiscard]] std::string to_bytes(const Task& task);
[[nodiscard]] std::string to_bytes(const TaskResult& result);

/// Throw Error{malformed_file} where the bytes are no such thing.
[[nodiscard]] Task task_from_bytes(std::string_view bytes);
[[nodiscard]] TaskResult result_from_bytes(std::string_view bytes);

}  // namespace dewpoint::studies
