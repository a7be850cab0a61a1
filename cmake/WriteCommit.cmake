# Writes OUTPUT (a header with DEWPOINT_COMMIT and its date) for the tree in SOURCE; leaves it alone when nothing
# changed, so that an unchanged commit rebuilds nothing.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C ${SOURCE} diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "+")
  endif()
endif()
execute_process(COMMAND git -C ${SOURCE} show -s --format=%cs HEAD
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  string(TIMESTAMP date "%Y-%m-%d" UTC)
endif()
set(text "#define DEWPOINT_COMMIT \"${commit}\"\n#define DEWPOINT_DATE \"${date}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
