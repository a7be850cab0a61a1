# Warnings are errors where we develop (presets dev, sanitize, tidy), never on a user's machine.
add_library(dewpoint_flags INTERFACE)
target_compile_features(dewpoint_flags INTERFACE cxx_std_20)
target_compile_options(dewpoint_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -fno-math-errno)
target_compile_definitions(dewpoint_flags INTERFACE
  $<$<BOOL:${DEWPOINT_CHECKS}>:DEWPOINT_CHECKS>)

# Declares Dewpoint::<name>. DEPENDS is the only place where the direction between modules is
# written: it links, and it registers a test that fails on an #include of any other module.
# USES names the outside libraries; they stay private to the module's sources.
function(dewpoint_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;SOURCES;USES")
  add_library(dewpoint_${name} STATIC ${arg_SOURCES})
  add_library(Dewpoint::${name} ALIAS dewpoint_${name})
  target_include_directories(dewpoint_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPENDS PREPEND Dewpoint:: OUTPUT_VARIABLE libraries)
  target_link_libraries(dewpoint_${name} PUBLIC ${libraries} PRIVATE dewpoint_flags ${arg_USES})
  target_compile_features(dewpoint_${name} PUBLIC cxx_std_20)
  target_compile_definitions(dewpoint_${name} PUBLIC
    $<$<BOOL:${DEWPOINT_CHECKS}>:DEWPOINT_CHECKS>)

  list(JOIN arg_DEPENDS "," allowed)
  add_test(NAME architecture.${name} COMMAND ${CMAKE_COMMAND} -D MODULE=${name}
    -D "ALLOWED=${allowed}" -D DIR=${CMAKE_CURRENT_SOURCE_DIR}
    -P ${PROJECT_SOURCE_DIR}/cmake/CheckIncludes.cmake)
endfunction()
