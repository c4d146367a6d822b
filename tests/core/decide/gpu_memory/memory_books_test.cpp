#include "core/decide/gpu_memory/memory_books.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <numeric>
#include <optional>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kMiB = 1LL << 20U;
constexpr std::int64_t kGiB = 1LL << 30U;

MemoryBooks books(std::int64_t capacity_bytes, std::int64_t gap_bytes = kDefaultGapBytes)
{
    return MemoryBooks::make({.capacity_bytes = capacity_bytes, .gap_bytes = gap_bytes}).value();
}

TEST(GpuMemoryBooks, ASecondJobIsPlacedBehindTheFirstAndTheGap)
{
    MemoryBooks gpu = books(16 * kGiB);

    const MemoryPlace first = gpu.admit("first", {kGiB, 2 * kGiB}).value();
    const MemoryPlace second = gpu.admit("second", {3 * kGiB, kGiB}).value();

    EXPECT_EQ(first.persistent_start, 0);
    // 100 MB are 47.68 pieces of 2 MiB, so 48.
    EXPECT_EQ(second.persistent_start, kGiB + 96 * kMiB);
    EXPECT_GE(second.persistent_start - kGiB, kDefaultGapBytes);
    EXPECT_EQ(second.persistent_room_bytes, 3 * kGiB + 96 * kMiB);
}

TEST(GpuMemoryBooks, TheGapIsWhatTheCenterSets)
{
    MemoryBooks gpu = books(16 * kGiB, kGiB);

    (void)gpu.admit("first", {kGiB, 0}).value();

    EXPECT_EQ(gpu.admit("second", {kGiB, 0}).value().persistent_start, 2 * kGiB);
}

TEST(GpuMemoryBooks, TheRegionsStartFarApart)
{
    MemoryBooks gpu = books(16 * kGiB);

    const MemoryPlace first = gpu.admit("first", {kGiB, kGiB}).value();
    const MemoryPlace second = gpu.admit("second", {kGiB, 2 * kGiB}).value();

    EXPECT_EQ(first.temporary_start, kTemporaryStart);
    EXPECT_EQ(second.temporary_start, kTemporaryStart);
    EXPECT_GT(first.temporary_start, 100 * (second.persistent_start + second.persistent_room_bytes));
}

TEST(GpuMemoryBooks, CountsUseAndPeaksByRegionAndJob)
{
    MemoryBooks gpu = books(16 * kGiB);
    (void)gpu.admit("job", {kGiB, 2 * kGiB}).value();

    ASSERT_TRUE(gpu.report("job", MemoryKind::kPersistent, 700 * kMiB));
    ASSERT_TRUE(gpu.report("job", MemoryKind::kTemporary, 2 * kGiB));
    ASSERT_TRUE(gpu.end_iteration("job"));

    const ClientMemory& job = gpu.clients().at("job");
    EXPECT_EQ(job.persistent.used_bytes, 700 * kMiB);
    EXPECT_EQ(job.temporary.used_bytes, 0);
    EXPECT_EQ(job.temporary.peak_bytes, 2 * kGiB);
    EXPECT_EQ(job.iterations, 1);
}

TEST(GpuMemoryBooks, AnIterationsEndLeavesPersistentMemoryWhereItIs)
{
    MemoryBooks gpu = books(16 * kGiB);
    const MemoryPlace before = gpu.admit("job", {kGiB, 2 * kGiB}).value();
    ASSERT_TRUE(gpu.report("job", MemoryKind::kPersistent, kGiB));

    ASSERT_TRUE(gpu.end_iteration("job"));

    const ClientMemory& job = gpu.clients().at("job");
    EXPECT_EQ(job.place.persistent_start, before.persistent_start);
    EXPECT_EQ(job.persistent.used_bytes, kGiB);
}

TEST(GpuMemoryBooks, TheEndOfAJobReleasesBothKinds)
{
    MemoryBooks gpu = books(4 * kGiB);
    (void)gpu.admit("job", {2 * kGiB, kGiB}).value();
    EXPECT_FALSE(gpu.admit("other", {2 * kGiB, kGiB}));

    gpu.remove("job");

    EXPECT_TRUE(gpu.admit("other", {2 * kGiB, kGiB}));
    EXPECT_EQ(gpu.clients().size(), 1U);
}

TEST(GpuMemoryBooks, IsSharedOnlyWithTwo)
{
    MemoryBooks gpu = books(16 * kGiB);
    EXPECT_FALSE(gpu.is_shared());
    (void)gpu.admit("first", {kGiB, 0}).value();
    EXPECT_FALSE(gpu.is_shared());
    (void)gpu.admit("second", {kGiB, 0}).value();
    EXPECT_TRUE(gpu.is_shared());
}

