// A stand-in for NVIDIA's driver, libcuda.so.1, where there is no GPU. Memory of a device is memory of this process at
// the same addresses, so that "kernels" really read and write it, after they were launched, in the order of their
// launches. It is stricter than a driver: what NVIDIA leaves undefined ends the process with a line that says what was
// wrong.
//
//   FATHOM_STANDIN_GPUS    the GPUs, as for the stand-in of NVML: gpu UUID name bytes, tabs between fields
//   FATHOM_STANDIN_CARDS   folder with the books of each card's memory, for all processes; they end with their process
//   FATHOM_STANDIN_FAULTS  file that faults are written to, too
//   FATHOM_STANDIN_KERNEL_US  how long each kernel takes at least
//   FATHOM_STANDIN_NO_POISON  set: memory that nobody wrote is not filled with what no check expects
//
// Kernels, by name: fill(address, words, value) writes value + i; check(address, words, value) expects that; spin(any,
// any, microseconds) takes that long.
#include "agent/gpu/cuda_abi.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fathom::gpu::cuda;

namespace {

constexpr std::size_t kPiece = 2U << 20U;
constexpr std::size_t kPage = 4096;

[[noreturn]] void fault(const std::string& text)
{
    const std::string line = "stand-in driver: " + text + "\n";
    std::fputs(line.c_str(), stderr);
    if (const char* const path = std::getenv("FATHOM_STANDIN_FAULTS")) {
        std::ofstream file(path, std::ios::app);
        file << line;
    }
    std::abort();
}

/// One card's memory, for all processes that use it. A file, locked while it is changed; who is gone has nothing.
class CardBooks {
  public:
    struct Slot {
        pid_t process;
        std::int64_t bytes;
    };
    struct Shared {
        std::int64_t peak_bytes;
        std::int64_t refusals;
        std::array<Slot, 512> slots;
    };

    explicit CardBooks(const std::string& id)
    {
        const char* const folder = std::getenv("FATHOM_STANDIN_CARDS");
        if (folder != nullptr) {
            file_ = ::open((std::string(folder) + "/" + id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
            if (file_ < 0 || ::ftruncate(file_, sizeof(Shared)) != 0) fault("no books in FATHOM_STANDIN_CARDS");
        }
        void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                    file_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file_, 0);
        if (memory == MAP_FAILED) fault("no memory for a card's books");
        shared_ = static_cast<Shared*>(memory);
    }

    /// @return  false if the card has not as much.
    bool take(std::int64_t bytes, std::int64_t capacity)
    {
        const Locked locked(file_);
        std::int64_t used = 0;
        for (std::size_t i = 0; i < shared_->slots.size(); ++i) {
            if (shared_->slots[i].process != 0 && i != own_ && !is_alive(i)) shared_->slots[i] = {};
            used += shared_->slots[i].bytes;
        }
        if (own_ == kNone) take_slot();
        Slot* const own = &shared_->slots[own_];
        if (bytes > 0 && used + bytes > capacity) {
            ++shared_->refusals;
            return false;
        }
        own->bytes += bytes;
        shared_->peak_bytes = std::max(shared_->peak_bytes, used + bytes);
        used_ = used + bytes;
        return true;
    }
    std::int64_t used() const { return used_; }

  private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// A lock of a slot's own byte ends with its process, whatever becomes of that.
    struct flock lock_of(std::size_t slot) const
    {
        struct flock lock{};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        lock.l_start = static_cast<off_t>(sizeof(Shared) + slot);
        lock.l_len = 1;
        return lock;
    }
    bool is_alive(std::size_t slot) const
    {
        struct flock lock = lock_of(slot);
        return file_ < 0 || ::fcntl(file_, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    }
    void take_slot()
    {
        for (std::size_t i = 0; i < shared_->slots.size(); ++i) {
            if (shared_->slots[i].process != 0) continue;
            struct flock lock = lock_of(i);
            if (file_ >= 0 && ::fcntl(file_, F_SETLK, &lock) != 0) fault("a card's books cannot be locked");
            own_ = i;
            shared_->slots[i].process = ::getpid();
            return;
        }
        fault("more processes than a card's books have lines");
    }

    struct Locked {
        explicit Locked(int locked_file) : file(locked_file)
        {
            if (file >= 0) ::flock(file, LOCK_EX);
        }
        Locked(const Locked&) = delete;
        Locked& operator=(const Locked&) = delete;
        ~Locked()
        {
            if (file >= 0) ::flock(file, LOCK_UN);
        }
        int file;
    };

    int file_ = -1;
    std::size_t own_ = kNone;
    Shared* shared_{};
    std::int64_t used_{};
};

struct Gpu {
    std::string id;
    std::int64_t bytes{};
    std::unique_ptr<CardBooks> books;
};

struct OwnContext {
    Device device{};
    std::size_t blocks{};
};

struct Block { ///< by cuMemAlloc
    std::size_t bytes{};
    std::size_t taken{};
    OwnContext* context{};
};

struct Physical { ///< by cuMemCreate
    std::size_t bytes{};
    Device device{};
    int file = -1;
    std::size_t mapped{}; ///< times
    bool is_released{};
};

struct Mapping {
    std::size_t bytes{};
    MemoryHandle handle{};
    bool is_accessible{};
};

struct Launch {
    std::string kernel;
    std::array<std::uint64_t, 3> arguments{};
};

struct Driver {
    std::mutex mutex;
    bool is_started{};
    std::vector<Gpu> gpus;
    std::set<OwnContext*> contexts;
    std::map<Address, Block> blocks;
    std::map<MemoryHandle, Physical> physical;
    std::map<Address, std::size_t> reserved;
    std::map<Address, Mapping> mappings;
    std::set<std::string*> kernels;
    MemoryHandle next_handle = 0x1000;

    std::condition_variable queue_changed;
    std::deque<Launch> queue;
    bool is_working{};
    bool has_worker{};
};

Driver& driver()
{
    static Driver& one = *new Driver;
    return one;
}

thread_local std::vector<OwnContext*> current;

OwnContext* current_context()
{
    return current.empty() ? nullptr : current.back();
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
        gpu.books = std::make_unique<CardBooks>(gpu.id);
        one.gpus.push_back(std::move(gpu));
    }
}

/// Of memory that a kernel or a copy touches: all of it must be there.
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
            if (at < mapping->first + mapping->second.bytes && mapping->second.is_accessible) {
                at = mapping->first + mapping->second.bytes;
                continue;
            }
        }
        std::ostringstream text;
        text << who << " uses memory that is not there: " << std::hex << at << " of " << address << " + " << bytes;
        fault(text.str());
    }
}

