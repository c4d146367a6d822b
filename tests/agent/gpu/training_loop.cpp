// A program shaped as training is: weights that live from iteration to iteration, activations that live within one. It
// checks all that it wrote. Nothing in it knows of sharing, but what an option says.
#include "agent/gpu/cuda_abi.hpp"
#include "agent/gpu/interposer/fathom_gpu.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace fathom::gpu::cuda;

extern "C" {
Status cuInit(unsigned flags);
Status cuDeviceGet(Device* device, int ordinal);
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
Status cuModuleLoadData(void** module, const void* image);
Status cuModuleGetFunction(void** function, void* module, const char* name);
GetProcAddress2 cuGetProcAddress_v2;
GetProcAddress2 cuGetProcAddress_v2_ptsz;
Status cuCtxSynchronize();
Status cuMemAlloc_v2(Address* address, std::size_t bytes);
Status cuMemFree_v2(Address address);
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total);
Status cuMemPrefetchAsync(Address address, std::size_t bytes, Device device, Stream stream);
LaunchKernel cuLaunchKernel;
}

namespace {

constexpr std::size_t kMiB = 1U << 20U;

std::map<std::string, std::string> options;

std::int64_t number(const std::string& name, std::int64_t otherwise)
{
    const auto found = options.find(name);
    return found == options.end() ? otherwise : std::stoll(found->second);
}

std::string text(const std::string& name, const std::string& otherwise)
{
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
}

void require(Status status, const char* what)
{
    if (status == kSuccess) return;
    std::fprintf(stderr, "training loop: %s: status %d\n", what, status);
    std::exit(status == kOutOfMemory ? 3 : 4);
}

/// The functions that matter, as this program finds them.
struct Functions {
    MemAlloc* alloc = &cuMemAlloc_v2;
    MemFree* free = &cuMemFree_v2;
    LaunchKernel* launch = &cuLaunchKernel;
};

Functions find_functions(const std::string& way)
{
    Functions functions;
    const auto by_name = [&](const auto& find) {
        functions.alloc = reinterpret_cast<MemAlloc*>(find("cuMemAlloc", "cuMemAlloc_v2"));
        functions.free = reinterpret_cast<MemFree*>(find("cuMemFree", "cuMemFree_v2"));
        functions.launch = reinterpret_cast<LaunchKernel*>(find("cuLaunchKernel", "cuLaunchKernel"));
    };
    if (way == "dlsym") {
        void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
        by_name([&](const char*, const char* name) { return ::dlsym(library, name); });
    } else if (way == "get-proc-address") {
        by_name([&](const char* name, const char*) {
            void* function = nullptr;
            require(cuGetProcAddress_v2(name, &function, 13000, 0, nullptr), name);
            return function;
        });
    } else if (way == "get-proc-address-of-threads") {
        by_name([&](const char* name, const char*) {
            void* function = nullptr;
            require(cuGetProcAddress_v2_ptsz(name, &function, 13000, 0, nullptr), name);
            return function;
        });
    } else if (way == "get-proc-address-by-itself") {
        // As a runtime library does: what the driver's function finds is found by the function that it found.
        void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
        auto* const first = reinterpret_cast<GetProcAddress*>(::dlsym(library, "cuGetProcAddress"));
        void* second = nullptr;
        require(first("cuGetProcAddress", &second, 13000, 0), "cuGetProcAddress");
        by_name([&](const char* name, const char*) {
            void* function = nullptr;
            require(reinterpret_cast<GetProcAddress2*>(second)(name, &function, 13000, 0, nullptr), name);
            return function;
        });
    }
    return functions;
}

struct Training {
    Functions functions;
    void* fill{};
    void* check{};
    void* spin{};

