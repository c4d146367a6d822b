#include "probes/operators/process_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

/// What the processes of a test write for each other to see.
struct Board {
    pid_t process[4];
    std::uint64_t runs[4];
    std::uint64_t seen[4];
};

class ProcessTeams : public testing::Test {
  protected:
    std::unique_ptr<ProcessTeam> start(std::size_t size, ProcessTeam::Work work)
    {
        Result<std::unique_ptr<ProcessTeam>> team = ProcessTeam::start(size, std::move(work));
        EXPECT_TRUE(team) << describe(team.error());
        return std::move(*team);
    }

    Mapping memory_ = Mapping::shared(sizeof(Board));
    Board* board_ = reinterpret_cast<Board*>(memory_.data());
};

TEST_F(ProcessTeams, RunTheWorkOnceInEveryProcess)
{
    const auto team = start(4, [board = board_](ProcessTeam&, std::size_t rank) {
        board->process[rank] = getpid();
        ++board->runs[rank];
    });

    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(team->run());

    EXPECT_EQ(board_->process[0], getpid());
    for (std::size_t rank = 0; rank < 4; ++rank)
        EXPECT_EQ(board_->runs[rank], 100U) << rank;
    std::sort(std::begin(board_->process), std::end(board_->process));
    EXPECT_EQ(std::unique(std::begin(board_->process), std::end(board_->process)), std::end(board_->process));
}

TEST_F(ProcessTeams, MeetSoThatEachSeesWhatAllHaveWritten)
{
    const auto team = start(3, [board = board_](ProcessTeam& here, std::size_t rank) {
        ++board->runs[rank];
        here.meet();
        board->seen[rank] = board->runs[0] + board->runs[1] + board->runs[2];
    });

    for (std::uint64_t i = 1; i <= 1000; ++i) {
        ASSERT_TRUE(team->run());
        for (std::size_t rank = 0; rank < 3; ++rank)
            ASSERT_EQ(board_->seen[rank], 3 * i) << rank;
    }
}

TEST_F(ProcessTeams, NeedNoOtherProcessForOne)
{
    const auto team = start(1, [board = board_](ProcessTeam& here, std::size_t rank) {
        here.meet();
        ++board->runs[rank];
    });

    EXPECT_TRUE(team->run());
    EXPECT_TRUE(team->run());
    EXPECT_EQ(board_->runs[0], 2U);
}

TEST_F(ProcessTeams, NoticeTheDeathOfAProcess)
{
    const auto team = start(3, [board = board_](ProcessTeam&, std::size_t rank) { board->process[rank] = getpid(); });
    ASSERT_TRUE(team->run());

    kill(board_->process[2], SIGKILL);

    EXPECT_FALSE(team->run());
    EXPECT_FALSE(team->run());
}

/// A process that nobody has reaped yet is as good as gone: state Z.
bool is_gone(pid_t process)
{
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string word;
    for (int i = 0; i < 3 && stat >> word; ++i) {
    }
    return !stat || word == "Z";
}

TEST_F(ProcessTeams, EndWithTheProcessThatStartedThem)
{
    const pid_t starter = fork();
    if (starter == 0) {
        const auto team =
            start(2, [board = board_](ProcessTeam&, std::size_t rank) { board->process[rank] = getpid(); });
        team->run();
        kill(getpid(), SIGKILL);
    }
    waitpid(starter, nullptr, 0);

    bool gone = false;
    for (int i = 0; i < 6000 && !gone; ++i) {
        gone = is_gone(board_->process[1]);
        usleep(10'000);
    }
    EXPECT_GT(board_->process[1], 0);
    EXPECT_TRUE(gone);
}

} // namespace
} // namespace fathom::probes
