#include "agent/gpu/memory/coordinator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kMiB = 1LL << 20U;
const std::string kGpu = "GPU-1";

Coordinator coordinator(double settle_s = 0)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 64 * kMiB}};
    settings.gap_bytes = 2 * kMiB;
    settings.settle_s = settle_s;
    return Coordinator::make(settings, 0).value();
}

Message use_gpu(std::int64_t persistent, std::int64_t temporary, std::int64_t had = 0)
{
    return with_text({.type = MessageType::kUseGpu, .second = persistent, .third = temporary, .fourth = had}, kGpu);
}

/// A program that has said who it is and asked for memory.
void join(Coordinator& all, ClientId id, std::int64_t persistent, std::int64_t temporary, double now_s = 0)
{
    all.connect(id, 100 + static_cast<std::int64_t>(id));
    all.receive(id, with_text({.type = MessageType::kHello, .second = 1000}, "job-" + std::to_string(id)), now_s);
    all.receive(id, use_gpu(persistent, temporary), now_s);
}

std::vector<MessageType> types_to(ClientId id, const std::vector<Outgoing>& sent)
{
    std::vector<MessageType> types;
    for (const Outgoing& one : sent) {
        if (one.to == id) types.push_back(one.message.type);
    }
    return types;
}

TEST(GpuCoordinator, CountsWhomItDoesNotAdmitAndReportsNoMoreThanTheMetaschedulerTakes)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 1024 * kMiB}};
    settings.gap_bytes = 2 * kMiB;
    settings.settle_s = 0;
    Coordinator all = Coordinator::make(settings, 0).value();
    join(all, 1, 8 * kMiB, 2000 * kMiB); // more than the card
    for (ClientId id = 2; id < 2 + kMaxSharedGpuJobs + 6; ++id)
        join(all, id, 0, 0);

    const SharedGpu gpu = all.report().gpus.at(0);

    EXPECT_EQ(gpu.refused_count, 1);
    EXPECT_EQ(gpu.jobs.size(), kMaxSharedGpuJobs);
    EXPECT_EQ(gpu.job_count, static_cast<std::int64_t>(kMaxSharedGpuJobs) + 6);
}

/// 42 of 64 MiB with the gap, and 8 that only one uses at a time: the job has what it needs, and its next process
/// grows.
TEST(GpuCoordinator, WhatAJobNeedsIsPromisedToItOnceNotToEachOfItsProcesses)
{
    Coordinator all = coordinator();
    join(all, 1, 40 * kMiB, 8 * kMiB);
    all.connect(2, 102);
    all.receive(2, with_text({.type = MessageType::kHello, .second = 1000}, "job-1"), 1);
    (void)all.take_outgoing();

    all.receive(2, use_gpu(40 * kMiB, 8 * kMiB), 1);

    const std::vector<Outgoing> sent = all.take_outgoing();
    EXPECT_EQ(types_to(2, sent), (std::vector{MessageType::kShared, MessageType::kPlace}));
    EXPECT_EQ(all.report().gpus.at(0).jobs.at(1).persistent.room_bytes, 2 * kMiB);
    join(all, 3, 40 * kMiB, 8 * kMiB);
    EXPECT_EQ(types_to(3, all.take_outgoing()), (std::vector{MessageType::kRefused}));
}

/// A program that asked two questions must know which one is refused.
TEST(GpuCoordinator, ARefusalNamesItsQuestion)
{
    Coordinator all = coordinator();
    join(all, 1, 8 * kMiB, 0);
    (void)all.take_outgoing();
    const std::vector<Message> questions{with_text({.type = MessageType::kGrow, .first = 1, .second = 80 * kMiB}, kGpu),
                                         with_text({.type = MessageType::kGrow, .first = 7, .second = 1}, kGpu),
                                         with_text({.type = MessageType::kUseGpu}, "GPU-of-others")};
    for (const Message& question : questions) {
        all.receive(1, question, 1);

        const std::vector<Outgoing> sent = all.take_outgoing();
        ASSERT_EQ(types_to(1, sent), (std::vector{MessageType::kRefused}));
        EXPECT_EQ(sent[0].message.second, static_cast<std::int64_t>(question.type));
        EXPECT_EQ(sent[0].message.third, gpu_number(text_of(question)));
        EXPECT_TRUE(is_answer_to(question, sent[0].message));
    }
}

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

