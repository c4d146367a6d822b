#include <charconv>
#include <cstdlib>
#include <cstring>

/// OpenBLAS asks this function, which is its own, for how long an idle thread goes on asking for work: 2^n ticks. The
/// program's definition goes before the library's. Its own choice is n = 28, a tenth of a second after each call, in
/// which such threads take processor time from the operators that are measured next. With 22, which is 1 to 2 ms, calls
/// in a row still find them awake. A variable of the environment cannot do it: the library reads them before main.
extern "C" [[gnu::visibility("default"), gnu::used]] int openblas_thread_timeout()
{
    constexpr int kTicksExponent = 22;
    const char* const set = std::getenv("OPENBLAS_THREAD_TIMEOUT"); // whoever set it meant it
    int asked = 0;
    if (set != nullptr) std::from_chars(set, set + std::strlen(set), asked);
    return asked > 0 ? asked : kTicksExponent;
}
