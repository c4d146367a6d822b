#include "agent/config/cpu_list.hpp"
#include "agent/executor/local/waiting_starter.hpp"
#include "core/base/file.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// What the body finds where it runs.
struct Found {
    int pid = 0;
    std::string groups;
};

int look_around(void* found)
{
    auto& told = *static_cast<Found*>(found);
    const Result<std::string> groups = read_file("/proc/self/cgroup", 100'000);
    told.groups = groups ? *groups : std::string();
    told.pid = ::getpid();
    return 0;
}

class WaitingStarterTest : public testing::Test {
  protected:
    ~WaitingStarterTest() override
    {
        starter_.end();
        cgroup_.remove();
    }

    /// Of the groups; empty where there is none.
    std::string processes() const
    {
        std::string pids;
        for (const std::string& file : cgroup_.join_files())
            pids += read_file(file, 100'000).value();
        return pids;
    }

    void wait_until_joined() const
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (processes().empty() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    /// Whether a child can be made to wait, and be seen in its groups.
    bool is_seen() const { return may_share_memory() && !cgroup_.join_files().empty(); }

    std::string name_ = "waiting-starter-test-" + std::to_string(::getpid());
    Cgroup cgroup_ = Cgroup::create(name_, {.cpus = format_cpu_list(allowed_cpus()), .processes = 64});
    ChildStack stack_;
    WaitingStarter starter_{stack_};
    Found found_;
};

TEST_F(WaitingStarterTest, RunsItsBodyInAProcessOfItsGroups)
{
    starter_.make(cgroup_);

    const bool has_run = starter_.run(&look_around, &found_);

    ASSERT_EQ(has_run, may_share_memory());
    EXPECT_NE(found_.pid, ::getpid());
    if (!is_seen()) return;
    for (const std::string& controller : cgroup_.controllers())
        EXPECT_THAT(found_.groups, testing::ContainsRegex(name_)) << controller;
    EXPECT_EQ(processes(), "") << "it has ended";
}

TEST_F(WaitingStarterTest, HasJoinedBeforeItIsToldAnything)
{
    starter_.make(cgroup_);
    if (is_seen()) wait_until_joined();

    EXPECT_EQ(!processes().empty(), is_seen());
}

TEST_F(WaitingStarterTest, RunsNothingWhenItHasDied)
{
    starter_.make(cgroup_);
    if (is_seen()) {
        wait_until_joined();
        EXPECT_TRUE(cgroup_.kill_all());
    } else {
        starter_.end();
    }

    EXPECT_FALSE(starter_.run(&look_around, &found_));
    EXPECT_EQ(found_.pid, 0);
}

TEST_F(WaitingStarterTest, IsForOneRun)
{
    starter_.make(cgroup_);
    starter_.run(&look_around, &found_);
    found_ = {};

    EXPECT_FALSE(starter_.run(&look_around, &found_));

    EXPECT_EQ(found_.pid, 0);
    starter_.make(cgroup_);
    EXPECT_EQ(starter_.run(&look_around, &found_), may_share_memory());
}

TEST_F(WaitingStarterTest, RunsNothingWhereItCannotJoin)
{
    Cgroup gone = Cgroup::create(name_ + "-gone", {.cpus = format_cpu_list(allowed_cpus()), .processes = 64});
    const Cgroup known = gone;
    gone.remove();

    starter_.make(known);

    EXPECT_EQ(starter_.run(&look_around, &found_), may_share_memory() && known.join_files().empty());
}

TEST_F(WaitingStarterTest, LeavesItsGroupsEmptyAtItsEnd)
{
    starter_.make(cgroup_);

    starter_.end();
    cgroup_.remove();

    EXPECT_TRUE(Cgroup::find(name_).join_files().empty());
}

} // namespace
} // namespace fathom::agent
