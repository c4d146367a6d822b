# The tests' own code need not be fast, and compiles in two thirds of the time; what it tests is as users get it.
set(fathom_test_options -O0 -U_FORTIFY_SOURCE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GoogleTest guards its macros against an else that is not theirs; GCC 12 does not see it.
  list(APPEND fathom_test_options -Wno-dangling-else)
endif()
fathom_pch(fathom_pch HEADER pch.hpp PRIVATE Boost::headers nlohmann_json::nlohmann_json)
# Of the libraries of a folder and those below, unless one says otherwise.
set(fathom_library_pch fathom_pch)
if(FATHOM_TESTS)
  include(FathomTestResults)
  fathom_pch(fathom_test_pch HEADER test_pch.hpp
    PRIVATE Boost::headers nlohmann_json::nlohmann_json GTest::gmock rapidcheck rapidcheck_gtest
    OPTIONS ${fathom_test_options})
endif()

# fathom_unity(target sources…): several sources are compiled as one, since what they instantiate of the same templates takes
# longer than they do themselves. -DFATHOM_UNITY=OFF compiles each alone, which shows includes that it lacks. What speaks SQL
# stays alone: each has statements kInsert, kFind and so on.
option(FATHOM_UNITY "Compile several sources as one" ON)
set(FATHOM_UNITY_SOURCES 8 CACHE STRING "How many")
function(fathom_unity target)
  if(NOT FATHOM_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${FATHOM_UNITY_SOURCES})
  list(FILTER ARGN INCLUDE REGEX "_store\\.cpp$")
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# fathom_library(name SOURCES a.cpp … PUBLIC targets… PRIVATE targets… [PCH name])
# One library per folder; the targets that it names are all that it may include (FathomLayers).
function(fathom_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_PCH)
    set(ARG_PCH ${fathom_library_pch})
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  fathom_unity(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC fathom_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  fathom_use_pch(${name} ${ARG_PCH})
  fathom_layered(${name})
endfunction()

# fathom_program(name SOURCES main.cpp PRIVATE targets…)
function(fathom_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fathom_options ${ARG_PRIVATE})
endfunction()

# fathom_test(name SOURCES … PRIVATE targets… [ALONE …] [LABEL unit|integration|fuzz] [TIMEOUT seconds] [PCH name])
# A GoogleTest program, one ctest entry each. ALONE: those of the sources that are not compiled together with others, since
# they use names of theirs for something else.
function(fathom_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT;PCH" "SOURCES;PRIVATE;ALONE" ${ARGN})
  if(NOT ARG_PCH)
    set(ARG_PCH fathom_test_pch)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fathom_options ${ARG_PRIVATE} GTest::gmock_main)
  target_compile_options(${name} PRIVATE ${fathom_test_options})
  fathom_unity(${name} ${ARG_SOURCES})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  fathom_use_pch(${name} ${ARG_PCH})
  add_test(NAME ${name} COMMAND ${name})
  # What may take long begins first.
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT})
  fathom_gtest_results(${name})
endfunction()
