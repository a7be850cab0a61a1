# Tests that run the program start where they are told to, and must write nothing into the source
# tree: it is listed before the first of them and compared after the last.
set(check ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D LIST=${PROJECT_BINARY_DIR}/source_tree.txt)
add_test(NAME source_tree.before
  COMMAND ${check} -D MODE=list -P ${PROJECT_SOURCE_DIR}/cmake/CheckSourceTree.cmake)
add_test(NAME source_tree.after
  COMMAND ${check} -D MODE=compare -P ${PROJECT_SOURCE_DIR}/cmake/CheckSourceTree.cmake)
set_tests_properties(source_tree.before PROPERTIES FIXTURES_SETUP source_tree)
set_tests_properties(source_tree.after PROPERTIES FIXTURES_CLEANUP source_tree)

# Puts all tests of the current folder between the two.
function(dewpoint_watch_source_tree)
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} APPEND PROPERTY FIXTURES_REQUIRED source_tree)
endfunction()
