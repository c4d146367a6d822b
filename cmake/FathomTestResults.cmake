# What every run of the tests leaves behind: test-results/NAME.xml with each case of a test program; tests/results.py counts them.
set(FATHOM_TEST_RESULTS ${CMAKE_BINARY_DIR}/test-results)
# Debian's interpreter, which has Debian's modules.
find_program(FATHOM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

# fathom_gtest_results(name): the registered GoogleTest program of that name leaves its cases.
function(fathom_gtest_results name)
  set_property(TEST ${name} APPEND PROPERTY
    ENVIRONMENT_MODIFICATION "GTEST_OUTPUT=set:xml:${FATHOM_TEST_RESULTS}/${name}.xml")
endfunction()

# fathom_pytest(name FILE test_x.py … [ONLY words] LABEL label TIMEOUT seconds [LAUNCHER program]): a file of Python tests, or
# several one after another in one process, or those of them whose names have the words, as one ctest entry; the launcher
# starts them where they need it.
function(fathom_pytest name)
  cmake_parse_arguments(ARG "" "ONLY;LABEL;TIMEOUT;LAUNCHER" "FILE" ${ARGN})
  list(TRANSFORM ARG_FILE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(only)
  if(ARG_ONLY)
    set(only -k ${ARG_ONLY})
  endif()
  # The family xunit1 names each case's file.
  add_test(NAME ${name}
    COMMAND ${ARG_LAUNCHER} ${FATHOM_PYTHON} -m pytest -q -p no:cacheprovider -o junit_family=xunit1
            --junitxml=${FATHOM_TEST_RESULTS}/${name}.xml ${only} ${ARG_FILE})
  set_tests_properties(${name} PROPERTIES
    LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT}
    ENVIRONMENT "FATHOM_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};PYTHONDONTWRITEBYTECODE=1")
endfunction()

# fathom_test_not_built(name REASON text SOURCES …): a test that this build cannot have is counted as skipped, with its reason.
function(fathom_test_not_built name)
  cmake_parse_arguments(ARG "" "REASON" "SOURCES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "not built: ${ARG_REASON}")
  # Its sources are named for tests/lint/check_tests.py.
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "not built" REQUIRED_FILES "${ARG_SOURCES}")
endfunction()
