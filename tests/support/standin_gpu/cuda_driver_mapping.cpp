// The stand-in driver's memory that is made, given addresses and mapped by itself.
#include "tests/support/standin_gpu/cuda_driver_state.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace {

void drop_if_unused(Driver& one, MemoryHandle handle)
{
    Physical& memory = one.physical.at(handle);
    if (memory.references > 0 || memory.mapped > 0) return;
    ::close(memory.file);
    if (!memory.is_of_host)
        (void)one.gpus[static_cast<std::size_t>(memory.device)].books->take(-static_cast<std::int64_t>(memory.bytes),
                                                                            0);
    one.physical.erase(handle);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties* /*properties*/, int /*option*/)
{
    *bytes = kPiece;
    return kSuccess;
}

Status cuMemCreate(MemoryHandle* handle, std::size_t bytes, const AllocationProperties* properties,
                   unsigned long long flags)
{
    if (flags != 0 || bytes == 0 || bytes % kPiece != 0 || properties->type != kAllocationPinned ||
        (properties->location.type != kLocationDevice && properties->location.type != kLocationHost))
        return kInvalidValue;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    Physical made;
    made.is_of_host = properties->location.type == kLocationHost;
    Gpu& gpu = one.gpus.at(made.is_of_host ? 0 : static_cast<std::size_t>(properties->location.id));
    if (!made.is_of_host && !gpu.books->take(static_cast<std::int64_t>(bytes), gpu.bytes)) return kOutOfMemory;
    made.bytes = bytes;
    made.references = 1;
    made.device = properties->location.id;
    made.file = ::memfd_create("gpu-memory", MFD_CLOEXEC);
    if (made.file < 0 || ::ftruncate(made.file, static_cast<off_t>(bytes)) != 0) fault("the host has no memory");
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.file, 0);
    if (memory == MAP_FAILED) fault("the host has no memory");
    poison(memory, bytes);
    ::munmap(memory, bytes);
    *handle = one.next_handle++;
    one.physical[*handle] = made;
    return kSuccess;
}

Status cuMemRelease(MemoryHandle handle)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto found = one.physical.find(handle);
    if (found == one.physical.end() || found->second.references == 0)
        fault("a memory handle is released twice, or is none");
    --found->second.references;
    drop_if_unused(one, handle);
    return kSuccess;
}

Status cuMemRetainAllocationHandle(MemoryHandle* handle, void* address)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto mapping = one.mappings.find(reinterpret_cast<Address>(address));
    if (mapping == one.mappings.end()) return kInvalidValue;
    *handle = mapping->second.handle;
    ++one.physical.at(*handle).references;
    return kSuccess;
}

Status cuMemAddressReserve(Address* address, std::size_t bytes, std::size_t /*alignment*/, Address wish,
                           unsigned long long flags)
{
    if (flags != 0 || bytes == 0 || bytes % kPiece != 0) return kInvalidValue;
    // Room for alignment where the wish cannot be met.
    void* memory = ::mmap(reinterpret_cast<void*>(wish), bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (wish != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (memory == MAP_FAILED || reinterpret_cast<Address>(memory) % kPiece != 0) {
        if (memory != MAP_FAILED) ::munmap(memory, bytes);
        memory = ::mmap(nullptr, bytes + kPiece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return kOutOfMemory;
        memory = reinterpret_cast<void*>(rounded_up(reinterpret_cast<std::size_t>(memory), kPiece));
    }
    const std::scoped_lock lock(driver().mutex);
    *address = reinterpret_cast<Address>(memory);
    driver().reserved[*address] = bytes;
    return kSuccess;
}

Status cuMemAddressFree(Address address, std::size_t bytes)
{
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().reserved.find(address);
    if (found == driver().reserved.end() || found->second != bytes)
        fault("addresses are freed that are not reserved so");
    ::munmap(reinterpret_cast<void*>(address), bytes);
    driver().reserved.erase(found);
    return kSuccess;
}

Status cuMemMap(Address address, std::size_t bytes, std::size_t offset, MemoryHandle handle, unsigned long long flags)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto memory = one.physical.find(handle);
    if (flags != 0 || offset != 0 || memory == one.physical.end() || memory->second.bytes != bytes)
        return kInvalidValue;
    auto range = one.reserved.upper_bound(address);
    if (range == one.reserved.begin() || address + bytes > std::prev(range)->first + std::prev(range)->second)
        fault("memory is mapped where no addresses are reserved");
    auto next = one.mappings.upper_bound(address);
    if ((next != one.mappings.end() && next->first < address + bytes) ||
        (next != one.mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address))
        fault("memory is mapped over memory");
    if (::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second.file, 0) ==
        MAP_FAILED)
        fault("the host cannot map memory");
    one.mappings[address] = {bytes, handle, {}};
    ++memory->second.mapped;
    return kSuccess;
}

Status cuMemSetAccess(Address address, std::size_t bytes, const AccessDescription* access, std::size_t count)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto mapping = one.mappings.find(address);
    const auto is_wrong = [&](const AccessDescription& of) {
        return of.flags != kAccessReadWrite || of.location.type != kLocationDevice || of.location.id < 0 ||
               static_cast<std::size_t>(of.location.id) >= one.gpus.size();
    };
    if (mapping == one.mappings.end() || mapping->second.bytes != bytes || count == 0 ||
        std::any_of(access, access + count, is_wrong))
        return kInvalidValue;
    if (::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) != 0) fault("cannot give access");
    for (std::size_t i = 0; i < count; ++i)
        mapping->second.devices.insert(access[i].location.id);
    return kSuccess;
}

Status cuMemUnmap(Address address, std::size_t bytes)
{
    REFUSE_IN_CAPTURE(refuse_unsafe());
    Driver& one = driver();
    std::unique_lock lock(one.mutex);
    const auto mapping = one.mappings.find(address);
    if (mapping == one.mappings.end() || mapping->second.bytes != bytes)
        fault("memory is unmapped that is not mapped so");
    if (one.is_working || !one.queue.empty()) fault("memory is unmapped while kernels run");
    if (::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        fault("the host cannot unmap memory");
    const MemoryHandle handle = mapping->second.handle;
    one.mappings.erase(mapping);
    --one.physical.at(handle).mapped;
    drop_if_unused(one, handle);
    return kSuccess;
}

} // extern "C"
#pragma GCC visibility pop
