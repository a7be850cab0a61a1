# Warnings are errors where we develop (presets dev, sanitize, tidy), never on a user's machine. Four
# are off for GCC, whose version 12 raises them inside std::string (its bug 105651).
add_library(dewpoint_flags INTERFACE)
target_compile_features(dewpoint_flags INTERFACE cxx_std_20)
target_compile_options(dewpoint_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -fno-math-errno
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>"
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread;-fpch-preprocess>")
target_compile_definitions(dewpoint_flags INTERFACE
  $<$<BOOL:${DEWPOINT_CHECKS}>:DEWPOINT_CHECKS>)

# The Python package is one shared library out of all static ones. Calls within it are direct and
# may be inlined, as in the program.
function(dewpoint_make_shareable target)
  if(DEWPOINT_PYTHON)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden)
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>")
  endif()
endfunction()

# What nearly every source includes is parsed once, for all modules.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/common_headers.cpp CONTENT "")
add_library(dewpoint_common_headers OBJECT ${PROJECT_BINARY_DIR}/common_headers.cpp)
target_link_libraries(dewpoint_common_headers PRIVATE dewpoint_flags fmt::fmt)
dewpoint_make_shareable(dewpoint_common_headers)
target_precompile_headers(dewpoint_common_headers PRIVATE <fmt/format.h> <algorithm> <array> <cmath>
  <cstddef> <cstdint> <functional> <limits> <memory> <numeric> <optional> <span> <string>
  <string_view> <utility> <vector>)

# Declares Dewpoint::<name>. DEPENDS is the only place where the direction between modules is
# written: it links, and it registers a test that fails on an #include of any other module.
# USES names the outside libraries beside {fmt}; they stay private to the module's sources.
function(dewpoint_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;SOURCES;USES")
  add_library(dewpoint_${name} STATIC ${arg_SOURCES})
  add_library(Dewpoint::${name} ALIAS dewpoint_${name})
  target_include_directories(dewpoint_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPENDS PREPEND Dewpoint:: OUTPUT_VARIABLE libraries)
  target_link_libraries(dewpoint_${name} PUBLIC ${libraries}
    PRIVATE dewpoint_flags fmt::fmt ${arg_USES})
  target_compile_features(dewpoint_${name} PUBLIC cxx_std_20)
  target_compile_definitions(dewpoint_${name} PUBLIC
    $<$<BOOL:${DEWPOINT_CHECKS}>:DEWPOINT_CHECKS>)
  dewpoint_make_shareable(dewpoint_${name})
  target_precompile_headers(dewpoint_${name} REUSE_FROM dewpoint_common_headers)

  list(JOIN arg_DEPENDS "," allowed)
  add_test(NAME architecture.${name} COMMAND ${CMAKE_COMMAND} -D MODULE=${name}
    -D "ALLOWED=${allowed}" -D DIR=${CMAKE_CURRENT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/cmake/CheckIncludes.cmake)
endfunction()
