// One process of several that train together: each has a GPU, and in each iteration waits for all others in collective
// calls. It checks all that it wrote, and knows nothing of sharing but the ends of its iterations.
//
//   collective_trainer RANK RANKS DEVICE COMMUNICATOR ITERATIONS WAY [UNTIL]
//
// UNTIL: a file, until which it goes on after that many iterations, too.
// WAY: `linked` to NVIDIA's library; `dlsym`: found in it; `group`: calls are grouped; `silent`: linked, and nothing is
// said of iterations. Built as own_collective_trainer it is not linked to NVIDIA's library: it loads FATHOM_OWN_NCCL so
// that nobody else sees its functions: `own`: a library that has an NCCL in it; `passing`: one that finds it.
#include "agent/gpu/cuda_abi.hpp"
#include "agent/gpu/interposer/fathom_gpu.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

using namespace fathom::gpu::cuda;

extern "C" {
Status cuInit(unsigned flags);
Status cuDeviceGet(Device* device, int ordinal);
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
Status cuModuleLoadData(void** module, const void* image);
Status cuModuleGetFunction(void** function, void* module, const char* name);
Status cuCtxSynchronize();
Status cuMemAlloc_v2(Address* address, std::size_t bytes);
Status cuMemFree_v2(Address address);
LaunchKernel cuLaunchKernel;

struct NcclUniqueId {
    std::array<char, 128> bytes;
};
using InitRank = int(void** made, int ranks, NcclUniqueId id, int rank);
using AllReduce = int(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                      Stream stream);
using Destroy = int(void* communicator);
using Group = int();
#ifndef FATHOM_HAS_OWN_NCCL
InitRank ncclCommInitRank;
AllReduce ncclAllReduce;
Destroy ncclCommDestroy;
Group ncclGroupStart;
Group ncclGroupEnd;
#endif
}

namespace {

constexpr std::uint64_t kWords = (2U << 20U) / 8;

void require(int status, const char* what)
{
    if (status == 0) return;
    std::fprintf(stderr, "collective trainer: %s: status %d\n", what, status);
    std::exit(4);
}

void run(void* kernel, std::uint64_t address, std::uint64_t words, std::uint64_t value)
{
    void* parameters[] = {&address, &words, &value};
    require(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "launch");
}

struct Nccl {
    InitRank* init{};
    AllReduce* all_reduce{};
    Destroy* destroy{};
    Group* start{};
    Group* end{};
};

Nccl find_nccl(const char* file, const std::string& prefix)
{
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "collective trainer: %s\n", ::dlerror());
        std::exit(4);
    }
    const auto find = [&](const char* name) { return ::dlsym(library, (prefix + name).c_str()); };
    return {.init = reinterpret_cast<InitRank*>(find("CommInitRank")),
            .all_reduce = reinterpret_cast<AllReduce*>(find("AllReduce")),
            .destroy = reinterpret_cast<Destroy*>(find("CommDestroy")),
            .start = reinterpret_cast<Group*>(find("GroupStart")),
            .end = reinterpret_cast<Group*>(find("GroupEnd"))};
}

/// By the way in which the program finds NVIDIA's library.
Nccl find_nccl(const std::string& way)
{
#ifdef FATHOM_HAS_OWN_NCCL
    require(way == "own" || way == "passing" ? 0 : 1, "way");
    return find_nccl(std::getenv("FATHOM_OWN_NCCL"), "own");
#else
    if (way == "dlsym") return find_nccl("libnccl.so.2", "nccl");
    return {&ncclCommInitRank, &ncclAllReduce, &ncclCommDestroy, &ncclGroupStart, &ncclGroupEnd};
#endif
}

/// Which iteration is the last. The first rank says so before it takes part in that one; the others read it after they
/// took part, when it has been said.
class End {
  public:
    /// @param until  nullptr: after so many iterations
    End(int rank, int iterations, const char* until, const std::string& communicator)
        : rank_(rank), iterations_(iterations), until_(until), file_(communicator + "-last")
    {
    }

    void begin(int iteration) const
    {
        if (until_ == nullptr || rank_ != 0 || iteration < iterations_ || !std::filesystem::exists(until_)) return;
        std::ofstream(file_ + ".new") << iteration;
        std::filesystem::rename(file_ + ".new", file_);
    }

    bool is_after(int iteration) const
    {
        if (until_ == nullptr) return iteration >= iterations_;
        int last = 0;
        std::ifstream(file_) >> last;
        return last > 0 && iteration >= last;
    }

  private:
    int rank_;
    int iterations_;
    const char* until_;
    std::string file_;
};

} // namespace

int main(int argc, char** argv)
{
    if (argc != 7 && argc != 8) return 2;
    const int rank = std::stoi(argv[1]);
    const int ranks = std::stoi(argv[2]);
    const std::string way = argv[6];
    require(cuInit(0), "cuInit");
    Device device = 0;
    Context context = nullptr;
    require(cuDeviceGet(&device, std::stoi(argv[3])), "cuDeviceGet");
    require(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
    void* module = nullptr;
    void* fill = nullptr;
    void* check = nullptr;
    require(cuModuleLoadData(&module, ""), "cuModuleLoadData");
    require(cuModuleGetFunction(&fill, module, "fill"), "fill");
    require(cuModuleGetFunction(&check, module, "check"), "check");
    Address weights = 0;
    require(cuMemAlloc_v2(&weights, kWords * 8), "allocate");
    run(fill, weights, kWords, 1);

    const Nccl nccl = find_nccl(way);
    NcclUniqueId id{};
    std::string(argv[4]).copy(id.bytes.data(), id.bytes.size() - 1);
    void* communicator = nullptr;
    require(nccl.init(&communicator, ranks, id, rank), "ncclCommInitRank");
    std::printf("joined\n");
    std::fflush(stdout);
    auto* const end_iteration =
        way == "silent"
            ? nullptr
            : reinterpret_cast<decltype(fathom_gpu_iteration_end)*>(::dlsym(RTLD_DEFAULT, "fathom_gpu_iteration_end"));
    const End end(rank, std::stoi(argv[5]), argc == 8 ? argv[7] : nullptr, argv[4]);
    for (int iteration = 1;; ++iteration) {
        end.begin(iteration);
        Address activations = 0;
        require(cuMemAlloc_v2(&activations, kWords * 8), "allocate");
        const auto value = static_cast<std::uint64_t>(iteration);
        run(fill, activations, kWords, value);
        if (way == "group") require(nccl.start(), "ncclGroupStart");
        for (int bucket = 0; bucket < 3; ++bucket)
            require(nccl.all_reduce(nullptr, nullptr, 0, 0, 0, communicator, nullptr), "ncclAllReduce");
        if (way == "group") require(nccl.end(), "ncclGroupEnd");
        run(check, activations, kWords, value);
        run(check, weights, kWords, value);
        run(fill, weights, kWords, value + 1);
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        require(cuMemFree_v2(activations), "free");
        if (end_iteration != nullptr) end_iteration();
        if (end.is_after(iteration)) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    require(nccl.destroy(communicator), "ncclCommDestroy");
    require(cuMemFree_v2(weights), "free");
    return 0;
}