TEST(GpuCoordinator, WhoComesSecondWaitsUntilTheFirstGivesTheTurnBack)
{
    Coordinator all = coordinator();
    join(all, 1, 8 * kMiB, 40 * kMiB);
    EXPECT_EQ(types_to(1, all.take_outgoing()), (std::vector{MessageType::kPlace}));

    join(all, 2, 8 * kMiB, 40 * kMiB);
    const std::vector<Outgoing> sent = all.take_outgoing();
    EXPECT_EQ(types_to(1, sent), (std::vector{MessageType::kShared}));
    // It must know that it is not alone before it has room.
    EXPECT_EQ(types_to(2, sent), (std::vector{MessageType::kShared, MessageType::kPlace}));

    all.receive(2, {.type = MessageType::kWant}, 0.5);
    EXPECT_TRUE(all.take_outgoing().empty());
    all.tick(2);
    EXPECT_EQ(types_to(1, all.take_outgoing()), (std::vector{MessageType::kEndAfterIteration}));
    all.receive(1, {.type = MessageType::kGiveBack, .first = 1, .second = 0, .third = 100, .fourth = 8 * kMiB}, 2.5);
    EXPECT_EQ(types_to(2, all.take_outgoing()), (std::vector{MessageType::kTurn}));
}

TEST(GpuCoordinator, WhoIsLeftAloneIsToldSo)
{
    Coordinator all = coordinator();
    join(all, 1, kMiB, kMiB);
    join(all, 2, kMiB, kMiB);
    (void)all.take_outgoing();

    all.disconnect(2, 1);

    const std::vector<Outgoing> sent = all.take_outgoing();
    ASSERT_EQ(types_to(1, sent), (std::vector{MessageType::kShared}));
    EXPECT_EQ(sent[0].message.first, 0);
    EXPECT_FALSE(to_json(all.report()).at("gpus").at(0).at("is_shared"));
}

TEST(GpuCoordinator, AfterAStartNobodyIsAdmittedBeforeThoseWhoHadMemory)
{
    Coordinator all = coordinator(2);
    join(all, 1, 40 * kMiB, 0, 0.1);
    EXPECT_TRUE(all.take_outgoing().empty());
    all.connect(2, 102);
    all.receive(2, with_text({.type = MessageType::kHello}, "old"), 1);
    all.receive(2, use_gpu(40 * kMiB, 8 * kMiB, kHadTurn), 1);
    EXPECT_EQ(types_to(2, all.take_outgoing()), (std::vector{MessageType::kPlace}));

    all.tick(2);

    const std::vector<Outgoing> sent = all.take_outgoing();
    ASSERT_EQ(types_to(1, sent), (std::vector{MessageType::kRefused}));
    EXPECT_NE(text_of(sent[0].message).find("the GPU's memory is not enough"), std::string_view::npos);
}

/// Of the largest cards, too.
TEST(GpuCoordinator, ARefusalArrivesWithAllOfItsFigures)
{
    constexpr std::int64_t kGiB = 1024 * kMiB;
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 288 * kGiB}};
    settings.settle_s = 0;
    Coordinator all = Coordinator::make(settings, 0).value();
    join(all, 1, 100 * kGiB, 150 * kGiB);
    (void)all.take_outgoing();

    join(all, 2, 100 * kGiB, 160 * kGiB);

    const std::vector<Outgoing> sent = all.take_outgoing();
    ASSERT_EQ(types_to(2, sent), (std::vector{MessageType::kRefused}));
    const std::string_view why = text_of(sent.back().message);
    for (const char* figure : {"asked 100.09 GiB persistent", "160.00 GiB temporary", "are 100.09 GiB persistent",
                               "150.00 GiB the largest temporary"})
        EXPECT_NE(why.find(figure), std::string_view::npos) << figure << " is not in " << why;
    EXPECT_TRUE(why.ends_with(" GiB are free")) << why;
}

TEST(GpuCoordinator, WhoAsksAgainWhileItWaitsForTheStartIsAnsweredOnce)
{
    Coordinator all = coordinator(2);
    join(all, 1, 8 * kMiB, 0, 0.1);
    for (int i = 0; i < 1000; ++i)
        all.receive(1, use_gpu(8 * kMiB, 0), 1);

    all.tick(2);

    EXPECT_EQ(types_to(1, all.take_outgoing()), (std::vector{MessageType::kPlace}));
    EXPECT_EQ(all.report().gpus.at(0).jobs.at(0).wrong_messages, 1000);
}

