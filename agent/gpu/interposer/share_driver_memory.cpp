#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share_detail.hpp"

#include <algorithm>
#include <utility>

/// The part of Share that counts memory which this library does not map: what the program maps itself, and what the
/// driver takes for graphs and modules.
namespace fathom::gpu {
namespace {

/// Keys of graphs are no addresses.
constexpr std::uint64_t kFirstGraphKey = 1ULL << 63U;

} // namespace

void Share::note_handle(cuda::MemoryHandle handle)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    ++handles_[handle].references;
}

void Share::note_handle_retained(cuda::MemoryHandle handle)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    if (const auto found = handles_.find(handle); found != handles_.end()) ++found->second.references;
}

void Share::note_handle_released(cuda::MemoryHandle handle)
{
    if (socket_path_.empty()) return;
    {
        const Lock lock(mutex_);
        const auto found = handles_.find(handle);
        if (found == handles_.end() || found->second.references == 0) return;
        --found->second.references;
    }
    let_go(handle);
}

void Share::note_mapped(cuda::Address address, std::size_t bytes, cuda::MemoryHandle handle)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    const auto found = handles_.find(handle);
    if (found == handles_.end()) return;
    ++found->second.mappings;
    mapped_handles_[address] = {bytes, handle};
}

void Share::note_unmapped(cuda::Address address, std::size_t bytes)
{
    if (socket_path_.empty()) return;
    std::vector<cuda::MemoryHandle> unmapped;
    {
        const Lock lock(mutex_);
        auto mapped = mapped_handles_.lower_bound(address);
        while (mapped != mapped_handles_.end() && mapped->first < address + bytes) {
            --handles_.at(mapped->second.second).mappings;
            unmapped.push_back(mapped->second.second);
            mapped = mapped_handles_.erase(mapped);
        }
    }
    for (const cuda::MemoryHandle handle : unmapped)
        let_go(handle);
}

void Share::let_go(cuda::MemoryHandle handle)
{
    {
        const Lock lock(mutex_);
        const auto found = handles_.find(handle);
        if (found == handles_.end() || found->second.references > 0 || found->second.mappings > 0) return;
        handles_.erase(found);
    }
    (void)release(handle);
}

void Share::note_pool(void* pool, const OwnPool& place)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    pools_[pool] = place;
}

void Share::note_pool_gone(void* pool)
{
    if (socket_path_.empty()) return;
    const Lock lock(mutex_);
    pools_.erase(pool);
}

std::optional<OwnPool> Share::find_pool(void* pool)
{
    if (socket_path_.empty()) return std::nullopt;
    const Lock lock(mutex_);
    const auto found = pools_.find(pool);
    return found == pools_.end() ? std::nullopt : std::optional(found->second);
}

void Share::note_graph_memory(cuda::Graph graph, std::size_t bytes)
{
    if (socket_path_.empty()) return;
    Lock lock(mutex_);
    OwnGpu* const gpu = current_gpu(lock);
    if (gpu == nullptr) return;
    std::shared_ptr<GraphMemory>& memory = graphs_[graph];
    if (memory == nullptr) memory = std::make_shared<GraphMemory>(GraphMemory{kFirstGraphKey + graph_count_++});
    add_native(*gpu, memory->key, bytes);
}

void Share::note_exec(cuda::GraphExec exec, cuda::Graph graph)
{
    const Lock lock(mutex_);
    if (const auto memory = graphs_.find(graph); memory != graphs_.end()) execs_[exec] = memory->second;
}

/// What a graph had, the driver keeps for others: it is let go of, since nobody counts it any longer.
void Share::end_user_of(GraphUsers& users, void* user)
{
    std::vector<cuda::Device> devices;
    {
        const Lock lock(mutex_);
        const auto found = users.find(user);
        if (found == users.end()) return;
        const std::shared_ptr<GraphMemory> memory = std::move(found->second);
        users.erase(found);
        if (memory.use_count() > 1) return;
        for (const auto& [device, gpu] : gpus_) {
            if (gpu.native.contains(memory->key)) devices.push_back(device);
        }
        while (drop_native(memory->key)) {
        }
    }
    const std::unique_lock<std::mutex> no_capture = captures_.hold_off();
    if (!no_capture.owns_lock()) return;
    for (const cuda::Device device : devices)
        (void)driver().device_graph_mem_trim(device);
}

void Share::note_variable(void* module, cuda::Address address, std::size_t bytes)
{
    if (socket_path_.empty()) return;
    Lock lock(mutex_);
    cuda::Device device = 0;
    OwnGpu* const gpu = driver().ctx_get_device(&device) == cuda::kSuccess ? known_gpu(device) : nullptr;
    if (gpu == nullptr) return;
    if (!variables_[module].insert(address).second) return; // also where it was refused: only once
    // The memory is taken already. What nobody has room for is a part of what is reserved for the driver.
    if (has_room(*gpu, MemoryKind::kPersistent, bytes, lock))
        add_native(*gpu, reinterpret_cast<std::uintptr_t>(module), bytes);
}

void Share::note_unloaded(void* module)
{
    if (socket_path_.empty()) return;
    kernels_.forget_names(module);
    const Lock lock(mutex_);
    variables_.erase(module);
    (void)drop_native(reinterpret_cast<std::uintptr_t>(module));
}

} // namespace fathom::gpu
