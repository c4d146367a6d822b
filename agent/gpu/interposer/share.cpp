#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share_detail.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace fathom::gpu {
namespace {

/// Where this library's addresses begin: far from the driver's own, and below the 47 bits that all GPUs have.
constexpr cuda::Address kFirstAddress = 1ULL << 44U;

constexpr std::int64_t kMaxWait_s = 3600;
constexpr std::int64_t kMinAbsence_s = 10; ///< a manager that is begun anew is back within

/// More than an iteration has, which is found by 65 536 events at most: a program whose iterations nobody knows must
/// not fill the memory.
constexpr std::size_t kMaxKnownAllocations = 65'536;

std::int64_t number_from(const char* variable)
{
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b)
{
    return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U))) * 0xff51afd7ed558ccdULL;
}

std::string text_of(const cuda::Uuid& uuid)
{
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

} // namespace

std::atomic<Share*>& Share::the_one()
{
    static std::atomic<Share*> one{nullptr};
    return one;
}

std::mutex& Share::socket_changes()
{
    static std::mutex& changes = *new std::mutex;
    return changes;
}

Share& Share::instance()
{
    Share* const one = the_one().load(std::memory_order_acquire);
    return one == nullptr ? begin() : *one;
}

/// In this process, which may be a child of one that has its own.
Share& Share::begin()
{
    static std::mutex& beginning = *new std::mutex;
    static std::once_flag prepared;
    std::call_once(prepared, [] {
        // A child has neither the thread nor the turn; its parent keeps the connection.
        ::pthread_atfork(
            [] {
                beginning.lock();
                socket_changes().lock(); // nor is there a connection that nobody knows yet, or no longer
            },
            [] {
                socket_changes().unlock();
                beginning.unlock();
            },
            [] {
                const Share* const of_parent = the_one().exchange(nullptr);
                if (of_parent != nullptr) close_socket(of_parent->socket_);
                socket_changes().unlock();
                beginning.unlock();
            });
    });
    const std::scoped_lock lock(beginning);
    if (the_one().load() == nullptr) the_one().store(new Share); // its threads may use it to the end of the process
    return *the_one().load();
}

Share::Share()
{
    const char* const path = std::getenv("FATHOM_GPU_SOCKET");
    if (path == nullptr || *path == '\0') return;
    socket_path_ = path;
    const char* const swap = std::getenv("FATHOM_GPU_SWAP");
    swaps_all_ = swap != nullptr && std::string_view(swap) == "everything";
    const std::int64_t wait_s = std::clamp<std::int64_t>(number_from("FATHOM_GPU_WAIT_S"), 0, kMaxWait_s);
    wait_until_ += std::chrono::seconds(wait_s);
    input_size_ = size_from("FATHOM_GPU_INPUT_SIZE");
    absence_ = std::chrono::seconds(std::max(wait_s, kMinAbsence_s));
    if (!connect() && wait_until_ <= std::chrono::steady_clock::now()) tell_of_absence();
    start_thread([this] { run(); });
}

OwnGpu* Share::current_gpu(Lock& lock)
{
    cuda::Context context = nullptr;
    cuda::Device device = 0;
    if (driver().ctx_get_current(&context) != cuda::kSuccess || context == nullptr ||
        driver().ctx_get_device(&device) != cuda::kSuccess)
        return nullptr;
    OwnGpu* const gpu = gpu_of(device, lock);
    if (gpu == nullptr) return nullptr;
    gpu->contexts.insert(context);
    if (gpu->context == nullptr) gpu->context = context;
    return gpu;
}

/// null: the driver does not know it.
OwnGpu* Share::known_gpu(cuda::Device device)
{
    OwnGpu& gpu = gpus_.try_emplace(device, device).first->second;
    if (!gpu.id.empty()) return &gpu;
    cuda::Uuid uuid{};
    if (driver().device_get_uuid(&uuid, device) != cuda::kSuccess ||
        driver().device_total_mem(&gpu.capacity_bytes, device) != cuda::kSuccess)
        return nullptr;
    gpu.id = text_of(uuid);
    for (const cuda::Device peer : pool_peers_)
        give_access(gpu, peer);
    return &gpu;
}

OwnGpu* Share::gpu_of(cuda::Device device, Lock& lock)
{
    OwnGpu* const gpu = known_gpu(device);
    if (gpu == nullptr) return nullptr;
    if (!gpu->is_known() && has_manager(lock)) place(*gpu, lock);
    return gpu;
}

