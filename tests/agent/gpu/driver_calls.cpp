// A program that calls NVIDIA's driver as few programs do, one way by each name: `driver_calls NAME`. It exits with 0
// where all is as a driver has it; `pause` waits until the test has looked.
#include "tests/agent/gpu/driver_calls.hpp"

#include "agent/catalog/nvml.hpp"
#include "agent/gpu/interposer/fathom_gpu.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <thread>

using namespace fathom::gpu::cuda;

extern "C" {
Init cuInit;
DeviceTotalMem cuDeviceTotalMem_v2;
Status cuDevicePrimaryCtxRetain(Context* context, Device device);
DevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2;
DevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2;
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
CtxDestroy cuCtxDestroy_v2;
Status cuCtxSetCurrent(Context context);
MemAlloc cuMemAlloc_v2;
MemFree cuMemFree_v2;
MemGetInfo cuMemGetInfo_v2;
MemCreate cuMemCreate;
MemRelease cuMemRelease;
MemRetainAllocationHandle cuMemRetainAllocationHandle;
MemAddressReserve cuMemAddressReserve;
MemAddressFree cuMemAddressFree;
MemMap cuMemMap;
MemUnmap cuMemUnmap;
MemSetAccess cuMemSetAccess;
}

namespace driver_calls {

void require(bool is_so, const std::string& what)
{
    if (is_so) return;
    std::fprintf(stderr, "driver calls: %s\n", what.c_str());
    std::exit(4);
}

void require(Status status, const std::string& what)
{
    require(status == kSuccess, what + ": status " + std::to_string(status));
}

bool is_told(const std::string& name)
{
    return std::filesystem::exists(std::string(std::getenv("DRIVER_CALLS_FOLDER")) + "/" + name);
}

void wait_for(const std::string& name)
{
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);
    while (!is_told(name))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void pause(const std::string& name)
{
    auto* const end = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    if (end != nullptr) end();
    wait_for(name);
}

void make_context()
{
    Context context = nullptr;
    require(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
}

Address allocate(std::size_t bytes)
{
    Address address = 0;
    require(cuMemAlloc_v2(&address, bytes), "cuMemAlloc");
    return address;
}

void release(Address address)
{
    require(cuMemFree_v2(address), "cuMemFree");
}

std::size_t free_bytes()
{
    std::size_t free = 0;
    std::size_t total = 0;
    require(cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
    return free;
}

void set_kind(int kind)
{
    auto* const set = reinterpret_cast<decltype(fathom_gpu_set_kind)*>(::dlsym(RTLD_DEFAULT, "fathom_gpu_set_kind"));
    require(set != nullptr, "the library is not preloaded");
    set(kind);
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

/// A neighbour with 6 MiB.
void holds()
{
    make_context();
    const Address address = allocate(6 * kMiB);
    pause("holds");
    release(address);
}

namespace {

/// What NVIDIA's management library says, found as Python's bindings find it.
class Management {
  public:
    Management()
    {
        auto* const init = function<fathom::agent::nvml::Init>("nvmlInit_v2");
        auto* const get = function<fathom::agent::nvml::GetByIndex>("nvmlDeviceGetHandleByIndex_v2");
        require(init(), "nvmlInit");
        require(get(0, &device_), "nvmlDeviceGetHandleByIndex");
    }

    void expect(std::size_t free, std::size_t total, const std::string& when) const
    {
        fathom::agent::nvml::Memory memory{};
        require(function<fathom::agent::nvml::GetMemory>("nvmlDeviceGetMemoryInfo")(device_, &memory), when);
        require(memory.free == free && memory.total == total && memory.used == total - free,
                when + ": nvmlDeviceGetMemoryInfo says " + std::to_string(memory.free) + " of " +
                    std::to_string(memory.total));
        fathom::agent::nvml::MemoryV2 second{};
        auto* const get = function<fathom::agent::nvml::GetMemoryV2>("nvmlDeviceGetMemoryInfo_v2");
        require(get(device_, &second) != fathom::agent::nvml::kSuccess, "a structure without its version is taken");
        second.version = fathom::agent::nvml::kMemoryV2;
        require(get(device_, &second), when);
        require(second.free == free && second.total == total && second.used == total - free && second.reserved == 0,
                when + ": nvmlDeviceGetMemoryInfo_v2 says " + std::to_string(second.free) + " of " +
                    std::to_string(second.total));
    }

  private:
    template <class Signature>
    Signature* function(const char* name) const
    {
        void* const found = ::dlsym(library_, name);
        require(found != nullptr, name);
        return reinterpret_cast<Signature*>(found);
    }

    void* library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
    fathom::agent::nvml::Device device_{};
};

void expect_driver_says(std::size_t free, std::size_t total, const std::string& when)
{
    std::size_t free_now = 0;
    std::size_t total_now = 0;
    require(cuMemGetInfo_v2(&free_now, &total_now), when);
    require(free_now == free && total_now == total,
            when + ": cuMemGetInfo says " + std::to_string(free_now) + " of " + std::to_string(total_now));
    require(cuDeviceTotalMem_v2(&total_now, 0), when);
    require(total_now == total, when + ": cuDeviceTotalMem says " + std::to_string(total_now));
}

} // namespace

/// Beside `holds`, on a card of 32 MiB: 26 are left, whoever is asked, and all of them can be had.
void view()
{
    const Management management;
    std::size_t total = 0;
    require(cuDeviceTotalMem_v2(&total, 0), "cuDeviceTotalMem");
    require(total == 26 * kMiB, "cuDeviceTotalMem says " + std::to_string(total) + " before there is a context");
    management.expect(26 * kMiB, 26 * kMiB, "before there is a context");
    make_context();
    const Address first = allocate(4 * kMiB);
    expect_driver_says(22 * kMiB, 26 * kMiB, "with 4 MiB");
    management.expect(22 * kMiB, 26 * kMiB, "with 4 MiB");
    const Address rest = allocate(22 * kMiB);
    expect_driver_says(0, 26 * kMiB, "with all");
    management.expect(0, 26 * kMiB, "with all");
    Address more = 0;
    require(cuMemAlloc_v2(&more, 2 * kMiB) == kOutOfMemory, "more than was said to be free is given");
    release(rest);
    release(first);
}

/// Who is alone sees the card as it is.
void view_alone()
{
    const Management management;
    management.expect(32 * kMiB, 32 * kMiB, "alone");
    make_context();
    const Address address = allocate(4 * kMiB);
    expect_driver_says(28 * kMiB, 32 * kMiB, "alone, with 4 MiB");
    release(address);
}

} // namespace driver_calls

int main(int argc, char** argv)
{
    using namespace driver_calls;
    const std::map<std::string, void (*)()> ways{{"allocations", allocations},
                                                 {"capture", capture},
                                                 {"capture_that_fails", capture_that_fails},
                                                 {"child", child},
                                                 {"children", children},
                                                 {"clock_copies", clock_copies},
                                                 {"clock_first", clock_first},
                                                 {"clock_graph", clock_graph},
                                                 {"clock_later", clock_later},
                                                 {"clock_launches", clock_launches},
                                                 {"clock_questions", clock_questions},
                                                 {"clock_real", clock_real},
                                                 {"clock_second", clock_second},
                                                 {"clock_streams", clock_streams},
                                                 {"contexts", contexts},
                                                 {"forks", forks},
                                                 {"graph_memory", graph_memory},
                                                 {"graph_memory_beside", graph_memory_beside},
                                                 {"grows", grows},
                                                 {"handles_for_others", handles_for_others},
                                                 {"holds", holds},
                                                 {"idle_children", idle_children},
                                                 {"kernels", kernels},
                                                 {"kernels_of_contexts", kernels_of_contexts},
                                                 {"kernels_without_context", kernels_without_context},
                                                 {"launch_cooperative", launch_cooperative},
                                                 {"launch_ex", launch_ex},
                                                 {"launch_graph", launch_graph},
                                                 {"libraries", libraries},
                                                 {"long_kernel", long_kernel},
                                                 {"many_iterations", many_iterations},
                                                 {"many_releases", many_releases},
                                                 {"mapped", mapped},
                                                 {"modules", modules},
                                                 {"peer_with_the_turn", peer_with_the_turn},
                                                 {"peers", peers},
                                                 {"pool_without_context", pool_without_context},
                                                 {"pools", pools},
                                                 {"released_in_use", released_in_use},
                                                 {"stays", stays},
                                                 {"two_contexts", two_contexts},
                                                 {"view", view},
                                                 {"view_alone", view_alone}};
    const auto way = ways.find(argc == 2 ? argv[1] : "");
    if (way == ways.end()) return 2;
    // A process that has forked after it cannot use the driver in its child.
    if (way->first != "children") require(cuInit(0), "cuInit");
    way->second();
    return 0;
}
