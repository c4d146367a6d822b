# fathom_embed(target NAMESPACE ns FILES f…): compiles text files into the target as
#   ns::embedded_files() -> std::span<const fathom::EmbeddedFile>, sorted by name.
# The header is core/base/embedded_file.hpp.
function(fathom_embed target)
  cmake_parse_arguments(ARG "" "NAMESPACE" "FILES" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
  set(paths "")
  foreach(file ${ARG_FILES})
    list(APPEND paths ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${ARG_NAMESPACE} "-DBASE=${CMAKE_CURRENT_SOURCE_DIR}"
            "-DFILES=${ARG_FILES}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  # C++ compilers need to support only 64 KiB a literal; those that we use have no limit.
  # Alone in its object: a test that has files of its own does not get these.
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
