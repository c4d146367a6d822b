#pragma once

// Internal to the files of Share.

#include "agent/gpu/interposer/share.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace fathom::gpu {

/// Memory that was promised may be another process's for a moment still: it is asked for again and again.
inline constexpr std::chrono::milliseconds kTryAgain{20};
inline constexpr int kMaxTries = 250;

/// Rooms grow by at least as much, so that the manager is asked rarely.
inline std::int64_t growth_bytes(const OwnGpu& gpu)
{
    return std::min<std::int64_t>(64LL << 20U, static_cast<std::int64_t>(gpu.capacity_bytes) / 32);
}

/// For who reads the job's output: the program itself only sees that memory is short.
inline void tell(const std::string& text)
{
    std::fprintf(stderr, "fathom-gpu: %s\n", text.c_str());
}

/// A thread of this library's. The program's signals are for the program's own threads.
/// @return false if the system has no room for one
template <class Work>
bool start_thread(Work work)
{
    bool has_started = true;
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
        std::thread(std::move(work)).detach();
    } catch (const std::system_error&) {
        has_started = false; // an exception must not pass through the driver's functions
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return has_started;
}

/// A number above 0 that a variable says, in whatever language the program runs; 0: it says none.
inline double size_from(const char* variable)
{
    const char* const said = std::getenv(variable);
    const std::string_view text = said == nullptr ? "" : said;
    double size = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), size);
    return fault == std::errc() && end == text.data() + text.size() && size > 0 ? size : 0;
}

inline std::int64_t signed_of(std::size_t bytes)
{
    return static_cast<std::int64_t>(bytes);
}

} // namespace fathom::gpu
