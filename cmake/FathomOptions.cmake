# fathom_options: what every target of ours is compiled with.
add_library(fathom_options INTERFACE)
target_compile_features(fathom_options INTERFACE cxx_std_20)
target_include_directories(fathom_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(fathom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
  -fstack-protector-strong)
target_compile_definitions(fathom_options INTERFACE
  _GLIBCXX_ASSERTIONS
  FATHOM_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives from inlined library code with these two.
  target_compile_options(fathom_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -fcoroutines)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(fathom_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(FATHOM_SANITIZE)
  target_compile_options(fathom_options INTERFACE -fsanitize=${FATHOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fathom_options INTERFACE -fsanitize=${FATHOM_SANITIZE})
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

# A precompiled header of what nearly every file of such targets includes: pch.hpp or test_pch.hpp.
function(fathom_use_pch target header)
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Without it the time stamp in the header defeats ccache.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
