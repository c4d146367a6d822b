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

template <WorkEntry entry, class... Words>
cuda::Status run(const char* name, Words... words)
{
    static DriverFunction<cuda::Status(Words...)> function{name};
    Share& share = Share::instance();
    cuda::Status status{};
    {
        const Work work(share);
        status = function(words...);
    }
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
