#pragma once

#include <array>
#include <cstdint>

/// What is used of the binary interface of NVIDIA's driver (libcuda.so.1), so that neither its header nor the library
/// is needed to build. By NVIDIA's "CUDA Driver API"; names with a version, as `_v2`, never change what they mean. A
/// test holds sizes and values to cuda.h where there is one.
namespace fathom::gpu::cuda {

using Status = int; ///< CUresult
inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNotInitialized = 3;
inline constexpr Status kInvalidContext = 201;
inline constexpr Status kInvalidHandle = 400;
inline constexpr Status kIllegalState = 401;
inline constexpr Status kNotFound = 500;
inline constexpr Status kNotReady = 600;
inline constexpr Status kIllegalAddress = 700;
inline constexpr Status kNotSupported = 801;
inline constexpr Status kCaptureUnsupported = 900; ///< CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
inline constexpr Status kCaptureInvalidated = 901;
inline constexpr Status kCaptureImplicit = 906;
inline constexpr Status kCaptureWrongThread = 908;

using Device = int;
using Address = unsigned long long; ///< CUdeviceptr
using MemoryHandle = unsigned long long;
using Context = void*;
using Stream = void*;
using Event = void*;
using Array = void*;
using Graph = void*;
using GraphExec = void*;
using GraphNode = void*;

/// CUfunction_attribute.
inline constexpr int kStaticSharedBytes = 1;
inline constexpr int kRegisters = 4;

/// CU_STREAM_PER_THREAD: another stream in each thread.
inline constexpr std::uintptr_t kStreamPerThread = 2;

/// CUstreamCaptureMode and CUstreamCaptureStatus.
inline constexpr int kCaptureGlobal = 0;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kCaptureNone = 0;
inline constexpr int kCaptureActive = 1;
inline constexpr int kCaptureIsInvalidated = 2;

struct Uuid {
    std::array<char, 16> bytes;
};

struct Location {
    int type;
    int id; ///< a device's number
};
inline constexpr int kLocationDevice = 1;
inline constexpr int kLocationHost = 2;

struct AllocationProperties {
    int type;
    int requested_handle_types;
    Location location;
    void* windows_meta_data;
    struct {
        unsigned char compression_type;
        unsigned char gpu_direct_rdma_capable;
        unsigned short usage;
        std::array<unsigned char, 4> reserved;
    } flags;
};
inline constexpr int kAllocationPinned = 1;

struct AccessDescription {
    Location location;
    int flags;
};
inline constexpr int kAccessReadWrite = 3;

/// CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescription {
    std::size_t width;
    std::size_t height;
    int format;
    unsigned channels;
};
struct Array3dDescription {
    std::size_t width;
    std::size_t height;
    std::size_t depth;
    int format;
    unsigned channels;
    unsigned flags;
};

/// CUmemPoolProps.
struct MemPoolProperties {
    int type;
    int handle_types; ///< by which other processes may get it; 0: none
    Location location;
    std::array<char, 72> other;
};

/// CUDA_MEM_ALLOC_NODE_PARAMS; it begins with a CUmemPoolProps.
struct MemAllocNodeParameters {
    int type;
    int handle_types;
    Location location;
    std::array<char, 72> other_properties;
    const AccessDescription* access;
    std::size_t access_count;
    std::size_t bytes;
    Address address; ///< out
};

/// CUgraphNodeParams of an allocation node; other types have other contents.
struct GraphNodeParameters {
    int type;
    std::array<int, 3> reserved;
    MemAllocNodeParameters allocation;
};
inline constexpr int kMemAllocNode = 10;

/// CUlaunchConfig.
struct LaunchConfiguration {
    unsigned grid_x;
    unsigned grid_y;
    unsigned grid_z;
    unsigned block_x;
    unsigned block_y;
    unsigned block_z;
    unsigned shared_bytes;
    Stream stream;
    void* attributes;
    unsigned attribute_count;
};

using Init = Status(unsigned flags);
using MemAlloc = Status(Address* address, std::size_t bytes);
using MemAllocPitch = Status(Address* address, std::size_t* pitch, std::size_t width_bytes, std::size_t height,
                             unsigned element_bytes);
using MemAllocManaged = Status(Address* address, std::size_t bytes, unsigned flags);
using MemFree = Status(Address address);
using MemAllocAsync = Status(Address* address, std::size_t bytes, Stream stream);
using MemAllocFromPoolAsync = Status(Address* address, std::size_t bytes, void* pool, Stream stream);
using MemFreeAsync = Status(Address address, Stream stream);
using MemGetInfo = Status(std::size_t* free, std::size_t* total);
using MemGetAddressRange = Status(Address* base, std::size_t* bytes, Address address);
using MemCreate = Status(MemoryHandle* handle, std::size_t bytes, const AllocationProperties* properties,
                         unsigned long long flags);
using MemRelease = Status(MemoryHandle handle);
using MemAddressReserve = Status(Address* address, std::size_t bytes, std::size_t alignment, Address wish,
                                 unsigned long long flags);
using MemAddressFree = Status(Address address, std::size_t bytes);
using MemMap = Status(Address address, std::size_t bytes, std::size_t offset, MemoryHandle handle,
                      unsigned long long flags);