void run(const Launch& launch)
{
    const auto [address, words, value] = launch.arguments;
    if (launch.kernel == "spin") {
        std::this_thread::sleep_for(std::chrono::microseconds(value));
        return;
    }
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
        lock.unlock();
        run(launch);
        if (least_time.count() > 0) std::this_thread::sleep_for(least_time);
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

std::size_t rounded_up(std::size_t bytes, std::size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

/// What nobody wrote is no number that a check expects. A benchmark of time leaves it out: no card does that.
void poison(void* memory, std::size_t bytes)
{
    static const bool is_wanted = std::getenv("FATHOM_STANDIN_NO_POISON") == nullptr;
    if (is_wanted) std::memset(memory, 0xEE, bytes);
}

} // namespace

#define CHECK_CONTEXT                                                                                                  \
    if (!driver().is_started) return kNotInitialized;                                                                  \
    OwnContext* const context = current_context();                                                                     \
    if (context == nullptr) return kInvalidContext

#pragma GCC visibility push(default)
extern "C" {

Status cuInit(unsigned flags)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    if (flags != 0) return kInvalidValue;
    if (!one.is_started) read_gpus(one);
    one.is_started = true;
    return one.gpus.empty() ? 100 : kSuccess; // CUDA_ERROR_NO_DEVICE
}

Status cuDriverGetVersion(int* version)
{
    *version = 13000;
    return kSuccess;
}

Status cuDeviceGetCount(int* count)
{
    *count = static_cast<int>(driver().gpus.size());
    return kSuccess;
}

Status cuDeviceGet(Device* device, int ordinal)
{
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= driver().gpus.size()) return 101;
    *device = ordinal;
    return kSuccess;
}

