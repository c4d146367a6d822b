// A memory manager that begins anew, with programs that were there before.
#include "agent/gpu/memory/coordinator.hpp"

#include <gtest/gtest.h>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kPieceBytes = 2LL << 20U;
const std::string kOldGpu = "GPU-1";

/// Programs have two seconds to come back.
Coordinator begun_anew()
{
    CoordinatorSettings settings;
    settings.gpus = {{kOldGpu, 32 * kPieceBytes}};
    settings.gap_bytes = kPieceBytes;
    settings.settle_s = 2;
    return Coordinator::make(settings, 0).value();
}

/// @param had  kHad…, or 0 of a newcomer
Message memory_of(std::int64_t persistent, std::int64_t temporary, std::int64_t had)
{
    return with_text({.type = MessageType::kUseGpu, .second = persistent, .third = temporary, .fourth = had}, kOldGpu);
}

std::vector<MessageType> heard_by(ClientId id, const std::vector<Outgoing>& sent)
{
    std::vector<MessageType> types;
    for (const Outgoing& one : sent) {
        if (one.to == id) types.push_back(one.message.type);
    }
    return types;
}

/// Its neighbour ended while there was no manager.
TEST(GpuCoordinator, WhoIsLeftAloneOverANewManagerIsToldSoOnceTheOthersHadTheirTime)
{
    Coordinator all = begun_anew();
    all.connect(1, 101);
    all.receive(1, with_text({.type = MessageType::kHello}, "old"), 0);
    all.receive(1, memory_of(kPieceBytes, kPieceBytes, kHadMemory), 0);
    all.receive(1, {.type = MessageType::kWant}, 0);
    EXPECT_EQ(heard_by(1, all.take_outgoing()), (std::vector{MessageType::kPlace}));

    all.tick(2);

    const std::vector<Outgoing> sent = all.take_outgoing();
    ASSERT_EQ(heard_by(1, sent), (std::vector{MessageType::kShared}));
    EXPECT_EQ(sent[0].message.first, 0);
    all.connect(2, 102);
    all.receive(2, with_text({.type = MessageType::kHello}, "new"), 3);
    all.receive(2, memory_of(kPieceBytes, kPieceBytes, 0), 3);
    all.receive(2, {.type = MessageType::kWant}, 3);
    EXPECT_TRUE(all.report().gpus.at(0).jobs.at(0).has_turn) << "it has been alone meanwhile";
}

TEST(GpuCoordinator, WhoComesBackLateAndAloneIsToldSoAtOnce)
{
    Coordinator all = begun_anew();
    all.tick(2);
    all.connect(1, 101);
    all.receive(1, with_text({.type = MessageType::kHello}, "late"), 5);
    all.receive(1, memory_of(kPieceBytes, kPieceBytes, kHadMemory), 5);

    EXPECT_EQ(heard_by(1, all.take_outgoing()), (std::vector{MessageType::kPlace, MessageType::kShared}));
}

/// Two that waited come back before the one that has the turn.
TEST(GpuCoordinator, WhoOnlyHadMemoryIsNotTakenForHavingTheTurn)
{
    Coordinator all = begun_anew();
    const auto come_back = [&](ClientId id, std::int64_t had) {
        all.connect(id, 100 + static_cast<std::int64_t>(id));
        all.receive(id, with_text({.type = MessageType::kHello}, "job-" + std::to_string(id)), 0);
        all.receive(id, memory_of(kPieceBytes, kPieceBytes, had), 0);
        if (had == kHadMemory) all.receive(id, {.type = MessageType::kWant}, 0);
    };
    come_back(1, kHadMemory);
    come_back(2, kHadMemory);
    come_back(3, kHadTurn);
    all.tick(2);
    (void)all.take_outgoing();

    const GpuMemoryReport report = all.report();
    EXPECT_FALSE(report.gpus.at(0).jobs.at(0).has_turn);
    EXPECT_FALSE(report.gpus.at(0).jobs.at(1).has_turn);
    EXPECT_TRUE(report.gpus.at(0).jobs.at(2).has_turn);
    all.receive(3, {.type = MessageType::kGiveBack, .first = 1}, 2.5);
    EXPECT_EQ(heard_by(1, all.take_outgoing()), (std::vector{MessageType::kTurn}));
}

