# fathom_options: what every target of ours is compiled with.
add_library(fathom_options INTERFACE)
target_compile_features(fathom_options INTERFACE cxx_std_20)
target_include_directories(fathom_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(fathom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
  -fstack-protector-strong
  # Simulated results are the same on every machine: a · b + c stays two operations (core/base/portable_math). What probes
  # measure is compiled as programs are (probes/CMakeLists.txt).
  -ffp-contract=off)
target_compile_definitions(fathom_options INTERFACE
  _GLIBCXX_ASSERTIONS
  FATHOM_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Maps of modules only say who may include what (FathomLayers); nothing is a module.
  target_compile_options(fathom_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-cxx-modules -Xclang -fmodules-decluse -fno-implicit-modules -fno-implicit-module-maps>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives from inlined library code with the first two, and takes joined sources (fathom_unity) for
  # headers with the third.
  target_compile_options(fathom_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-subobject-linkage -fcoroutines)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(fathom_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
# Targets with the property FATHOM_UNSANITIZED are as users get them: what lies in their processes. An option that takes another
# back would come before it.
set(fathom_sanitized "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:FATHOM_UNSANITIZED>>>")
if(FATHOM_SANITIZE)
  target_compile_options(fathom_options INTERFACE
    "${fathom_sanitized}:-fsanitize=${FATHOM_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  target_link_options(fathom_options INTERFACE "${fathom_sanitized}:-fsanitize=${FATHOM_SANITIZE}>")
endif()
if(FATHOM_FUZZ)
  # What libFuzzer searches by: which branches an input took, and what it was compared with.
  target_compile_options(fathom_options INTERFACE "${fathom_sanitized}:-fsanitize=fuzzer-no-link>")
  target_link_options(fathom_options INTERFACE "${fathom_sanitized}:-fsanitize=fuzzer-no-link>")
endif()

find_program(FATHOM_MOLD mold)
if(FATHOM_MOLD)
  target_link_options(fathom_options INTERFACE -fuse-ld=mold)
endif()

find_program(FATHOM_CCACHE ccache)
if(FATHOM_CCACHE)
  # The sloppiness values are what ccache's manual asks for with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${FATHOM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# The time stamp in the header would defeat ccache.
function(fathom_without_pch_timestamp target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# fathom_pch(name HEADER file PRIVATE targets… [OPTIONS options…]): a precompiled header of this folder, compiled once for all
# targets that fathom_use_pch() gives it to. They must have the same options; definitions of their own do no harm.
function(fathom_pch name)
  cmake_parse_arguments(ARG "" "HEADER" "PRIVATE;OPTIONS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// A target needs one.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE fathom_options ${ARG_PRIVATE})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${ARG_HEADER})
  fathom_without_pch_timestamp(${name})
endfunction()

function(fathom_use_pch target name)
  target_precompile_headers(${target} REUSE_FROM ${name})
  fathom_without_pch_timestamp(${target})
endfunction()
