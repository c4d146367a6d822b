#pragma once

#include "agent/gpu/cuda_abi.hpp"
#include "agent/gpu/interposer/captures.hpp"
#include "agent/gpu/kernel_message.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::gpu {

/// A launch as the program asks the driver for it.
struct KernelLaunch {
    void* function{}; ///< CUfunction or CUkernel
    KernelShape shape;
    cuda::Stream stream{};
    bool may_be_timed{true};
};

/// The kernels that this process launches, by name and launch shape: how often, and of a few launches how long the
/// kernel took, by events before and behind it (C1). Nothing of it waits for the GPU, and no launch waits for another
/// thread: where it would have to, it is not timed. While a stream is captured nothing is recorded. Thread-safe.
class KernelLaunches {
  public:
    /// A launch that is being timed.
    struct Ticket {
        std::size_t timing{};
        std::uint64_t number{}; ///< 0: it is not timed
    };

    /// What a program gets from the driver: CUfunction, or CUkernel, which belongs to a library and to no context.
    enum class Handle { kFunction, kKernel };
    /// The program has got a kernel by its name. @param owner  the module or library that it is gone with
    void note_name(void* function, Handle handle, void* owner, std::string_view name);
    /// The function of a kernel whose name is known.
    void note_function(void* function, void* kernel);
    /// A module or library is unloaded: other kernels may get the addresses of its.
    void forget_names(void* owner);

    /// Counts a launch, before it. @return for end(), behind it
    Ticket begin(const KernelLaunch& launch, Captures& captures);
    void end(const Ticket& ticket, const KernelLaunch& launch, bool is_launched, Captures& captures);
    /// Before a context ends, with which its events would be gone.
    void drop_events(cuda::Context context);

    /// Of the kernels that have taken longest those of which there is news since the last call.
    std::vector<KernelFigures> take_news(Captures& captures);
    /// To a manager that knows nothing yet all is news. Waits for nobody.
    void forget_told() { is_all_news_.store(true); }

  private:
    struct Entry {
        std::atomic<std::int64_t> launches{0};
        // With mutex_, and once the entry is known to all:
        std::string name;
        KernelShape shape;
        KernelNeed need;
        std::int64_t timed{};
        std::int64_t least_ns{};
        std::int64_t all_ns{};
        std::int64_t told_launches{};
        std::int64_t told_timed{};
    };
    enum class State { kFree, kLaunching, kRunning };
    /// Two events of a context.
    struct Timing {
        cuda::Context context{}; ///< null: there are none
        cuda::Event before{};
        cuda::Event behind{};
        State state{State::kFree};
        std::uint64_t number{}; ///< of the launch
        Entry* entry{};
        std::atomic<std::uint64_t> given_up{0}; ///< number of a launch whose end could not be recorded
    };
    struct Name {
        std::string text;
        void* owner{};
        Handle handle{Handle::kFunction};
    };

    static constexpr std::size_t kSlots = 1024;
    static constexpr std::size_t kTimings = 32;

    Entry* find(const KernelLaunch& launch);
    Entry* make_known(std::atomic<std::uint64_t>& slot, std::uint64_t key, const KernelLaunch& launch);
    std::uint64_t number_of(const std::string& name, const KernelShape& shape);
    Ticket begin_timing(Entry& entry, const KernelLaunch& launch, Captures& captures);
    KernelNeed need_of(void* function);
    Timing* free_timing(cuda::Context context);
    bool make_events(Timing& timing, cuda::Context context);
    void collect();
    void clear_slots();

    std::mutex names_mutex_;
    std::unordered_map<void*, Name> names_;

    /// Of a launch's function and shape: a part of their hash, and the number of the entry. 0: nothing yet.
    std::array<std::atomic<std::uint64_t>, kSlots> slots_{};
    std::array<Entry, kMaxKernelNumbers> entries_;

    std::mutex mutex_;
    std::size_t entry_count_{};
    std::array<Timing, kTimings> timings_;
    std::uint64_t last_number_{};
    bool is_off_{}; ///< the driver refuses events of this process
    std::atomic<bool> is_all_news_{false};
};

} // namespace fathom::gpu