Status cuDeviceGetUuid_v2(Uuid* uuid, Device device)
{
    std::string digits;
    for (const char c : driver().gpus.at(static_cast<std::size_t>(device)).id.substr(4)) {
        if (c != '-') digits += c;
    }
    digits.resize(32, '0');
    for (std::size_t i = 0; i < 16; ++i)
        uuid->bytes[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    return kSuccess;
}

Status cuDeviceTotalMem_v2(std::size_t* bytes, Device device)
{
    *bytes = static_cast<std::size_t>(driver().gpus.at(static_cast<std::size_t>(device)).bytes);
    return kSuccess;
}

Status cuCtxCreate_v2(Context* context, unsigned /*flags*/, Device device)
{
    Driver& one = driver();
    if (!one.is_started) return kNotInitialized;
    const std::scoped_lock lock(one.mutex);
    auto* const made = new OwnContext{device, 0};
    one.contexts.insert(made);
    current.push_back(made);
    *context = made;
    if (!one.has_worker) {
        one.has_worker = true;
        std::thread(work).detach();
    }
    return kSuccess;
}

Status cuCtxDestroy_v2(Context context)
{
    wait_for_kernels();
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    auto* const own = static_cast<OwnContext*>(context);
    if (!one.contexts.contains(own)) fault("a context that is none is destroyed");
    for (auto it = one.blocks.begin(); it != one.blocks.end();) {
        if (it->second.context != own) {
            ++it;
            continue;
        }
        ::munmap(reinterpret_cast<void*>(it->first), it->second.taken);
        (void)one.gpus[static_cast<std::size_t>(own->device)].books->take(-static_cast<std::int64_t>(it->second.taken),
                                                                          0);
        it = one.blocks.erase(it);
    }
    one.contexts.erase(own);
    std::erase(current, own);
    return kSuccess;
}

Status cuCtxGetCurrent(Context* context)
{
    *context = current_context();
    return kSuccess;
}

Status cuCtxSetCurrent(Context context)
{
    if (!current.empty()) current.pop_back();
    if (context != nullptr) current.push_back(static_cast<OwnContext*>(context));
    return kSuccess;
}

Status cuCtxPushCurrent_v2(Context context)
{
    const std::scoped_lock lock(driver().mutex);
    if (!driver().contexts.contains(static_cast<OwnContext*>(context))) return kInvalidContext;
    current.push_back(static_cast<OwnContext*>(context));
    return kSuccess;
}

Status cuCtxPopCurrent_v2(Context* context)
{
    if (current.empty()) return kInvalidContext;
    *context = current.back();
    current.pop_back();
    return kSuccess;
}

Status cuCtxGetDevice(Device* device)
{
    CHECK_CONTEXT;
    *device = context->device;
    return kSuccess;
}

Status cuCtxSynchronize()
{
    CHECK_CONTEXT;
    wait_for_kernels();
    return kSuccess;
}

Status cuStreamSynchronize(Stream /*stream*/)
{
    return cuCtxSynchronize();
}

Status cuMemAlloc_v2(Address* address, std::size_t bytes)
{
    CHECK_CONTEXT;
    if (address == nullptr || bytes == 0) return kInvalidValue;
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    Gpu& gpu = one.gpus[static_cast<std::size_t>(context->device)];
    if (bytes > static_cast<std::size_t>(gpu.bytes)) return kOutOfMemory;
    const std::size_t taken = rounded_up(bytes, kPage);
    if (!gpu.books->take(static_cast<std::int64_t>(taken), gpu.bytes)) return kOutOfMemory;
    void* const memory = ::mmap(nullptr, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fault("the host has no memory");
    poison(memory, taken);
    *address = reinterpret_cast<Address>(memory);
    one.blocks[*address] = {bytes, taken, context};
    ++context->blocks;
    return kSuccess;
}

Status cuMemAllocAsync(Address* address, std::size_t bytes, Stream /*stream*/)
{
    return cuMemAlloc_v2(address, bytes);
}

Status cuMemAllocManaged(Address* address, std::size_t bytes, unsigned /*flags*/)
{
    return cuMemAlloc_v2(address, bytes);
}

Status cuMemAllocPitch_v2(Address* address, std::size_t* pitch, std::size_t width, std::size_t height,
                          unsigned /*bytes*/)
{
    *pitch = rounded_up(width, 512);
    return cuMemAlloc_v2(address, *pitch * height);
}

Status cuMemFree_v2(Address address)
{
    CHECK_CONTEXT;
    wait_for_kernels();
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto found = one.blocks.find(address);
    if (found == one.blocks.end()) fault("memory is released that is not allocated, or was released before");
    if (found->second.context->device != context->device) fault("memory of another GPU's context is released");
    (void)one.gpus[static_cast<std::size_t>(context->device)].books->take(
        -static_cast<std::int64_t>(found->second.taken), 0);
    ::munmap(reinterpret_cast<void*>(address), found->second.taken);
    --found->second.context->blocks;
    one.blocks.erase(found);
    return kSuccess;
}

Status cuMemFreeAsync(Address address, Stream /*stream*/)
{
    return cuMemFree_v2(address);
}

Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total)
{
    CHECK_CONTEXT;
    const std::scoped_lock lock(driver().mutex);
    Gpu& gpu = driver().gpus[static_cast<std::size_t>(context->device)];
    (void)gpu.books->take(0, gpu.bytes);
    *total = static_cast<std::size_t>(gpu.bytes);
    *free = static_cast<std::size_t>(gpu.bytes - gpu.books->used());
    return kSuccess;
}

Status cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address address)
{
    const std::scoped_lock lock(driver().mutex);
    auto block = driver().blocks.upper_bound(address);
    if (block == driver().blocks.begin()) return kNotFound;
    --block;
    if (address >= block->first + block->second.bytes) return kNotFound;
    *base = block->first;
    *bytes = block->second.bytes;
    return kSuccess;
}

Status cuIpcGetMemHandle(void* /*handle*/, Address address)
{
    const std::scoped_lock lock(driver().mutex);
    return driver().blocks.contains(address) ? kSuccess : kInvalidValue;
}