TEST(GpuMemoryBooks, TemporaryMemoryCountsOnceSinceTurnsAreTaken)
{
    // 1 + 1 GiB persistent with gaps, and the larger of 5 and 5 GiB: 7.2 of 8 GiB, where both would be 12.2.
    MemoryBooks gpu = books(8 * kGiB);

    ASSERT_TRUE(gpu.admit("first", {kGiB, 5 * kGiB}));
    ASSERT_TRUE(gpu.admit("second", {kGiB, 5 * kGiB}));

    EXPECT_EQ(gpu.figures().free_bytes, 8 * kGiB - 2 * (kGiB + 96 * kMiB) - 5 * kGiB);
}

TEST(GpuMemoryBooks, ARefusalHasTheFiguresAndChangesNothing)
{
    MemoryBooks gpu = books(8 * kGiB);
    (void)gpu.admit("first", {4 * kGiB, 2 * kGiB}).value();

    const Result<MemoryPlace> refused = gpu.admit("second", {2 * kGiB, 3 * kGiB});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInfeasible);
    EXPECT_EQ(refused.error().detail,
              "the GPU's memory is not enough: asked 2144.0 MiB persistent with its gap and 3072.0 MiB temporary; of "
              "8192.0 MiB are 4192.0 MiB persistent of other jobs and 2048.0 MiB the largest temporary, 1952.0 MiB are "
              "free");
    EXPECT_EQ(gpu.clients().size(), 1U);
}

TEST(GpuMemoryBooks, TheGapAbsorbsGrowthAndMoreLiesBehindAllOthers)
{
    MemoryBooks gpu = books(16 * kGiB);
    (void)gpu.admit("first", {kGiB, 0}).value();
    (void)gpu.admit("second", {kGiB, 0}).value();

    // Within its room, that is with the gap, nothing is asked.
    EXPECT_TRUE(gpu.report("first", MemoryKind::kPersistent, kGiB + kDefaultGapBytes));
    EXPECT_EQ(gpu.grow("first", MemoryKind::kPersistent, kGiB).value(), 2 * kGiB + 96 * kMiB);
    EXPECT_EQ(gpu.grow("first", MemoryKind::kPersistent, kGiB).value(), 3 * kGiB + 96 * kMiB);

    const std::map<std::int64_t, std::int64_t> ranges{{0, kGiB + 96 * kMiB}, {2 * (kGiB + 96 * kMiB), 2 * kGiB}};
    EXPECT_EQ(gpu.clients().at("first").persistent_ranges, ranges);
    EXPECT_EQ(gpu.clients().at("second").place.persistent_start, kGiB + 96 * kMiB);
}

TEST(GpuMemoryBooks, GrowthThatDoesNotFitIsRefusedAndCounted)
{
    MemoryBooks gpu = books(8 * kGiB);
    (void)gpu.admit("first", {4 * kGiB, kGiB}).value();

    EXPECT_EQ(gpu.grow("first", MemoryKind::kPersistent, 4 * kGiB).error().code, Errc::kInfeasible);
    EXPECT_EQ(gpu.grow("first", MemoryKind::kTemporary, 4 * kGiB).error().code, Errc::kInfeasible);

    EXPECT_EQ(gpu.clients().at("first").refusals, 2);
    EXPECT_EQ(gpu.clients().at("first").place.persistent_room_bytes, 4 * kGiB + 96 * kMiB);
}

TEST(GpuMemoryBooks, RoomThatIsNotNeededGoesBackButNotWhatIsUsedOrWasAdmitted)
{
    MemoryBooks gpu = books(16 * kGiB);
    (void)gpu.admit("job", {kGiB, 0}).value();
    (void)gpu.grow("job", MemoryKind::kPersistent, 4 * kGiB).value();
    ASSERT_TRUE(gpu.report("job", MemoryKind::kPersistent, 3 * kGiB));

    EXPECT_EQ(gpu.shrink("job", 2 * kGiB).value(), 3 * kGiB);
    ASSERT_TRUE(gpu.report("job", MemoryKind::kPersistent, 0));
    EXPECT_EQ(gpu.shrink("job", 0).value(), kGiB + 96 * kMiB);
    EXPECT_EQ(gpu.shrink("job", 8 * kGiB).value(), kGiB + 96 * kMiB);
    EXPECT_EQ(gpu.shrink("job", -1).error().code, Errc::kInvalid);
    EXPECT_EQ(gpu.shrink("nobody", 0).error().code, Errc::kNotFound);
    EXPECT_EQ(gpu.figures().persistent_bytes, kGiB + 96 * kMiB);
}

