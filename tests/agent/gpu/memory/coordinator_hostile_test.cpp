// What programs that lie to the memory manager do not get.
#include "agent/gpu/memory/coordinator.hpp"
#include "tests/agent/gpu/memory/one_gpu.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace fathom::gpu {
namespace {

/// Another user's program would be shown as the job, and share what the job was promised.
TEST(GpuCoordinator, AJobsNameIsOneUsersAsLongAsAProgramOfThatUserHasIt)
{
    Coordinator all = coordinator();
    const auto connect = [&](ClientId id, uid_t user) {
        all.connect(id, 100 + static_cast<std::int64_t>(id), user);
        all.receive(id, with_text({.type = MessageType::kHello, .second = 1000}, "job-1"), 0);
        all.receive(id, use_gpu(0, 0), 0);
    };
    connect(1, 1001);
    connect(2, 1002);
    connect(3, 1001);

    const std::vector<SharedGpuJob> jobs = all.report().gpus.at(0).jobs;
    ASSERT_EQ(jobs.size(), 3U);
    EXPECT_EQ(jobs[0].job, "job-1");
    EXPECT_EQ(jobs[1].job, "");
    EXPECT_EQ(jobs[1].wrong_messages, 1);
    EXPECT_EQ(jobs[2].job, "job-1");
    EXPECT_EQ(jobs[2].wrong_messages, 0);

    all.disconnect(1, 1);
    connect(4, 1002);
    EXPECT_EQ(all.report().gpus.at(0).jobs.back().job, "") << "the third has it still";
    all.disconnect(3, 1);
    connect(5, 1002); // such as another attempt
    EXPECT_EQ(all.report().gpus.at(0).jobs.back().job, "job-1");
}

TEST(GpuCoordinator, TakesNoJobsNameThatIsNotText)
{
    Coordinator all = coordinator();
    all.connect(1, 101);
    all.receive(1, with_text({.type = MessageType::kHello, .second = 1000}, "\xff\xfe"), 0);
    all.receive(1, use_gpu(0, 0), 0);

    const SharedGpuJob job = all.report().gpus.at(0).jobs.at(0);

    EXPECT_EQ(job.job, "");
    EXPECT_EQ(job.wrong_messages, 1);
}

TEST(GpuCoordinator, ALyingProgramChangesNothing)
{
    Coordinator all = coordinator();
    join(all, 1, 8 * kMiB, 8 * kMiB);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    (void)all.take_outgoing();

    all.receive(1, with_text({.type = MessageType::kUse, .first = 0, .second = most}, kGpu), 1);
    all.receive(1, with_text({.type = MessageType::kUse, .first = 7, .second = 1}, kGpu), 1);
    all.receive(1, with_text({.type = MessageType::kGrow, .first = 0, .second = -5}, kGpu), 1);
    all.receive(1, with_text({.type = MessageType::kUse, .first = 0, .second = 1}, "GPU-of-others"), 1);
    all.receive(1, {.type = MessageType::kGiveBack, .second = most}, 1);
    all.receive(1, {.type = MessageType::kTurn}, 1);
    all.receive(1, {.type = static_cast<MessageType>(4711)}, 1);
    all.receive(1, use_gpu(most, most), 1);

    const Json job = to_json(all.report()).at("gpus").at(0).at("jobs").at(0);
    EXPECT_EQ(job.at("persistent").at("used_bytes"), 0);
    EXPECT_EQ(job.at("persistent").at("room_bytes"), 10 * kMiB);
    EXPECT_EQ(job.at("switches"), 0);
    EXPECT_GE(job.at("wrong_messages"), 6);
}

TEST(GpuCoordinator, NoProgramCountsUpToWhatTheMetaschedulerRefuses)
{
    Coordinator all = coordinator();
    join(all, 1, 0, 0);
    join(all, 2, 0, 0);
    constexpr std::int64_t kMaxNumber = 1LL << 60U; // by core/model/gpu_memory.cpp
    for (std::int64_t said = 0; said <= kMaxNumber; said += kMaxBytes) {
        all.receive(1, {.type = MessageType::kWant}, 1);
        all.receive(1, {.type = MessageType::kGiveBack, .second = kMaxBytes, .fourth = kMaxBytes}, 1);
        (void)all.take_outgoing();
    }

    const SharedGpuJob job = all.report().gpus.at(0).jobs.at(0);

    EXPECT_EQ(job.moved_bytes, kMaxNumber);
    EXPECT_EQ(job.kept_bytes, kMaxNumber);
}

TEST(GpuCoordinator, WhereTheCenterSaysByWhatTurnsAreTakenNoProgramDoes)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 64 * kMiB}};
    settings.gap_bytes = 0;
    settings.settle_s = 0;
    settings.right = TurnRight{.share = 0.5, .priority = 3};
    Coordinator all = Coordinator::make(settings, 0).value();
    all.connect(1, 101);
    all.receive(1, with_text({.type = MessageType::kHello, .second = 1'000'000, .third = 1'000'000}, "greedy"), 0);
    all.receive(1, use_gpu(0, 0), 0);

    const SharedGpuJob job = all.report().gpus.at(0).jobs.at(0);

    EXPECT_EQ(job.share, 0.5);
    EXPECT_EQ(job.priority, 3);
}

/// Whatever programs send, in any order: the rooms of all fit the card, and one at most has the turn.
RC_GTEST_PROP(GpuCoordinatorProperty, NoMessageBreaksTheBooksOrGivesTheTurnTwice, ())
{
    Coordinator all = coordinator();
    const int steps = *rc::gen::inRange(1, 300);
    double now = 0;
    for (int step = 0; step < steps; ++step) {
        const auto id = static_cast<ClientId>(*rc::gen::inRange(1, 6));
        now += *rc::gen::inRange(0, 40) / 10.0;
        switch (*rc::gen::inRange(0, 8)) {
        case 0:
            join(all, id, *rc::gen::inRange<std::int64_t>(0, 40) * kMiB, *rc::gen::inRange<std::int64_t>(0, 40) * kMiB,
                 now);
            break;
        case 1:
            all.disconnect(id, now);
            break;
        case 2:
            all.tick(now);
            break;
        default: {
            Message message;
            message.type = static_cast<MessageType>(*rc::gen::inRange(0, 11));
            message.first = *rc::gen::inRange<std::int64_t>(-1, 3);
            message.second = *rc::gen::inRange<std::int64_t>(-kMiB, 80 * kMiB);
            message.third = *rc::gen::inRange<std::int64_t>(-1, 40 * kMiB);
            message.fourth = *rc::gen::inRange<std::int64_t>(0, 4);
            all.receive(id, with_text(message, kGpu), now);
        }
        }
        const Json gpu = to_json(all.report()).at("gpus").at(0);
        RC_ASSERT(gpu.at("free_bytes").get<std::int64_t>() >= 0);
        int turns = 0;
        for (const Json& job : gpu.at("jobs"))
            turns += job.at("has_turn").get<bool>() ? 1 : 0;
        RC_ASSERT(turns <= 1);
        (void)all.take_outgoing();
    }
}

} // namespace
} // namespace fathom::gpu