TEST(GpuCoordinator, StateTellsHowSureTheEndsOfIterationsAreWhereTheyAreFound)
{
    Coordinator all = coordinator();
    join(all, 1, 8 * kMiB, 40 * kMiB);
    const auto confidence = [&] { return all.report().gpus.at(0).jobs.at(0).iteration_confidence; };
    EXPECT_EQ(confidence(), std::nullopt);

    all.receive(1, {.type = MessageType::kIterationEnd, .first = kIterationByPattern, .second = 750}, 1);
    EXPECT_EQ(confidence(), 0.75);
    all.receive(1, {.type = MessageType::kIterationEnd, .first = kIterationByPattern, .second = 1LL << 60U}, 1);
    EXPECT_EQ(confidence(), 1);
    all.receive(1, {.type = MessageType::kIterationEnd, .first = kIterationByCall}, 1);
    EXPECT_EQ(confidence(), std::nullopt) << "the program says so now";
}

TEST(GpuCoordinator, StateTellsOfEachGpuAndJob)
{
    Coordinator all = coordinator();
    join(all, 1, 8 * kMiB, 40 * kMiB);
    all.receive(1, with_text({.type = MessageType::kUse, .first = 0, .second = 6 * kMiB}, kGpu), 1);
    all.receive(1, with_text({.type = MessageType::kUse, .first = 1, .second = 30 * kMiB}, kGpu), 1);
    all.receive(1, {.type = MessageType::kIterationEnd, .first = 1}, 1);
    all.receive(1, with_text({.type = MessageType::kGrow, .first = 1, .second = 60 * kMiB}, kGpu), 1);

    const Json gpu = to_json(all.report()).at("gpus").at(0);

    EXPECT_EQ(gpu.at("persistent_bytes"), 10 * kMiB);
    EXPECT_EQ(gpu.at("temporary_bytes"), 40 * kMiB);
    EXPECT_EQ(gpu.at("free_bytes"), 14 * kMiB);
    const Json job = gpu.at("jobs").at(0);
    EXPECT_EQ(job.at("job"), "job-1");
    EXPECT_EQ(job.at("process"), 101);
    EXPECT_EQ(job.at("persistent").at("used_bytes"), 6 * kMiB);
    EXPECT_EQ(job.at("temporary").at("used_bytes"), 0);
    EXPECT_EQ(job.at("temporary").at("peak_bytes"), 30 * kMiB);
    EXPECT_EQ(job.at("iterations"), 1);
    EXPECT_EQ(job.at("refusals"), 1);
}

TEST(GpuCoordinator, SaysWhatRoomsCanGrowByAndAdmitsNobodyForThat)
{
    Coordinator all = coordinator();
    const auto left = [&](ClientId id, const std::string& gpu) {
        all.receive(id, with_text({.type = MessageType::kAskLeft}, gpu), 1);
        const std::vector<Outgoing> sent = all.take_outgoing();
        EXPECT_EQ(types_to(id, sent), (std::vector{MessageType::kLeft}));
        return sent.empty() ? Message{} : sent.back().message;
    };
    join(all, 1, 8 * kMiB, 40 * kMiB); // and 2 MiB of gap, of 64
    all.connect(2, 102);
    all.receive(2, with_text({.type = MessageType::kHello, .second = 1000}, "job-2"), 1);
    (void)all.take_outgoing();
    all.clear_changed();

    EXPECT_EQ(left(1, kGpu).first, 14 * kMiB);
    EXPECT_EQ(left(1, kGpu).second, 0);
    EXPECT_EQ(left(2, kGpu).first, 14 * kMiB);
    EXPECT_EQ(left(2, kGpu).second, 1);
    EXPECT_EQ(left(2, "GPU-of-others").first, -1);
    EXPECT_FALSE(all.is_changed());
    EXPECT_FALSE(to_json(all.report()).at("gpus").at(0).at("is_shared"));

    all.receive(1, with_text({.type = MessageType::kGrow, .first = 0, .second = 14 * kMiB}, kGpu), 1);
    (void)all.take_outgoing();
    EXPECT_EQ(left(2, kGpu).first, 0); // not even a gap
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

TEST(GpuCoordinator, SettingsOfAGpuThatLeaveNothingAreRefusedByName)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 64 * kMiB}};
    settings.reserved_bytes = 64 * kMiB;

    const Result<Coordinator> refused = Coordinator::make(settings, 0);

    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("GPU GPU-1: "), std::string::npos);
    EXPECT_NE(refused.error().detail.find("reserved_bytes"), std::string::npos);
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
