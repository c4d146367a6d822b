// Compiled where there is NVIDIA's header: what this tree says of the driver's interface is what NVIDIA says.
#include "agent/gpu/cuda_abi.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cuda.h>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace fathom::gpu {
namespace {

static_assert(sizeof(cuda::AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(cuda::AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(cuda::AllocationProperties, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(cuda::AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(cuda::AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));
static_assert(sizeof(cuda::Address) == sizeof(CUdeviceptr));
static_assert(sizeof(cuda::MemoryHandle) == sizeof(CUmemGenericAllocationHandle));
static_assert(sizeof(cuda::ArrayDescription) == sizeof(CUDA_ARRAY_DESCRIPTOR));
static_assert(sizeof(cuda::Array3dDescription) == sizeof(CUDA_ARRAY3D_DESCRIPTOR));
static_assert(offsetof(cuda::Array3dDescription, channels) == offsetof(CUDA_ARRAY3D_DESCRIPTOR, NumChannels));
static_assert(sizeof(cuda::MemPoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(cuda::MemPoolProperties, location) == offsetof(CUmemPoolProps, location));
static_assert(sizeof(cuda::MemAllocNodeParameters) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(offsetof(cuda::MemAllocNodeParameters, bytes) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize));
static_assert(offsetof(cuda::MemAllocNodeParameters, access) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs));
static_assert(sizeof(cuda::LaunchConfiguration) == sizeof(CUlaunchConfig));
static_assert(offsetof(cuda::LaunchConfiguration, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(cuda::kStaticSharedBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(cuda::kRegisters == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(cuda::kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(cuda::kCaptureIsInvalidated == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
static_assert(cuda::kCaptureUnsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(cuda::kCaptureImplicit == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
static_assert(cuda::kCaptureWrongThread == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && cuda::kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(cuda::kNotReady == CUDA_ERROR_NOT_READY && cuda::kInvalidHandle == CUDA_ERROR_INVALID_HANDLE);
static_assert(cuda::kNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(cuda::kInvalidContext == CUDA_ERROR_INVALID_CONTEXT && cuda::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::kNotSupported == CUDA_ERROR_NOT_SUPPORTED && cuda::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(cuda::kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE && cuda::kLocationHost == CU_MEM_LOCATION_TYPE_HOST);
static_assert(cuda::kAllocationPinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(cuda::kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

std::string read(const char* path)
{
    const std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// With all versions: what is written without one is a macro, which names the newest; by `PTDS` and `PTSZ` there is
/// another for programs whose default streams are their threads'.
std::set<std::string> functions_of(const std::string& header)
{
    std::set<std::string> names;
    const std::regex declaration(R"(CUresult\s+CUDAAPI\s+(cu\w+)\s*\()");
    for (auto it = std::sregex_iterator(header.begin(), header.end(), declaration); it != std::sregex_iterator(); ++it)
        names.insert((*it)[1]);
    const std::regex version(R"(#define\s+cu[A-Z]\w+\s+(?:__CUDA_API_(PTDS|PTSZ)\()?(cu\w+)\)?\s*\n)");
    for (auto it = std::sregex_iterator(header.begin(), header.end(), version); it != std::sregex_iterator(); ++it) {
        names.insert((*it)[2]);
        if ((*it)[1].matched) names.insert((*it)[2].str() + ((*it)[1] == "PTDS" ? "_ptds" : "_ptsz"));
    }
    return names;
}

/// A driver that has more than this tree knows would let memory or work pass by the memory manager. Somebody has to
/// say of each new function whether it does.
TEST(GpuEntryPoints, EveryFunctionOfNvidiasHeaderIsKnown)
{
    std::istringstream known(read(FATHOM_DRIVER_FUNCTIONS));
    std::set<std::string> all;
    for (std::string line; std::getline(known, line);)
        all.insert(line.substr(0, line.find(' ')));
    const std::set<std::string> names = functions_of(read(FATHOM_CUDA_HEADER));
    EXPECT_GT(names.size(), 600U);
    for (const std::string& name : names)
        EXPECT_TRUE(all.contains(name)) << name << " is not in driver_functions.txt";
}

} // namespace
} // namespace fathom::gpu