/// Asks for room; of what is there already where the manager began anew.
void Share::place(OwnGpu& gpu, Lock& lock)
{
    const std::int64_t persistent =
        std::max(number_from("FATHOM_GPU_PERSISTENT_BYTES"), signed_of(gpu.persistent_bytes()));
    const std::int64_t temporary =
        std::max(number_from("FATHOM_GPU_TEMPORARY_BYTES"), signed_of(gpu.temporary.extent_bytes()));
    const Message question = with_text({.type = MessageType::kUseGpu,
                                        .first = signed_of(gpu.capacity_bytes),
                                        .second = persistent,
                                        .third = temporary},
                                       gpu.id);
    // The answer may wait until others have given their turns back: without it, memory would be in nobody's books.
    const auto until = std::chrono::steady_clock::now() + absence_;
    std::optional<Message> answer;
    while (true) {
        changed_.wait(lock, [&] { return !question_; });
        if (gpu.is_known()) return; // another thread has asked, or the answer came late
        answer = ask(question, lock);
        if (answer || !socket_.is_open() || std::chrono::steady_clock::now() >= until) break;
        changed_.wait_for(lock, kTryAgain);
    }
    if (!answer) return;
    if (answer->type == MessageType::kRefused) {
        gpu.is_private = answer->first == kNotShared;
        if (gpu.is_private) return;
        tell(std::string(text_of(*answer)));
        gpu.is_refused = true;
        return;
    }
    take_place(gpu, *answer);
}

void Share::take_place(OwnGpu& gpu, const Message& answer)
{
    gpu.place = {answer.first, answer.second, answer.third, answer.fourth};
    if (!gpu.is_placed) gpu.admitted_room_bytes = gpu.place.persistent_room_bytes;
    gpu.is_placed = true;
    is_counting_.store(true); // before there is memory that can be taken away
}

std::optional<Message> Share::ask_to_grow(const OwnGpu& gpu, MemoryKind kind, std::int64_t bytes, Lock& lock)
{
    const Message question =
        with_text({.type = MessageType::kGrow, .first = static_cast<std::int64_t>(kind), .second = bytes}, gpu.id);
    const auto until = std::chrono::steady_clock::now() + absence_;
    while (true) {
        std::optional<Message> answer = ask(question, lock);
        // Who is alone needs nobody's word. Of who is not, no neighbour may be hurt.
        if (answer || !is_shared_ || std::chrono::steady_clock::now() >= until) return answer;
        changed_.wait_for(lock, kTryAgain); // a connection that broke is found meanwhile
    }
}

bool Share::has_room(OwnGpu& gpu, MemoryKind kind, std::size_t more_bytes, Lock& lock)
{
    if (!gpu.is_placed) return !gpu.is_refused;
    const bool is_persistent = kind == MemoryKind::kPersistent;
    const auto missing = [&] {
        const std::size_t used = is_persistent ? gpu.persistent_bytes() : gpu.temporary.extent_bytes();
        return signed_of(used + more_bytes) -
               (is_persistent ? gpu.place.persistent_room_bytes : gpu.place.temporary_room_bytes);
    };
    std::string why;
    for (std::int64_t least = growth_bytes(gpu); missing() > 0; least = 0) {
        const std::optional<Message> answer = ask_to_grow(gpu, kind, std::max(missing(), least), lock);
        if (!answer) return !is_shared_; // nobody is there to ask, nor to hurt
        if (answer->type == MessageType::kGrown) {
            (is_persistent ? gpu.place.persistent_room_bytes : gpu.place.temporary_room_bytes) = answer->second;
        } else if (least == 0) {
            if (!is_shared_) return true; // the driver will tell
            tell(std::string(text_of(*answer)));
            return false;
        }
    }
    return true;
}

bool Share::is_reserved(OwnGpu& gpu)
{
    const auto reserve = [&](Region& region, std::int64_t start) {
        return region.is_reserved() ||
               region.reserve(kFirstAddress + static_cast<cuda::Address>(start),
                              static_cast<std::size_t>(whole_pieces(signed_of(gpu.capacity_bytes)))) == cuda::kSuccess;
    };
    return reserve(gpu.persistent, gpu.place.persistent_start) && reserve(gpu.temporary, gpu.place.temporary_start);
}

void Share::remember(std::uint64_t event, bool dies)
{
    if (dies_.size() >= kMaxKnownAllocations && !dies_.contains(event)) dies_.clear();
    dies_[event] = dies;
}

/// By what the program says; else by what became of the same allocation in the iterations before; else the safe one.
std::pair<MemoryKind, Region::Contents> Share::kind_of(std::uint64_t event) const
{
    const int told = kind_.load();
    if (told == 1) return {MemoryKind::kPersistent, Contents::kKept};
    if (told == 2) return {MemoryKind::kTemporary, Contents::kDead};
    const auto known = dies_.find(event);
    const bool dies = known != dies_.end() && known->second;
    return {dies ? MemoryKind::kTemporary : MemoryKind::kPersistent, Contents::kKept};
}