using MemUnmap = Status(Address address, std::size_t bytes);
using MemRetainAllocationHandle = Status(MemoryHandle* handle, void* address);
using MemSetAccess = Status(Address address, std::size_t bytes, const AccessDescription* access, std::size_t count);
using MemPoolCreate = Status(void** pool, const MemPoolProperties* properties);
using MemPoolDestroy = Status(void* pool);
using DeviceGetMemPool = Status(void** pool, Device device);
using MemGetMemPool = Status(void** pool, Location* location, int type);
using MemPoolSetAccess = Status(void* pool, const AccessDescription* access, std::size_t count);
using MemcpyDtoH = Status(void* to, Address from, std::size_t bytes);
using MemcpyHtoD = Status(Address to, const void* from, std::size_t bytes);
using CtxSynchronize = Status();
using CtxGetCurrent = Status(Context* context);
using CtxGetDevice = Status(Device* device);
using CtxPushCurrent = Status(Context context);
using CtxPopCurrent = Status(Context* context);
using CtxFromGreenCtx = Status(Context* context, void* green);
using GreenCtxDestroy = Status(void* green);
using CtxCreate = Status(Context* context, unsigned flags, Device device);
using CtxCreate3 = Status(Context* context, void* affinities, int count, unsigned flags, Device device);
using CtxCreate4 = Status(Context* context, void* parameters, unsigned flags, Device device);
using CtxEnablePeerAccess = Status(Context peer, unsigned flags);
using CtxDestroy = Status(Context context);
using DevicePrimaryCtxReset = Status(Device device);
using DevicePrimaryCtxRetain = Status(Context* context, Device device);
using DevicePrimaryCtxRelease = Status(Device device);
using DevicePrimaryCtxGetState = Status(Device device, unsigned* flags, int* is_active);
using StreamSynchronize = Status(Stream stream);
using StreamCreate = Status(Stream* stream, unsigned flags);
using StreamDestroy = Status(Stream stream);
using StreamIsCapturing = Status(Stream stream, int* state);
using StreamBeginCapture = Status(Stream stream);
using StreamBeginCapture2 = Status(Stream stream, int mode);
using StreamBeginCaptureToGraph = Status(Stream stream, Graph graph, const void* dependencies, const void* data,
                                         std::size_t count, int mode);
using StreamEndCapture = Status(Stream stream, Graph* graph);
using StreamGetCaptureInfo2 = Status(Stream stream, int* state, std::uint64_t* id, Graph* graph,
                                     const GraphNode** dependencies, std::size_t* count);
using ThreadExchangeStreamCaptureMode = Status(int* mode);
using DeviceGet = Status(Device* device, int ordinal);
using DeviceGetCount = Status(int* count);
using DeviceGetUuid = Status(Uuid* uuid, Device device);
using DeviceTotalMem = Status(std::size_t* bytes, Device device);
using ArrayCreate = Status(Array* array, const ArrayDescription* description);
using Array3dCreate = Status(Array* array, const Array3dDescription* description);
using MipmappedArrayCreate = Status(Array* array, const Array3dDescription* description, unsigned levels);
using ArrayDestroy = Status(Array array);
using IpcGetMemHandle = Status(void* handle, Address address);
using GetProcAddress = Status(const char* symbol, void** function, int cuda_version, std::uint64_t flags);
using GetProcAddress2 = Status(const char* symbol, void** function, int cuda_version, std::uint64_t flags, int* found);
using GraphCreate = Status(Graph* graph, unsigned flags);
using GraphAddMemAllocNode = Status(GraphNode* node, Graph graph, const GraphNode* dependencies, std::size_t count,
                                    MemAllocNodeParameters* parameters);
using GraphAddMemFreeNode = Status(GraphNode* node, Graph graph, const GraphNode* dependencies, std::size_t count,
                                   Address address);
using GraphAddNode = Status(GraphNode* node, Graph graph, const GraphNode* dependencies, std::size_t count,
                            GraphNodeParameters* parameters);
using GraphAddNode2 = Status(GraphNode* node, Graph graph, const GraphNode* dependencies, const void* data,
                             std::size_t count, GraphNodeParameters* parameters);
using GraphInstantiate = Status(GraphExec* exec, Graph graph, GraphNode* wrong, char* log, std::size_t log_bytes);
using GraphInstantiateWithParameters = Status(GraphExec* exec, Graph graph, void* parameters);
using DeviceGraphMemTrim = Status(Device device);
using GraphInstantiateWithFlags = Status(GraphExec* exec, Graph graph, unsigned long long flags);
using GraphLaunch = Status(GraphExec exec, Stream stream);
using GraphExecDestroy = Status(GraphExec exec);
using GraphDestroy = Status(Graph graph);
using ModuleLoadData = Status(void** module, const void* image);
using LibraryLoad = Status(void** library, const void* code, int* options, void** values, unsigned count,
                           int* library_options, void** library_values, unsigned library_count);
using ModuleUnload = Status(void* module);
using ModuleGetGlobal = Status(Address* address, std::size_t* bytes, void* module, const char* name);
using ModuleGetFunction = Status(void** function, void* module, const char* name);
using KernelGetFunction = Status(void** function, void* kernel);
using FuncGetAttribute = Status(int* value, int attribute, void* function);
using KernelGetAttribute = Status(int* value, int attribute, void* kernel, Device device);
using EventCreate = Status(Event* event, unsigned flags);
using EventDestroy = Status(Event event);
using EventRecord = Status(Event event, Stream stream);
using EventQuery = Status(Event event);
using EventElapsedTime = Status(float* milliseconds, Event start, Event end);
using LaunchKernelEx = Status(const LaunchConfiguration* how, void* function, void** parameters, void** extra);
using LaunchCooperativeKernel = Status(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                       Stream stream, void** parameters);
using LaunchKernel = Status(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,
                            void** extra);

} // namespace fathom::gpu::cuda
