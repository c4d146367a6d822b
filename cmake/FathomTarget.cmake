# The tests' own code need not be fast, and compiles in two thirds of the time; what it tests is as users get it.
set(fathom_test_options -O0 -U_FORTIFY_SOURCE)
fathom_pch(fathom_pch HEADER pch.hpp PRIVATE Boost::headers nlohmann_json::nlohmann_json)
# Of the libraries of a folder and those below, unless one says otherwise.
set(fathom_library_pch fathom_pch)
if(FATHOM_TESTS)
  fathom_pch(fathom_test_pch HEADER test_pch.hpp
    PRIVATE Boost::headers nlohmann_json::nlohmann_json GTest::gmock rapidcheck rapidcheck_gtest
    OPTIONS ${fathom_test_options})
endif()

# fathom_library(name SOURCES a.cpp … PUBLIC targets… PRIVATE targets… [PCH name])
# One library per folder; the targets that it names are all that it may include.
function(fathom_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_PCH)
    set(ARG_PCH ${fathom_library_pch})
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC fathom_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  fathom_use_pch(${name} ${ARG_PCH})
endfunction()

# fathom_program(name SOURCES main.cpp PRIVATE targets…)
function(fathom_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fathom_options ${ARG_PRIVATE})
endfunction()

# fathom_test(name SOURCES … PRIVATE targets… [LABEL unit|integration|fuzz] [TIMEOUT seconds])
# A GoogleTest program, one ctest entry each.
function(fathom_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;PRIVATE" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fathom_options ${ARG_PRIVATE} GTest::gmock_main)
  target_compile_options(${name} PRIVATE ${fathom_test_options})
  fathom_use_pch(${name} fathom_test_pch)
  add_test(NAME ${name} COMMAND ${name})
  # What may take long begins first.
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT})
endfunction()
