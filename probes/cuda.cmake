# fathom-operators-cuda.so: the operators on CUDA devices. Built where nvcc is found, in PATH or in /usr/local/cuda, and
# loaded by fathom-probe only when it is asked for; nothing else needs CUDA.
#   cmake -DFATHOM_CUDA=OFF                        leaves it out
#   cmake -DCMAKE_CUDA_ARCHITECTURES=90            compiles for one kind of device; what is newer takes the PTX code
option(FATHOM_CUDA "Build the operators on CUDA devices where nvcc is found" ON)
find_program(FATHOM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(FATHOM_NVCC)
# Not with sanitizers either: the CUDA runtime wants addresses that they take.
if(NOT FATHOM_CUDA OR NOT FATHOM_NVCC OR FATHOM_SANITIZE)
  message(STATUS "Operators on CUDA devices: not built")
  return()
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
# The host's part of the code by the compiler of everything else: C++ types cross the library's border.
set(ENV{CUDACXX} ${FATHOM_NVCC})
set(ENV{CUDAHOSTCXX} ${CMAKE_CXX_COMPILER})
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "Operators on CUDA devices: not built, ${FATHOM_NVCC} does not work with ${CMAKE_CXX_COMPILER}")
  return()
endif()
set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
enable_language(CUDA)
# CMake 3.25, Debian 12's, marks CUDA::nvToolsExt as deprecated where 3.25 is required, and fails where a toolkit, as CUDA 13,
# has no such library any more (mended in CMake 3.26).
set(required_version ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${required_version})
find_path(FATHOM_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(FATHOM_CUDNN cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
if(NOT FATHOM_CUDNN_INCLUDE OR NOT FATHOM_CUDNN)
  message(STATUS "Operators on CUDA devices: not built, cuDNN is missing")
  return()
endif()
message(STATUS "Operators on CUDA devices: CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

# The inputs and checks that all implementations share, compiled once more: a library needs other code than a program.
fathom_operator_files(shared_sources *.cpp operators)
list(FILTER shared_sources EXCLUDE REGEX "/cpu\\.cpp$")
add_library(fathom_operators_cuda_host OBJECT
  ${shared_sources}
  ${CMAKE_SOURCE_DIR}/core/base/result.cpp
  operators/checksum.cpp
  operators/cuda_device.cpp
  operators/cuda_library.cpp
  operators/cuda_operator.cpp
  operators/cusparse_product.cpp
  operators/data_flow.cpp
  operators/fft_check.cpp
  operators/mapping.cpp
  operators/stencil_matrix.cpp)
fathom_operator_table(fathom_operators_cuda_host cuda operators)
target_link_libraries(fathom_operators_cuda_host PRIVATE fathom_options)
list(JOIN CMAKE_CUDA_ARCHITECTURES ", " architectures)
set_source_files_properties(operators/cuda_device.cpp PROPERTIES
  COMPILE_DEFINITIONS "FATHOM_CUDA_ARCHITECTURES=\"${architectures}\"")
target_include_directories(fathom_operators_cuda_host SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(fathom_operators_cuda_host PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

fathom_operator_files(device_sources cuda.cu operators)
add_library(fathom_operators_cuda MODULE
  $<TARGET_OBJECTS:fathom_operators_cuda_host>
  ${device_sources}
  operators/cuda_architecture.cu
  operators/cufft_transform.cu)
set_target_properties(fathom_operators_cuda PROPERTIES
  PREFIX "" OUTPUT_NAME fathom-operators-cuda LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
  CUDA_VISIBILITY_PRESET hidden
  POSITION_INDEPENDENT_CODE ON
  # The toolkit's libraries are found where they were when this was built.
  INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR} BUILD_WITH_INSTALL_RPATH ON)
target_include_directories(fathom_operators_cuda PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(fathom_operators_cuda SYSTEM PRIVATE ${FATHOM_CUDNN_INCLUDE})
# random.hpp and the like are constexpr: the option lets devices run them. Not -Wpedantic and -Wold-style-cast: nvcc's
# own generated code is neither. CMake 3.25 does not know that nvcc has C++20.
target_compile_options(fathom_operators_cuda PRIVATE
  -std=c++20 --expt-relaxed-constexpr -Werror=all-warnings
  -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion,-Wnon-virtual-dtor,-Woverloaded-virtual,-Werror,-fstack-protector-strong)
target_link_libraries(fathom_operators_cuda PRIVATE
  CUDA::cudart_static CUDA::cublas CUDA::cufft CUDA::cusparse ${FATHOM_CUDNN})
add_dependencies(fathom-probe fathom_operators_cuda)
target_link_options(fathom_operators_cuda PRIVATE $<TARGET_PROPERTY:fathom_options,INTERFACE_LINK_OPTIONS> -Wl,-z,defs)