    void run(void* kernel, std::uint64_t address, std::uint64_t words, std::uint64_t value) const
    {
        void* parameters[] = {&address, &words, &value};
        require(functions.launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "launch");
    }
    std::vector<Address> allocate(std::int64_t count, std::size_t bytes) const
    {
        std::vector<Address> blocks(static_cast<std::size_t>(count));
        for (Address& block : blocks)
            require(functions.alloc(&block, bytes), "allocate");
        return blocks;
    }
    void free(const std::vector<Address>& blocks) const
    {
        for (const Address block : blocks)
            require(functions.free(block), "free");
    }
    /// Each block with a value of its own.
    void run_on_all(void* kernel, const std::vector<Address>& blocks, std::uint64_t words, std::uint64_t value) const
    {
        for (const Address block : blocks)
            run(kernel, block, words, value + block);
    }
};

Training load_training()
{
    Training training;
    training.functions = find_functions(text("way", "linked"));
    void* module = nullptr;
    require(cuModuleLoadData(&module, ""), "cuModuleLoadData");
    require(cuModuleGetFunction(&training.fill, module, "fill"), "fill");
    require(cuModuleGetFunction(&training.check, module, "check"), "check");
    require(cuModuleGetFunction(&training.spin, module, "spin"), "spin");
    return training;
}

/// How long one call takes that does next to nothing, in nanoseconds; 0 for no calls.
double time_calls(Address address, Device device, std::int64_t calls)
{
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i)
        require(cuMemPrefetchAsync(address, 1, device, nullptr), "prefetch");
    const double calls_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return calls == 0 ? 0.0 : calls_s * 1e9 / static_cast<double>(calls);
}

/// What the preloaded library can be told; null where it is not there.
template <class Signature>
Signature* of_library(const char* name)
{
    return text("tell", "no") == "yes" ? reinterpret_cast<Signature*>(::dlsym(RTLD_DEFAULT, name)) : nullptr;
}

void set_kind(int kind)
{
    if (auto* const set = of_library<decltype(fathom_gpu_set_kind)>("fathom_gpu_set_kind")) set(kind);
}

} // namespace

int main(int argc, char** argv)
{
    for (int i = 1; i + 1 < argc; i += 2)
        options[argv[i]] = argv[i + 1];
    const std::size_t weight_bytes = static_cast<std::size_t>(number("weights-mib", 16)) * kMiB;
    const std::int64_t layers = number("layers", 4);
    const std::size_t activation_bytes =
        static_cast<std::size_t>(number("activations-mib", 64)) * kMiB / static_cast<std::size_t>(layers);
    auto* const end_iteration = of_library<decltype(fathom_gpu_iteration_end)>("fathom_gpu_iteration_end");
    const bool is_held = text("hold", "no") == "yes"; // as a caching allocator does

    require(cuInit(0), "cuInit");
    Device device = 0;
    Context context = nullptr;
    require(cuDeviceGet(&device, static_cast<int>(number("device", 0))), "cuDeviceGet");
    require(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
    const Training training = load_training();

    set_kind(FATHOM_GPU_PERSISTENT);
    const std::vector<Address> weights = training.allocate(2, weight_bytes / 2);
    const std::uint64_t weight_words = weight_bytes / 2 / 8;
    std::uint64_t version = 1'000'000;
    training.run_on_all(training.fill, weights, weight_words, version);
    set_kind(FATHOM_GPU_TEMPORARY);
    std::vector<Address> activations;
    const std::int64_t least = number("iterations", 20);
    const std::string until = text("until", ""); // and then until this file is there
    std::int64_t iteration = 0;
    const auto began = std::chrono::steady_clock::now();
    std::printf("started\n");
    std::fflush(stdout);
    for (; iteration < least || (!until.empty() && !std::filesystem::exists(until)); ++iteration) {
        if (activations.empty()) activations = training.allocate(layers, activation_bytes);
        const std::uint64_t words = activation_bytes / 8;
        training.run_on_all(training.fill, activations, words, static_cast<std::uint64_t>(iteration));
        training.run(training.spin, 0, 0, static_cast<std::uint64_t>(number("compute-us", 0)));
        training.run_on_all(training.check, weights, weight_words, version);
        training.run_on_all(training.check, activations, words, static_cast<std::uint64_t>(iteration));
        ++version;
        training.run_on_all(training.fill, weights, weight_words, version);
        require(cuCtxSynchronize(), "cuCtxSynchronize");
        if (!is_held) {
            training.free(activations);
            activations.clear();
        }
        if (end_iteration != nullptr) end_iteration();
        std::this_thread::sleep_for(std::chrono::microseconds(number("host-us", 0)));
    }
    training.run_on_all(training.check, weights, weight_words, version);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    const double call_ns = time_calls(weights[0], device, number("calls", 0));
    std::size_t free = 0;
    std::size_t total = 0;
    require(cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
    activations.insert(activations.end(), weights.begin(), weights.end());
    training.free(activations);
    std::printf(
        "{\"iterations\": %lld, \"wall_s\": %.6f, \"free_bytes\": %zu, \"total_bytes\": %zu, \"call_ns\": %.2f}\n",
        static_cast<long long>(iteration),
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), free, total, call_ns);
    return 0;
}
