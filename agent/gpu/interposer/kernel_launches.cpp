#include "agent/gpu/interposer/kernel_launches.hpp"

#include "agent/gpu/interposer/driver.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::gpu {
namespace {

/// A program has some thousand kernels; frameworks that compile new ones all the time must not fill the memory.
constexpr std::size_t kMaxNames = 16'384;
/// Of the entry in a slot; the rest is of the hash.
constexpr std::uint64_t kNumberMask = 0xffff;
constexpr std::uint64_t kNotKept = kNumberMask;
constexpr std::uint64_t kIsUsed = 1ULL << 63U;
constexpr std::size_t kProbes = 8;
constexpr std::size_t kTimingsOfContext = 8;
/// Besides the launches 2, 4, 8 …: the first may load the kernel's code.
constexpr std::int64_t kTimedEvery = 4096;
/// The manager keeps no more of a program.
constexpr std::size_t kMaxNews = 8;

std::uint64_t key_of(const KernelLaunch& launch)
{
    auto key = reinterpret_cast<std::uintptr_t>(launch.function) * 0x9e3779b97f4a7c15ULL;
    const auto add = [&key](std::uint32_t word) { key = (key ^ word) * 0xff51afd7ed558ccdULL + (key >> 29U); };
    for (const std::uint32_t word : launch.shape.grid)
        add(word);
    for (const std::uint32_t word : launch.shape.block)
        add(word);
    add(launch.shape.shared_bytes);
    return ((key ^ key >> 32U) << 16U) | kIsUsed;
}

bool is_to_be_timed(std::int64_t launches)
{
    return launches > 1 && ((launches & (launches - 1)) == 0 || launches % kTimedEvery == 0);
}

/// That is current on this thread; null: none is.
cuda::Context context_of_thread()
{
    cuda::Context context = nullptr;
    return driver().ctx_get_current(&context) == cuda::kSuccess ? context : nullptr;
}

} // namespace

void KernelLaunches::note_name(void* function, Handle handle, void* owner, std::string_view name)
{
    const std::string_view text = kernel_name_that_fits(name);
    bool is_other = false;
    {
        const std::scoped_lock lock(names_mutex_);
        const auto known = names_.find(function);
        if (known == names_.end() && names_.size() >= kMaxNames) return;
        is_other = known != names_.end() && known->second.text != text;
        names_[function] = {std::string(text), owner, handle};
    }
    // A context has taken its modules with it, and another kernel is at the address of one of theirs.
    if (is_other) clear_slots();
}

void KernelLaunches::note_function(void* function, void* kernel)
{
    const std::scoped_lock lock(names_mutex_);
    const auto found = names_.find(kernel);
    if (found == names_.end() || (names_.size() >= kMaxNames && !names_.contains(function))) return;
    Name name = found->second; // the next line may move it
    name.handle = Handle::kFunction;
    names_[function] = name;
}

void KernelLaunches::forget_names(void* owner)
{
    {
        const std::scoped_lock lock(names_mutex_);
        std::erase_if(names_, [&](const auto& entry) { return entry.second.owner == owner; });
    }
    clear_slots();
}

/// Launches of all kernels are found anew, and lead to the same entries.
void KernelLaunches::clear_slots()
{
    for (std::atomic<std::uint64_t>& slot : slots_)
        slot.store(0, std::memory_order_release);
}

/// null: this kernel is not kept, because it has no name, or there are too many.
KernelLaunches::Entry* KernelLaunches::find(const KernelLaunch& launch)
{
    const std::uint64_t key = key_of(launch);
    for (std::size_t i = 0; i < kProbes; ++i) {
        std::atomic<std::uint64_t>& slot = slots_[((key >> 16U) + i) % kSlots];
        const std::uint64_t word = slot.load(std::memory_order_acquire);
        if (word == 0) return make_known(slot, key, launch);
        if ((word & ~kNumberMask) != key) continue;
        const std::uint64_t number = word & kNumberMask;
        return number == kNotKept ? nullptr : &entries_[number];
    }
    return nullptr;
}

