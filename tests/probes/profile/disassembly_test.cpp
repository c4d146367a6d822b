#include "core/decide/probing/match_code.hpp"
#include "probes/profile/disassembly.hpp"
#include "probes/profile/hot_loops.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom::profile {
namespace {

std::string bytes_of(std::string_view hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

/// Loops as clang 19 -O2 writes them, from their first instruction to the branch back.
struct Recorded {
    const char* name;
    Processor processor;
    const char* code;
    const char* nearest;
    double flops_per_byte;
    double indirect_load;
};

constexpr Recorded kLoops[] = {
    {"dot x86", Processor::kX86_64, "f20f100cc7f20f590cc6f20f58c148ffc04839c275ea", "stream_triad", 0.125, 0},
    {"chase x86", Processor::kX86_64, "488b0048ffce75f8", "random_access", 0, 1.0 / 3},
    {"triad x86", Processor::kX86_64, "f20f100cc2f20f59c8f20f580cc6f20f110cc748ffc04839c175e5", "stream_triad",
     2.0 / 24, 0},
    {"spmv x86", Processor::kX86_64, "f20f100cc74c630486f2420f590cc2f20f58c148ffc04839c175e9", "spmv", 0.1, 0.125},
    {"triad AVX2", Processor::kX86_64, "c4a17d100cc2c4a2fda80cc6c4a17d110cc74983c0044c39c075e5", "stream_triad",
     2.0 / 24, 0},
    {"dot Arm", Processor::kAarch64, "018440fc420400f1228440fc2000421f81ffff54", "stream_triad", 0.125, 0},
    {"chase Arm", Processor::kAarch64, "000040f9210400f1c1ffff54", "random_access", 0, 1.0 / 3},
    {"triad Arm", Processor::kAarch64, "218440fc630400f1428440fc4104401f018400fc61ffff54", "stream_triad", 2.0 / 24, 0},
    {"spmv Arm", Processor::kAarch64, "284480b8630400f1018440fc427868fc2000421f61ffff54", "spmv", 0.1, 1.0 / 6},
    {"triad Neon", Processor::kAarch64, "8105c13c290900f16205c13c01cc624e4105813c61ffff54", "stream_triad", 2.0 / 24,
     0},
};

TEST(Disassembler, SeesWhatRecordedLoopsAreMadeOf)
{
    for (const Recorded& loop : kLoops) {
        const std::string code = bytes_of(loop.code);
        const Disassembler disassembler(loop.processor);
        const auto read = [&](std::uint64_t offset, std::size_t bytes) {
            return offset < code.size() ? code.substr(offset, bytes) : std::string();
        };

        const std::vector<HotLoop> found = find_loops({{0, 3}}, read, disassembler, 8);

        ASSERT_EQ(found.size(), 1U) << loop.name;
        EXPECT_EQ(found[0].begin, 0U) << loop.name;
        EXPECT_EQ(found[0].end, code.size()) << loop.name;
        EXPECT_EQ(found[0].samples, 3U) << loop.name;
        EXPECT_NEAR(found[0].mix.flops_per_byte, loop.flops_per_byte, 1e-9) << loop.name;
        EXPECT_NEAR(found[0].mix.indirect_load, loop.indirect_load, 1e-9) << loop.name;
        const CodeMatch nearest = nearest_operator(found[0].mix, operator_code());
        EXPECT_EQ(nearest.operator_id, loop.nearest) << loop.name;
        EXPECT_GE(nearest.similarity, kMinCodeSimilarity) << loop.name;
    }
}

TEST(Disassembler, SeesPackedNumbers)
{
    const Disassembler x86(Processor::kX86_64);
    const Disassembler arm(Processor::kAarch64);

    const auto fused = x86.decode(bytes_of("c4a2fda80cc6"), 0, 1); // vfmadd213pd ymm1, ymm0, [rsi + 8*r8]
    ASSERT_EQ(fused.size(), 1U);
    EXPECT_EQ(fused[0].code.kind, CodeKind::kFloating);
    EXPECT_TRUE(fused[0].code.is_packed);
    EXPECT_EQ(fused[0].code.flops, 8);
    EXPECT_EQ(fused[0].code.loaded_bytes, 32);
    const auto neon = arm.decode(bytes_of("01cc624e"), 0, 1); // fmla v1.2d, v0.2d, v2.2d
    ASSERT_EQ(neon.size(), 1U);
    EXPECT_EQ(neon[0].code.flops, 4);
    EXPECT_TRUE(neon[0].code.is_packed);
}

TEST(Disassembler, TellsBranchesFromJumps)
{
    const Disassembler x86(Processor::kX86_64);

    const auto code = x86.decode(bytes_of("75f8ffe0e800000000c33effe0"), 16, 8); // jne, jmp rax, call, ret, jmp rax
    ASSERT_EQ(code.size(), 5U);
    EXPECT_EQ(code[0].code.kind, CodeKind::kBranch);
    EXPECT_EQ(code[0].target, 10U);
    EXPECT_FALSE(code[0].ends);
    EXPECT_EQ(code[1].code.kind, CodeKind::kJump);
    EXPECT_TRUE(code[1].ends);
    EXPECT_TRUE(code[2].is_call);
    EXPECT_FALSE(code[2].ends);
    EXPECT_TRUE(code[3].ends);
    EXPECT_TRUE(code[4].ends); // with a prefix, as compilers write a switch
}

TEST(Disassembler, StopsAtWhatIsNoCode)
{
    const Disassembler x86(Processor::kX86_64);

    EXPECT_EQ(x86.decode(bytes_of("9006"), 0, 8).size(), 1U); // nop, then a byte that 64-bit mode has not
    EXPECT_TRUE(x86.decode("", 0, 8).empty());
}

TEST(FindLoops, TakesTheSmallestLoopAroundASample)
{
    // An outer loop with an inner one: nop; inner: dec eax; jne inner; dec ecx; jne outer
    const std::string code = bytes_of("90ffc875fcffc975f7");
    const Disassembler x86(Processor::kX86_64);
    const auto read = [&](std::uint64_t offset, std::size_t bytes) {
        return offset < code.size() ? code.substr(offset, bytes) : std::string();
    };

    const std::vector<HotLoop> loops = find_loops({{1, 10}, {3, 5}, {5, 2}}, read, x86, 8);

    ASSERT_EQ(loops.size(), 2U);
    EXPECT_EQ(loops[0].begin, 1U);
    EXPECT_EQ(loops[0].end, 5U);
    EXPECT_EQ(loops[0].samples, 15U);
    EXPECT_EQ(loops[1].begin, 0U);
    EXPECT_EQ(loops[1].samples, 2U);
}

TEST(FindLoops, JoinsLoopsThatGoBackFromSeveralPlaces)
{
    // nop; dec eax; jne to the nop; dec ecx; jne to the nop
    const std::string code = bytes_of("90ffc875fbffc975f7");
    const Disassembler x86(Processor::kX86_64);
    const auto read = [&](std::uint64_t offset, std::size_t bytes) {
        return offset < code.size() ? code.substr(offset, bytes) : std::string();
    };

    const std::vector<HotLoop> loops = find_loops({{1, 3}, {5, 9}}, read, x86, 8);

    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(loops[0].begin, 0U);
    EXPECT_EQ(loops[0].end, code.size());
    EXPECT_EQ(loops[0].samples, 12U);
}

TEST(FindLoops, SeesTheEndOfALongLoop)
{
    const std::string code = std::string(120, '\x90') + bytes_of("7586"); // nop…; jne to the start
    const Disassembler x86(Processor::kX86_64);
    const auto read = [&](std::uint64_t offset, std::size_t bytes) {
        return offset < code.size() ? code.substr(offset, bytes) : std::string();
    };

    const std::vector<HotLoop> loops = find_loops({{3, 10}}, read, x86, 8);

    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(loops[0].begin, 0U);
    EXPECT_EQ(loops[0].end, code.size());
}

TEST(FindLoops, HasNoneWhereTheFileCannotBeRead)
{
    const Disassembler x86(Processor::kX86_64);
    const auto read = [](std::uint64_t, std::size_t) { return std::string(); };

    EXPECT_TRUE(find_loops({{100, 10}}, read, x86, 8).empty());
}

} // namespace
} // namespace fathom::profile
