#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace fathom::standin {
namespace {

void run(const Launch& launch)
{
    const auto [address, words, value] = launch.arguments;
    if (launch.kernel == "spin") {
        if (!is_virtual()) std::this_thread::sleep_for(std::chrono::microseconds(value));
        return;
    }
    if (launch.kernel == "meet") {
        std::atomic_ref<std::uint64_t> arrived(*reinterpret_cast<std::uint64_t*>(address));
        ++arrived;
        while (arrived < value)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        return;
    }
    if (run_memory_node(launch) || run_event_or_copy(launch)) return;
    require_mapped(address, words * 8, "kernel " + launch.kernel);
    auto* const memory = reinterpret_cast<std::uint64_t*>(address);
    const bool is_fill = launch.kernel == "fill";
    for (std::uint64_t i = 0; i < words; ++i) {
        if (is_fill) {
            memory[i] = value + i;
        } else if (memory[i] != value + i) {
            std::ostringstream text;
            text << "kernel check finds " << std::hex << memory[i] << " where " << value + i << " was written, at word "
                 << std::dec << i << " of " << words;
            fault(text.str());
        }
    }
}

/// Those that CUDA_VISIBLE_DEVICES names by UUID, in its order, up to the first name that is of none, as NVIDIA's
/// reference has it; all where it is not set. What it means to name one twice, the reference leaves open.
std::vector<Gpu> visible_ones(std::vector<Gpu> gpus)
{
    const char* const names = std::getenv("CUDA_VISIBLE_DEVICES");
    if (names == nullptr) return gpus;
    std::vector<Gpu> visible;
    std::istringstream fields(names);
    for (std::string name; std::getline(fields, name, ',');) {
        const auto is_named = [&](const Gpu& gpu) { return gpu.id == name; };
        if (std::any_of(visible.begin(), visible.end(), is_named))
            fault("CUDA_VISIBLE_DEVICES names " + name + " twice");
        const auto found = std::find_if(gpus.begin(), gpus.end(), is_named);
        if (found == gpus.end()) break;
        visible.push_back(std::move(*found));
        gpus.erase(found);
    }
    return visible;
}

} // namespace

Driver& driver()
{
    static Driver& one = *new Driver;
    return one;
}

std::vector<OwnContext*>& contexts_of_thread()
{
    thread_local std::vector<OwnContext*> contexts;
    return contexts;
}

OwnContext* current_context()
{
    const std::vector<OwnContext*>& contexts = contexts_of_thread();
    return contexts.empty() ? nullptr : contexts.back();
}

void read_gpus(Driver& one)
{
    const char* const path = std::getenv("FATHOM_STANDIN_GPUS");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string kind;
        std::string name;
        std::string bytes;
        Gpu gpu;
        std::getline(fields, kind, '\t');
        std::getline(fields, gpu.id, '\t');
        std::getline(fields, name, '\t');
        std::getline(fields, bytes, '\t');
        if (kind != "gpu") continue;
        gpu.bytes = std::strtoll(bytes.c_str(), nullptr, 10);
        one.gpus.push_back(std::move(gpu));
    }
    one.gpus = visible_ones(std::move(one.gpus));
    for (Gpu& gpu : one.gpus)
        gpu.books = std::make_unique<CardBooks>(gpu.id);
}

void watch_for_leaks()
{
    if (std::getenv("FATHOM_STANDIN_LEAKS") == nullptr) return;
    ::on_exit(
        [](int status, void*) {
            const Driver& one = driver();
            const bool is_left = std::any_of(one.blocks.begin(), one.blocks.end(),
                                             [](const auto& entry) { return entry.second.of != BlockOf::kModule; });
            if (status == 0 && is_left) fault("memory is not released at the program's end");
            if (status == 0 && !one.physical.empty()) fault("a memory handle is not released at the program's end");
        },
        nullptr);
}

void require_mapped(Address address, std::size_t bytes, const std::string& who)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    Address at = address;
    while (at < address + bytes) {
        auto block = one.blocks.upper_bound(at);
        if (block != one.blocks.begin() && at < std::prev(block)->first + std::prev(block)->second.bytes) {
            at = std::prev(block)->first + std::prev(block)->second.bytes;
            continue;
        }
        auto mapping = one.mappings.upper_bound(at);
        if (mapping != one.mappings.begin()) {
            --mapping;
            if (at < mapping->first + mapping->second.bytes && !mapping->second.devices.empty()) {
                at = mapping->first + mapping->second.bytes;
                continue;
            }
        }
        std::ostringstream text;
        text << who << " uses memory that is not there: " << std::hex << at << " of " << address << " + " << bytes;
        fault(text.str());
    }
}

void require_access(const OwnContext& context, Address address)
{
    const Driver& one = driver();
    bool may = true;
    const auto block = one.blocks.upper_bound(address);
    if (block != one.blocks.begin() && address < std::prev(block)->first + std::prev(block)->second.bytes) {
        OwnContext* const owner = std::prev(block)->second.context;
        may = owner->device == context.device || std::any_of(one.peers.begin(), one.peers.end(), [&](const auto& pair) {
                  return pair.first == &context && pair.second == owner;
              });
    }
    const auto mapping = one.mappings.upper_bound(address);
    if (mapping != one.mappings.begin() && address < std::prev(mapping)->first + std::prev(mapping)->second.bytes)
        may = std::prev(mapping)->second.devices.contains(context.device);
    if (!may) fault("a kernel uses memory of another GPU to which its own has no access");
}

void work()
{
    Driver& one = driver();
    const char* const least = std::getenv("FATHOM_STANDIN_KERNEL_US");
    const auto least_time = std::chrono::microseconds(least == nullptr ? 0 : std::strtoll(least, nullptr, 10));
    std::unique_lock lock(one.mutex);
    while (true) {
        one.queue_changed.wait(lock, [&] { return !one.queue.empty(); });
        const Launch launch = one.queue.front();
        one.queue.pop_front();
        one.is_working = true;
        one.working_on = launch.stream;
        one.working_in = launch.context;
        lock.unlock();
        run(launch);
        if (least_time.count() > 0 && launch.engine && !is_virtual()) std::this_thread::sleep_for(least_time);
        lock.lock();
        one.is_working = false;
        one.queue_changed.notify_all();
    }
}

void wait_for_kernels()
{
    Driver& one = driver();
    std::unique_lock lock(one.mutex);
    one.queue_changed.wait(lock, [&] { return one.queue.empty() && !one.is_working; });
}

void wait_for_kernels(OwnContext* context)
{
    Driver& one = driver();
    std::unique_lock lock(one.mutex);
    one.queue_changed.wait(lock, [&] {
        return !(one.is_working && one.working_in == context) &&
               std::none_of(one.queue.begin(), one.queue.end(),
                            [&](const Launch& launch) { return launch.context == context; });
    });
}

std::size_t rounded_up(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

void poison(void* memory, std::size_t bytes)
{
    static const bool is_wanted = std::getenv("FATHOM_STANDIN_NO_POISON") == nullptr;
    if (is_wanted) std::memset(memory, 0xEE, bytes);
}

} // namespace fathom::standin