KernelLaunches::Entry* KernelLaunches::make_known(std::atomic<std::uint64_t>& slot, std::uint64_t key,
                                                  const KernelLaunch& launch)
{
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return nullptr; // the next launch is counted
    std::string name;
    {
        const std::scoped_lock names(names_mutex_);
        if (const auto found = names_.find(launch.function); found != names_.end()) name = found->second.text;
    }
    const std::uint64_t number = number_of(name, launch.shape);
    slot.store(key | number, std::memory_order_release);
    return number == kNotKept ? nullptr : &entries_[number];
}

/// With mutex_ held.
std::uint64_t KernelLaunches::number_of(const std::string& name, const KernelShape& shape)
{
    if (name.empty() || !has_threads(shape)) return kNotKept;
    for (std::size_t i = 0; i < entry_count_; ++i) {
        if (entries_[i].shape == shape && entries_[i].name == name) return i;
    }
    if (entry_count_ == entries_.size()) return kNotKept;
    Entry& made = entries_[entry_count_];
    made.name = name;
    made.shape = shape;
    return entry_count_++;
}

KernelLaunches::Ticket KernelLaunches::begin(const KernelLaunch& launch, Captures& captures)
{
    Entry* const entry = find(launch);
    if (entry == nullptr) return {};
    const std::int64_t launches = entry->launches.fetch_add(1, std::memory_order_relaxed) + 1;
    return launch.may_be_timed && is_to_be_timed(launches) ? begin_timing(*entry, launch, captures) : Ticket{};
}

KernelLaunches::Ticket KernelLaunches::begin_timing(Entry& entry, const KernelLaunch& launch, Captures& captures)
{
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || is_off_) return {};
    // An event that is recorded in a capture would become a part of the program's graph.
    const std::unique_lock<std::mutex> no_capture = captures.try_hold_off();
    if (!no_capture.owns_lock()) return {};
    const cuda::Context context = context_of_thread();
    if (context == nullptr) return {};
    collect();
    // The launches before this one have loaded its code, so that nothing is loaded for the question.
    if (entry.need.registers == 0) entry.need = need_of(launch.function);
    Timing* const timing = free_timing(context);
    // A stream of another context than the current one has no events of this one.
    if (timing == nullptr || driver().event_record(timing->before, launch.stream) != cuda::kSuccess) return {};
    timing->state = State::kLaunching;
    timing->number = ++last_number_;
    timing->entry = &entry;
    return {.timing = static_cast<std::size_t>(timing - timings_.data()), .number = timing->number};
}

/// Nothing where the driver does not say it.
KernelNeed KernelLaunches::need_of(void* function)
{
    Handle handle = Handle::kFunction;
    {
        const std::scoped_lock names(names_mutex_);
        const auto found = names_.find(function);
        if (found == names_.end()) return {};
        handle = found->second.handle;
    }
    cuda::Device device = 0;
    if (driver().ctx_get_device(&device) != cuda::kSuccess) return {};
    const auto attribute = [&](int which) {
        int value = 0;
        const cuda::Status status = handle == Handle::kKernel
                                        ? driver().kernel_get_attribute(&value, which, function, device)
                                        : driver().func_get_attribute(&value, which, function);
        return status == cuda::kSuccess && value > 0 ? static_cast<std::uint32_t>(value) : 0U;
    };
    return {.registers = attribute(cuda::kRegisters), .static_shared_bytes = attribute(cuda::kStaticSharedBytes)};
}

void KernelLaunches::end(const Ticket& ticket, const KernelLaunch& launch, bool is_launched, Captures& captures)
{
    if (ticket.number == 0) return;
    Timing& timing = timings_[ticket.timing];
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
        timing.given_up.store(ticket.number);
        return;
    }
    if (timing.number != ticket.number || timing.state != State::kLaunching) return; // its context has ended
    const std::unique_lock<std::mutex> no_capture = captures.try_hold_off();
    const bool is_recorded =
        is_launched && no_capture.owns_lock() && driver().event_record(timing.behind, launch.stream) == cuda::kSuccess;
    timing.state = is_recorded ? State::kRunning : State::kFree;
}

