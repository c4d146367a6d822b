// The books where several have the turn at once.
#include "core/decide/gpu_memory/memory_books.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kOneMiB = 1LL << 20U;

MemoryBooks card_books(std::int64_t capacity_bytes, std::int64_t gap_bytes)
{
    return MemoryBooks::make({.capacity_bytes = capacity_bytes, .gap_bytes = gap_bytes}).value();
}

/// Of 64 MiB are 2 persistent of each; 20 and 30 of temporary memory fit beside each other, 20, 30 and 10 do not.
TEST(GpuBooksAtOnce, TemporaryMemoryOfAllThatHaveTheTurnIsThereAtOnce)
{
    MemoryBooks gpu = card_books(64 * kOneMiB, 0);
    ASSERT_TRUE(gpu.admit("a", {2 * kOneMiB, 20 * kOneMiB}));
    ASSERT_TRUE(gpu.admit("b", {2 * kOneMiB, 30 * kOneMiB}));
    ASSERT_TRUE(gpu.admit("c", {2 * kOneMiB, 10 * kOneMiB}));
    gpu.set_turn("a", true);
    gpu.set_turn("a", true);
    EXPECT_EQ(gpu.turn_count(), 1U);
    EXPECT_TRUE(gpu.can_have_turns({"a", "b"}));
    EXPECT_TRUE(gpu.can_have_turns({"nobody"}));

    gpu.set_turn("b", true);

    EXPECT_EQ(gpu.turn_count(), 2U);
    EXPECT_FALSE(gpu.can_have_turns({"a", "b", "c"}));
    EXPECT_EQ(gpu.figures().free_bytes, 28 * kOneMiB) << "what can be had once they take turns again";
    EXPECT_FALSE(gpu.grow("c", MemoryKind::kPersistent, 10 * kOneMiB));
    EXPECT_FALSE(gpu.grow("a", MemoryKind::kTemporary, 10 * kOneMiB));
    EXPECT_FALSE(gpu.admit("d", {10 * kOneMiB, 0}));
    EXPECT_TRUE(gpu.in_turns().grow("c", MemoryKind::kPersistent, 10 * kOneMiB));
    EXPECT_TRUE(gpu.in_turns().admit("d", {10 * kOneMiB, 0}));
    EXPECT_TRUE(gpu.grow("a", MemoryKind::kTemporary, 8 * kOneMiB)); // 6 + 28 + 30
    EXPECT_FALSE(gpu.grow("b", MemoryKind::kTemporary, 2 * kOneMiB));
    gpu.remove("b");
    EXPECT_EQ(gpu.turn_count(), 1U);
    EXPECT_TRUE(gpu.can_have_turns({"a", "c"}));
    gpu.set_turn("a", false);
    EXPECT_EQ(gpu.turn_count(), 0U);
}

/// Whoever has the turn at once, as long as there was memory for it when it began.
RC_GTEST_PROP(GpuBooksAtOnceProperty, ThoseThatHaveTheTurnAtOnceNeverNeedMoreThanTheCard, ())
{
    const std::int64_t capacity = *rc::gen::inRange<std::int64_t>(64, 4096) * kOneMiB;
    MemoryBooks gpu = card_books(capacity, *rc::gen::inRange<std::int64_t>(0, 64) * kOneMiB);
    const int steps = *rc::gen::inRange(1, 80);
    for (int step = 0; step < steps; ++step) {
        const std::string name = "job-" + std::to_string(*rc::gen::inRange(0, 6));
        const std::int64_t bytes = *rc::gen::inRange<std::int64_t>(0, capacity / 2);
        switch (*rc::gen::inRange(0, 7)) {
        case 0:
            (void)gpu.admit(name, {bytes, *rc::gen::inRange<std::int64_t>(0, capacity / 2)});
            break;
        case 1:
            gpu.remove(name);
            break;
        case 2:
            (void)gpu.grow(name, MemoryKind::kPersistent, bytes);
            break;
        case 3:
            (void)gpu.grow(name, MemoryKind::kTemporary, bytes);
            break;
        case 4:
            gpu.set_turn(name, false);
            break;
        default: {
            std::vector<std::string> all{name};
            for (const auto& [client, memory] : gpu.clients()) {
                if (memory.has_turn && client != name) all.push_back(client);
            }
            if (gpu.can_have_turns(all)) gpu.set_turn(name, true);
            break;
        }
        }
        std::int64_t most_bytes = 0;
        std::size_t turns = 0;
        for (const auto& [client, memory] : gpu.clients()) {
            most_bytes += memory.place.persistent_room_bytes;
            if (memory.has_turn) most_bytes += memory.place.temporary_room_bytes;
            turns += memory.has_turn ? 1 : 0;
        }
        RC_ASSERT(most_bytes <= capacity);
        RC_ASSERT(turns == gpu.turn_count());
        RC_ASSERT(gpu.figures().fits);
        RC_ASSERT(gpu.in_turns().turn_count() == 0);
    }
}

} // namespace
} // namespace fathom::gpu
