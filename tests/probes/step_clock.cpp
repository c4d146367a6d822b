#include <ctime>
#include <dlfcn.h>

// Preloaded into a program: half a second after it first asks for the time, the wall clock is set back by an hour.

namespace {

using GetTime = int (*)(clockid_t, timespec*);

GetTime real_clock_gettime()
{
    static const auto real = reinterpret_cast<GetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
    return real;
}

double seconds(clockid_t clock)
{
    timespec time{};
    real_clock_gettime()(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time)
{
    static const double first_s = seconds(CLOCK_MONOTONIC);
    const int answer = real_clock_gettime()(clock, time);
    if (clock == CLOCK_REALTIME && seconds(CLOCK_MONOTONIC) > first_s + 0.5) time->tv_sec -= 3600;
    return answer;
}