/// With mutex_ held. null: all are in use.
KernelLaunches::Timing* KernelLaunches::free_timing(cuda::Context context)
{
    std::size_t of_context = 0;
    Timing* unused = nullptr;
    for (Timing& timing : timings_) {
        if (timing.context == nullptr) unused = &timing;
        if (timing.context != context) continue;
        if (timing.state == State::kLaunching && timing.given_up.load() == timing.number) timing.state = State::kFree;
        if (timing.state == State::kFree) return &timing;
        ++of_context;
    }
    const bool may_be_made = unused != nullptr && of_context < kTimingsOfContext;
    return may_be_made && make_events(*unused, context) ? unused : nullptr;
}

bool KernelLaunches::make_events(Timing& timing, cuda::Context context)
{
    if (driver().event_create(&timing.before, 0U) != cuda::kSuccess) {
        is_off_ = true;
        return false;
    }
    if (driver().event_create(&timing.behind, 0U) != cuda::kSuccess) {
        (void)driver().event_destroy(timing.before);
        is_off_ = true;
        return false;
    }
    timing.context = context;
    return true;
}

/// Times of the launches that have ended. With mutex_ held, captures held off, and some context current.
void KernelLaunches::collect()
{
    constexpr double kNsPerMs = 1e6;
    for (Timing& timing : timings_) {
        if (timing.state != State::kRunning) continue;
        const cuda::Status status = driver().event_query(timing.behind);
        if (status == cuda::kNotReady) continue;
        timing.state = State::kFree;
        float milliseconds = 0;
        if (status != cuda::kSuccess ||
            driver().event_elapsed_time(&milliseconds, timing.before, timing.behind) != cuda::kSuccess) {
            is_off_ = true; // a kernel has failed: the program will hear of it
            return;
        }
        const std::int64_t took_ns =
            std::max<std::int64_t>(std::llround(static_cast<double>(milliseconds) * kNsPerMs), 0);
        Entry& entry = *timing.entry;
        entry.least_ns = entry.timed == 0 ? took_ns : std::min(entry.least_ns, took_ns);
        entry.all_ns += took_ns;
        ++entry.timed;
    }
}

void KernelLaunches::drop_events(cuda::Context context)
{
    if (context == nullptr) return;
    const std::scoped_lock lock(mutex_);
    for (Timing& timing : timings_) {
        if (timing.context != context) continue;
        (void)driver().event_destroy(timing.before);
        (void)driver().event_destroy(timing.behind);
        timing.context = nullptr;
        timing.state = State::kFree;
    }
}

std::vector<KernelFigures> KernelLaunches::take_news(Captures& captures)
{
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return {};
    // A thread without a context may tell of iterations; the driver would refuse its questions.
    if (const std::unique_lock<std::mutex> no_capture = captures.try_hold_off();
        no_capture.owns_lock() && context_of_thread() != nullptr)
        collect();
    if (is_all_news_.exchange(false)) {
        for (Entry& entry : entries_)
            entry.told_launches = entry.told_timed = 0;
    }
    std::vector<KernelFigures> all;
    for (std::size_t i = 0; i < entry_count_; ++i) {
        const Entry& entry = entries_[i];
        const std::int64_t launches = entry.launches.load(std::memory_order_relaxed);
        if (launches == 0) continue;
        all.push_back({.number = static_cast<std::uint32_t>(i),
                       .name = entry.name,
                       .shape = entry.shape,
                       .need = entry.need,
                       .launches = launches,
                       .timed = entry.timed,
                       .least_ns = entry.least_ns,
                       .all_ns = entry.all_ns});
    }
    std::sort(all.begin(), all.end(), takes_longer);
    if (all.size() > kMaxNews) all.resize(kMaxNews);
    std::erase_if(all, [this](const KernelFigures& one) {
        Entry& entry = entries_[one.number];
        const bool is_told = entry.told_launches == one.launches && entry.told_timed == one.timed;
        entry.told_launches = one.launches;
        entry.told_timed = one.timed;
        return is_told;
    });
    return all;
}

} // namespace fathom::gpu
