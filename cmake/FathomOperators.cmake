# An operator is a folder with a manifest.json: what else is in it says what there is. Nothing else names it.
#   cpu.cpp           defines `CpuImplementation <folder's name>_on_cpu()`  (probes/operators/cpu_implementation.hpp)
#   cuda.cu           defines `CudaImplementation <folder's name>_on_cuda()` (probes/operators/cuda_library.hpp)
#   any other *.cpp   is used by both: inputs, the check
# Whoever adds, removes or renames a folder needs no other step: the lists are made anew by the next build.

# fathom_operator_files(result pattern folders…): the files that match in the operators' folders, relative to here, sorted.
function(fathom_operator_files result pattern)
  set(found "")
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*/${pattern})
    list(APPEND found ${files})
  endforeach()
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# fathom_operator_table(target cpu|cuda folders…): gives the target the list of its operators' implementations,
# cpu_implementations() or cuda_implementations(), sorted by id.
function(fathom_operator_table target resource)
  set(type Cpu)
  set(header cpu_implementation)
  set(pattern cpu.cpp)
  if(resource STREQUAL cuda)
    set(type Cuda)
    set(header cuda_library)
    set(pattern cuda.cu)
  endif()
  fathom_operator_files(files ${pattern} ${ARGN})
  set(names "")
  foreach(file ${files})
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  list(TRANSFORM names REPLACE "(.+)" "${type}Implementation \\1_on_${resource}()" OUTPUT_VARIABLE declarations)
  list(TRANSFORM names REPLACE "(.+)" "        with_id(\"\\1\", \\1_on_${resource}())," OUTPUT_VARIABLE entries)
  list(JOIN declarations ";\n" declarations)
  list(JOIN entries "\n" entries)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_${resource}_implementations.cpp)
  file(CONFIGURE OUTPUT ${output} CONTENT "// Made by cmake/FathomOperators.cmake from the operators' folders.
#include \"probes/operators/${header}.hpp\"

#include <array>

namespace fathom::probes {

${declarations};

namespace {

${type}Implementation with_id(const char* id, ${type}Implementation implementation)
{
    implementation.id = id;
    return implementation;
}

} // namespace

std::span<const ${type}Implementation> ${resource}_implementations()
{
    static const std::array all{
${entries}
    };
    return all;
}

} // namespace fathom::probes
")
  target_sources(${target} PRIVATE ${output})
  # Alone in its object: a test that has a table of its own does not get this one.
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
