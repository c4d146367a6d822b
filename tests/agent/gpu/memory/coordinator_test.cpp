#include "agent/gpu/memory/coordinator.hpp"
#include "tests/agent/gpu/memory/one_gpu.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace fathom::gpu {
namespace {

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

} // namespace
} // namespace fathom::gpu
