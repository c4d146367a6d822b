// A stand-in for NVIDIA's library for collective calls, libnccl.so.2: as much of it as collective_trainer.cpp uses,
// with NVIDIA's interface. A communicator is a file that its processes share, and its unique id is that file's path. A
// collective call launches one kernel on each rank's GPU, which waits for those of all other ranks, as NVIDIA's do; it
// moves no data.
#include "agent/gpu/cuda_abi.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fathom::gpu::cuda;

extern "C" {
Status cuModuleLoadData(void** module, const void* image);
Status cuModuleGetFunction(void** function, void* module, const char* name);
LaunchKernel cuLaunchKernel;

struct NcclUniqueId {
    std::array<char, 128> bytes;
};
}

namespace {

constexpr int kOk = 0;
constexpr int kUnhandledCudaError = 1;
constexpr int kSystemError = 2;

struct Meeting {
    std::uint64_t joined;
    std::uint64_t arrived;
};

struct Communicator {
    Meeting* meeting{};
    void* meet{};
    std::uint64_t ranks{};
    std::uint64_t calls{};
};

struct Call {
    Communicator* communicator{};
    Stream stream{};
};

thread_local int depth = 0;
thread_local std::vector<Call> grouped;

int launch(const Call& call)
{
    Communicator& one = *call.communicator;
    std::uint64_t address = reinterpret_cast<std::uintptr_t>(&one.meeting->arrived);
    std::uint64_t none = 0;
    std::uint64_t count = one.ranks * ++one.calls;
    void* parameters[] = {&address, &none, &count};
    return cuLaunchKernel(one.meet, 1, 1, 1, 1, 1, 1, 0, call.stream, parameters, nullptr) == kSuccess
               ? kOk
               : kUnhandledCudaError;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int ncclGroupStart()
{
    ++depth;
    return kOk;
}

int ncclGroupEnd()
{
    if (--depth > 0) return kOk;
    int status = kOk;
    for (const Call& call : grouped) {
        if (launch(call) != kOk) status = kUnhandledCudaError;
    }
    grouped.clear();
    return status;
}

int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int /*rank*/)
{
    const int file = ::open(id.bytes.data(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0) return kSystemError;
    void* const memory = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (memory == MAP_FAILED) return kSystemError;
    auto* const one = new Communicator{static_cast<Meeting*>(memory), nullptr, static_cast<std::uint64_t>(ranks), 0};
    void* module = nullptr;
    if (cuModuleLoadData(&module, "") != kSuccess || cuModuleGetFunction(&one->meet, module, "meet") != kSuccess)
        return kUnhandledCudaError;
    // All ranks are there when it is made.
    std::atomic_ref<std::uint64_t> joined(one->meeting->joined);
    ++joined;
    while (joined < one->ranks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *made = one;
    return kOk;
}

int ncclAllReduce(const void* /*from*/, void* /*to*/, std::size_t /*count*/, int /*type*/, int /*operation*/,
                  void* communicator, Stream stream)
{
    const Call call{static_cast<Communicator*>(communicator), stream};
    if (depth == 0) return launch(call);
    grouped.push_back(call);
    return kOk;
}

int ncclCommDestroy(void* communicator)
{
    auto* const one = static_cast<Communicator*>(communicator);
    ::munmap(one->meeting, sizeof(Meeting));
    delete one;
    return kOk;
}

} // extern "C"
#pragma GCC visibility pop