Status cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties* /*properties*/, int /*option*/)
{
    *bytes = kPiece;
    return kSuccess;
}

Status cuMemCreate(MemoryHandle* handle, std::size_t bytes, const AllocationProperties* properties,
                   unsigned long long flags)
{
    if (flags != 0 || bytes == 0 || bytes % kPiece != 0 || properties->type != kAllocationPinned ||
        properties->location.type != kLocationDevice)
        return kInvalidValue;
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    Gpu& gpu = one.gpus.at(static_cast<std::size_t>(properties->location.id));
    if (!gpu.books->take(static_cast<std::int64_t>(bytes), gpu.bytes)) return kOutOfMemory;
    Physical made;
    made.bytes = bytes;
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

static void drop_if_unused(Driver& one, MemoryHandle handle)
{
    Physical& memory = one.physical.at(handle);
    if (!memory.is_released || memory.mapped > 0) return;
    ::close(memory.file);
    (void)one.gpus[static_cast<std::size_t>(memory.device)].books->take(-static_cast<std::int64_t>(memory.bytes), 0);
    one.physical.erase(handle);
}

Status cuMemRelease(MemoryHandle handle)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto found = one.physical.find(handle);
    if (found == one.physical.end() || found->second.is_released)
        fault("a memory handle is released twice, or is none");
    found->second.is_released = true;
    drop_if_unused(one, handle);
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
    one.mappings[address] = {bytes, handle, false};
    ++memory->second.mapped;
    return kSuccess;
}

Status cuMemSetAccess(Address address, std::size_t bytes, const AccessDescription* access, std::size_t count)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto mapping = one.mappings.find(address);
    if (mapping == one.mappings.end() || mapping->second.bytes != bytes || count != 1 ||
        access->flags != kAccessReadWrite || access->location.id != one.physical.at(mapping->second.handle).device)
        return kInvalidValue;
    if (::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) != 0) fault("cannot give access");
    mapping->second.is_accessible = true;
    return kSuccess;
}

Status cuMemUnmap(Address address, std::size_t bytes)
{
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

Status cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes)
{
    CHECK_CONTEXT;
    (void)context;
    wait_for_kernels();
    require_mapped(to, bytes, "cuMemcpyHtoD");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
}

Status cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes)
{
    CHECK_CONTEXT;
    (void)context;
    wait_for_kernels();
    require_mapped(from, bytes, "cuMemcpyDtoH");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
}

Status cuMemsetD32_v2(Address to, unsigned value, std::size_t count)
{
    CHECK_CONTEXT;
    (void)context;
    wait_for_kernels();
    require_mapped(to, count * 4, "cuMemsetD32");
    std::fill_n(reinterpret_cast<unsigned*>(to), count, value);
    return kSuccess;
}

/// Does nothing: the cost of a call alone.
Status cuMemPrefetchAsync(Address /*address*/, std::size_t /*bytes*/, Device /*device*/, Stream /*stream*/)
{
    return kSuccess;
}

Status cuModuleLoadData(void** module, const void* /*image*/)
{
    CHECK_CONTEXT;
    *module = context;
    return kSuccess;
}

Status cuModuleGetFunction(void** function, void* /*module*/, const char* name)
{
    const std::string text = name;
    if (text != "fill" && text != "check" && text != "spin") return kNotFound;
    const std::scoped_lock lock(driver().mutex);
    for (std::string* kernel : driver().kernels) {
        if (*kernel == text) *function = kernel;
    }
    auto* const made = new std::string(text);
    driver().kernels.insert(made);
    *function = made;
    return kSuccess;
}

Status cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned /*shared*/, Stream /*stream*/, void** parameters,
                      void** extra)
{
    CHECK_CONTEXT;
    (void)context;
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0 || extra != nullptr)
        return kInvalidValue;
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    auto* const kernel = static_cast<std::string*>(function);
    if (!one.kernels.contains(kernel)) fault("a kernel is launched that is none");
    Launch launch;
    launch.kernel = *kernel;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
        launch.arguments[i] = *static_cast<const std::uint64_t*>(parameters[i]);
    one.queue.push_back(launch);
    one.queue_changed.notify_all();
    return kSuccess;
}

Status cuGetProcAddress_v2(const char* symbol, void** function, int /*version*/, std::uint64_t /*flags*/, int* found)
{
    // As NVIDIA's: a name without version means the newest that the driver has.
    static void* const own = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (const char* version : {"_v2", ""}) {
        *function = ::dlvsym(own, (std::string(symbol) + version).c_str(), "FATHOM_STANDIN");
        if (*function != nullptr) break;
    }
    if (found != nullptr) *found = *function == nullptr ? 1 : 0;
    return *function == nullptr ? kNotFound : kSuccess;
}

} // extern "C"
#pragma GCC visibility pop