TEST(GpuMemoryBooks, RefusesSizesThatAreNone)
{
    MemoryBooks gpu = books(8 * kGiB);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const MemoryNeed need : {MemoryNeed{-1, 0}, {0, -1}, {9 * kGiB, 0}, {0, 9 * kGiB}, {most, most}}) {
        const Result<MemoryPlace> refused = gpu.admit("job", need);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::kInvalid);
    }
    (void)gpu.admit("job", {kGiB, 0}).value();
    EXPECT_EQ(gpu.admit("job", {kGiB, 0}).error().code, Errc::kConflict);
    for (const std::int64_t more : {std::int64_t{0}, std::int64_t{-1}, most})
        EXPECT_EQ(gpu.grow("job", MemoryKind::kTemporary, more).error().code, Errc::kInvalid);
    for (const std::int64_t used : {std::int64_t{-1}, 2 * kGiB, most})
        EXPECT_EQ(gpu.report("job", MemoryKind::kPersistent, used).error().code, Errc::kInvalid);
    EXPECT_EQ(gpu.report("nobody", MemoryKind::kPersistent, 0).error().code, Errc::kNotFound);
    EXPECT_EQ(gpu.end_iteration("nobody").error().code, Errc::kNotFound);
}

TEST(GpuMemoryBooks, RefusesSettingsThatLeaveNothing)
{
    for (const GpuMemorySettings wrong : {GpuMemorySettings{.capacity_bytes = 0},
                                          {.capacity_bytes = kGiB, .gap_bytes = -1},
                                          {.capacity_bytes = kGiB, .gap_bytes = 2 * kGiB},
                                          {.capacity_bytes = kGiB, .reserved_bytes = kGiB}})
        EXPECT_EQ(MemoryBooks::make(wrong).error().code, Errc::kInvalid);
}

TEST(GpuMemoryBooks, TenThousandJobsAndNoMore)
{
    MemoryBooks gpu = books(kMaxBytes, 0);
    for (std::size_t i = 0; i < kMaxClients; ++i)
        ASSERT_TRUE(gpu.admit("job-" + std::to_string(i), {kMiB, kMiB}));

    EXPECT_EQ(gpu.admit("one more", {kMiB, kMiB}).error().code, Errc::kTooMany);
}

/// What is really on the card: persistent memory of all, temporary memory of who has the turn.
struct Card {
    std::map<std::string, std::int64_t> persistent;
    std::int64_t temporary{};

    std::int64_t used() const
    {
        return std::accumulate(persistent.begin(), persistent.end(), temporary,
                               [](std::int64_t sum, const auto& one) { return sum + one.second; });
    }
};

void expect_apart(const MemoryBooks& gpu)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> rooms;
    for (const auto& [name, client] : gpu.clients()) {
        for (const auto& [start, bytes] : client.persistent_ranges)
            rooms.emplace_back(start, start + bytes);
    }
    std::sort(rooms.begin(), rooms.end());
    for (std::size_t i = 1; i < rooms.size(); ++i)
        RC_ASSERT(rooms[i - 1].second <= rooms[i].first);
}

RC_GTEST_PROP(GpuMemoryBooksProperty, NoScheduleOfWhatWasAdmittedEverNeedsMoreThanTheCard, ())
{
    const std::int64_t capacity = *rc::gen::inRange<std::int64_t>(64, 4096) * kMiB;
    MemoryBooks gpu = books(capacity, *rc::gen::inRange<std::int64_t>(0, 64) * kMiB);
    Card card;
    const int steps = *rc::gen::inRange(1, 80);
    for (int step = 0; step < steps; ++step) {
        const std::string name = "job-" + std::to_string(*rc::gen::inRange(0, 6));
        const std::int64_t bytes = *rc::gen::inRange<std::int64_t>(0, capacity);
        switch (*rc::gen::inRange(0, 7)) {
        case 0: {
            const std::int64_t temporary = *rc::gen::inRange<std::int64_t>(0, capacity);
            if (gpu.admit(name, {bytes, temporary})) card.persistent[name] = 0;
            break;
        }
        case 1:
            gpu.remove(name);
            card.persistent.erase(name);
            break;
        case 2:
            (void)gpu.grow(name, MemoryKind::kPersistent, bytes);
            break;
        case 3:
            (void)gpu.grow(name, MemoryKind::kTemporary, bytes);
            break;
        case 5:
            (void)gpu.shrink(name, bytes);
            break;
        case 4:
            if (gpu.report(name, MemoryKind::kPersistent, bytes)) card.persistent[name] = bytes;
            break;
        default: // the turn of this one: nobody else has temporary memory
            if (gpu.report(name, MemoryKind::kTemporary, bytes)) card.temporary = bytes;
            break;
        }
        // Who has the turn may have gone.
        if (card.persistent.empty()) card.temporary = 0;
        RC_ASSERT(card.used() <= capacity);
        RC_ASSERT(gpu.figures().fits);
        expect_apart(gpu);
    }
}

