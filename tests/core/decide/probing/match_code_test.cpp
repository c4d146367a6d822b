#include "core/decide/probing/match_code.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace fathom {
namespace {

constexpr CodeInstruction kLoad{.loaded_bytes = 8};
constexpr CodeInstruction kAdd{.kind = CodeKind::kFloating, .flops = 1};
constexpr CodeInstruction kCount{.kind = CodeKind::kInteger};
constexpr CodeInstruction kBack{.kind = CodeKind::kBranch};

double sum_of(const CodeMix& mix)
{
    return mix.floating + mix.slow_floating + mix.integer + mix.load + mix.indirect_load + mix.store + mix.branch +
           mix.jump + mix.string + mix.atomic + mix.crypto;
}

std::string nearest(const CodeMix& loop)
{
    return std::string(nearest_operator(loop, operator_code()).operator_id);
}

TEST(MixOf, CountsWhatAnInstructionComputesAndWhatItReads)
{
    // x86 adds from memory in one instruction, Arm in two: both count alike.
    constexpr CodeInstruction kAddFromMemory{.kind = CodeKind::kFloating, .flops = 1, .loaded_bytes = 8};
    const CodeInstruction one[] = {kAddFromMemory, kCount, kBack};
    const CodeInstruction two[] = {kLoad, kAdd, kCount, kBack};

    const CodeMix mix = mix_of(one);

    EXPECT_DOUBLE_EQ(mix.floating, 0.25);
    EXPECT_DOUBLE_EQ(mix.load, 0.25);
    EXPECT_DOUBLE_EQ(mix.flops_per_byte, 0.125);
    EXPECT_DOUBLE_EQ(code_similarity(mix, mix_of(two)), 1);
}

TEST(MixOf, TellsReadingAtLoadedAddressesApart)
{
    const CodeInstruction loop[] = {{.is_indirect = true, .loaded_bytes = 8}, kCount, kBack};

    EXPECT_DOUBLE_EQ(mix_of(loop).indirect_load, 1.0 / 3);
    EXPECT_DOUBLE_EQ(mix_of(loop).load, 0);
}

TEST(MixOf, ShowsNothingOfNoInstructionsAndOfMovesAlone)
{
    EXPECT_EQ(sum_of(mix_of({})), 0);
    const CodeInstruction moves[] = {{}, {}};
    EXPECT_EQ(sum_of(mix_of(moves)), 0);
    EXPECT_EQ(code_similarity(mix_of(moves), mix_of(moves)), 0);
}

TEST(MixOf, SeesThatALoopWaits)
{
    const CodeInstruction loop[] = {{.kind = CodeKind::kWait}, kBack};

    EXPECT_DOUBLE_EQ(mix_of(loop).waits, 0.5);
}

TEST(CodeSimilarity, FallsWhereIntensitiesAreFarApart)
{
    const CodeMix a{.floating = 0.5, .load = 0.5, .flops_per_byte = 0.1};
    CodeMix b = a;
    b.flops_per_byte = 10;

    EXPECT_DOUBLE_EQ(code_similarity(a, a), 1);
    EXPECT_DOUBLE_EQ(code_similarity(a, b), 0.5);
}

RC_GTEST_PROP(CodeSimilarity, IsSymmetricAndWithinBounds, ())
{
    const auto mix = [] {
        std::vector<CodeInstruction> loop;
        for (const int kind : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10)))
            loop.push_back(
                {.kind = static_cast<CodeKind>(kind), .flops = kind == 1 ? 2 : 0, .loaded_bytes = 8 * (kind % 2)});
        return mix_of(loop);
    };
    const CodeMix a = mix();
    const CodeMix b = mix();
    const double similarity = code_similarity(a, b);
    RC_ASSERT(std::abs(similarity - code_similarity(b, a)) < 1e-12);
    RC_ASSERT(similarity >= 0 && similarity <= 1);
    RC_ASSERT(sum_of(a) == 0 || code_similarity(a, a) > 1 - 1e-9);
}

TEST(OperatorCode, IsOfWholeLoopsEachNearestToItsOwnOperator)
{
    std::set<std::string> ids;
    for (const OperatorCode& one : operator_code()) {
        EXPECT_NEAR(sum_of(one.mix), 1, 0.002) << one.operator_id;
        EXPECT_EQ(nearest(one.mix), one.operator_id);
        ids.insert(std::string(one.operator_id));
    }
    EXPECT_EQ(ids, (std::set<std::string>{"compression", "decompression", "random_access", "sort", "spmv",
                                          "stream_triad", "trigonometric"}));
}

TEST(NearestOperator, KnowsLoopsOfPrograms)
{
    // A dot product, a stencil of three points, a list that is followed, an FNV hash, an interpreter: gcc 12 -O1 or
    // -O2.
    const CodeMix dot{.floating = 0.286, .integer = 0.286, .load = 0.286, .branch = 0.142, .flops_per_byte = 0.125};
    const CodeMix stencil{
        .floating = 0.385, .integer = 0.231, .load = 0.231, .store = 0.076, .branch = 0.077, .flops_per_byte = 0.156};
    const CodeMix chase{.integer = 0.333, .indirect_load = 0.333, .branch = 0.334};
    const CodeMix hash{.integer = 0.667, .load = 0.167, .branch = 0.166};
    const CodeMix interpreter{.integer = 0.562, .indirect_load = 0.188, .store = 0.062, .branch = 0.125, .jump = 0.063};

    EXPECT_EQ(nearest(dot), "stream_triad");
    EXPECT_EQ(nearest(stencil), "stream_triad");
    EXPECT_EQ(nearest(chase), "random_access");
    EXPECT_EQ(nearest(hash), "sort");
    EXPECT_EQ(nearest(interpreter), "decompression");
}

TEST(NearestOperator, DoubtsWhatIsLikeNothing)
{
    const CodeMix locks{.integer = 0.2, .branch = 0.2, .atomic = 0.6};

    EXPECT_LT(nearest_operator(locks, operator_code()).similarity, kMinCodeSimilarity);
    EXPECT_TRUE(nearest_operator(locks, {}).operator_id.empty());
}

} // namespace
} // namespace fathom
