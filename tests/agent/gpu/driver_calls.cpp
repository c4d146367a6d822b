// A program that calls NVIDIA's driver as few programs do, one way by each name: `driver_calls NAME`. It exits with 0
// where all is as a driver has it; `pause` waits until the test has looked.
#include "agent/gpu/cuda_abi.hpp"
#include "agent/gpu/interposer/fathom_gpu.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

using namespace fathom::gpu::cuda;

extern "C" {
Init cuInit;
Status cuDevicePrimaryCtxRetain(Context* context, Device device);
DevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2;
DevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2;
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
CtxDestroy cuCtxDestroy_v2;
Status cuCtxSetCurrent(Context context);
MemAlloc cuMemAlloc_v2;
MemFree cuMemFree_v2;
MemCreate cuMemCreate;
MemRelease cuMemRelease;
MemRetainAllocationHandle cuMemRetainAllocationHandle;
MemAddressReserve cuMemAddressReserve;
MemAddressFree cuMemAddressFree;
MemMap cuMemMap;
MemUnmap cuMemUnmap;
MemSetAccess cuMemSetAccess;
}

namespace {

constexpr std::size_t kMiB = 1U << 20U;

void require(bool is_so, const char* what)
{
    if (is_so) return;
    std::fprintf(stderr, "driver calls: %s\n", what);
    std::exit(4);
}

void require(Status status, const char* what)
{
    require(status == kSuccess, what);
}

/// The manager learns at the end of an iteration what is used. Then the test looks, and goes on by making the file.
void pause(const std::string& name)
{
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    if (end != nullptr) end();
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);
    while (!std::filesystem::exists(std::string(std::getenv("DRIVER_CALLS_FOLDER")) + "/" + name))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Contexts that end with memory in them, each of which would fill most of the card.
void contexts()
{
    for (int round = 0; round < 6; ++round) {
        Context context = nullptr;
        const bool is_own = round % 3 == 0;
        if (is_own) {
            require(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
        } else {
            require(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
            require(cuCtxSetCurrent(context), "cuCtxSetCurrent");
        }
        Address address = 0;
        require(cuMemAlloc_v2(&address, 20 * kMiB), "cuMemAlloc");
        if (is_own) {
            require(cuCtxDestroy_v2(context), "cuCtxDestroy");
            continue;
        }
        if (round % 3 == 2) require(cuDevicePrimaryCtxReset_v2(0), "cuDevicePrimaryCtxReset");
        require(cuDevicePrimaryCtxRelease_v2(0), "cuDevicePrimaryCtxRelease");
    }
}

/// Memory that the program maps itself: it is there as long as it is mapped, or somebody has its handle.
void mapped()
{
    Context context = nullptr;
    require(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
    AllocationProperties properties{};
    properties.type = kAllocationPinned;
    properties.location = {kLocationHost, 0};
    MemoryHandle of_host = 0;
    require(cuMemCreate(&of_host, 16 * kMiB, &properties, 0), "cuMemCreate of the host");
    properties.location = {kLocationDevice, 0};
    MemoryHandle handle = 0;
    MemoryHandle again = 0;
    Address address = 0;
    require(cuMemCreate(&handle, 8 * kMiB, &properties, 0), "cuMemCreate");
    require(cuMemAddressReserve(&address, 8 * kMiB, 0, 0, 0), "cuMemAddressReserve");
    require(cuMemMap(address, 8 * kMiB, 0, handle, 0), "cuMemMap");
    const AccessDescription access{properties.location, kAccessReadWrite};
    require(cuMemSetAccess(address, 8 * kMiB, &access, 1), "cuMemSetAccess");
    require(cuMemRelease(handle), "cuMemRelease");
    pause("mapped");
    require(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address)), "cuMemRetainAllocationHandle");
    require(cuMemUnmap(address, 8 * kMiB), "cuMemUnmap");
    pause("unmapped");
    require(cuMemRelease(again), "cuMemRelease again");
    pause("released");
    require(cuMemRelease(of_host), "cuMemRelease of the host");
    require(cuMemAddressFree(address, 8 * kMiB), "cuMemAddressFree");
}

} // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, void (*)()> ways{{"contexts", contexts}, {"mapped", mapped}};
    const auto way = ways.find(argc == 2 ? argv[1] : "");
    if (way == ways.end()) return 2;
    require(cuInit(0), "cuInit");
    way->second();
    return 0;
}
