#include "probes/operators/own_loops.hpp"

#include <array>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

// Functions are compiled for an instruction set by an attribute, not files by an option: what a header defines in such
// a file could be the copy that the linker takes for the whole program, which then ends on older processors.
namespace fathom::probes {
namespace {

bool is_always_usable()
{
    return true;
}

namespace baseline {
#define FATHOM_LOOP
#include "probes/operators/own_loops.inc"
#undef FATHOM_LOOP
} // namespace baseline

#if defined(__x86_64__)

namespace v2 {
#define FATHOM_LOOP __attribute__((target("arch=x86-64-v2")))
#include "probes/operators/own_loops.inc"
#undef FATHOM_LOOP
} // namespace v2

namespace v3 {
#define FATHOM_LOOP __attribute__((target("arch=x86-64-v3")))
#include "probes/operators/own_loops.inc"
#undef FATHOM_LOOP
} // namespace v3

namespace v4 {
#define FATHOM_LOOP __attribute__((target("arch=x86-64-v4")))
#include "probes/operators/own_loops.inc"
#undef FATHOM_LOOP
} // namespace v4

std::array<OwnLoops, 4> make_all()
{
    return {baseline::loops_for("x86-64", is_always_usable),
            v2::loops_for("x86-64-v2", [] { return __builtin_cpu_supports("x86-64-v2") != 0; }),
            v3::loops_for("x86-64-v3", [] { return __builtin_cpu_supports("x86-64-v3") != 0; }),
            v4::loops_for("x86-64-v4", [] { return __builtin_cpu_supports("x86-64-v4") != 0; })};
}

#elif defined(__aarch64__) && defined(__linux__)

namespace sve {
#define FATHOM_LOOP __attribute__((target("+sve")))
#include "probes/operators/own_loops.inc"
#undef FATHOM_LOOP
} // namespace sve

std::array<OwnLoops, 2> make_all()
{
    return {baseline::loops_for("armv8-a", is_always_usable),
            sve::loops_for("armv8-a with SVE", [] { return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0; })};
}

#else

std::array<OwnLoops, 1> make_all()
{
    return {baseline::loops_for("the compiler's least processor", is_always_usable)};
}

#endif

} // namespace

std::span<const OwnLoops> all_own_loops()
{
    static const auto all = make_all();
    return all;
}

const OwnLoops& own_loops()
{
    static const OwnLoops& widest = []() -> const OwnLoops& {
        const std::span<const OwnLoops> all = all_own_loops();
        std::size_t i = all.size() - 1;
        while (!all[i].is_usable())
            --i;
        return all[i];
    }();
    return widest;
}

std::string compiler_name()
{
#if defined(__clang__)
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
           std::to_string(__clang_patchlevel__);
#else
    return "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
           std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

std::string own_loops_name()
{
    return compiler_name() + " for " + own_loops().instruction_set;
}

} // namespace fathom::probes
