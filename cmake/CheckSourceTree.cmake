# Tests leave the source tree alone: `MODE=list` writes the names of its files to LIST before they
# run, `MODE=compare` fails on a name that came since.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/*)
list(FILTER files EXCLUDE REGEX "^(build|dewpoint-out|[.]git|web/node_modules|web/dist)/|__pycache__/")
if(MODE STREQUAL "list")
  list(JOIN files "\n" text)
  file(WRITE ${LIST} "${text}\n")
  return()
endif()
file(STRINGS ${LIST} known)
list(REMOVE_ITEM files ${known})
if(files)
  list(JOIN files "\n  " text)
  message(FATAL_ERROR "new in the source tree since the tests began:\n  ${text}")
endif()