/// A program on two GPUs that has the turn says so of one GPU in time, and of the other when others have it there.
TEST(GpuCoordinator, WhoComesBackLateOnOneOfItsGpusEndsItsTurnWhereOthersHaveItMeanwhile)
{
    CoordinatorSettings settings;
    settings.gpus = {{"GPU-1", 32 * kPieceBytes}, {"GPU-2", 32 * kPieceBytes}};
    settings.gap_bytes = kPieceBytes;
    settings.settle_s = 2;
    Coordinator all = Coordinator::make(settings, 0).value();
    const auto come = [&](ClientId id, const std::string& gpu, std::int64_t had, double now_s) {
        all.receive(
            id,
            with_text({.type = MessageType::kUseGpu, .second = kPieceBytes, .third = kPieceBytes, .fourth = had}, gpu),
            now_s);
    };
    for (const ClientId id : {1U, 2U, 3U, 4U}) {
        all.connect(id, 100 + static_cast<std::int64_t>(id));
        all.receive(id, with_text({.type = MessageType::kHello}, "job-" + std::to_string(id)), 0);
    }
    come(1, "GPU-1", kHadTurn, 0);
    come(2, "GPU-1", kHadMemory, 0); // so that the first takes turns
    all.tick(2);
    come(3, "GPU-2", 0, 2.1);
    come(4, "GPU-2", 0, 2.1);
    all.receive(4, {.type = MessageType::kWant}, 2.1);
    (void)all.take_outgoing();

    come(1, "GPU-2", kHadTurn, 2.2);

    const std::vector<MessageType> heard = heard_by(1, all.take_outgoing());
    EXPECT_EQ(heard, (std::vector{MessageType::kPlace, MessageType::kEndNow}));
    all.receive(1, {.type = MessageType::kGiveBack}, 2.3);
    all.receive(1, {.type = MessageType::kWant}, 2.3);
    const GpuMemoryReport report = all.report();
    for (const SharedGpuJob& job : report.gpus.at(1).jobs)
        EXPECT_EQ(job.has_turn, job.job == "job-3") << job.job;
}

/// Who says the name of another's job has none; what the agent gave that job nobody else can know.
TEST(GpuCoordinator, ANameCountsOnlyWithWhatTheAgentGaveThatJob)
{
    CoordinatorSettings settings;
    settings.gpus = {{kOldGpu, 32 * kPieceBytes}};
    settings.gap_bytes = 0;
    settings.settle_s = 0;
    settings.is_of_job = [](const std::string& job, std::int64_t proof) { return job == "job" && proof == 7; };
    Coordinator all = Coordinator::make(settings, 0).value();
    const auto come = [&](ClientId id, std::int64_t proof) {
        all.connect(id, 100 + static_cast<std::int64_t>(id), 1000 + static_cast<uid_t>(id));
        all.receive(id, with_text({.type = MessageType::kHello, .fourth = proof}, "job"), 0);
        all.receive(id, memory_of(0, 0, 0), 0);
    };

    come(1, 0); // the first, and a liar
    come(2, 7);

    const std::vector<SharedGpuJob> jobs = all.report().gpus.at(0).jobs;
    EXPECT_EQ(jobs.at(0).job, "");
    EXPECT_EQ(jobs.at(0).wrong_messages, 1);
    EXPECT_EQ(jobs.at(1).job, "job");
    EXPECT_EQ(jobs.at(1).wrong_messages, 0);
}

} // namespace
} // namespace fathom::gpu
