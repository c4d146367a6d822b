// The process that keeps the loops running, and the loops, each killed at its turn.
#include "agent/app/balance_process.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace fathom::agent {
namespace {

using namespace test;
using testing::IsEmpty;

/// A process's state and parent; empty: there is no such process any more.
struct ProcessState {
    char state{};
    pid_t parent{};
};
std::optional<ProcessState> look_at(const std::string& pid)
{
    std::ifstream file("/proc/" + pid + "/stat");
    std::string text;
    if (!std::getline(file, text)) return std::nullopt;
    // pid (name) state parent …; the name may hold anything.
    std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    ProcessState process;
    if (!(rest >> process.state >> process.parent)) return std::nullopt;
    return process;
}

/// Processes of a parent that have not ended.
std::vector<pid_t> children_of(pid_t parent)
{
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::optional<ProcessState> process = look_at(name);
        if (process && process->parent == parent && process->state != 'Z') children.push_back(std::stoi(name));
    }
    return children;
}

class BalanceProcessTest : public testing::Test {
  protected:
    BalanceProcessTest()
    {
        config_.state_dir = host_.state_dir();
        config_.tables.balance = host_.config();
        config_.tables.balance.period_s = 0.05;
        folder_.folder = OpenFile(::open(host_.traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    std::unique_ptr<BalanceProcess> start() const
    {
        return std::make_unique<BalanceProcess>(config_, folder_, host_.files());
    }
    /// That starts the loops; 0: there is none.
    static pid_t keeper()
    {
        const std::vector<pid_t> children = children_of(::getpid());
        return children.size() == 1 ? children[0] : 0;
    }
    static pid_t loops()
    {
        const std::vector<pid_t> children = children_of(keeper());
        return children.size() == 1 ? children[0] : 0;
    }
    /// kill -9; false: there is nobody to kill.
    static bool kill_process(pid_t process) { return process > 1 && ::kill(process, SIGKILL) == 0; }
    /// The keeper and its loops.
    static bool kill_both()
    {
        const pid_t group = keeper();
        return group > 1 && ::kill(-group, SIGKILL) == 0;
    }
    bool is_put_back() const
    {
        return read(host_.limit(0)) == "1500000" && read(host_.limit(1)) == "1500000" && !is_there(host_.journal());
    }

    BalancedHost host_;
    AgentConfig config_;
    AgentFolder folder_;
};

TEST_F(BalanceProcessTest, PutsEverythingBackWhenItIsStopped)
{
    host_.run_job();
    std::unique_ptr<BalanceProcess> process = start();
    ASSERT_TRUE(host_.compute_until([&] { return host_.is_changed(); }));
    const pid_t loops_then = loops();
    ASSERT_NE(loops_then, 0);

    process.reset();

    EXPECT_TRUE(is_put_back());
    EXPECT_THAT(children_of(::getpid()), IsEmpty());
    EXPECT_FALSE(look_at(std::to_string(loops_then))) << "the loops have ended, too";
}

TEST_F(BalanceProcessTest, StartsKilledLoopsAgainWhichPutBackFirst)
{
    const UnitJob job = host_.run_job();
    const std::unique_ptr<BalanceProcess> process = start();
    ASSERT_TRUE(host_.compute_until([&] { return host_.is_changed(); }));
    const pid_t keeper_then = keeper();
    const pid_t killed = loops();
    ASSERT_TRUE(kill_process(killed));
    host_.end_job(job);

    EXPECT_TRUE(host_.compute_until([&] { return is_put_back(); }));
    EXPECT_TRUE(host_.compute_until([&] { return loops() != 0 && loops() != killed; }));
    EXPECT_EQ(keeper(), keeper_then);
    host_.run_job();
    EXPECT_TRUE(host_.compute_until([&] { return host_.is_changed(); })) << "and they balance";
}

TEST_F(BalanceProcessTest, ThatIsKilledTakesItsLoopsWithItWhichPutBack)
{
    const UnitJob job = host_.run_job();
    std::unique_ptr<BalanceProcess> process = start();
    ASSERT_TRUE(host_.compute_until([&] { return host_.is_changed(); }));
    const pid_t loops_then = loops();
    ASSERT_NE(loops_then, 0);
    ASSERT_TRUE(kill_process(keeper()));

    EXPECT_TRUE(host_.compute_until([&] { return is_put_back(); }));
    EXPECT_TRUE(host_.compute_until([&] {
        const std::optional<ProcessState> state = look_at(std::to_string(loops_then));
        return !state || state->state == 'Z'; // whoever has it now may not have reaped it
    }));
    process.reset();
    EXPECT_THAT(children_of(::getpid()), IsEmpty());
}

TEST_F(BalanceProcessTest, WhatTwoKillsLeaveIsPutBackByTheNextStart)
{
    const UnitJob job = host_.run_job();
    std::unique_ptr<BalanceProcess> process = start();
    ASSERT_TRUE(host_.compute_until([&] { return host_.is_changed(); }));
    ASSERT_NE(loops(), 0);
    ASSERT_TRUE(kill_both());
    process.reset();
    ASSERT_TRUE(host_.compute_until([&] { return children_of(::getpid()).empty(); }));
    EXPECT_TRUE(host_.is_changed()) << "nobody was left to put it back";
    EXPECT_TRUE(is_there(host_.journal()));
    host_.end_job(job);

    process = start();
    EXPECT_TRUE(host_.compute_until([&] { return is_put_back(); }));
    process.reset();
    EXPECT_TRUE(is_put_back());
}

TEST_F(BalanceProcessTest, IsNotThereWhereBalancingIsOffButWhatWasLeftIsPutBack)
{
    host_.run_job();
    std::unique_ptr<BalanceProcess> process = start();
    ASSERT_TRUE(host_.compute_until([&] { return host_.is_changed(); }));
    ASSERT_TRUE(kill_both());
    process.reset();
    ASSERT_TRUE(host_.is_changed());
    config_.tables.balance.enabled = false;

    process = start();
    EXPECT_TRUE(is_put_back());
    EXPECT_THAT(children_of(::getpid()), IsEmpty());
}

} // namespace
} // namespace fathom::agent