/// Rooms of each job in pieces, persistent and temporary; nothing where it has none.
using SmallState = std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>>;

SmallState state_of(const MemoryBooks& gpu, const std::vector<std::string>& names)
{
    SmallState state;
    for (const std::string& name : names) {
        const auto client = gpu.clients().find(name);
        if (client == gpu.clients().end())
            state.emplace_back();
        else
            state.emplace_back(std::pair{client->second.place.persistent_room_bytes / kMemoryPieceBytes,
                                         client->second.place.temporary_room_bytes / kMemoryPieceBytes});
    }
    return state;
}

/// At that instant, whoever has the turn, when all use all that they may.
void expect_fits(const SmallState& state, std::int64_t capacity_pieces)
{
    std::int64_t persistent = 0;
    std::int64_t temporary = 0;
    for (const auto& rooms : state) {
        if (!rooms) continue;
        persistent += rooms->first;
        temporary = std::max(temporary, rooms->second);
    }
    ASSERT_LE(persistent + temporary, capacity_pieces);
}

/// All that the books allow next: a job comes with any need, grows, gives room back or ends.
std::vector<MemoryBooks> next_books(const MemoryBooks& gpu, const std::vector<std::string>& names, std::int64_t most)
{
    std::vector<MemoryBooks> next;
    const auto add = [&](const auto& change) {
        MemoryBooks changed = gpu;
        if (change(changed)) next.push_back(std::move(changed));
    };
    for (const std::string& name : names) {
        for (std::int64_t pieces = 0; pieces <= most; ++pieces) {
            const std::int64_t bytes = pieces * kMemoryPieceBytes;
            for (std::int64_t other = 0; other <= most; ++other) {
                const MemoryNeed need{bytes, other * kMemoryPieceBytes};
                add([&](MemoryBooks& all) { return all.admit(name, need).has_value(); });
                add([&](MemoryBooks& all) { return all.admit_again(name, need).has_value(); });
            }
            add([&](MemoryBooks& all) { return all.grow(name, MemoryKind::kPersistent, bytes).has_value(); });
            add([&](MemoryBooks& all) { return all.grow(name, MemoryKind::kTemporary, bytes).has_value(); });
            add([&](MemoryBooks& all) { return all.shrink(name, bytes).has_value(); });
        }
        add([&](MemoryBooks& all) {
            all.remove(name);
            return true;
        });
    }
    return next;
}

/// Every state that three jobs on a card of five pieces can come to, by every order of what they may do.
TEST(GpuMemoryBooks, EveryScheduleOfAFewJobsFitsACardAtEveryInstant)
{
    constexpr std::int64_t kPieces = 5;
    const std::vector<std::string> names{"a", "b", "c"};
    std::map<SmallState, MemoryBooks> known;
    std::vector<SmallState> open;
    const auto visit = [&](const MemoryBooks& gpu) {
        const SmallState state = state_of(gpu, names);
        if (!known.emplace(state, gpu).second) return;
        open.push_back(state);
        expect_fits(state, kPieces);
    };
    visit(books(kPieces * kMemoryPieceBytes, kMemoryPieceBytes));
    while (!open.empty() && !HasFatalFailure()) {
        const MemoryBooks gpu = known.at(open.back());
        open.pop_back();
        for (const MemoryBooks& next : next_books(gpu, names, kPieces))
            visit(next);
    }
    // What is allowed is found, too: a job that has all of the card, and all three at once.
    EXPECT_TRUE(known.contains({std::pair<std::int64_t, std::int64_t>{1, 4}, {}, {}}));
    EXPECT_TRUE(
        known.contains({std::pair<std::int64_t, std::int64_t>{1, 2}, std::pair<std::int64_t, std::int64_t>{1, 2},
                        std::pair<std::int64_t, std::int64_t>{1, 2}}));
    EXPECT_GT(known.size(), 100U);
}

} // namespace
} // namespace fathom::gpu