cuda::Status Share::allocate_block(cuda::Address* address, std::size_t bytes, bool& is_native)
{
    is_native = true;
    // What the driver refuses is the driver's to answer.
    if (socket_path_.empty() || address == nullptr || bytes == 0) return cuda::kSuccess;
    Lock lock(mutex_);
    OwnGpu* const gpu = current_gpu(lock);
    if (gpu == nullptr) return cuda::kSuccess; // the driver will tell why
    is_native = false;
    if (gpu->is_refused || bytes > gpu->capacity_bytes) return cuda::kOutOfMemory;
    if (!gpu->is_placed || !is_reserved(*gpu)) {
        is_native = true;
        return cuda::kSuccess;
    }
    const std::uint64_t event = mixed(ordinal_++, bytes);
    int tries = 0;
    while (true) {
        const auto [kind, contents] = kind_of(event);
        Region& region = kind == MemoryKind::kPersistent ? gpu->persistent : gpu->temporary;
        if (!has_room(*gpu, kind, region.bytes_to_map(bytes, contents), lock)) return cuda::kOutOfMemory;
        if (needs_turn(kind) && !has_turn_) {
            wait_for_turn(lock);
            continue;
        }
        const cuda::Status status = region.allocate(bytes, contents, address);
        // Room that was promised is a moment late where a neighbour has just ended, and the driver still cleans up.
        if (status == cuda::kOutOfMemory && ++tries < kMaxTries) {
            changed_.wait_for(lock, kTryAgain);
            continue;
        }
        if (status != cuda::kSuccess) return status;
        alive_[*address] = event;
        own_by_current(*address);
        live_bytes_ += signed_of(bytes);
        gpu->most_persistent_bytes = std::max(gpu->most_persistent_bytes, gpu->persistent_bytes());
        gpu->most_temporary_bytes = std::max(gpu->most_temporary_bytes, gpu->temporary.extent_bytes());
        return status;
    }
}

cuda::Status Share::begin_native(std::size_t bytes, std::optional<cuda::Device> device)
{
    if (socket_path_.empty()) return cuda::kSuccess;
    Lock lock(mutex_);
    OwnGpu* const gpu = device ? gpu_of(*device, lock) : current_gpu(lock);
    if (gpu == nullptr) return cuda::kSuccess;
    if (gpu->is_refused || (is_shared_ && bytes > gpu->capacity_bytes)) return cuda::kOutOfMemory;
    return has_room(*gpu, MemoryKind::kPersistent, bytes, lock) ? cuda::kSuccess : cuda::kOutOfMemory;
}

void Share::end_native(std::uint64_t key, std::size_t bytes, std::optional<cuda::Device> device)
{
    if (socket_path_.empty() || key == 0) return;
    Lock lock(mutex_);
    OwnGpu* const gpu = device ? gpu_of(*device, lock) : current_gpu(lock);
    if (gpu == nullptr) return;
    add_native(*gpu, key, bytes);
    if (device) owners_.erase(key); // no context's
}

void Share::add_native(OwnGpu& gpu, std::uint64_t key, std::size_t bytes)
{
    gpu.native[key] += bytes;
    own_by_current(key);
    gpu.native_bytes += bytes;
    gpu.most_persistent_bytes = std::max(gpu.most_persistent_bytes, gpu.persistent_bytes());
    live_bytes_ += signed_of(bytes);
}

bool Share::release(std::uint64_t address, bool is_idle)
{
    if (socket_path_.empty()) return false;
    const Lock lock(mutex_);
    if (drop_native(address)) return false;
    const std::unique_lock<std::mutex> no_capture = captures_.hold_off();
    if (no_capture.owns_lock()) return release_block(address, is_idle);
    const auto block = find_block(address);
    if (!block || block->first != address) return false;
    released_in_capture_.push_back(address);
    return true;
}

/// @return  false where the driver allocated nothing of that key.
bool Share::drop_native(std::uint64_t key)
{
    for (auto& [device, gpu] : gpus_) {
        const auto native = gpu.native.find(key);
        if (native == gpu.native.end()) continue;
        gpu.native_bytes -= native->second;
        live_bytes_ -= signed_of(native->second);
        gpu.native.erase(native);
        owners_.erase(key);
        return true;
    }
    return false;
}

/// Work that uses the block is waited for, as cuMemFree does: not while a stream is captured.
bool Share::release_block(cuda::Address address, bool is_idle)
{
    for (auto& [device, gpu] : gpus_) {
        for (Region* region : {&gpu.persistent, &gpu.temporary}) {
            const auto block = region->block_at(address);
            if (!block || block->first != address) continue;
            const CurrentContext context(gpu.context);
            if (!is_idle) synchronize(gpu);
            (void)region->release(address);
            owners_.erase(address);
            std::erase(survivors_, address);
            live_bytes_ -= signed_of(block->second);
            if (const auto alive = alive_.find(address); alive != alive_.end()) {
                remember(alive->second, true);
                alive_.erase(alive);
            }
            return true;
        }
    }
    return false;
}

std::optional<std::pair<cuda::Address, std::size_t>> Share::block_at(cuda::Address address)
{
    if (socket_path_.empty()) return std::nullopt;
    const Lock lock(mutex_);
    return find_block(address);
}

std::optional<std::pair<cuda::Address, std::size_t>> Share::find_block(cuda::Address address) const
{
    for (const auto& [device, gpu] : gpus_) {
        if (const auto block = gpu.persistent.block_at(address)) return block;
        if (const auto block = gpu.temporary.block_at(address)) return block;
    }
    return std::nullopt;
}

} // namespace fathom::gpu
