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
static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && cuda::kInvalidValue == CUDA_ERROR_INVALID_VALUE);
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

/// A driver that has more than this tree knows would let memory or work pass by the memory manager.
TEST(GpuEntryPoints, EveryOneOfNvidiasHeaderThatMovesMemoryOrLaunchesIsListed)
{
    const std::string header = read(FATHOM_CUDA_HEADER);
    const std::string listed = read(FATHOM_ENTRY_POINTS);
    const std::regex declaration(R"(CUresult\s+CUDAAPI\s+(cu(?:Mem|Launch|GraphLaunch|GraphUpload|Array|Mipmapped|Ipc|)"
                                 R"(StreamBatch|StreamWrite|StreamWait|ImportExternal|ExternalMemory)\w*)\s*\()");
    std::set<std::string> names;
    for (auto it = std::sregex_iterator(header.begin(), header.end(), declaration); it != std::sregex_iterator(); ++it)
        names.insert((*it)[1]);
    EXPECT_GT(names.size(), 100U);
    for (const std::string& name : names) {
        const std::regex entry("\\(" + name + "[,)]");
        EXPECT_TRUE(std::regex_search(listed, entry)) << name << " is not in entry_points.def";
    }
}

} // namespace
} // namespace fathom::gpu
