#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/entry_points.hpp"
#include "agent/gpu/interposer/share.hpp"

#include <boost/preprocessor/repetition/enum_params.hpp>

#include <cstdint>

/// The driver's functions that run work. What they do is the driver's affair; here each waits for the turn. All
/// arguments are integers, pointers or structures of one register, so that each is passed on as a whole register.
namespace fathom::gpu {
namespace {

using Word = std::uintptr_t;

/// The same number when the program does the same again. Addresses of arguments on the stack are no part of it.
std::uint64_t event_of(WorkEntry entry)
{
    return (static_cast<std::uint64_t>(entry) + 1) * 0x9e3779b97f4a7c15ULL;
}

std::uint64_t event_of_launch(WorkEntry entry, Word function, Word x, Word y, Word z)
{
    std::uint64_t event = event_of(entry);
    for (const Word word : {function, x & 0xffffffffU, y & 0xffffffffU, z & 0xffffffffU})
        event = (event ^ word) * 0xff51afd7ed558ccdULL + (event >> 29U);
    return event;
}

template <class... Words>
std::uint64_t event_of_call(WorkEntry entry, Words... words)
{
    if constexpr (sizeof...(Words) >= 10) { // a kernel with its grid
        const Word all[] = {words...};
        return event_of_launch(entry, all[0], all[1], all[2], all[3]);
    } else {
        return event_of(entry);
    }
}

/// A kernel, and not a graph of them or kernels on several GPUs.
constexpr bool is_kernel(WorkEntry entry)
{
    return entry == WorkEntry::cuLaunchKernel || entry == WorkEntry::cuLaunchKernel_ptsz ||
           entry == WorkEntry::cuLaunchKernelEx || entry == WorkEntry::cuLaunchKernelEx_ptsz ||
           entry == WorkEntry::cuLaunchCooperativeKernel || entry == WorkEntry::cuLaunchCooperativeKernel_ptsz;
}

/// Of functions whose default stream is their thread's, that has another name elsewhere.
template <WorkEntry entry>
cuda::Stream stream_of(cuda::Stream stream)
{
    constexpr bool is_of_thread = entry == WorkEntry::cuLaunchKernel_ptsz ||
                                  entry == WorkEntry::cuLaunchKernelEx_ptsz ||
                                  entry == WorkEntry::cuLaunchCooperativeKernel_ptsz;
    return is_of_thread && stream == nullptr ? reinterpret_cast<cuda::Stream>(cuda::kStreamPerThread) : stream;
}

/// With everything in its arguments.
template <WorkEntry entry, class... Words>
    requires(sizeof...(Words) >= 10)
KernelLaunch launch_of(Words... words)
{
    const Word all[] = {words...};
    const auto number = [&all](std::size_t i) { return static_cast<std::uint32_t>(all[i] & 0xffffffffU); };
    return {.function = reinterpret_cast<void*>(all[0]),
            .shape = {.grid = {number(1), number(2), number(3)},
                      .block = {number(4), number(5), number(6)},
                      .shared_bytes = number(7)},
            .stream = stream_of<entry>(reinterpret_cast<cuda::Stream>(all[8]))};
}

/// With a CUlaunchConfig. Attributes may be about what comes before and behind it in its stream: nothing is put there.
template <WorkEntry entry>
KernelLaunch launch_of(Word configuration, Word function, Word /*parameters*/, Word /*extra*/)
{
    if (configuration == 0) return {}; // the driver refuses it
    const auto& how = *reinterpret_cast<const cuda::LaunchConfiguration*>(configuration);
    return {.function = reinterpret_cast<void*>(function),
            .shape = {.grid = {how.grid_x, how.grid_y, how.grid_z},
                      .block = {how.block_x, how.block_y, how.block_z},
                      .shared_bytes = how.shared_bytes},
            .stream = stream_of<entry>(how.stream),
            .may_be_timed = how.attribute_count == 0};
}

/// @param is_timed  set where the kernel's time will be known
template <WorkEntry entry, class Function, class... Words>
cuda::Status run_kernel(Share& share, Function& function, bool& is_timed, Words... words)
{
    const KernelLaunch launch = launch_of<entry>(words...);
    const KernelLaunches::Ticket ticket = share.begin_launch(launch);
    const cuda::Status status = function(words...);
    share.end_launch(ticket, launch, status == cuda::kSuccess);
    is_timed = ticket.number != 0;
    return status;
}

template <WorkEntry entry, class... Words>
cuda::Status run(const char* name, Words... words)
{
    static DriverFunction<cuda::Status(Words...)> function{name};
    Share& share = Share::instance();
    cuda::Status status{};
    bool is_timed = false;
    {
        const Work work(share);
        if constexpr (is_kernel(entry)) {
            status = share.is_counting() ? run_kernel<entry>(share, function, is_timed, words...) : function(words...);
        } else {
            status = function(words...);
        }
    }
    if (is_timed) share.tell_kernels();
    if (share.is_counting() && !share.is_capturing()) share.note(event_of_call(entry, words...));
    return status;
}

} // namespace
} // namespace fathom::gpu

#define FATHOM_WORK(name, words)                                                                                       \
    extern "C"                                                                                                         \
        [[gnu::visibility("default")]] fathom::gpu::cuda::Status name(BOOST_PP_ENUM_PARAMS(words, std::uintptr_t a));  \
    extern "C" fathom::gpu::cuda::Status name(BOOST_PP_ENUM_PARAMS(words, std::uintptr_t a))                           \
    {                                                                                                                  \
        return fathom::gpu::run<fathom::gpu::WorkEntry::name>(#name, BOOST_PP_ENUM_PARAMS(words, a));                  \
    }
#define FATHOM_OWN(name)
#define FATHOM_PASSED(name, reason)
#include "agent/gpu/interposer/entry_points.def"
