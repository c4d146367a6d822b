#include "probes/profile/defined_symbols.hpp"
#include "probes/profile/hot_loops.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever bytes a program's file has where its code should be, they make loops of valid figures, or none; and
/// whatever tables of symbols it has can be searched.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fathom; // NOLINT(google-build-using-namespace): outside any namespace
    static const profile::Disassembler x86(profile::Processor::kX86_64);
    static const profile::Disassembler arm(profile::Processor::kAarch64);
    const std::string text(fuzz::text_of(data, size));
    const profile::ReadCode read = [&](std::uint64_t offset, std::size_t bytes) {
        return offset < text.size() ? text.substr(static_cast<std::size_t>(offset), bytes) : std::string();
    };
    const profile::CodeSamples samples{{0, 5}, {size / 3 / 4 * 4, 7}, {size / 2, 1}, {size + 9, 2}};
    for (const profile::Disassembler* disassembler : {&x86, &arm}) {
        const std::vector<profile::HotLoop> loops = profile::find_loops(samples, read, *disassembler, 3);
        FATHOM_ASSERT(loops.size() <= 3);
        for (const profile::HotLoop& loop : loops) {
            FATHOM_ASSERT(loop.begin < loop.end && loop.samples > 0 && loop.samples <= 15);
            FATHOM_ASSERT(loop.mix.flops_per_byte >= 0 && loop.mix.packed <= 1 && loop.mix.floating <= 1);
        }
    }
    profile::defines_any(read, {"dgemm_", ""});
    return 0;
}
